// The binary interface as its users see it: C99 and C++ compilers, the manifest, and one program with two artefacts and foreign Halide
// code.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "abi_tables.h"
#include "emit/EntryShim.h"
#include "foreign.h"
#include "tiny_a.h"
#include "tiny_b.h"

#include "llvm/Support/JSON.h"
#include "llvm/Support/MemoryBuffer.h"

#include <HalideBuffer.h>
#include <gtest/gtest.h>

#include <map>

static std::map<std::string, size_t> argsFields() {
  std::map<std::string, size_t> fields;
  for (const field_place *place = abi_args_fields; place->structure; ++place)
    fields[place->field] = place->offset;
  return fields;
}

TEST(Abi, ManifestOffsetsAreThoseOfTheHeader) {
  auto buffer = llvm::MemoryBuffer::getFile(TINY_A_MANIFEST);
  ASSERT_TRUE(bool(buffer));
  auto manifest = llvm::json::parse((*buffer)->getBuffer());
  ASSERT_TRUE(bool(manifest));
  const llvm::json::Object &root = *manifest->getAsObject();
  std::map<std::string, size_t> expected = argsFields(), found;
  found[""] = *root.getInteger("args_bytes");
  found["struct_size"] = 0;
  found["workspace"] = *root.getObject("workspace")->getInteger("offset");
  found["workspace_bytes"] = *root.getObject("workspace")->getInteger("bytes_offset");
  for (const llvm::json::Value &size : *root.getArray("sizes"))
    found[size.getAsObject()->getString("name")->str()] = *size.getAsObject()->getInteger("offset");
  for (const llvm::json::Value &value : *root.getArray("arguments")) {
    const llvm::json::Object &argument = *value.getAsObject();
    std::string name = argument.getString("name")->str();
    found[name] = *argument.getInteger("offset");
    if (*argument.getInteger("strides_offset") >= 0)
      found[name + "_strides"] = *argument.getInteger("strides_offset");
  }
  EXPECT_EQ(found, expected);
}

TEST(Abi, CAndCxxAgreeOnTheArgumentStruct) {
  std::map<std::string, size_t> fields = argsFields();
  EXPECT_EQ(fields[""], sizeof(tiny_a_args));
  EXPECT_EQ(fields["counts"], offsetof(tiny_a_args, counts));
  EXPECT_EQ(fields["workspace_bytes"], offsetof(tiny_a_args, workspace_bytes));
  EXPECT_TRUE(abi_init_is_zero());
}

TEST(Abi, TablesHaveTheLayoutOfTheRuntimesHeader) {
  std::map<std::string, std::map<std::string, size_t>> c, compiler;
  for (const field_place *place = abi_descriptor_fields; place->structure; ++place)
    c[place->structure][place->field] = place->offset;
  for (const auto &[name, fields] : mhac::descriptorLayouts()) {
    size_t offset = 0;
    for (llvm::StringRef field : fields) {
      compiler[name.str()][field.str()] = offset;
      offset += field == "dims" ? 6 * 3 * 8 : 8;
    }
    compiler[name.str()][""] = offset;
  }
  EXPECT_EQ(c.size(), 8u + 1u);
  EXPECT_EQ(compiler, c);
}

/// y of an artefact of the tiny entry for two rows: 2 * (x + w).
template <typename Args> static void runTiny(Args args, mhac_status (*call)(mhac_context *, const Args *)) {
  std::vector<float> x(32, 3.f), w(16, 0.5f), y(32);
  std::vector<int64_t> counts = {0, 2};
  mhac_context *context = nullptr;
  ASSERT_EQ(mhac_context_create(nullptr, &context), MHAC_STATUS_OK);
  args.batch = 2;
  args.x = x.data();
  args.w = w.data();
  args.counts = counts.data();
  args.y = y.data();
  EXPECT_EQ(call(context, &args), MHAC_STATUS_OK) << mhac_context_message(context);
  mhac_context_destroy(context);
  EXPECT_EQ(y, std::vector<float>(32, 7.f));
}

TEST(Abi, TwoArtefactsAndForeignHalideCodeShareAProgram) {
  runTiny<tiny_a_args>(TINY_A_ARGS_INIT, tiny_a);
  runTiny<tiny_b_args>(TINY_B_ARGS_INIT, tiny_b);
  Halide::Runtime::Buffer<int> out(100);
  ASSERT_EQ(foreign(out), 0);
  EXPECT_EQ(out(99), 297);
}
