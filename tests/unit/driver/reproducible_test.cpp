// Same input, same bytes: object, header and manifest do not depend on what was compiled before in the process.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "driver/Pipeline.h"

#include "llvm/ADT/SmallString.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"

#include <gtest/gtest.h>

namespace {

std::string readFile(const std::string &path) {
  auto buffer = llvm::MemoryBuffer::getFile(path);
  return buffer ? (*buffer)->getBuffer().str() : "";
}

/// Object, header and manifest of an example spec, one after another.
std::string compileSpec(const std::string &directory, const std::string &name) {
  const std::string path = std::string(MHAC_SPECS) + "/" + name + ".yaml";
  mhac::Options options;
  options.output = directory + "/" + name + ".o";
  options.targets = {"x86-64-v4", "x86-64-v3"};
  mhac::Diagnostics diagnostics;
  mhac::compile(options, {path, readFile(path), false}, "", diagnostics);
  EXPECT_EQ(diagnostics.exitCode(), 0);
  std::string bytes = readFile(directory + "/" + name + ".o");
  EXPECT_FALSE(bytes.empty());
  return bytes + readFile(directory + "/" + name + ".h") + readFile(directory + "/" + name + ".json");
}

TEST(Pipeline, GivesTheSameBytesTwiceInOneProcess) {
  llvm::SmallString<128> directory;
  ASSERT_FALSE(llvm::sys::fs::createUniqueDirectory("mhac_reproducible", directory));
  const std::string first = compileSpec(directory.str().str(), "minilm_f32");
  // Another layer in between moves every counter of Halide's.
  const std::string other = compileSpec(directory.str().str(), "transformer_cross_f32");
  EXPECT_NE(first, other);
  for (int i = 0; i < 2; ++i)
    EXPECT_EQ(compileSpec(directory.str().str(), "minilm_f32"), first) << "repetition " << i;
  llvm::sys::fs::remove_directories(directory);
}

} // namespace
