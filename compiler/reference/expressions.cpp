// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "reference/expressions.h"

#include <algorithm>
#include <cmath>
#include <initializer_list>

namespace mhac::reference {

namespace {

/// A value of any type; the node's type says which member counts. Booleans are 0 or 1 in `integer`.
template <typename T> struct Value {
  int64_t integer = 0;
  T number = 0;
};

int64_t saturated(int64_t value) { return std::clamp(value, -largestInteger, largestInteger); }

int64_t floorDivide(int64_t a, int64_t b) {
  if (b == 0)
    return 0;
  int64_t quotient = a / b;
  return quotient * b != a && (a < 0) != (b < 0) ? quotient - 1 : quotient;
}

template <typename T> class Evaluator {
public:
  Evaluator(llvm::ArrayRef<ExpressionParameter> parameters, const Tensors &inputs, const ExpressionPoint &point, T score)
      : parameters(parameters), inputs(inputs), point(point), score(score) {}

  Value<T> evaluate(const Expression &node);

private:
  using Op = ExpressionOp;

  static Value<T> integer(int64_t value) { return {saturated(value), T(0)}; }
  static Value<T> number(T value) { return {0, value}; }
  static Value<T> boolean(bool value) { return {value, T(0)}; }

  static bool compare(Op op, auto a, auto b) {
    switch (op) {
    case Op::Less: return a < b;
    case Op::LessEqual: return a <= b;
    case Op::Greater: return a > b;
    case Op::GreaterEqual: return a >= b;
    case Op::Equal: return a == b;
    default: return a != b;
    }
  }

  /// Both operands and the result have one type, Integer or Float.
  static Value<T> arithmetic(Op op, bool isFloat, const Value<T> &x, const Value<T> &y) {
    // All products and sums of two integers of the language fit int64_t.
    int64_t a = x.integer, b = y.integer;
    T u = x.number, v = y.number;
    switch (op) {
    case Op::Add: return isFloat ? number(u + v) : integer(a + b);
    case Op::Subtract: return isFloat ? number(u - v) : integer(a - b);
    case Op::Multiply: return isFloat ? number(u * v) : integer(a * b);
    case Op::Divide: return number(u / v);
    case Op::FloorDivide: return isFloat ? number(std::floor(u / v)) : integer(floorDivide(a, b));
    case Op::Modulo: {
      if (isFloat) {
        T quotient = std::floor(u / v), product = quotient * v;
        return number(u - product);
      }
      return integer(b == 0 ? 0 : a - floorDivide(a, b) * b);
    }
    case Op::Minimum: return isFloat ? number(u < v ? u : v) : integer(std::min(a, b));
    default: return isFloat ? number(u > v ? u : v) : integer(std::max(a, b));
    }
  }

  Value<T> load(const Expression &node);

  llvm::ArrayRef<ExpressionParameter> parameters;
  const Tensors &inputs;
  const ExpressionPoint &point;
  T score;
};

template <typename T> Value<T> Evaluator<T>::load(const Expression &node) {
  const ExpressionParameter &parameter = parameters[node.parameter];
  const Tensor &tensor = inputs.find(parameter.name)->second;
  int64_t offset = 0;
  for (size_t i = 0; i < parameter.dims.size(); ++i) {
    char dim = parameter.dims[i];
    int64_t own = dim == 'b' ? point.b : dim == 'h' ? point.h : dim == 'q' ? point.q : point.k;
    int64_t index = node.operands.empty() ? own : evaluate(node.operands[i]).integer;
    offset += std::clamp<int64_t>(index, 0, tensor.shape[i] - 1) * tensor.strides[i];
  }
  switch (parameter.type) {
  case ExpressionType::Boolean:
    return boolean(static_cast<const uint8_t *>(tensor.data)[offset] != 0);
  case ExpressionType::Integer:
    return integer(std::clamp(static_cast<const int64_t *>(tensor.data)[offset], -largestPosition, largestPosition));
  case ExpressionType::Float:
    break;
  }
  return number(static_cast<const float *>(tensor.data)[offset]);
}

template <typename T> Value<T> Evaluator<T>::evaluate(const Expression &node) {
  auto in = [&](size_t i) { return evaluate(node.operands[i]); };
  switch (node.op) {
  case Op::Integer: return integer(node.integer);
  case Op::Number: return number(T(float(node.number))); // kernels hold f32
  case Op::Query: return integer(point.queryPosition);
  case Op::Key: return integer(point.keyPosition);
  case Op::Head: return integer(point.h);
  case Op::Batch: return integer(point.b);
  case Op::Queries: return integer(point.queries);
  case Op::Keys: return integer(point.keys);
  case Op::Score: return number(score);
  case Op::Parameter: return load(node);
  case Op::ToFloat: return number(T(in(0).integer));
  case Op::Not: return boolean(!in(0).integer);
  case Op::And: return boolean(in(0).integer && in(1).integer);
  case Op::Or: return boolean(in(0).integer || in(1).integer);
  case Op::Where: return in(0).integer ? in(1) : in(2);
  case Op::Negate: {
    Value<T> x = in(0);
    return {-x.integer, -x.number};
  }
  case Op::Abs: {
    Value<T> x = in(0);
    return {std::abs(x.integer), std::abs(x.number)};
  }
  case Op::Exp: return number(std::exp(in(0).number));
  case Op::Log: return number(std::log(in(0).number));
  case Op::Tanh: return number(std::tanh(in(0).number));
  case Op::Less: case Op::LessEqual: case Op::Greater: case Op::GreaterEqual: case Op::Equal: case Op::NotEqual: {
    Value<T> x = in(0), y = in(1);
    bool isFloat = node.operands[0].type == ExpressionType::Float;
    return boolean(isFloat ? compare(node.op, x.number, y.number) : compare(node.op, x.integer, y.integer));
  }
  default: {
    Value<T> result = in(0);
    for (size_t i = 1; i < node.operands.size(); ++i)
      result = arithmetic(node.op, node.type == ExpressionType::Float, result, in(i));
    return result;
  }
  }
}

} // namespace

std::vector<int64_t> parameterShape(const ExpressionParameter &parameter, const Sizes &sizes, int64_t heads) {
  if (parameter.dims.empty())
    return {1}; // a number per call
  std::vector<int64_t> shape;
  for (char dim : parameter.dims)
    shape.push_back(dim == 'b' ? sizes.batch : dim == 'h' ? heads : dim == 'q' ? sizes.query : sizes.key);
  return shape;
}

bool dependsOnHead(const Expression &expression, llvm::ArrayRef<ExpressionParameter> parameters) {
  bool readsOwn = expression.op == ExpressionOp::Parameter && expression.operands.empty() &&
                  parameters[expression.parameter].dims.find('h') != std::string::npos;
  return expression.op == ExpressionOp::Head || readsOwn || std::any_of(expression.operands.begin(), expression.operands.end(), [&](const Expression &operand) {
           return dependsOnHead(operand, parameters);
         });
}

bool evaluateMask(const Expression &expression, llvm::ArrayRef<ExpressionParameter> parameters, const Tensors &inputs,
                  const ExpressionPoint &point) {
  return Evaluator<float>(parameters, inputs, point, 0).evaluate(expression).integer != 0;
}

template <typename T>
T evaluateScore(const Expression &expression, llvm::ArrayRef<ExpressionParameter> parameters, const Tensors &inputs,
                const ExpressionPoint &point, T score) {
  return Evaluator<T>(parameters, inputs, point, score).evaluate(expression).number;
}

template float evaluateScore(const Expression &, llvm::ArrayRef<ExpressionParameter>, const Tensors &, const ExpressionPoint &, float);
template double evaluateScore(const Expression &, llvm::ArrayRef<ExpressionParameter>, const Tensors &, const ExpressionPoint &, double);

} // namespace mhac::reference
