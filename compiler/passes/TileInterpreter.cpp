// An integer is an interval, a condition a pair (may, must): whether it can hold for some pair of the box, and whether it does for all. Parameters
// are summarised by the smallest and largest element of the part that the box reads, as long as that part is bounded by the tile.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "passes/TileInterpreter.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

#include <optional>

using namespace mlir;
using namespace mhac::attn;
using arith::CmpIPredicate;

namespace {

/// How far apart the ends of an interval can lie: not at all, as first and last query (or key) of the box, or anything.
enum class Width { Point, Queries, Keys, Any };

/// Both ends included.
struct Interval {
  Value lo, hi;
  Width width;
};

struct Verdict {
  Value may, must;
};

class TileInterpreter {
public:
  TileInterpreter(AttentionOp op, Block &tiles) : op(op), tiles(tiles), builder(op.getContext()), loc(op.getLoc()) {
    builder.setInsertionPointToStart(&tiles);
  }
  void run();

private:
  std::optional<Interval> number(Value value);
  std::optional<Interval> makeNumber(Value value);
  std::optional<Interval> load(LoadOp op);
  std::optional<Interval> product(const Interval &a, const Interval &b);
  std::optional<Interval> divide(const Interval &a, const Interval &b);
  std::optional<Interval> modulo(const Interval &a, const Interval &b);
  Verdict condition(Value value);
  Verdict makeCondition(Value value);
  Verdict compare(CmpIPredicate predicate, const Interval &a, const Interval &b);
  Verdict compare(arith::CmpFPredicate predicate, const Interval &a, const Interval &b);
  Verdict unknown() { return {flag(true), flag(false)}; }
  Verdict negate(const Verdict &v) {
    Value may = no(v.must);
    return {may, no(v.may)};
  }

  Value constant(int64_t value) { return arith::ConstantIndexOp::create(builder, loc, value); }
  Value zeroLike(Value value) { return arith::ConstantOp::create(builder, loc, builder.getZeroAttr(value.getType())); }
  Value flag(bool value) { return arith::ConstantOp::create(builder, loc, builder.getBoolAttr(value)); }
  template <typename Op> Value make(Value a, Value b) { return builder.createOrFold<Op>(loc, a, b); }
  Value add(Value a, Value b) { return make<arith::AddIOp>(a, b); }
  Value sub(Value a, Value b) { return make<arith::SubIOp>(a, b); }
  Value mul(Value a, Value b) { return make<arith::MulIOp>(a, b); }
  Value min(Value a, Value b) { return make<arith::MinSIOp>(a, b); }
  Value max(Value a, Value b) { return make<arith::MaxSIOp>(a, b); }
  Value both(Value a, Value b) { return make<arith::AndIOp>(a, b); }
  Value either(Value a, Value b) { return make<arith::OrIOp>(a, b); }
  Value no(Value a) { return make<arith::XOrIOp>(a, flag(true)); }
  Value test(CmpIPredicate predicate, Value a, Value b) { return builder.createOrFold<arith::CmpIOp>(loc, predicate, a, b); }
  Value select(Value flag, Value a, Value b) { return a == b ? a : builder.createOrFold<arith::SelectOp>(loc, flag, a, b); }
  static Width joined(Width a, Width b) { return a == Width::Point ? b : b == Width::Point ? a : Width::Any; }

