// The little expression language of masks and scores (specs/README.md has its grammar): text -> typed syntax tree. Every node knows which
// characters of the text it came from, so that whoever reports an error can point at a column of the YAML file.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "support/Located.h"

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace mhac {

/// Longer and more deeply nested expressions are refused: both keep hostile input cheap.
constexpr size_t maxExpressionLength = 4096;
constexpr unsigned maxExpressionNesting = 64, maxExpressionDepth = 512;
/// Integers lie in [-largestInteger, largestInteger]: a result beyond is the nearer end. Symmetric, so that negation cannot leave it, and such that
/// differences of two fit 32 bits, which kernels and attn-block-structure compute in.
constexpr int64_t largestInteger = 1073741823;
/// Sizes of a spec with expressions, hence positions, and values of integer parameters: differences of two such numbers are exact.
constexpr int64_t largestPosition = 250000000;

enum class ExpressionType { Boolean, Integer, Float };

/// A run-time input of expressions. `dims` is a part of "bhqk" in this order; empty: a number per call.
struct ExpressionParameter {
  std::string name;
  ExpressionType type = ExpressionType::Float;
  std::string dims;
  SourceLocation loc = {}; // of its name in the spec
};

/// "bool", "i64", "f32": rows of the dtype table.
llvm::StringRef parameterDType(ExpressionType type);

enum class ExpressionOp {
  Integer, Number,                                       // constants
  Query, Key, Head, Batch, Queries, Keys, Score,         // q k h b queries keys s
  Parameter,                                             // operands: its indices; none: its own element
  ToFloat,                                               // of an integer, where a float is wanted
  Negate, Not, Abs, Exp, Log, Tanh,                      // one operand
  Add, Subtract, Multiply, Divide, FloorDivide, Modulo,  // two
  Less, LessEqual, Greater, GreaterEqual, Equal, NotEqual, And, Or,
  Minimum, Maximum,                                      // two or more
  Where                                                  // condition, value if true, value otherwise
};

struct Expression {
  ExpressionOp op;
  ExpressionType type;
  int64_t integer = 0;     // Integer
  double number = 0;       // Number
  unsigned parameter = 0;  // Parameter: its place in the scope
  std::vector<Expression> operands = {};
  size_t offset = 0, length = 0; // in the text
  unsigned depth = 1;
};

/// What an expression is for: what its value must be, and whether it may read the score `s`.
enum class ExpressionUse { Mask, Score };

struct ExpressionError {
  size_t offset = 0, length = 1; // in the text
  std::string message;
};

/// The tree of a mask's condition (Boolean) or of a new score (Float), every operand of the type that its operator wants. Empty after the first
/// error, which is written to `error`.
std::optional<Expression> parseExpression(llvm::StringRef text, ExpressionUse use, llvm::ArrayRef<ExpressionParameter> parameters,
                                          ExpressionError &error);

/// "a boolean", "an integer", "a float".
llvm::StringRef describeType(ExpressionType type);

/// Whether the language uses the word itself: a name, a function or an operator. Parameters cannot have it.
bool isExpressionWord(llvm::StringRef word);

/// The places of the parameters that an expression reads, each once, in rising order.
std::vector<unsigned> usedParameters(const Expression &expression);

} // namespace mhac
