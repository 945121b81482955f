// Integers of expressions saturate at +-largestInteger, kernels compute `index` in 32 bits that wrap, and attn-block-structure takes index
// arithmetic not to wrap. So the range of every integer is known here: what can leave it is computed in i64, clamped and cast back, and a
// comparison whose difference could leave it compares i64. Sizes and parameters up to largestPosition make that rare.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "attention/LowerExpression.h"

#include "attention/AttentionDialect.h"
#include "spec/YamlTree.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"

#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using arith::CmpIPredicate;

namespace mhac::attn {

//===-- attributes --------------------------------------------------------------------------------------------------------------------===//

static std::string declarationOf(const ExpressionParameter &parameter, int64_t heads) {
  std::string text = parameter.name + " " + parameterDType(parameter.type).str();
  for (char dim : parameter.dims)
    text += dim == 'b' ? " batch" : dim == 'h' ? " " + std::to_string(heads) : dim == 'q' ? " query" : " key";
  return text;
}

/// The inverse; false when the text is no declaration.
static bool parseDeclaration(StringRef text, ExpressionParameter &parameter) {
  SmallVector<StringRef> words;
  text.split(words, ' ');
  if (words.size() < 2)
    return false;
  parameter.name = words[0].str();
  bool known = false;
  for (ExpressionType type : {ExpressionType::Boolean, ExpressionType::Integer, ExpressionType::Float})
    if (parameterDType(type) == words[1])
      parameter.type = type, known = true;
  for (StringRef word : ArrayRef(words).drop_front(2)) {
    int64_t heads;
    char dim = word == "batch" ? 'b' : word == "query" ? 'q' : word == "key" ? 'k' : !word.getAsInteger(10, heads) ? 'h' : 0;
    if (dim == 0)
      return false;
    parameter.dims += dim;
  }
  return known;
}

std::optional<ExpressionSource> readExpression(VariantReader &reader, ExpressionUse use) {
  LocatedText text = reader.text("");
  ExpressionError error;
  std::optional<Expression> expression = parseExpression(text.text, use, reader.spec.parameters, error);
  if (!expression) {
    SourceLocation place = reader.element.arguments.kind == Tree::Kind::Null ? text.loc : placeIn(reader.element.arguments, error.offset);
    reader.diagnostics.error(place, error.message).length = error.length;
    return std::nullopt;
  }
  ExpressionSource source{text.text.str(), {}};
  for (unsigned used : usedParameters(*expression))
    source.parameters.push_back(StringAttr::get(reader.context, declarationOf(reader.spec.parameters[used], *reader.spec.layer.heads)));
  return source;
}

std::optional<Expression> parseSource(StringRef text, ExpressionUse use, ArrayRef<StringAttr> parameters,
                                      SmallVectorImpl<ExpressionParameter> &declared, std::string &error) {
  for (StringAttr declaration : parameters) {
    declared.emplace_back();
    if (!parseDeclaration(declaration.getValue(), declared.back())) {
      error = "wants declarations 'name dtype dims...', found '" + declaration.getValue().str() + "'";
      return std::nullopt;
    }
  }
  ExpressionError place;
  std::optional<Expression> expression = parseExpression(text, use, declared, place);
  if (!expression)
    error = "column " + std::to_string(place.offset + 1) + " of the expression: " + place.message;
  return expression;
}

SmallVector<VariantParameter> expressionInputs(ArrayRef<StringAttr> parameters) {
  SmallVector<VariantParameter> inputs;
  for (StringAttr declaration : parameters) {
    SmallVector<StringRef> words;
    declaration.getValue().split(words, ' ');
    VariantParameter input;
    input.name = words[0];
    input.dtype = words[1];
    for (StringRef dim : ArrayRef(words).drop_front(2))
      input.dims.push_back(dim.str());
    if (input.dims.empty())
      input.dims.push_back("1"); // a number per call
    inputs.push_back(std::move(input));
  }
  return inputs;
}

//===-- lowering ----------------------------------------------------------------------------------------------------------------------===//

namespace {

struct Range {
  int64_t lo = 0, hi = 0;
  bool fits(int64_t limit) const { return -limit <= lo && hi <= limit; }
};

Range hull(Range a, Range b) { return {std::min(a.lo, b.lo), std::max(a.hi, b.hi)}; }
Range sum(Range a, Range b) { return {a.lo + b.lo, a.hi + b.hi}; }
Range difference(Range a, Range b) { return {a.lo - b.hi, a.hi - b.lo}; }
Range product(Range a, Range b) {
  auto [lo, hi] = std::minmax({a.lo * b.lo, a.lo * b.hi, a.hi * b.lo, a.hi * b.hi});
  return {lo, hi};
}

/// Kernels look at queries and keys up to a tile beyond the last; what they find there never matters, but must not wrap either.
constexpr int64_t kSlack = 1 << 18;
/// How far values may go that attn-block-structure adds up.
constexpr int64_t kSafe = largestInteger - kSlack;
constexpr int kOpaque = 9;

/// A value of any type. An integer is `steps` * k + something in `rest`, in the way that attn-block-structure takes expressions apart; it lies in
/// `range` altogether. kOpaque: in no such way.
struct Lowered {
  Value value;
  Range range = {};
  int steps = 0;
  Range rest = {};
};

class Lowering {
public:
  Lowering(RegionBuilder &region, ArrayRef<ExpressionParameter> parameters, Value score)
      : region(region), builder(region.builder), loc(region.loc), parameters(parameters), score(score) {}