  AttentionOp op;
  Block &tiles;
  OpBuilder builder;
  Location loc;
  IRMapping uniform; // mask value -> value of the tiles region, for what depends on neither q nor k
  llvm::DenseMap<Value, std::optional<Interval>> numbers;
  llvm::DenseMap<Value, Verdict> conditions;
};

void TileInterpreter::run() {
  Block &mask = op.getMask().front();
  mhac::copyUniform(mask, tiles, AttentionOp::Tiles, builder, uniform);
  Verdict visible = condition(cast<YieldOp>(mask.back()).getValues()[0]);
  YieldOp::create(builder, loc, ValueRange{visible.may, visible.must});
}

//===-- numbers -----------------------------------------------------------------------------------------------------------------------===//

std::optional<Interval> TileInterpreter::number(Value value) {
  auto found = numbers.find(value);
  if (found != numbers.end())
    return found->second;
  std::optional<Interval> result = makeNumber(value);
  numbers.try_emplace(value, result);
  return result;
}

std::optional<Interval> TileInterpreter::makeNumber(Value value) {
  Type type = value.getType();
  if (uniform.contains(value)) {
    Value copy = uniform.lookup(value);
    if (type.isInteger(8)) // a bool: not negative
      copy = builder.createOrFold<arith::IndexCastUIOp>(loc, builder.getIndexType(), copy);
    else if (type.isInteger(32))
      copy = builder.createOrFold<arith::IndexCastOp>(loc, builder.getIndexType(), copy);
    return Interval{copy, copy, Width::Point};
  }
  if (auto argument = dyn_cast<BlockArgument>(value)) {
    unsigned first = argument.getArgNumber() == 2 ? 2 : 4;
    return Interval{tiles.getArgument(first), tiles.getArgument(first + 1), first == 2 ? Width::Queries : Width::Keys};
  }
  Operation *definition = value.getDefiningOp();
  if (auto load = dyn_cast<LoadOp>(definition))
    return this->load(load);
  // Narrower integers wrap where index does not; floats are loaded and compared only. The ends of an i64 are i64: kernels give index 32 bits.
  if (!type.isIndex() && !type.isInteger(64))
    return std::nullopt;
  if (auto cast = dyn_cast<arith::IndexCastOp>(definition)) {
    std::optional<Interval> in = number(cast.getIn());
    if (!in || in->lo.getType() == type)
      return in;
    Value lo = builder.createOrFold<arith::IndexCastOp>(loc, type, in->lo);
    return Interval{lo, in->lo == in->hi ? lo : builder.createOrFold<arith::IndexCastOp>(loc, type, in->hi), in->width};
  }
  if (auto choice = dyn_cast<arith::SelectOp>(definition)) {
    std::optional<Interval> a = number(choice.getTrueValue()), b = number(choice.getFalseValue());
    if (!a || !b)
      return std::nullopt;
    Verdict chosen = condition(choice.getCondition());
    Value lo = min(a->lo, b->lo), hi = max(a->hi, b->hi);
    Value loElse = select(chosen.may, lo, b->lo), hiElse = select(chosen.may, hi, b->hi);
    Value first = select(chosen.must, a->lo, loElse);
    return Interval{first, select(chosen.must, a->hi, hiElse), Width::Any};
  }
  if (isa<math::AbsIOp>(definition)) {
    std::optional<Interval> a = number(definition->getOperand(0));
    if (!a)
      return std::nullopt;
    Value zero = zeroLike(a->lo), minus = sub(zero, a->lo);
    Value lo = max(max(a->lo, sub(zero, a->hi)), zero);
    return Interval{lo, max(minus, a->hi), a->width == Width::Point ? Width::Point : Width::Any};
  }
  if (definition->getNumOperands() != 2)
    return std::nullopt;
  std::optional<Interval> a = number(definition->getOperand(0)), b = number(definition->getOperand(1));
  if (!a || !b)
    return std::nullopt;
  Width width = joined(a->width, b->width);
  if (isa<arith::AddIOp>(definition)) {
    Value lo = add(a->lo, b->lo);
    return Interval{lo, add(a->hi, b->hi), width};
  }
  if (isa<arith::SubIOp>(definition)) {
    Value lo = sub(a->lo, b->hi);
    return Interval{lo, sub(a->hi, b->lo), width};
  }
  if (isa<arith::MinSIOp>(definition)) {
    Value lo = min(a->lo, b->lo);
    return Interval{lo, min(a->hi, b->hi), width};
  }
  if (isa<arith::MaxSIOp>(definition)) {
    Value lo = max(a->lo, b->lo);
    return Interval{lo, max(a->hi, b->hi), width};
  }
  if (isa<arith::MulIOp>(definition))
    return product(*a, *b);
  if (isa<FloorDivOp>(definition))
    return divide(*a, *b);
  if (isa<FloorModOp>(definition))
    return modulo(*a, *b);
  return std::nullopt;
}

/// The part of a parameter that the box reads, unless nothing bounds it. A bool reads as 0 or more.
std::optional<Interval> TileInterpreter::load(LoadOp load) {
  Type element = load.getType();
  if (!element.isF32() && !element.isInteger(8) && !element.isInteger(32) && !element.isInteger(64))
    return std::nullopt;
  SmallVector<Value> first, last;
  SmallVector<Attribute> spans;
  for (Value index : load.getIndices()) {
    std::optional<Interval> range = number(index);
    if (!range || range->width == Width::Any)
      return std::nullopt;
    first.push_back(range->lo);
    last.push_back(range->hi);
    Span span = range->width == Width::Point ? Span::Point : range->width == Width::Queries ? Span::Queries : Span::Keys;
    spans.push_back(SpanAttr::get(builder.getContext(), span));
  }
  Value param = uniform.lookup(load.getParam());
  if (load.getAscending()) { // the ends bound what lies between
    auto at = [&](ValueRange indices) -> Value {
      Value value = LoadOp::create(builder, loc, element, param, indices, /*ascending=*/true);
      return arith::IndexCastOp::create(builder, loc, builder.getIndexType(), value);
    };
    Value lo = at(first);
    return Interval{lo, at(last), Width::Any};
  }
  auto range = LoadRangeOp::create(builder, loc, TypeRange{element, element}, param, first, last, builder.getArrayAttr(spans));
  Value lo = range.getSmallest(), hi = range.getLargest();
  auto toIndex = [&](Value value) -> Value {
    if (element.isF32() || element.isInteger(64))
      return value;
    if (element.isInteger(8))
      return arith::IndexCastUIOp::create(builder, loc, builder.getIndexType(), value);
    return arith::IndexCastOp::create(builder, loc, builder.getIndexType(), value);
  };
  lo = toIndex(lo);
  return Interval{lo, toIndex(hi), Width::Any};
}

std::optional<Interval> TileInterpreter::product(const Interval &a, const Interval &b) {
  Width width = joined(a.width, b.width) == Width::Point ? Width::Point : Width::Any;
  if (a.lo == b.lo && a.hi == b.hi) { // a square
    Value x = mul(a.lo, a.lo), y = a.lo == a.hi ? x : mul(a.hi, a.hi), zero = zeroLike(a.lo);
    Value above = test(CmpIPredicate::sge, a.lo, zero), below = test(CmpIPredicate::sle, a.hi, zero);
    Value lo = select(either(above, below), min(x, y), zero);
    return Interval{lo, max(x, y), width};
  }
  Value ll = mul(a.lo, b.lo), lh = b.lo == b.hi ? ll : mul(a.lo, b.hi);
  Value hl = a.lo == a.hi ? ll : mul(a.hi, b.lo), hh = a.lo == a.hi ? lh : b.lo == b.hi ? hl : mul(a.hi, b.hi);
  Value lo = min(min(ll, lh), min(hl, hh));
  return Interval{lo, max(max(ll, lh), max(hl, hh)), width};
}

/// By one number: monotonous in the dividend, whatever the divisor's sign.
std::optional<Interval> TileInterpreter::divide(const Interval &a, const Interval &b) {
  if (b.width != Width::Point || b.lo != b.hi)
    return std::nullopt;
  Value x = make<FloorDivOp>(a.lo, b.lo), y = a.lo == a.hi ? x : make<FloorDivOp>(a.hi, b.lo);
  Value lo = min(x, y);
  return Interval{lo, max(x, y), a.width};
}

/// By one number: the remainders of both ends when they have one quotient, else all that there are.
std::optional<Interval> TileInterpreter::modulo(const Interval &a, const Interval &b) {
  if (b.width != Width::Point || b.lo != b.hi)
    return std::nullopt;
  Value divisor = b.lo, x = make<FloorModOp>(a.lo, divisor);
  if (a.lo == a.hi)
    return Interval{x, x, Width::Point};
  Value y = make<FloorModOp>(a.hi, divisor), first = make<FloorDivOp>(a.lo, divisor), last = make<FloorDivOp>(a.hi, divisor);
  Value isOne = test(CmpIPredicate::eq, first, last), zero = constant(0), one = constant(1);
  Value smallest = min(zero, add(divisor, one)), largest = max(zero, sub(divisor, one));
  Value lo = select(isOne, min(x, y), smallest);
  return Interval{lo, select(isOne, max(x, y), largest), Width::Any};
}

//===-- conditions --------------------------------------------------------------------------------------------------------------------===//

Verdict TileInterpreter::condition(Value value) {
  auto found = conditions.find(value);
  if (found != conditions.end())
    return found->second;
  Verdict result = makeCondition(value);
  conditions.try_emplace(value, result);
  return result;
}

Verdict TileInterpreter::makeCondition(Value value) {
  if (uniform.contains(value)) {
    Value copy = uniform.lookup(value);
    return {copy, copy};
  }
  Operation *definition = value.getDefiningOp();
  if (isa_and_nonnull<arith::AndIOp, arith::OrIOp, arith::XOrIOp>(definition)) {
    Verdict a = condition(definition->getOperand(0)), b = condition(definition->getOperand(1));
    if (isa<arith::AndIOp>(definition)) {
      Value may = both(a.may, b.may);
      return {may, both(a.must, b.must)};
    }
    if (isa<arith::OrIOp>(definition)) {
      Value may = either(a.may, b.may);
      return {may, either(a.must, b.must)};
    }
    Verdict notA = negate(a), notB = negate(b);
    Value first = both(a.may, notB.may), second = both(notA.may, b.may), third = both(a.must, notB.must), fourth = both(notA.must, b.must);
    Value may = either(first, second);
    return {may, either(third, fourth)};
  }
  if (auto choice = dyn_cast_or_null<arith::SelectOp>(definition)) {
    Verdict c = condition(choice.getCondition()), a = condition(choice.getTrueValue()), b = condition(choice.getFalseValue());
    Value yes = both(c.may, a.may), no_ = both(no(c.must), b.may);
    Value ifYes = either(a.must, no(c.may)), ifNo = either(b.must, c.must);
    Value may = either(yes, no_);
    return {may, both(ifYes, ifNo)};
  }
  if (auto comparison = dyn_cast_or_null<arith::CmpIOp>(definition)) {
    if (comparison.getLhs().getType().isInteger(1))
      return unknown();
    std::optional<Interval> a = number(comparison.getLhs()), b = number(comparison.getRhs());
    return a && b ? compare(comparison.getPredicate(), *a, *b) : unknown();
  }
  if (auto comparison = dyn_cast_or_null<arith::CmpFOp>(definition)) {
    std::optional<Interval> a = number(comparison.getLhs()), b = number(comparison.getRhs());
    return a && b ? compare(comparison.getPredicate(), *a, *b) : unknown();
  }
  return unknown();
}

Verdict TileInterpreter::compare(CmpIPredicate predicate, const Interval &a, const Interval &b) {
  using P = CmpIPredicate;
  switch (predicate) {
  case P::slt:
  case P::sle: {
    Value may = test(predicate, a.lo, b.hi);
    return {may, test(predicate, a.hi, b.lo)};
  }
  case P::sgt:
  case P::sge:
    return compare(predicate == P::sgt ? P::slt : P::sle, b, a);
  case P::eq: {
    Value overlapA = test(P::sle, a.lo, b.hi), overlapB = test(P::sle, b.lo, a.hi);
    Value oneA = test(P::eq, a.lo, a.hi), oneB = test(P::eq, b.lo, b.hi), same = test(P::eq, a.lo, b.lo);
    Value may = both(overlapA, overlapB);
    return {may, both(both(oneA, oneB), same)};
  }
  case P::ne:
    return negate(compare(P::eq, a, b));
  default: // unsigned
    return unknown();
  }
}

/// Ordered comparisons of loaded numbers and constants. A range that holds a NaN ends at the infinities, so that neither answer is certain.
Verdict TileInterpreter::compare(arith::CmpFPredicate predicate, const Interval &a, const Interval &b) {
  using P = arith::CmpFPredicate;
  switch (predicate) {
  case P::OGT:
  case P::OGE:
    return compare(predicate == P::OGT ? P::OLT : P::OLE, b, a);
  case P::OLT:
  case P::OLE: {
    Value may = builder.createOrFold<arith::CmpFOp>(loc, predicate, a.lo, b.hi);
    return {may, builder.createOrFold<arith::CmpFOp>(loc, predicate, a.hi, b.lo)};
  }
  default:
    return unknown();
  }
}

} // namespace

void mhac::copyUniform(Block &mask, Block &block, unsigned region, OpBuilder &builder, IRMapping &uniform) {
  uniform.map(mask.getArgument(0), block.getArgument(0));
  uniform.map(mask.getArgument(1), block.getArgument(1));
  const unsigned maskParams = AttentionOp::getFirstParamArgument(AttentionOp::Mask), params = AttentionOp::getFirstParamArgument(region);
  for (unsigned i = maskParams; i < mask.getNumArguments(); ++i)
    uniform.map(mask.getArgument(i), block.getArgument(i - maskParams + params));
  for (Operation &inner : mask.without_terminator()) {
    bool isUniform = llvm::all_of(inner.getOperands(), [&](Value operand) { return uniform.contains(operand); });
    // These regions run even when no pair exists, so what could trap there is not copied.
    if (isUniform && inner.getNumRegions() == 0 && isMemoryEffectFree(&inner) && isSpeculatable(&inner))
      builder.clone(inner, uniform);
  }
}

void mhac::interpretTile(AttentionOp op, Block &tiles) { TileInterpreter(op, tiles).run(); }
