// The evaluator by numbers worked out by hand: integers that floor, saturate and divide by zero, floats that follow IEEE.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "reference/expressions.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

using namespace mhac;
using namespace mhac::reference;

namespace {

const std::vector<ExpressionParameter> parameters = {
    {"n", ExpressionType::Integer, ""}, {"big", ExpressionType::Integer, ""}, {"t", ExpressionType::Float, "hk"}, {"flag", ExpressionType::Boolean, "b"}};

/// Its value with q = 7, k = 5 at the slots 4 and 2, b = 1, h = 1, 8 queries, 9 keys, s = 0.5.
template <typename T = double> T valueOf(const std::string &text) {
  static const int64_t n[] = {-3}, big[] = {std::numeric_limits<int64_t>::max()};
  static const float t[] = {0, 1, 2, 3, 4, 5};
  static const uint8_t flag[] = {0, 2};
  const Tensors inputs = {{"n", {DType::I64, n, {1}, {1}}},
                          {"big", {DType::I64, big, {1}, {1}}},
                          {"t", {DType::F32, t, {2, 3}, {3, 1}}},
                          {"flag", {DType::I64, flag, {2}, {1}}}};
  ExpressionError error;
  std::optional<Expression> tree = parseExpression(text, ExpressionUse::Score, parameters, error);
  EXPECT_TRUE(tree) << text << ": " << error.message;
  ExpressionPoint point{1, 1, 4, 2, 7, 5, 8, 9};
  return tree ? evaluateScore<T>(*tree, parameters, inputs, point, T(0.5)) : T(-999);
}

constexpr double largest = largestInteger, infinity = std::numeric_limits<double>::infinity();

TEST(Expressions, KnowsTheNames) {
  EXPECT_EQ(valueOf("q * 1000 + k * 100 + h * 10 + b"), 7511);
  EXPECT_EQ(valueOf("queries * 10 + keys"), 89);
  EXPECT_EQ(valueOf("s * 4"), 2);
  EXPECT_EQ(valueOf("n"), -3);
  EXPECT_EQ(valueOf("t"), 5) << "own element: the slots, not the positions";
  EXPECT_EQ(valueOf("t[0, 1]"), 1);
  EXPECT_EQ(valueOf("t[n, k]"), 2) << "indices are clamped to the tensor";
  EXPECT_EQ(valueOf("where(flag, 1, 2)"), 1);
  EXPECT_EQ(valueOf("where(flag[0], 1, 2)"), 2);
}

TEST(Expressions, FloorIntegers) {
  EXPECT_EQ(valueOf("7 // 2"), 3);
  EXPECT_EQ(valueOf("-7 // 2"), -4);
  EXPECT_EQ(valueOf("7 // -2"), -4);
  EXPECT_EQ(valueOf("-7 // -2"), 3);
  EXPECT_EQ(valueOf("7 % 3"), 1);
  EXPECT_EQ(valueOf("-7 % 3"), 2);
  EXPECT_EQ(valueOf("7 % -3"), -2);
  EXPECT_EQ(valueOf("-7 % -3"), -1);
  EXPECT_EQ(valueOf("7 / 2"), 3.5);
}

TEST(Expressions, DivideIntegersByZeroToZero) {
  EXPECT_EQ(valueOf("7 // 0"), 0);
  EXPECT_EQ(valueOf("-7 % (n + 3)"), 0);
}

TEST(Expressions, SaturateIntegers) {
  EXPECT_EQ(valueOf("1073741823 + k"), largest);
  EXPECT_EQ(valueOf("-1073741823 - q"), -largest);
  EXPECT_EQ(valueOf("1073741823 * -1073741823"), -largest);
  EXPECT_EQ(valueOf("1073741823 * 1073741823 - 1"), largest - 1);
  EXPECT_EQ(valueOf("abs(-1073741823)"), largest);
  EXPECT_EQ(valueOf("big"), 2.5e8) << "integer parameters end there";
}

TEST(Expressions, FollowIeeeInFloats) {
  EXPECT_EQ(valueOf("1.0 / 0"), infinity);
  EXPECT_EQ(valueOf("-1.0 / 0"), -infinity);
  EXPECT_TRUE(std::isnan(valueOf("0.0 / 0")));
  EXPECT_EQ(valueOf("log(0)"), -infinity);
  EXPECT_EQ(valueOf("-7.5 // 2"), -4);
  EXPECT_EQ(valueOf("-7.5 % 2"), 0.5);
  EXPECT_EQ(valueOf("where(0.0 / 0 == 0.0 / 0, 1, 2)"), 2);
  EXPECT_EQ(valueOf<float>("0.1 + 0.2"), 0.1f + 0.2f);
  EXPECT_EQ(valueOf("0.1"), double(0.1f)) << "constants are those of the kernels";
}

TEST(Expressions, CallFunctions) {
  EXPECT_EQ(valueOf("min(3, 1, 2)"), 1);
  EXPECT_EQ(valueOf("max(3, 1.5, 4)"), 4);
  EXPECT_EQ(valueOf("abs(-2.5)"), 2.5);
  EXPECT_DOUBLE_EQ(valueOf("exp(1)"), std::exp(1.0));
  EXPECT_DOUBLE_EQ(valueOf("log(2)"), std::log(2.0));
  EXPECT_DOUBLE_EQ(valueOf("tanh(s)"), std::tanh(0.5));
}

TEST(Expressions, DecideMasksInF32) {
  ExpressionError error;
  // In double the sum is not the product.
  for (const auto &[text, holds] : {std::pair("16777216 + 1.0 == 16777216.0", true), {"q - k == 2 and not (k > q)", true}, {"k > q or q == 8", false}}) {
    std::optional<Expression> tree = parseExpression(text, ExpressionUse::Mask, {}, error);
    ASSERT_TRUE(tree) << text << ": " << error.message;
    EXPECT_EQ(evaluateMask(*tree, {}, {}, {0, 0, 4, 2, 7, 5, 8, 9}), holds) << text;
  }
}

} // namespace
