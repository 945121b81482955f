// The mask over sorted tokens against the one that it is made from: with any buckets, every visible pair is seen in exactly one round.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "region_interpreter.h"

#include "attention/AttentionDialect.h"
#include "attention/ImportSpec.h"
#include "passes/Passes.h"
#include "spec/SpecReader.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Transforms/Passes.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <random>

using namespace mlir;
using namespace mhac::attn;

namespace {

constexpr int64_t heads = 4, kv_heads = 2, group = heads / kv_heads;

/// [1, heads, rows, tokens] of numbers.
struct table {
  int64_t heads, rows, tokens;
  std::vector<int64_t> elements = std::vector<int64_t>(size_t(heads * rows * tokens), 0);
  int64_t &at(int64_t h, int64_t row, int64_t i) { return elements[size_t((h * rows + row) * tokens + i)]; }
  region_argument argument() const { return {0, elements, {1, heads, rows, tokens}}; }
};

/// By its description in AttentionOps.td; places of buckets are not needed here.
table sorted(table &hash) {
  table order{hash.heads * hash.rows, 3, hash.tokens};
  for (int64_t h = 0; h < hash.heads; ++h)
    for (int64_t r = 0; r < hash.rows; ++r) {
      std::vector<int64_t> tokens(size_t(hash.tokens));
      std::iota(tokens.begin(), tokens.end(), 0);
      std::stable_sort(tokens.begin(), tokens.end(), [&](int64_t a, int64_t b) { return hash.at(h, r, a) < hash.at(h, r, b); });
      for (int64_t i = 0; i < hash.tokens; ++i)
        order.at(r * hash.heads + h, 0, i) = tokens[size_t(i)], order.at(r * hash.heads + h, 1, tokens[size_t(i)]) = i;
    }
  return order;
}

table ranges(table &queries, table &keys, table &query_order) {
  table ends{heads * queries.rows, 2, queries.tokens};
  for (int64_t r = 0; r < queries.rows; ++r)
    for (int64_t h = 0; h < heads; ++h)
      for (int64_t i = 0; i < queries.tokens; ++i) {
        int64_t bucket = queries.at(h, r, query_order.at(r * heads + h, 0, i));
        for (int64_t k = 0; k < keys.tokens; ++k) {
          ends.at(r * heads + h, 0, i) += keys.at(h / group, r, k) < bucket;
          ends.at(r * heads + h, 1, i) += keys.at(h / group, r, k) <= bucket;
        }
      }
  return ends;
}

AttentionOp attention(ModuleOp module) { return *(*module.getOps<func::FuncOp>().begin()).getBody().getOps<AttentionOp>().begin(); }

TEST(SortedMask, ShowsEveryPairOnceInTheRangesOfItsBlocks) {
  std::mt19937 random(3);
  int64_t visible = 0, cases = 0;
  for (auto [masks, buckets, rounds] : {std::tuple("lsh: {buckets: 2}", 2, 1), {"causal, lsh: {buckets: 4, rounds: 3}", 4, 3},
                                        {"lsh: {buckets: 6, rounds: 2}, sliding_window: {left: 5}", 6, 2}}) {
    std::string text = std::string("mhac: 1\nname: f\nlayer: {d_model: 16, heads: 4, kv_heads: 2, head_dim: 4}\nprojections: {input: none, output: false}\nmask: [") + masks + "]\n";
    mhac::Diagnostics diagnostics;
    auto spec = mhac::readSpec(text, "f.yaml", diagnostics);
    ASSERT_TRUE(spec);
    MLIRContext context;
    OwningOpRef<ModuleOp> plain = mhac::importSpec(*spec, context, diagnostics);
    ASSERT_TRUE(plain);
    PassManager expand(&context, ModuleOp::getOperationName());
    expand.addNestedPass<func::FuncOp>(mhac::createExpandVariantsPass());
    ASSERT_TRUE(succeeded(expand.run(*plain)));
    OwningOpRef<ModuleOp> other = plain->clone();
    PassManager sort(&context, ModuleOp::getOperationName());
    sort.addNestedPass<func::FuncOp>(mhac::createSortByBucketsPass());
    sort.addNestedPass<func::FuncOp>(mhac::createBlockStructurePass());
    ASSERT_TRUE(succeeded(sort.run(*other)));
    AttentionOp before = attention(*plain), after = attention(*other);
    ASSERT_TRUE(after.getQuery().getDefiningOp<GatherTokensOp>());

    for (auto [queries, keys] : {std::pair<int64_t, int64_t>{1, 1}, {9, 9}, {5, 12}, {13, 4}}) {
      table query_hash{heads, rounds, queries}, key_hash{kv_heads, rounds, keys};
      for (table *hash : {&query_hash, &key_hash})
        for (int64_t &bucket : hash->elements)
          bucket = int64_t(random() % unsigned(buckets));
      table query_order = sorted(query_hash), key_order = sorted(key_hash), ends = ranges(query_hash, key_hash, query_order);
      auto run = [&](Block &block, std::vector<region_argument> arguments, bool is_sorted) {
        arguments.push_back(query_hash.argument()), arguments.push_back(key_hash.argument());
        if (is_sorted)
          arguments.push_back(query_order.argument()), arguments.push_back(key_order.argument()), arguments.push_back(ends.argument());
        arguments.push_back({queries}), arguments.push_back({keys});
        return run_region(block, arguments);
      };
      for (int64_t h = 0; h < heads; ++h)
        for (int64_t q = 0; q < queries; ++q)
          for (int64_t k = 0; k < keys; ++k) {
            int64_t wanted = run(before.getMask().front(), {{0}, {h}, {q}, {k}}, false)[0], found = 0;
            for (int64_t r = 0; r < rounds; ++r) {
              const int64_t row = r * heads + h, i = query_order.at(row, 1, q), j = key_order.at(r * kv_heads + h / group, 1, k);
              const int64_t seen = run(after.getMask().front(), {{0}, {row}, {i}, {j}}, true)[0], last = std::min(i / 4 * 4 + 4, queries) - 1;
              std::vector<int64_t> range = run(after.getBlocks().front(), {{0}, {row}, {i / 4 * 4}, {last}}, true);
              found += seen;
              ASSERT_TRUE(!seen || (range[0] <= j && j < range[1])) << text << "h " << h << ", q " << q << ", k " << k << ", round " << r;
              ASSERT_TRUE(seen || j < range[2] || j >= range[3]) << text << "h " << h << ", q " << q << ", k " << k << ", round " << r;
            }
            ASSERT_EQ(found, wanted) << text << "h " << h << ", q " << q << " of " << queries << ", k " << k;
            visible += wanted, ++cases;
          }
    }
  }
  EXPECT_GT(visible, cases / 10);
  EXPECT_LT(visible, cases * 9 / 10);
}

} // namespace