  Lowered lower(const Expression &node);

private:
  using Op = ExpressionOp;

  template <typename Made, typename... Arguments> Value make(Arguments &&...arguments) {
    return builder.createOrFold<Made>(loc, std::forward<Arguments>(arguments)...);
  }
  static Lowered integer(Value value, Range range) { return {value, range, 0, range}; }
  Value constant(int64_t value) { return region.constant(value); }
  Value wide(Value value) { return make<arith::IndexCastOp>(builder.getI64Type(), value); }
  Value wideConstant(int64_t value) { return arith::ConstantOp::create(builder, loc, builder.getI64IntegerAttr(value)); }
  Value clamped(Value value, Value lo, Value hi) {
    Value low = make<arith::MaxSIOp>(value, lo);
    return make<arith::MinSIOp>(low, hi);
  }

  template <typename Made> Lowered arithmetic(const Lowered &a, const Lowered &b, Range range, int steps, Range rest);
  Lowered lowerInteger(Op op, const Lowered &a, const Lowered &b);
  Lowered lowerFloorDivide(const Lowered &a, const Lowered &b);
  Lowered lowerFloorModulo(const Lowered &a, const Lowered &b);
  Value lowerFloat(Op op, Value a, Value b);
  Lowered lowerParameter(const Expression &node);
  Lowered lowerConversion(const Expression &node);
  Value lowerComparison(const Expression &node);
  Value compare(Op op, const Lowered &a, const Lowered &b);
  Value compareExtreme(Op op, Op extreme, ArrayRef<Lowered> parts, const Lowered &other);
  SmallVector<Lowered> extremeParts(const Expression &node);

