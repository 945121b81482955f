// attn-block-structure against brute force: every key of every block of every call is looked at. Sound for random masks, exact for the
// named ones.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "region_interpreter.h"

#include "attention/AttentionDialect.h"
#include "passes/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Transforms/Passes.h"

#include <gtest/gtest.h>

#include <random>

using namespace mlir;
using namespace mhac::attn;

namespace {

/// The sizes and parameters of one call, for one row of the batch.
struct call {
  int64_t queries, keys, length, start;
};

std::vector<call> calls() {
  std::vector<call> list;
  for (auto [queries, keys] : {std::pair<int64_t, int64_t>{1, 0}, {1, 1}, {3, 3}, {5, 5}, {2, 7}, {6, 4}})
    for (int64_t start = 0; start <= keys; start += 2)
      for (int64_t length = 0; length + start <= keys; length += 1)
        list.push_back({queries, keys, length, start});
  return list;
}

class BlockStructure : public ::testing::Test {
protected:
  BlockStructure() {
    DialectRegistry registry;
    mhac::registerAttentionDialects(registry);
    context.appendDialectRegistry(registry);
    context.loadAllAvailableDialects();
  }

  /// attn.attention with the given params, offset and masks, as text, inside a module.
  OwningOpRef<ModuleOp> parse(const std::string &params, const std::string &attributes) {
    const std::string q = "tensor<?x2x?x4xf32>";
    std::string text = "func.func @f(%q: T, %k: T, %lengths: tensor<?xi64>, %starts: tensor<?xi64>, %n: index) -> T {\n"
                       "  %o = attn.attention %q, %k, %k " + params + " scale 1.0 " + attributes + " : (T, T, T) -> (T)\n"
                       "  return %o : T\n}";
    for (size_t at = text.find('T'); at != std::string::npos; at = text.find('T'))
      text.replace(at, 1, q);
    return parseSourceString<ModuleOp>(text, &context);
  }

  void run(ModuleOp module, std::vector<std::unique_ptr<Pass>> passes) {
    PassManager manager(&context, ModuleOp::getOperationName());
    for (std::unique_ptr<Pass> &pass : passes)
      manager.addNestedPass<func::FuncOp>(std::move(pass));
    ASSERT_TRUE(succeeded(manager.run(module)));
  }

  static AttentionOp attention(ModuleOp module) {
    AttentionOp found;
    module.walk([&](AttentionOp op) { found = op; });
    return found;
  }

  /// Looks at every block of a call; counts blocks. `params` are those ahead of queries and keys.
  void check(AttentionOp op, const call &call, const std::vector<region_argument> &params, bool exact) {
    auto arguments = [&](int64_t third, int64_t fourth) {
      std::vector<region_argument> list = {{0}, {0}, {third}, {fourth}};
      list.insert(list.end(), params.begin(), params.end());
      list.push_back({call.queries});
      list.push_back({call.keys});
      return list;
    };
    auto visible = [&](int64_t q, int64_t k) { return op.getMask().empty() || run_region(op.getMask().front(), arguments(q, k))[0]; };
    for (int64_t first = 0; first < call.queries; ++first)
      for (int64_t last = first; last < call.queries; ++last, ++blocks) {
        std::vector<int64_t> found = run_region(op.getBlocks().front(), arguments(first, last));
        int64_t lo = found[0], hi = found[1], fullLo = found[2], fullHi = found[3];
        SCOPED_TRACE(::testing::Message() << "queries " << first << ".." << last << " of " << call.queries << ", keys " << call.keys
                                          << ", length " << call.length << ", start " << call.start << ": [" << lo << ", " << hi
                                          << ") full [" << fullLo << ", " << fullHi << ")");
        ASSERT_TRUE(0 <= lo && lo <= fullLo && fullLo <= fullHi && fullHi <= hi && hi <= call.keys);
        int64_t smallest = call.keys, largest = -1, count = 0;
        for (int64_t k = 0; k < call.keys; ++k) {
          int64_t seen = 0;
          for (int64_t q = first; q <= last; ++q)
            seen += visible(q, k);
          ASSERT_TRUE(seen == 0 || (lo <= k && k < hi)) << "key " << k << " is visible outside";
          ASSERT_TRUE(seen == last - first + 1 || k < fullLo || k >= fullHi) << "key " << k << " is hidden in the full part";
          if (seen != 0) {
            smallest = std::min(smallest, k);
            largest = k;
          }
          count += seen == last - first + 1;
        }
        if (exact) {
          ASSERT_EQ(hi - lo, std::max<int64_t>(0, largest - smallest + 1));
          ASSERT_EQ(fullHi - fullLo, count);
        }
      }
  }

