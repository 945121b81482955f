// What the lowered mask says about tiles against all of their pairs: never wrong for any mask, exact for the named ones.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "attention/AttentionDialect.h"
#include "attention/ImportSpec.h"
#include "attention/RegionEvaluator.h"
#include "passes/Passes.h"
#include "spec/SpecReader.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Pass/PassManager.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <random>

using namespace mlir;
using namespace mhac::attn;

namespace {

struct call_sizes {
  int64_t queries, keys;
};

/// A number for every element of every input, the same for the same place.
int64_t element_of(unsigned param, ArrayRef<int64_t> index, int64_t seed, int64_t range) {
  uint64_t hash = uint64_t(seed) * 0x9e3779b97f4a7c15u + param;
  for (int64_t i : index)
    hash = (hash ^ uint64_t(i / 5)) * 0xbf58476d1ce4e5b9u, hash ^= hash >> 29; // runs of equal values
  return int64_t(hash % uint64_t(range));
}

class TileStructure : public ::testing::Test {
protected:
  /// Lowers the layer; the op of its one attention.
  AttentionOp lower(const std::string &text) {
    mhac::Diagnostics diagnostics;
    auto spec = mhac::readSpec(text, "f.yaml", diagnostics);
    if (spec)
      module = mhac::importSpec(*spec, context, diagnostics);
    PassManager manager(&context, ModuleOp::getOperationName());
    mhac::buildLoweringPipeline(manager);
    if (!module || failed(manager.run(*module))) {
      ADD_FAILURE() << text;
      return {};
    }
    AttentionOp found;
    module->walk([&](AttentionOp op) { found = op; });
    return found;
  }

  SmallVector<RegionNumber> run(AttentionOp op, Region &region, std::initializer_list<int64_t> indices, call_sizes sizes, int64_t seed) {
    SmallVector<RegionNumber> arguments;
    for (int64_t index : indices)
      arguments.push_back({index, 0});
    const unsigned first = indices.size();
    const size_t count = op.getParams().size();
    for (size_t i = 0; i < count; ++i)
      arguments.push_back({i + 2 == count ? sizes.queries : i + 1 == count ? sizes.keys : 0, 0});
    auto element = [&](BlockArgument tensor, ArrayRef<int64_t> index) {
      Type type = cast<RankedTensorType>(tensor.getType()).getElementType();
      int64_t value = element_of(tensor.getArgNumber() - first, index, seed, type.isInteger(8) ? 2 : type.isInteger(64) ? sizes.keys + 1 : 3);
      return RegionNumber{value, double(value)};
    };
    auto extent = [&](BlockArgument tensor, int64_t dim) { return std::max<int64_t>(cast<RankedTensorType>(tensor.getType()).getDimSize(dim), 64); };
    auto result = evaluateRegion(region.front(), arguments, {element, extent});
    EXPECT_TRUE(result.has_value());
    return result.value_or(SmallVector<RegionNumber>(4));
  }

  /// Checks all tiles of a call; counts those that are seen as more than they are.
  void check(AttentionOp op, call_sizes sizes, int64_t query_block, int64_t key_tile, int64_t seed) {
    for (int64_t h = 0; h < 2; ++h)
      for (int64_t q = 0; q < sizes.queries; q += query_block) {
        const int64_t last_query = std::min(q + query_block, sizes.queries) - 1;
        auto range = run(op, op.getBlocks(), {0, h, q, last_query}, sizes, seed);
        for (int64_t k = 0; k < sizes.keys; k += key_tile) {
          const int64_t last_key = std::min(k + key_tile, sizes.keys) - 1;
          bool may = k < range[1].integer && last_key >= range[0].integer, must = k >= range[2].integer && last_key < range[3].integer;
          if (!op.getTiles().empty()) {
            auto verdict = run(op, op.getTiles(), {0, h, q, last_query, k, last_key}, sizes, seed);
            may = may && verdict[0].integer, must = may && verdict[1].integer;
          }
          bool some = false, all = true;
          for (int64_t key = k; key <= last_key; ++key) {
            bool seen = false;
            for (int64_t query = q; query <= last_query; ++query) {
              bool visible = run(op, op.getMask(), {0, h, query, key}, sizes, seed)[0].integer;
              seen |= visible, all &= visible;
            }
            some |= seen;
            // Without a list, V of every key in the interval is read.
            if (op.getTiles().empty() && key >= range[0].integer && key < range[1].integer) {
              ASSERT_TRUE(seen) << "key " << key << " of queries " << q << " to " << last_query;
            }
          }
          ASSERT_TRUE(may || !some) << "a tile that is not empty: queries " << q << " to " << last_query << ", keys " << k << " to " << last_key;
          ASSERT_TRUE(!must || all) << "a tile that is not full: queries " << q << " to " << last_query << ", keys " << k << " to " << last_key;
          inexact += (may && !some) || (all && !must);
          ++tiles;
        }
      }
  }