  RegionBuilder &region;
  OpBuilder &builder;
  Location loc;
  ArrayRef<ExpressionParameter> parameters;
  Value score;
};

/// `range` is that of the exact result, which saturates when it is too large.
template <typename Made> Lowered Lowering::arithmetic(const Lowered &a, const Lowered &b, Range range, int steps, Range rest) {
  if (range.fits(largestInteger) && rest.fits(kSafe))
    return {make<Made>(a.value, b.value), range, steps, rest};
  Value left = wide(a.value), right = wide(b.value);
  Value exact = make<Made>(left, right), lo = wideConstant(-largestInteger), hi = wideConstant(largestInteger);
  range = {std::clamp(range.lo, -largestInteger, largestInteger), std::clamp(range.hi, -largestInteger, largestInteger)};
  Value inside = clamped(exact, lo, hi);
  return {make<arith::IndexCastOp>(builder.getIndexType(), inside), range, kOpaque, range};
}

Lowered Lowering::lowerInteger(Op op, const Lowered &a, const Lowered &b) {
  bool isAffine = a.steps != kOpaque && b.steps != kOpaque;
  auto stepsOf = [&](int steps) { return isAffine && -1 <= steps && steps <= 1 ? steps : kOpaque; };
  switch (op) {
  case Op::Add: {
    Range range = sum(a.range, b.range);
    int steps = stepsOf(a.steps + b.steps);
    return arithmetic<arith::AddIOp>(a, b, range, steps, steps == kOpaque ? range : sum(a.rest, b.rest));
  }
  case Op::Subtract: {
    Range range = difference(a.range, b.range);
    int steps = stepsOf(a.steps - b.steps);
    return arithmetic<arith::SubIOp>(a, b, range, steps, steps == kOpaque ? range : difference(a.rest, b.rest));
  }
  case Op::Multiply: {
    Range range = product(a.range, b.range);
    const Lowered &factor = b.range.lo == b.range.hi ? b : a, &other = b.range.lo == b.range.hi ? a : b;
    if (factor.range.lo == factor.range.hi && std::abs(factor.range.lo) <= 1 && other.steps != kOpaque)
      return arithmetic<arith::MulIOp>(a, b, range, other.steps * int(factor.range.lo), product(other.rest, factor.range));
    return arithmetic<arith::MulIOp>(a, b, range, a.steps == 0 && b.steps == 0 ? 0 : kOpaque, range);
  }
  case Op::FloorDivide:
    return lowerFloorDivide(a, b);
  case Op::Modulo:
    return lowerFloorModulo(a, b);
  case Op::Minimum:
  case Op::Maximum: {
    bool isMin = op == Op::Minimum;
    Value value = isMin ? make<arith::MinSIOp>(a.value, b.value) : make<arith::MaxSIOp>(a.value, b.value);
    int steps = isAffine && a.steps == b.steps ? a.steps : kOpaque;
    return {value, hull(a.range, b.range), steps, steps == kOpaque ? hull(a.range, b.range) : hull(a.rest, b.rest)};
  }
  default:
    llvm_unreachable("an operator of two integers");
  }
}

Lowered Lowering::lowerFloorDivide(const Lowered &a, const Lowered &b) {
  // The quotient is no larger than the dividend, which is symmetric.
  int64_t largest = std::max(std::abs(a.range.lo), std::abs(a.range.hi));
  Range range{-largest, largest};
  if (b.range.lo > 0)
    range = {a.range.lo < 0 ? a.range.lo : 0, std::max<int64_t>(a.range.hi, 0)};
  return {make<FloorDivOp>(a.value, b.value), range, a.steps == 0 && b.steps == 0 ? 0 : kOpaque, range};
}

Lowered Lowering::lowerFloorModulo(const Lowered &a, const Lowered &b) {
  Range range{std::min<int64_t>(b.range.lo + 1, 0), std::max<int64_t>(b.range.hi - 1, 0)};
  return {make<FloorModOp>(a.value, b.value), range, a.steps == 0 && b.steps == 0 ? 0 : kOpaque, range};
}

Value Lowering::lowerFloat(Op op, Value a, Value b) {
  switch (op) {
  case Op::Add: return make<arith::AddFOp>(a, b);
  case Op::Subtract: return make<arith::SubFOp>(a, b);
  case Op::Multiply: return make<arith::MulFOp>(a, b);
  case Op::Divide: return make<arith::DivFOp>(a, b);
  case Op::Minimum: return make<arith::MinimumFOp>(a, b);
  case Op::Maximum: return make<arith::MaximumFOp>(a, b);
  default: break;
  }
  Value ratio = make<arith::DivFOp>(a, b), quotient = make<math::FloorOp>(ratio);
  if (op == Op::FloorDivide)
    return quotient;
  Value product = make<arith::MulFOp>(quotient, b);
  return make<arith::SubFOp>(a, product);
}

Lowered Lowering::lowerParameter(const Expression &node) {
  const ExpressionParameter &parameter = parameters[node.parameter];
  SmallVector<Value> indices;
  if (parameter.dims.empty())
    indices.push_back(constant(0));
  for (auto [i, dim] : llvm::enumerate(parameter.dims)) {
    Value own = dim == 'b' ? region.b : dim == 'h' ? region.h : dim == 'q' ? region.q : region.k;
    indices.push_back(node.operands.empty() ? own : lower(node.operands[i]).value);
  }
  if (parameter.type != ExpressionType::Integer)
    return {region.load(parameter.name, indices)};
  return integer(region.load(parameter.name, indices, largestPosition), {-largestPosition, largestPosition});
}

Lowered Lowering::lowerConversion(const Expression &node) {
  Value value = make<arith::IndexCastOp>(builder.getI32Type(), lower(node.operands[0]).value);
  return {make<arith::SIToFPOp>(builder.getF32Type(), value)};
}

//===-- comparisons -------------------------------------------------------------------------------------------------------------------===//

static CmpIPredicate integerPredicate(ExpressionOp op) {
  switch (op) {
  case ExpressionOp::Less: return CmpIPredicate::slt;
  case ExpressionOp::LessEqual: return CmpIPredicate::sle;
  case ExpressionOp::Greater: return CmpIPredicate::sgt;
  case ExpressionOp::GreaterEqual: return CmpIPredicate::sge;
  case ExpressionOp::Equal: return CmpIPredicate::eq;
  default: return CmpIPredicate::ne;
  }
}

static arith::CmpFPredicate floatPredicate(ExpressionOp op) {
  switch (op) {
  case ExpressionOp::Less: return arith::CmpFPredicate::OLT;
  case ExpressionOp::LessEqual: return arith::CmpFPredicate::OLE;
  case ExpressionOp::Greater: return arith::CmpFPredicate::OGT;
  case ExpressionOp::GreaterEqual: return arith::CmpFPredicate::OGE;
  case ExpressionOp::Equal: return arith::CmpFPredicate::OEQ;
  default: return arith::CmpFPredicate::UNE;
  }
}

/// Two integers.
Value Lowering::compare(Op op, const Lowered &a, const Lowered &b) {
  bool isAffine = a.steps != kOpaque && b.steps != kOpaque && std::abs(a.steps - b.steps) <= 1;
  if (isAffine && !difference(a.rest, b.rest).fits(kSafe)) {
    Value left = wide(a.value), right = wide(b.value);
    return make<arith::CmpIOp>(integerPredicate(op), left, right);
  }
  return make<arith::CmpIOp>(integerPredicate(op), a.value, b.value);
}

/// The values whose largest or smallest `node` is: min(a, b), max(a, b), abs(a) = max(a, -a). Nothing for any other integer.
SmallVector<Lowered> Lowering::extremeParts(const Expression &node) {
  SmallVector<Lowered> parts;
  if (node.op != Op::Abs && node.op != Op::Minimum && node.op != Op::Maximum)
    return parts;
  for (const Expression &operand : node.operands)
    parts.push_back(lower(operand));
  if (node.op == Op::Abs)
    parts.push_back(lowerInteger(Op::Subtract, integer(constant(0), {0, 0}), parts[0]));
  return parts;
}

/// extreme(parts) op other, an inequality: of each part alone, so that every comparison is one that attn-block-structure can solve for k.
Value Lowering::compareExtreme(Op op, Op extreme, ArrayRef<Lowered> parts, const Lowered &other) {
  bool below = op == Op::Less || op == Op::LessEqual, isMin = extreme == Op::Minimum;
  Value result;
  for (const Lowered &part : parts) {
    Value condition = compare(op, part, other);
    // min < x when one is, max < x when all are.
    if (result && below == isMin)
      condition = make<arith::OrIOp>(result, condition);
    else if (result)
      condition = make<arith::AndIOp>(result, condition);
    result = condition;
  }
  return result;
}

Value Lowering::lowerComparison(const Expression &node) {
  const Expression &left = node.operands[0], &right = node.operands[1];
  if (left.type == ExpressionType::Float) {
    Value a = lower(left).value, b = lower(right).value;
    return make<arith::CmpFOp>(floatPredicate(node.op), a, b);
  }
  if (left.type == ExpressionType::Boolean) {
    Value a = lower(left).value, b = lower(right).value;
    return make<arith::CmpIOp>(integerPredicate(node.op), a, b);
  }
  if (node.op != Op::Equal && node.op != Op::NotEqual) {
    if (SmallVector<Lowered> parts = extremeParts(left); !parts.empty())
      return compareExtreme(node.op, left.op, parts, lower(right));
    if (SmallVector<Lowered> parts = extremeParts(right); !parts.empty()) {
      Op turned = node.op == Op::Less        ? Op::Greater
                  : node.op == Op::LessEqual ? Op::GreaterEqual
                  : node.op == Op::Greater   ? Op::Less
                                             : Op::LessEqual;
      return compareExtreme(turned, right.op, parts, lower(left));
    }
  }
  Lowered a = lower(left), b = lower(right);
  return compare(node.op, a, b);
}

//===-- nodes -------------------------------------------------------------------------------------------------------------------------===//

Lowered Lowering::lower(const Expression &node) {
  const Range positions{-largestPosition - kSlack, largestPosition + kSlack};
  bool isFloat = node.type == ExpressionType::Float;
  switch (node.op) {
  case Op::Integer:
    return integer(constant(node.integer), {node.integer, node.integer});
  case Op::Number:
    return {region.constantF32(node.number)};
  case Op::Query:
    return integer(region.queryPosition(), positions);
  case Op::Key:
    return {region.keyPosition(), positions, 1, positions};
  case Op::Head:
    return integer(region.h, {0, 65535});
  case Op::Batch:
    return integer(region.b, {0, largestInteger});
  case Op::Queries:
    return integer(region.queries(), {0, largestPosition});
  case Op::Keys:
    return integer(region.keys(), {0, largestPosition});
  case Op::Score:
    return {score};
  case Op::Parameter:
    return lowerParameter(node);
  case Op::ToFloat:
    return lowerConversion(node);
  case Op::Not: {
    Value operand = lower(node.operands[0]).value, one = arith::ConstantOp::create(builder, loc, builder.getBoolAttr(true));
    return {make<arith::XOrIOp>(operand, one)};
  }
  case Op::And:
  case Op::Or: {
    Value a = lower(node.operands[0]).value, b = lower(node.operands[1]).value;
    return {node.op == Op::And ? make<arith::AndIOp>(a, b) : make<arith::OrIOp>(a, b)};
  }
  case Op::Where: {
    Value condition = lower(node.operands[0]).value;
    Lowered yes = lower(node.operands[1]), no = lower(node.operands[2]);
    int steps = yes.steps == no.steps ? yes.steps : kOpaque;
    return {make<arith::SelectOp>(condition, yes.value, no.value), hull(yes.range, no.range), steps,
            steps == kOpaque ? hull(yes.range, no.range) : hull(yes.rest, no.rest)};
  }
  case Op::Negate: {
    Lowered operand = lower(node.operands[0]);
    if (isFloat)
      return {make<arith::NegFOp>(operand.value)};
    return lowerInteger(Op::Subtract, integer(constant(0), {0, 0}), operand);
  }
  case Op::Abs: {
    if (isFloat)
      return {make<math::AbsFOp>(lower(node.operands[0]).value)};
    SmallVector<Lowered> parts = extremeParts(node);
    Lowered result = lowerInteger(Op::Maximum, parts[0], parts[1]);
    result.range = {0, std::max(std::abs(result.range.lo), std::abs(result.range.hi))};
    return result;
  }
  case Op::Exp:
    return {make<math::ExpOp>(lower(node.operands[0]).value)};
  case Op::Log:
    return {make<math::LogOp>(lower(node.operands[0]).value)};
  case Op::Tanh:
    return {make<math::TanhOp>(lower(node.operands[0]).value)};
  case Op::Less: case Op::LessEqual: case Op::Greater: case Op::GreaterEqual: case Op::Equal: case Op::NotEqual:
    return {lowerComparison(node)};
  default: {
    Lowered result = lower(node.operands[0]);
    for (const Expression &operand : ArrayRef(node.operands).drop_front()) {
      Lowered next = lower(operand);
      result = isFloat ? Lowered{lowerFloat(node.op, result.value, next.value)} : lowerInteger(node.op, result, next);
    }
    return result;
  }
  }
}

} // namespace

Value lowerExpression(RegionBuilder &region, StringRef text, ExpressionUse use, ArrayRef<StringAttr> parameters, Value score) {
  SmallVector<ExpressionParameter> declared;
  std::string error; // the attribute's verifier has seen it
  std::optional<Expression> expression = parseSource(text, use, parameters, declared, error);
  return Lowering(region, declared, score).lower(*expression).value;
}

static bool reads(const Expression &node, ExpressionOp op) {
  return node.op == op || llvm::any_of(node.operands, [&](const Expression &operand) { return reads(operand, op); });
}

bool readsBothPositions(StringRef text, ExpressionUse use, ArrayRef<StringAttr> parameters) {
  SmallVector<ExpressionParameter> declared;
  std::string error;
  std::optional<Expression> expression = parseSource(text, use, parameters, declared, error);
  return reads(*expression, ExpressionOp::Query) && reads(*expression, ExpressionOp::Key);
}

} // namespace mhac::attn