  MLIRContext context;
  int64_t blocks = 0;
};

TEST_F(BlockStructure, IsExactForNamedMasks) {
  int masks = 0;
  for (std::string offset : {"", "offset top_left", "offset row_end"})
    for (std::string causal : {"", "#attn.causal"})
      for (std::string side : {"", "right", "left", "both"}) {
        std::string params = side == "right" ? "params(%lengths : tensor<?xi64>)"
                             : side == "left" ? "params(%starts : tensor<?xi64>)"
                             : side == "both" ? "params(%lengths, %starts : tensor<?xi64>, tensor<?xi64>)"
                                              : "";
        std::string padding = side.empty() ? "" : "#attn.padding<side = " + side + ">";
        std::string list = causal + (causal.empty() || side.empty() ? "" : ", ") + padding;
        OwningOpRef<ModuleOp> module = parse(params, offset + (list.empty() ? "" : " masks [" + list + "]"));
        ASSERT_TRUE(module);
        std::vector<std::unique_ptr<Pass>> passes;
        passes.push_back(mhac::createExpandVariantsPass());
        passes.push_back(mhac::createBlockStructurePass());
        passes.push_back(createCanonicalizerPass());
        run(*module, std::move(passes));
        SCOPED_TRACE(offset + " " + list);
        for (const call &call : calls()) {
          std::vector<region_argument> given;
          if (side == "right" || side == "both")
            given.push_back({0, {call.length}});
          if (side == "left" || side == "both")
            given.push_back({0, {call.start}});
          check(attention(*module), call, given, /*exact=*/true);
        }
        ++masks;
      }
  EXPECT_EQ(masks, 24);
  EXPECT_EQ(calls().size(), 50u);
  EXPECT_EQ(blocks, 11232);
}

/// A random mask over k, q, sizes and loaded parameters; wrong operands never occur because every list starts filled.
class RandomMask {
public:
  RandomMask(AttentionOp op, unsigned seed) : random(seed), builder(op.getContext()), loc(op.getLoc()) {
    Block &block = op.addRegionBlock(1);
    builder.setInsertionPointToStart(&block);
    for (unsigned i : {2, 3, 6, 7}) // q, k, queries, keys
      numbers.push_back(block.getArgument(i));
    for (unsigned i : {4, 5}) {
      Value element = LoadOp::create(builder, loc, builder.getI64Type(), block.getArgument(i), ValueRange(block.getArgument(0)));
      numbers.push_back(arith::IndexCastOp::create(builder, loc, builder.getIndexType(), element));
    }
    for (int i = 0; i < 3; ++i)
      numbers.push_back(arith::ConstantIndexOp::create(builder, loc, pick(9) - 4));
    conditions.push_back(compare());
    for (int steps = 2 + pick(8); steps > 0; --steps)
      pick(2) ? numbers.push_back(number()) : conditions.push_back(condition());
    conditions.push_back(condition());
    YieldOp::create(builder, loc, conditions.back());
  }

private:
  int64_t pick(int64_t count) { return random() % count; }
  Value any(const std::vector<Value> &list) { return list[pick(list.size())]; }
  Value compare() {
    return arith::CmpIOp::create(builder, loc, static_cast<arith::CmpIPredicate>(pick(10)), any(numbers), any(numbers));
  }
  Value number() {
    Value a = any(numbers), b = any(numbers);
    switch (pick(6)) {
    case 0: return arith::AddIOp::create(builder, loc, a, b);
    case 1: return arith::SubIOp::create(builder, loc, a, b);
    case 2: return arith::MinSIOp::create(builder, loc, a, b);
    case 3: return arith::MaxSIOp::create(builder, loc, a, b);
    case 4: return arith::MulIOp::create(builder, loc, a, arith::ConstantIndexOp::create(builder, loc, pick(5) - 2));
    default: return arith::SelectOp::create(builder, loc, any(conditions), a, b);
    }
  }
  Value condition() {
    Value a = any(conditions), b = pick(3) ? compare() : any(conditions);
    switch (pick(6)) {
    case 0: return arith::OrIOp::create(builder, loc, a, b);
    case 1: return arith::XOrIOp::create(builder, loc, a, b);
    case 2: return arith::XOrIOp::create(builder, loc, a, arith::ConstantOp::create(builder, loc, builder.getBoolAttr(true)));
    case 3: return arith::SelectOp::create(builder, loc, a, b, any(conditions));
    default: return arith::AndIOp::create(builder, loc, a, b);
    }
  }

  std::mt19937 random; // its numbers are fixed by the standard
  OpBuilder builder;
  Location loc;
  std::vector<Value> numbers, conditions;
};

TEST_F(BlockStructure, IsSoundForRandomMasks) {
  constexpr unsigned masks = 600;
  for (unsigned seed = 0; seed < masks && !HasFatalFailure(); ++seed) {
    OwningOpRef<ModuleOp> module = parse("params(%lengths, %starts, %n, %n : tensor<?xi64>, tensor<?xi64>, index, index)", "");
    ASSERT_TRUE(module);
    RandomMask(attention(*module), seed);
    std::vector<std::unique_ptr<Pass>> passes;
    passes.push_back(mhac::createBlockStructurePass());
    run(*module, std::move(passes));
    SCOPED_TRACE(::testing::Message() << "seed " << seed);
    for (const call &call : calls())
      if ((seed + call.length + 3 * call.start) % 5 == 0)
        check(attention(*module), call, {{0, {call.length}}, {0, {call.start}}}, /*exact=*/false);
  }
  EXPECT_EQ(blocks, 56160);
}

TEST_F(BlockStructure, RefusesUnexpandedVariants) {
  OwningOpRef<ModuleOp> module = parse("", "masks [#attn.causal]");
  ASSERT_TRUE(module);
  std::string message;
  ScopedDiagnosticHandler handler(&context, [&](mlir::Diagnostic &diagnostic) {
    message += diagnostic.str();
    return success();
  });
  PassManager manager(&context, ModuleOp::getOperationName());
  manager.addNestedPass<func::FuncOp>(mhac::createBlockStructurePass());
  EXPECT_TRUE(failed(manager.run(*module)));
  EXPECT_NE(message.find("wants expanded variants"), std::string::npos) << message;
}

} // namespace
