// What the masks emit against what the reference reads in the same spec: both answer for the same pairs of queries and keys.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "region_interpreter.h"

#include "attention/AttentionDialect.h"
#include "attention/ImportSpec.h"
#include "passes/Passes.h"
#include "reference/LayerReference.h"
#include "reference/masks.h"
#include "spec/SpecReader.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Pass/PassManager.h"

#include <gtest/gtest.h>

#include <bit>
#include <deque>
#include <limits>
#include <random>

using namespace mlir;
using namespace mhac::attn;
using mhac::reference::RowMask;
using mhac::reference::Sizes;

namespace {

constexpr int heads = 3;

/// A layer with these masks; queries and keys are the same tokens, or inputs of their own.
std::string spec_text(const std::string &masks, const std::string &offset, bool shares_tokens) {
  return "mhac: 1\nname: f\nlayer: {d_model: 12, heads: 3}\nquery_offset: " + offset +
         (shares_tokens ? "\n" : "\nprojections: {input: none, output: false}\n") + "mask: [" + masks + "]\n";
}

const char *const mask_lists[] = {
    "causal",
    "sliding_window: {left: 2, right: 1}",
    "sliding_window: {left: 3}",
    "sliding_window: {right: 0}",
    "sliding_window: {left: 99999999999999999999, right: 0}",
    "global: {tokens: 2}",
    "global: {tokens: input}",
    "prefix: 3",
    "prefix: input",
    "document",
    "chunked: 3",
    "chunked: 2500000000",
    "dilated: {window: 2, step: 3}",
    "dilated: {window: 2500000000, step: 1}",
    "block_sparse: {block: 2, local: 1, global: 1, random: 0}",
    "block_sparse: {block: 3, local: 0, global: 0, random: 2, seed: 99}",
    "block_sparse: {block: 1, local: 0, global: 0, random: 1, seed: 9223372036854775807}",
    "block_sparse: {block: 2500000000, local: 2500000000, global: 2500000000, random: 1}",
    "tensor: {dtype: bool}",
    "tensor: {dtype: float}",
    "tensor: {dtype: bool, broadcast: [b, q]}",
    "tensor: {dtype: float, broadcast: [h]}",
    "any: [causal, prefix: input]",
    "any: [[causal, chunked: 2], global: {tokens: 1}, any: [document, [sliding_window: {left: 1}, dilated: {window: 3, step: 2}]]]",
};
const char *const paddings[] = {"", "padding", "padding: {side: left}", "padding: {side: both}"};

/// Values of one input, for the region and for the reference.
struct input_values {
  region_argument argument;
  std::deque<std::vector<char>> memory;
  mhac::reference::Tensor tensor;
};

class MaskRegions : public ::testing::Test {
protected:
  int64_t pick(int64_t count) { return int64_t(random() % uint64_t(count)); }

  /// Random values for the input with this attribute; lengths and starts leave some keys.
  input_values fill(ArgumentAttr attribute, Type element, const Sizes &sizes) {
    input_values made;
    int64_t count = 1;
    std::vector<int64_t> shape;
    for (StringAttr dim : attribute.getDims()) {
      StringRef name = dim.getValue();
      int64_t extent = 0;
      if (name.getAsInteger(10, extent))
        extent = name == "batch" ? sizes.batch : name == "query" ? sizes.query : name == "key" ? sizes.key : pick(sizes.key + 1);
      shape.push_back(extent);
      count *= extent;
    }
    std::vector<char> bytes;
    auto put = [&](auto value) { bytes.insert(bytes.end(), reinterpret_cast<char *>(&value), reinterpret_cast<char *>(&value) + sizeof value); };
    for (int64_t i = 0; i < count; ++i) {
      if (element.isF32()) {
        float value = pick(3) ? float(pick(5)) : -std::numeric_limits<float>::infinity();
        made.argument.elements.push_back(std::bit_cast<int64_t>(double(value)));
        put(value);
      } else if (element.isInteger(8)) {
        uint8_t value = uint8_t(pick(2) * (1 + pick(255)));
        made.argument.elements.push_back(value);
        put(value);
      } else {
        bool is_length = attribute.getCheck() != ValueCheck::None;
        int64_t value = is_length ? pick(sizes.key / 2 + 1) : pick(3);
        made.argument.elements.push_back(value);
        put(value);
      }
    }
    made.argument.shape = shape;
    made.memory.push_back(std::move(bytes));
    std::vector<int64_t> strides(shape.size());
    int64_t stride = 1;
    for (size_t i = shape.size(); i-- > 0; stride *= shape[i])
      strides[i] = stride;
    made.tensor = {mhac::DType::F32, made.memory.back().data(), shape, strides};
    return made;
  }

