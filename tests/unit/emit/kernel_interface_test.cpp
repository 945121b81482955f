// The interface that makeKernelInterface reads from a scheduled module.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "attention/AttentionDialect.h"
#include "attention/KernelInterface.h"

#include "mlir/Parser/Parser.h"

#include <gtest/gtest.h>

using namespace mhac;

static const char *moduleText = R"(
module attributes {attn.stage = "scheduled", attn.spec_file = "tiny.yaml"} {
  func.func private @f.v3(
      %wo: tensor<8x16xf32> {attn.argument = #attn.argument<name = "wo", role = weight, dims = ["8", "16"]>},
      %x: tensor<?x4x8xf32> {attn.argument = #attn.argument<name = "x", role = input, dims = ["batch", "query", "8"], strided = true>},
      %starts: tensor<?xi64> {attn.argument = #attn.argument<name = "key_starts", role = parameter, dims = ["batch"], check = range,
                              check_size = "query">},
      %lengths: tensor<?xi64> {attn.argument = #attn.argument<name = "key_lengths", role = parameter, dims = ["batch"], check = sum,
                               check_size = "query", check_with = "key_starts">})
      -> (tensor<?x4x8xf32> {attn.argument = #attn.argument<name = "y", role = output, dims = ["batch", "query", "8"], strided = true>})
      attributes {attn.sizes = [#attn.size<name = "batch", minimum = 0, maximum = 7>,
                                #attn.size<name = "query", minimum = 4, maximum = 4>]} {
    return %x : tensor<?x4x8xf32>
  }
  attn.entry @f {
    attn.candidate @f.v3 target "x86-64-v3" machine "x86-64-linux-avx2" features 24
      guards [#attn.guard<size = "batch", minimum = 1, maximum = 2, per_worker = true>, #attn.guard<size = "workers", minimum = 1, maximum = 1>]
      batch_major
  }
}
)";

class KernelInterfaceTest : public testing::Test {
protected:
  void SetUp() override {
    mlir::DialectRegistry registry;
    registerAttentionDialects(registry);
    context.appendDialectRegistry(registry);
    module = mlir::parseSourceString<mlir::ModuleOp>(moduleText, &context);
    ASSERT_TRUE(module);
    interface = makeKernelInterface(*module);
  }
  mlir::MLIRContext context;
  mlir::OwningOpRef<mlir::ModuleOp> module;
  KernelInterface interface;
};

TEST_F(KernelInterfaceTest, OrdersArgumentsByRole) {
  EXPECT_EQ(interface.name, "f");
  EXPECT_EQ(interface.specFile, "tiny.yaml");
  std::vector<std::string> names;
  for (const ArgumentInfo &argument : interface.arguments)
    names.push_back(argument.name);
  EXPECT_EQ(names, (std::vector<std::string>{"x", "wo", "key_starts", "key_lengths", "y"}));
  EXPECT_EQ(interface.argumentIndex("y"), 4);
  EXPECT_EQ(interface.argumentIndex("z"), -1);
}

TEST_F(KernelInterfaceTest, LaysOutTheStructInFieldsOfEightBytes) {
  EXPECT_EQ(interface.sizes[0].offset, 8);
  EXPECT_EQ(interface.sizes[1].offset, -1) << "a fixed size is no field";
  std::vector<std::pair<int64_t, int64_t>> offsets;
  for (const ArgumentInfo &argument : interface.arguments)
    offsets.push_back({argument.offset, argument.stridesOffset});
  EXPECT_EQ(offsets, (std::vector<std::pair<int64_t, int64_t>>{{16, 24}, {32, -1}, {40, -1}, {48, -1}, {56, 64}}));
  EXPECT_EQ(interface.workspaceOffset, 72);
  EXPECT_EQ(interface.workspaceBytesOffset, 80);
  EXPECT_EQ(interface.argsBytes, 88);
}

TEST_F(KernelInterfaceTest, ResolvesDimensionsAndChecks) {
  const ArgumentInfo &x = interface.arguments[0];
  EXPECT_EQ(x.dims[0].size, 0);
  EXPECT_EQ(x.dims[1].size, 1);
  EXPECT_EQ(x.dims[2].size, -1);
  EXPECT_EQ(x.dims[2].factor, 8);
  const ArgumentInfo &lengths = interface.arguments[3];
  EXPECT_EQ(lengths.dtype, DType::I64);
  EXPECT_EQ(lengths.check, ArgumentCheck::Sum);
  EXPECT_EQ(lengths.checkSize, 1);
  EXPECT_EQ(lengths.checkWith, 2);
}

TEST_F(KernelInterfaceTest, ReadsCandidatesWithTheirGuards) {
  ASSERT_EQ(interface.candidates.size(), 1u);
  EXPECT_EQ(interface.candidates[0].function, "f.v3");
  EXPECT_EQ(interface.candidates[0].target, "x86-64-v3");
  EXPECT_EQ(interface.candidates[0].machine, "x86-64-linux-avx2");
  EXPECT_EQ(interface.candidates[0].features, 24u);
  ASSERT_EQ(interface.candidates[0].guards.size(), 2u);
  EXPECT_EQ(interface.candidates[0].guards[0].size, 0);
  EXPECT_EQ(interface.candidates[0].guards[1].size, -1);
  EXPECT_EQ(interface.candidates[0].guards[1].maximum, 1);
  EXPECT_TRUE(interface.candidates[0].guards[0].perWorker);
  EXPECT_FALSE(interface.candidates[0].guards[1].perWorker);
  EXPECT_EQ(interface.candidates[0].batchSize, 0);
}

/// A layer of its own, because the module above has no projection.
TEST_F(KernelInterfaceTest, TakesTheLayoutOfWeightsFromTheirProjection) {
  mlir::OwningOpRef<mlir::ModuleOp> layer = mlir::parseSourceString<mlir::ModuleOp>(R"(
    func.func @g(%x: tensor<?x4x8xf32> {attn.argument = #attn.argument<name = "x", role = input, dims = ["batch", "4", "8"]>},
                 %w: tensor<8x6xf32> {attn.argument = #attn.argument<name = "w", role = weight, dims = ["8", "6"]>},
                 %b: tensor<6xf32> {attn.argument = #attn.argument<name = "b", role = weight, dims = ["6"]>})
        -> (tensor<?x2x4x3xf32> {attn.argument = #attn.argument<name = "y", role = output, dims = ["batch", "2", "4", "3"]>})
        attributes {attn.entry, attn.sizes = [#attn.size<name = "batch", minimum = 0, maximum = 7>]} {
      %0 = attn.project %x weights(%w) biases(%b) {layout = #attn.layout<in_out>, parts = [#attn.part<weight = 0, bias = 0, heads = 2,
          width = 3, first = 0, group = 2, group_stride = 0, head_stride = 3>]}
          : (tensor<?x4x8xf32>, tensor<8x6xf32>, tensor<6xf32>) -> tensor<?x2x4x3xf32>
      return %0 : tensor<?x2x4x3xf32>
    })", &context);
  ASSERT_TRUE(layer);
  std::vector<std::string> layouts;
  for (const ArgumentInfo &argument : makeKernelInterface(*layer).arguments)
    layouts.push_back(argument.layout);
  EXPECT_EQ(layouts, (std::vector<std::string>{"", "in_out", "", ""}));
}
