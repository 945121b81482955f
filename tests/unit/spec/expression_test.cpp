// What an expression means as a tree, and where in its text an error is.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "spec/Expression.h"

#include <gtest/gtest.h>

using namespace mhac;

static const std::vector<ExpressionParameter> parameters = {{"n", ExpressionType::Integer, ""},
                                                            {"t", ExpressionType::Float, "hk"},
                                                            {"flag", ExpressionType::Boolean, "b"}};

/// Operators as words, in prefix form; i(...) is a conversion to float.
static std::string textOf(const Expression &node) {
  static const char *names[] = {"",  "",  "q", "k", "h", "b", "queries", "keys", "s",  "",  "f",  "neg", "not", "abs", "exp", "log", "tanh", "+",
                                "-", "*", "/", "//", "%", "<", "<=",      ">",    ">=", "==", "!=", "and", "or",  "min", "max", "where"};
  std::string text = names[static_cast<int>(node.op)];
  if (node.op == ExpressionOp::Integer)
    return std::to_string(node.integer);
  if (node.op == ExpressionOp::Number)
    return std::to_string(node.number);
  if (node.op == ExpressionOp::Parameter)
    text = parameters[node.parameter].name;
  if (node.operands.empty())
    return text;
  text = "(" + text;
  for (const Expression &operand : node.operands)
    text += " " + textOf(operand);
  return text + ")";
}

static std::string parse(const std::string &text, ExpressionUse use = ExpressionUse::Mask) {
  ExpressionError error;
  std::optional<Expression> tree = parseExpression(text, use, parameters, error);
  return tree ? textOf(*tree) : std::to_string(error.offset) + "+" + std::to_string(error.length) + ": " + error.message;
}

struct ParseCase {
  std::string text, tree;
};

TEST(Expression, BindsLikePython) {
  const std::vector<ParseCase> cases = {
      {"k <= q and q - k < 512", "(and (<= k q) (< (- q k) 512))"},
      {"k < 1 or k > 2 and q == 3", "(or (< k 1) (and (> k 2) (== q 3)))"},
      {"not k < q and q != 0", "(and (not (< k q)) (!= q 0))"},
      {"not not k < q", "(not (not (< k q)))"},
      {"k + q * 2 - 1 >= -k", "(>= (- (+ k (* q 2)) 1) (neg k))"},
      {"-k * q == 0", "(== (* (neg k) q) 0)"},
      {"q // 4 % 3 == 1", "(== (% (// q 4) 3) 1)"},
      {"q - k - 1 < (q - (k - 1))", "(< (- (- q k) 1) (- q (- k 1)))"},
      {"- -k < 1", "(< (neg (neg k)) 1)"},
      {"(k < 1) == (q < 1)", "(== (< k 1) (< q 1))"},
      {"flag", "flag"},
      {"flag[b + 1] and not flag", "(and (flag (+ b 1)) (not flag))"},
      {"t[h, k // 2] > 0.5", "(> (t h (// k 2)) 0.500000)"},
      {"t > n", "(> t (f n))"},
      {"k / 2 < 1", "(< (/ (f k) (f 2)) (f 1))"},
      {"where(flag, k, q) < max(1, 2, q)", "(< (where flag k q) (max 1 2 q))"},
      {"where(flag, k, 0.5) < 1", "(< (where flag (f k) 0.500000) (f 1))"},
      {"where(k < 1, flag, q < 1)", "(where (< k 1) flag (< q 1))"},
      {"exp(k) < abs(n)", "(< (exp (f k)) (f (abs n)))"},
      {"k<q\n  and\tq<queries", "(and (< k q) (< q queries))"},
      {"1e3 > .5", "(> 1000.000000 0.500000)"}};
  for (const ParseCase &each : cases)
    EXPECT_EQ(parse(each.text), each.tree) << each.text;
  EXPECT_EQ(cases.size(), 21u);
}

TEST(Expression, MakesAScoreAFloat) {
  EXPECT_EQ(parse("s + t", ExpressionUse::Score), "(+ s t)");
  EXPECT_EQ(parse("q - k", ExpressionUse::Score), "(f (- q k))");
  EXPECT_EQ(parse("where(k < q, s, 0)", ExpressionUse::Score), "(where (< k q) s (f 0))");
}