  /// Compares all pairs of one call.
  void check(const mhac::Spec &spec, func::FuncOp entry, AttentionOp op, const Sizes &sizes) {
    mhac::reference::Tensors tensors;
    std::map<std::string, input_values> inputs;
    std::vector<region_argument> params;
    for (Value param : op.getParams().drop_back(2)) {
      unsigned number = cast<BlockArgument>(param).getArgNumber();
      auto attribute = entry.getArgAttrOfType<ArgumentAttr>(number, kArgumentAttr);
      std::string name = attribute.getName().str();
      inputs[name] = fill(attribute, cast<RankedTensorType>(param.getType()).getElementType(), sizes);
      tensors[name] = inputs[name].tensor;
      params.push_back(inputs[name].argument);
    }
    for (int64_t b = 0; b < sizes.batch; ++b) {
      RowMask mask(spec, sizes, tensors, b);
      for (int64_t h = 0; h < heads; ++h)
        for (int64_t q = 0; q < sizes.query; ++q)
          for (int64_t k = 0; k < sizes.key; ++k, ++pairs) {
            std::vector<region_argument> arguments = {{b}, {h}, {q}, {k}};
            arguments.insert(arguments.end(), params.begin(), params.end());
            arguments.push_back({sizes.query});
            arguments.push_back({sizes.key});
            bool found = op.getMask().empty() || run_region(op.getMask().front(), arguments)[0];
            ASSERT_EQ(found, mask.isVisible(h, q, k)) << "b " << b << ", h " << h << ", q " << q << " of " << sizes.query << ", k " << k << " of " << sizes.key;
            visible += found;
          }
    }
  }

  std::mt19937 random{7}; // its numbers are fixed by the standard
  int64_t pairs = 0, visible = 0;
};

TEST_F(MaskRegions, AgreeWithTheReference) {
  int layers = 0;
  for (const char *masks : mask_lists)
    for (const char *padding : paddings)
      for (const char *offset : {"bottom_right", "top_left", "row_end"})
        for (bool shares_tokens : {true, false}) {
          std::string text = spec_text(std::string(masks) + (*padding ? ", " : "") + padding, offset, shares_tokens);
          SCOPED_TRACE(text);
          mhac::Diagnostics diagnostics;
          auto spec = mhac::readSpec(text, "f.yaml", diagnostics);
          ASSERT_TRUE(spec);
          MLIRContext context;
          OwningOpRef<ModuleOp> module = mhac::importSpec(*spec, context, diagnostics);
          ASSERT_TRUE(module);
          PassManager manager(&context, ModuleOp::getOperationName());
          manager.addNestedPass<func::FuncOp>(mhac::createExpandVariantsPass());
          ASSERT_TRUE(succeeded(manager.run(*module)));
          func::FuncOp entry = *module->getOps<func::FuncOp>().begin();
          AttentionOp op = *entry.getBody().getOps<AttentionOp>().begin();
          for (auto [queries, keys] : {std::pair<int64_t, int64_t>{1, 1}, {6, 6}, {3, 8}, {7, 4}})
            if (!shares_tokens || queries == keys)
              check(*spec, entry, op, {2, queries, keys});
          if (HasFatalFailure())
            return;
          ++layers;
        }
  EXPECT_EQ(layers, 24 * 4 * 3 * 2);
  EXPECT_GT(visible, pairs / 10);
  EXPECT_LT(visible, pairs * 9 / 10);
}

} // namespace
