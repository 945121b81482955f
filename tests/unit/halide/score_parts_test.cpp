// Which parts of a score region depend on the distance alone, and which regions are bounded.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "halide/ScoreParts.h"

#include "attention/AttentionDialect.h"

#include "mlir/Parser/Parser.h"

#include <gtest/gtest.h>

using namespace mlir;
using namespace mhac::attn;

namespace {

/// An attention whose score region has this body, in terms of %b %h %q %k %s, %bias and %table, and yields %r.
class ScoreParts : public testing::Test {
protected:
  Region &region(const std::string &body) {
    DialectRegistry registry;
    mhac::registerAttentionDialects(registry);
    context.appendDialectRegistry(registry);
    context.loadAllAvailableDialects();
    module = parseSourceString<ModuleOp>(
        "func.func @f(%x: tensor<?x2x?x4xf32>, %t: tensor<?x2x?x?xf32>, %u: tensor<8x2xf32>) -> tensor<?x2x?x4xf32> {\n"
        "  %o = attn.attention %x, %x, %x params(%t, %u : tensor<?x2x?x?xf32>, tensor<8x2xf32>) scale 1.0 : (tensor<?x2x?x4xf32>, tensor<?x2x?x4xf32>, "
        "tensor<?x2x?x4xf32>) -> (tensor<?x2x?x4xf32>)\n"
        "  score(%b: index, %h: index, %q: index, %k: index, %s: f32, %bias: tensor<?x2x?x?xf32>, %table: tensor<8x2xf32>) {\n" +
            body + "  attn.yield %r : f32\n  }\n  return %o : tensor<?x2x?x4xf32>\n}\n",
        &context);
    Region *found = nullptr;
    module->walk([&](AttentionOp op) { found = &op.getScore(); });
    return *found;
  }
  std::vector<std::string> distanceParts(const std::string &body) {
    std::vector<std::string> names;
    for (Value value : mhac::halide::findDistanceParts(region(body)))
      names.push_back(value.getDefiningOp()->getName().getStringRef().str());
    return names;
  }
  MLIRContext context;
  OwningOpRef<ModuleOp> module;
};

using Names = std::vector<std::string>;

TEST_F(ScoreParts, ATableByDistanceIsOneWithWhatIsMadeOfIt) {
  EXPECT_EQ(distanceParts("%c = arith.constant 3 : index\n %p = arith.addi %q, %c : index\n %d = arith.subi %k, %p : index\n"
                          "%e = attn.load %table[%d, %h] : tensor<8x2xf32> -> f32\n %f = math.exp %e : f32\n %r = arith.addf %s, %f : f32\n"),
            (Names{"math.exp"}));
}

TEST_F(ScoreParts, BothUsesOfADistanceAreParts) {
  EXPECT_EQ(distanceParts("%d = arith.subi %q, %k : index\n %e = attn.load %table[%d, %h] : tensor<8x2xf32> -> f32\n"
                          "%g = math.exp %e : f32\n %t = arith.mulf %s, %e : f32\n %r = arith.addf %t, %g : f32\n"),
            (Names{"attn.load", "math.exp"}));
}

TEST_F(ScoreParts, WhatLooksAtAPositionOrAtTheScoreIsNone) {
  // k + q, k alone, the score, a tensor along both.
  EXPECT_EQ(distanceParts("%d = arith.addi %q, %k : index\n %r = attn.load %table[%d, %h] : tensor<8x2xf32> -> f32\n"), Names());
  EXPECT_EQ(distanceParts("%d = arith.muli %k, %k : index\n %r = attn.load %table[%d, %h] : tensor<8x2xf32> -> f32\n"), Names());
  EXPECT_EQ(distanceParts("%r = math.tanh %s : f32\n"), Names());
  EXPECT_EQ(distanceParts("%e = attn.load %bias[%b, %h, %q, %k] : tensor<?x2x?x?xf32> -> f32\n %r = arith.addf %s, %e : f32\n"), Names());
}

TEST_F(ScoreParts, ANumberThatIsTheSameForAllPairsIsNone) {
  EXPECT_EQ(distanceParts("%e = attn.load %table[%h, %h] : tensor<8x2xf32> -> f32\n %r = arith.addf %s, %e : f32\n"), Names());
}

TEST_F(ScoreParts, OnlyACapAtTheEndBoundsScores) {
  const std::string cap = "%c = arith.constant 50.0 : f32\n %t = math.tanh %s : f32\n";
  EXPECT_TRUE(mhac::halide::isBounded(region(cap + "%r = arith.mulf %t, %c : f32\n")));
  EXPECT_FALSE(mhac::halide::isBounded(region(cap + "%r = arith.mulf %t, %s : f32\n")));
  EXPECT_FALSE(mhac::halide::isBounded(region(cap + "%u = arith.mulf %t, %c : f32\n %r = arith.addf %u, %s : f32\n")));
}

} // namespace