TEST(Expression, PointsAtTheErrorInTheText) {
  const std::vector<ParseCase> cases = {
      {"", "0+1: expected a number, a name or '(', found the end"},
      {"k <", "3+1: expected a number, a name or '(', found the end"},
      {"k < and q", "4+3: expected a number, a name or '(', found 'and'"},
      {"k < q q", "6+1: expected an operator or the end of the expression, found 'q'"},
      {"(k < q", "6+1: expected ')' to close '(', found the end"},
      {"k < q)", "5+1: expected an operator or the end of the expression, found ')'"},
      {"0 <= q < k", "7+1: comparisons do not chain; write '0 <= q and q < ...'"},
      {"k < q && q < 3", "6+2: '&&' is not an operator of expressions; use 'and'"},
      {"k = q", "2+1: '=' is not an operator of expressions; use '=='"},
      {"!flag", "0+1: '!' is not an operator of expressions; use 'not'"},
      {"k ** 2 < q", "2+2: '**' is not an operator of expressions; use repeated '*'"},
      {"k < q ? 1", "6+1: unexpected '?' in an expression"},
      {"k < \xc3\xa4", "4+2: unexpected '\xc3\xa4' in an expression"},
      {"k < 12k", "4+3: '12k' is not a number"},
      {"k < 1.2.3", "4+5: '1.2.3' is not a number"},
      {"k < 1073741824", "4+10: an integer must be at most 1073741823, found '1073741824'; a float has a fraction or an exponent"},
      {"k < 1e39", "4+4: a float must be within the range of f32, found '1e39'"},
      {"querys < 3", "0+6: unknown name 'querys'; did you mean 'queries'?"},
      {"zz < 3", "0+2: unknown name 'zz'; known names are 'q', 'k', 'h', 'b', 'queries', 'keys', 'n', 't' and 'flag'"},
      {"k < sqrt(q)", "4+4: unknown function 'sqrt'; known functions are 'min', 'max', 'abs', 'exp', 'log', 'tanh' and 'where'"},
      {"k < mim(q, 1)", "4+3: unknown function 'mim'; did you mean 'min'?"},
      {"s < 1", "0+1: 's', the score, is known in score expressions only"},
      {"k < min", "7+1: expected '(' behind the function 'min', found the end"},
      {"k < min(q)", "4+3: 'min' takes at least 2 arguments, found 1"},
      {"k < abs(q, 1)", "4+3: 'abs' takes 1 argument, found 2"},
      {"k < exp()", "4+3: 'exp' takes 1 argument, found 0"},
      {"k < abs(q 1)", "10+1: expected ')' or ',' behind an argument, found '1'"},
      {"k[0] < 1", "1+1: 'k' is a number and has no elements"},
      {"n[0] < 1", "1+1: 'n' is a number and has no elements"},
      {"t[h] < 1", "1+1: 't' has 2 dimensions, found 1 index"},
      {"flag[b, h]", "4+1: 'flag' has 1 dimension, found 2 indices"},
      {"t[h, 0.5] < 1", "5+3: an index must be an integer, found a float"},
      {"k + q", "0+5: a mask must be a condition, found an integer; write a comparison such as '!= 0'"},
      {"k and q", "0+1: 'and' wants booleans, found an integer; write a comparison such as '!= 0'"},
      {"not t", "4+1: 'not' wants booleans, found a float; write a comparison such as '!= 0'"},
      {"flag + 1 < 2", "0+4: '+' wants a number, found a boolean; where(condition, a, b) makes a number of one"},
      {"flag < 1", "0+4: '<' wants a number, found a boolean; where(condition, a, b) makes a number of one"},
      {"-flag < 1", "1+4: '-' wants a number, found a boolean; where(condition, a, b) makes a number of one"},
      {"where(k, 1, 2) < 1", "6+1: the first argument of 'where' must be a boolean, found an integer"},
      {"where(flag, flag, 2) < 1", "12+4: 'where' wants a number, found a boolean; where(condition, a, b) makes a number of one"}};
  for (const ParseCase &each : cases)
    EXPECT_EQ(parse(each.text), each.tree) << each.text;
  EXPECT_EQ(cases.size(), 40u);
  EXPECT_EQ(parse("s < 1", ExpressionUse::Score), "0+5: a score wants a number, found a boolean; where(condition, a, b) makes a number of one");
}

TEST(Expression, LimitsWhatItReads) {
  auto repeat = [](const std::string &text, int count) {
    std::string all;
    for (int i = 0; i < count; ++i)
      all += text;
    return all;
  };
  EXPECT_EQ(parse(repeat("(", 65) + "k"), "64+1: the expression is nested deeper than 64 levels");
  EXPECT_EQ(parse(repeat("(", 60) + "k < 1" + repeat(")", 60)), "(< k 1)");
  EXPECT_EQ(parse("k < " + repeat("-", 65) + "1"), "68+1: the expression is nested deeper than 64 levels");
  EXPECT_EQ(parse(repeat("not ", 65) + "flag"), "256+3: the expression is nested deeper than 64 levels");
  EXPECT_EQ(parse("0" + repeat("+k", 512) + " < 1"), "0+1025: the expression has more than 512 operators one after the other");
  EXPECT_EQ(parse("k <" + repeat(" ", 4096) + "1"), "0+1: an expression has at most 4096 characters, found 4100");
}

TEST(Expression, ListsTheParametersItReads) {
  ExpressionError error;
  std::optional<Expression> tree = parseExpression("t[h, n] > 0 and t < 1", ExpressionUse::Mask, parameters, error);
  ASSERT_TRUE(tree) << error.message;
  EXPECT_EQ(usedParameters(*tree), (std::vector<unsigned>{0, 1}));
}