  MLIRContext context;
  OwningOpRef<ModuleOp> module;
  int64_t tiles = 0, inexact = 0;
};

std::string layer_with(const std::string &masks, const std::string &more = "") {
  return "mhac: 1\nname: f\nlayer: {d_model: 8, heads: 2}\nprojections: {input: none, output: false}\n" + more + "mask: " + masks + "\n";
}

constexpr call_sizes call_sizes_list[] = {{40, 40}, {17, 50}, {33, 7}};

TEST_F(TileStructure, IsExactForNamedMasks) {
  for (const char *masks : {"[causal]", "[sliding_window: {left: 5, right: 2}]", "[causal, sliding_window: {left: 9}]", "[global: {tokens: 3}]", "[prefix: 11]",
                            "[any: [causal, prefix: 9]]", "[chunked: 7]", "[causal, chunked: 12]", "[dilated: {window: 3, step: 2}]",
                            "[block_sparse: {block: 8, local: 1, global: 1, random: 0}]", "[block_sparse: {block: 16, local: 0, global: 0, random: 2}]"}) {
    SCOPED_TRACE(masks);
    AttentionOp op = lower(layer_with(masks, "query_offset: top_left\n"));
    ASSERT_TRUE(op);
    for (call_sizes sizes : call_sizes_list)
      check(op, sizes, 8, 4, 1);
    EXPECT_EQ(inexact, 0);
    inexact = 0;
  }
  EXPECT_GT(tiles, 1000);
}

TEST_F(TileStructure, IsNeverWrongForCombinationsAndInputs) {
  for (const char *masks : {"[causal, padding]", "[padding: {side: left}, sliding_window: {left: 4}]", "[document, causal]", "[global: {tokens: input}]",
                            "[tensor: {dtype: bool}]", "[tensor: {dtype: bool, broadcast: [q]}]", "[prefix: input, document]",
                            "[any: [[causal, document], global: {tokens: 2}, dilated: {window: 2, step: 5}]]",
                            "[padding: {side: both}, any: [chunked: 5, block_sparse: {block: 5, local: 0, global: 1, random: 1}]]"})
    for (const char *offset : {"bottom_right", "row_end"}) {
      SCOPED_TRACE(masks);
      AttentionOp op = lower(layer_with(masks, std::string("query_offset: ") + offset + "\n"));
      ASSERT_TRUE(op);
      for (call_sizes sizes : call_sizes_list)
        for (int64_t seed : {1, 2})
          check(op, sizes, 16, 6, seed);
    }
  EXPECT_GT(tiles, 2000);
}

/// Ends that do not follow the queries leave keys between that nobody sees.
TEST_F(TileStructure, ListsWhereEndsDoNotFollowTheQueries) {
  for (const char *text : {"q >= 10 and k <= q and k >= q", "k >= q and k >= 10 - q and k <= 6", "k >= min(q, 5) and k < q // 2 + 1", "k == 2 * q",
                           "k >= min(q, 10) and k <= max(1, q - 20)"}) {
    SCOPED_TRACE(text);
    AttentionOp op = lower(layer_with("[expr: \"" + std::string(text) + "\"]", "query_offset: top_left\n"));
    ASSERT_TRUE(op);
    EXPECT_FALSE(op.getTiles().empty());
    check(op, {40, 40}, 32, 4, 1);
  }
}

/// A random condition over q, k, h, a tensor and a scalar.
class Conditions {
public:
  explicit Conditions(uint32_t seed) : random(seed) {}
  std::string condition(int depth) {
    if (depth == 0 || pick(3) == 0)
      return number(2) + std::array{" < ", " <= ", " == ", " != ", " > ", " >= "}[pick(6)] + number(2);
    switch (pick(3)) {
    case 0:
      return "(" + condition(depth - 1) + " and " + condition(depth - 1) + ")";
    case 1:
      return "(" + condition(depth - 1) + " or " + condition(depth - 1) + ")";
    default:
      return "not (" + condition(depth - 1) + ")";
    }
  }

private:
  std::string number(int depth) {
    if (depth == 0 || pick(3) == 0)
      return std::array<std::string, 8>{"q", "k", "q", "k", "h", "ids", "limit", std::to_string(pick(25) - 5)}[pick(8)];
    const std::string a = number(depth - 1), b = number(depth - 1);
    switch (pick(8)) {
    case 0: return "(" + a + " + " + b + ")";
    case 1: return "(" + a + " - " + b + ")";
    case 2: return "(" + a + " * " + std::to_string(pick(4) - 1) + ")";
    case 3: return "(" + a + " // " + std::to_string(pick(6) - 1) + ")";
    case 4: return "(" + a + " % " + std::to_string(pick(6) - 1) + ")";
    case 5: return "min(" + a + ", " + b + ")";
    case 6: return "max(" + a + ", " + b + ")";
    default: return "abs(" + a + ")";
    }
  }
  int pick(int count) { return int(random() % uint32_t(count)); }
  std::mt19937 random;
};

TEST_F(TileStructure, IsNeverWrongForRandomExpressions) {
  int layers = 0;
  for (uint32_t seed = 0; seed < 150; ++seed) {
    const std::string text = Conditions(seed).condition(3);
    std::string parameters;
    if (text.find("ids") != std::string::npos)
      parameters += "  ids: {dtype: i64, dims: [k]}\n";
    if (text.find("limit") != std::string::npos)
      parameters += "  limit: {dtype: i64}\n";
    SCOPED_TRACE(text);
    AttentionOp op = lower(layer_with("[expr: \"" + text + "\"]", parameters.empty() ? "" : "parameters:\n" + parameters));
    ASSERT_TRUE(op);
    if (op.getMask().empty())
      continue; // always true
    check(op, {24, 20}, 8, 4, seed);
    if (HasFatalFailure())
      return;
    ++layers;
  }
  EXPECT_GT(layers, 100);
}

} // namespace
