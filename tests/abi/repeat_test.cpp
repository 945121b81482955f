// Same input, same bytes: the whole compiler, twice in one process with another spec between, so that every counter of MLIR and Halide
// moved on.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "driver/Options.h"
#include "driver/Pipeline.h"
#include "support/Diagnostics.h"

#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"

#include <gtest/gtest.h>

using namespace mhac;

static const char *specs[] = {R"(
mhac: 1
name: first
layer: {d_model: 64, heads: 4, kv_heads: 2}
mask: [causal, padding: {side: right}]
outputs: [y, lse]
)",
                              R"(
mhac: 1
name: second
layer: {d_model: 48, heads: 3, source: cross}
projections: {bias: true, weight_layout: in_out}
)"};

/// Compiles a spec and returns object, header and manifest in one string.
static std::string compileTo(const std::string &folder, int spec) {
  Options options;
  options.input = "layer.yaml";
  options.output = folder + "/layer.o";
  options.targets = {"x86-64-v4", "x86-64-v3"};
  Diagnostics diagnostics;
  compile(options, Input{"layer.yaml", specs[spec], /*isMlir=*/false}, "mhac", diagnostics);
  for (const Diagnostic &diagnostic : diagnostics.all())
    EXPECT_LT(diagnostic.severity, Severity::Error) << diagnostic.message;
  std::string all;
  for (const char *suffix : {".o", ".h", ".json"}) {
    auto buffer = llvm::MemoryBuffer::getFile(folder + "/layer" + suffix);
    EXPECT_TRUE(bool(buffer)) << suffix;
    if (buffer)
      all += (*buffer)->getBuffer().str();
  }
  return all;
}

TEST(Repeat, SameInputGivesTheSameBytesAnywhereInAProcess) {
  llvm::SmallString<128> here, there;
  ASSERT_FALSE(llvm::sys::fs::createUniqueDirectory("mhac_repeat", here));
  ASSERT_FALSE(llvm::sys::fs::createUniqueDirectory("mhac_repeat_elsewhere", there));
  std::string first = compileTo(here.str().str(), 0), second = compileTo(here.str().str(), 1);
  ASSERT_GT(first.size(), 10000u);
  EXPECT_NE(first, second);
  EXPECT_EQ(compileTo(there.str().str(), 0), first) << "also in another folder";
  llvm::sys::fs::remove_directories(here);
  llvm::sys::fs::remove_directories(there);
}
