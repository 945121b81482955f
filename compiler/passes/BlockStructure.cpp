// attn-block-structure: an abstract interpreter of the mask region over a block of consecutive queries (Passes.td).
//
// What the mask computes without q and k is copied. Of the rest, an integer is c * k + [lo, hi] with c in {-1, 0, 1}, and a condition two
// intervals of keys: `may` contains every key for which it holds for some query of the block, `must` only keys for which it holds for all.
// Ends are values of the blocks region, so everything is decided by the sizes and parameters of the call. Intervals may have lo > hi,
// which is empty like lo == hi, and may reach outside [0, keys) until they are clamped at the end. Index arithmetic is taken not to wrap.
//
// Everything that emits is called in its own statement or between braces: C++ leaves the order of call arguments open, and the same
// input must give the same text whichever compiler built us.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "passes/Passes.h"
#include "passes/TileInterpreter.h"

#include "attention/AttentionDialect.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/Matchers.h"

#include <optional>

using namespace mlir;
using namespace mhac::attn;
using arith::CmpIPredicate;

namespace mhac {
#define GEN_PASS_DEF_BLOCKSTRUCTUREPASS
#include "passes/Passes.h.inc"
} // namespace mhac

namespace {

/// Of a value that is not the queries' position plus or minus something that all queries share.
constexpr int kUnknownSlope = 9;

/// Alternatives that are joined exactly.
constexpr int kMostAlternatives = 3;

/// c * k + [lo, hi], both ends included. One value known exactly has lo == hi, the same SSA value. `slope`: by how much it grows from one query to
/// the next, 1, -1 or 0, so that lo and hi are its values for the first and last query or the reverse.
struct Affine {
  int c;
  Value lo, hi;
  int slope = 0;
  bool isExact() const { return c == 0 && lo == hi; }
};

/// Keys lo <= k < hi.
struct Keys {
  Value lo, hi;
};

/// `perQuery`: for each query it holds for an interval of keys whose ends stay where they are or follow the query, one key a query. Then those of a
/// block of queries leave no gap, `may` and `must` say everything, and some query sees each key of `may`.
struct Condition {
  Keys may, must;
  bool perQuery;
  int alternatives = 0; // how many were joined with cases for empty intervals, one in the other: each doubles what is to be computed
};

class Interpreter {
public:
  Interpreter(AttentionOp op, Block &blocks);
  /// Emits the region's body and its yield. False when there is more to say about tiles than intervals do.
  bool run();

private:
  std::optional<Affine> integer(Value value);
  std::optional<Affine> makeInteger(Value value);
  std::optional<Affine> ascending(LoadOp load);
  std::optional<Affine> makeProduct(const Affine &a, const Affine &b);
  Condition condition(Value value, bool negated);
  Condition makeCondition(Value value, bool negated);
  Condition exclusive(Value a, Value b, bool negated);
  Condition compare(CmpIPredicate predicate, Value left, Value right);
  Condition compareUnsigned(CmpIPredicate predicate, const Affine &left, const Affine &right);
  Condition compareSigned(CmpIPredicate predicate, const Affine &left, const Affine &right);
  Condition atMostZero(const Affine &value);
  Condition when(Value flag);
  Condition choose(Value flag, const Condition &yes, const Condition &no);
  Condition conjunction(const Condition &a, const Condition &b) {
    Keys may = intersect(a.may, b.may);
    return {may, intersect(a.must, b.must), a.perQuery && b.perQuery, std::max(a.alternatives, b.alternatives)};
  }
  Condition disjunction(const Condition &a, const Condition &b) {
    // Intervals that begin with the first key have no gap between them, and the longest is their union, also of empty ones.
    if (llvm::all_of(ArrayRef<Keys>{a.may, b.may, a.must, b.must}, [&](const Keys &range) { return range.lo == zero; })) {
      Value may = min(max(a.may.hi, b.may.hi), keys), must = min(max(a.must.hi, b.must.hi), keys);
      return {{zero, may}, {zero, must}, a.perQuery && b.perQuery, std::max(a.alternatives, b.alternatives)};
    }
    const int alternatives = std::max(a.alternatives, b.alternatives) + 1;
    Keys aMay = clamp(a.may), bMay = clamp(b.may);
    if (alternatives > kMostAlternatives) // the list of tiles says the rest
      return {{min(aMay.lo, bMay.lo), max(aMay.hi, bMay.hi)}, none(), false, alternatives};
    Keys aMust = clamp(a.must), bMust = clamp(b.must), may = hull(aMay, bMay);
    return {may, joined(aMust, bMust), false, alternatives};
  }
  Keys clamp(Keys range) { return {max(range.lo, zero), min(range.hi, keys)}; }
  Keys intersect(Keys a, Keys b) { return {max(a.lo, b.lo), min(a.hi, b.hi)}; }
  Keys hull(Keys a, Keys b);
  Keys joined(Keys a, Keys b);
  Keys all() { return {zero, keys}; }
  Keys none() { return {zero, zero}; }
  Condition unknown() { return {all(), none(), false}; }

  Affine negate(const Affine &value);
  std::optional<Affine> add(const Affine &a, const Affine &b);
  std::optional<Affine> subtract(const Affine &a, const Affine &b) { return add(a, negate(b)); }
  Affine combine(int c, const Affine &a, const Affine &b, llvm::function_ref<Value(Value, Value)> make) {
    Value lo = make(a.lo, b.lo);
    return {c, lo, a.lo == a.hi && b.lo == b.hi ? lo : make(a.hi, b.hi), a.lo == a.hi && b.lo == b.hi ? 0 : kUnknownSlope};
  }

  Value constant(int64_t value) { return arith::ConstantIndexOp::create(builder, loc, value); }
  Value add(Value a, Value b) { return builder.createOrFold<arith::AddIOp>(loc, a, b); }
  Value sub(Value a, Value b) { return builder.createOrFold<arith::SubIOp>(loc, a, b); }
  // No folder knows that 0 <= keys, and a clamp to it is the commonest expression here.
  Value min(Value a, Value b) { return isZeroAndKeys(a, b) ? zero : builder.createOrFold<arith::MinSIOp>(loc, a, b); }
  Value max(Value a, Value b) { return isZeroAndKeys(a, b) ? keys : builder.createOrFold<arith::MaxSIOp>(loc, a, b); }
  bool isZeroAndKeys(Value a, Value b) const { return (a == zero && b == keys) || (a == keys && b == zero); }
  Value lessEqual(Value a, Value b) { return builder.createOrFold<arith::CmpIOp>(loc, CmpIPredicate::sle, a, b); }
  Value select(Value flag, Value a, Value b) { return a == b ? a : builder.createOrFold<arith::SelectOp>(loc, flag, a, b); }
  Keys select(Value flag, Keys a, Keys b) { return {select(flag, a.lo, b.lo), select(flag, a.hi, b.hi)}; }

  AttentionOp op;
  Block &blocks;
  OpBuilder builder;
  Location loc;
  Value zero, keys, qFirst, qLast;
  IRMapping uniform; // mask value -> value of the blocks region, for what depends on neither q nor k
  llvm::DenseMap<Value, std::optional<Affine>> integers;
  llvm::DenseMap<Value, Condition> conditions[2]; // by `negated`
};

Interpreter::Interpreter(AttentionOp op, Block &blocks) : op(op), blocks(blocks), builder(op.getContext()), loc(op.getLoc()) {
  builder.setInsertionPointToStart(&blocks);
  qFirst = blocks.getArgument(2);
  qLast = blocks.getArgument(3);
  zero = constant(0);
  int64_t extent = cast<RankedTensorType>(op.getKey().getType()).getDimSize(2);
  keys = ShapedType::isDynamic(extent) ? Value(blocks.getArguments().back()) : constant(extent);
}

bool Interpreter::run() {
  Keys may = all(), must = all();
  bool saysAll = true;
  if (!op.getMask().empty()) {
    Block &mask = op.getMask().front();
    mhac::copyUniform(mask, blocks, AttentionOp::Blocks, builder, uniform);
    Condition visible = condition(cast<YieldOp>(mask.back()).getValues()[0], /*negated=*/false);
    saysAll = visible.perQuery;
    may.lo = min(max(visible.may.lo, zero), keys);
    may.hi = max(min(visible.may.hi, keys), may.lo);
    // An empty `must` ends up empty inside [lo, hi]; any other lies inside it already.
    must.lo = visible.must.lo == may.lo ? may.lo : min(max(visible.must.lo, may.lo), may.hi);
    must.hi = max(min(visible.must.hi, may.hi), must.lo);
  }
  YieldOp::create(builder, loc, ValueRange{may.lo, may.hi, must.lo, must.hi});
  return saysAll;
}

//===-- integers ----------------------------------------------------------------------------------------------------------------------===//

Affine Interpreter::negate(const Affine &value) {
  Value lo = sub(zero, value.hi);
  return {-value.c, lo, value.lo == value.hi ? lo : sub(zero, value.lo), value.slope == kUnknownSlope ? kUnknownSlope : -value.slope};
}

std::optional<Affine> Interpreter::add(const Affine &a, const Affine &b) {
  int c = a.c + b.c;
  if (c < -1 || c > 1)
    return std::nullopt;
  Affine result = combine(c, a, b, [&](Value x, Value y) { return add(x, y); });
  if (a.lo == a.hi || b.lo == b.hi) // otherwise the ends belong to no one query
    result.slope = a.lo == a.hi ? b.slope : a.slope;
  return result;
}

std::optional<Affine> Interpreter::integer(Value value) {
  auto found = integers.find(value);
  if (found != integers.end())
    return found->second;
  std::optional<Affine> result = makeInteger(value);
  integers.try_emplace(value, result);
  return result;
}

std::optional<Affine> Interpreter::makeInteger(Value value) {
  // Narrower integers wrap where index does not, and i64 is computed with where index would.
  if (!value.getType().isIndex())
    return std::nullopt;
  if (uniform.contains(value)) {
    Value copy = uniform.lookup(value);
    return Affine{0, copy, copy};
  }
  if (auto argument = dyn_cast<BlockArgument>(value))
    return argument.getArgNumber() == 2 ? Affine{0, qFirst, qLast, /*slope=*/1} : Affine{1, zero, zero};

  Operation *definition = value.getDefiningOp();
  if (auto cast = dyn_cast<arith::IndexCastOp>(definition)) {
    auto load = cast.getIn().getDefiningOp<LoadOp>();
    return load ? ascending(load) : integer(cast.getIn());
  }
  if (auto choice = dyn_cast<arith::SelectOp>(definition)) {
    std::optional<Affine> yes = integer(choice.getTrueValue()), no = integer(choice.getFalseValue());
    if (!yes || !no || yes->c != no->c)
      return std::nullopt;
    if (uniform.contains(choice.getCondition())) {
      Value flag = uniform.lookup(choice.getCondition());
      return combine(yes->c, *yes, *no, [&](Value a, Value b) { return select(flag, a, b); });
    }
    Value lo = min(yes->lo, no->lo);
    return Affine{yes->c, lo, max(yes->hi, no->hi), kUnknownSlope};
  }
  if (!isa<arith::AddIOp, arith::SubIOp, arith::MulIOp, arith::MinSIOp, arith::MaxSIOp, FloorDivOp>(definition))
    return std::nullopt;
  std::optional<Affine> a = integer(definition->getOperand(0)), b = integer(definition->getOperand(1));
  if (!a || !b)
    return std::nullopt;
  if (isa<arith::AddIOp>(definition))
    return add(*a, *b);
  if (isa<arith::SubIOp>(definition))
    return subtract(*a, *b);
  if (isa<arith::MulIOp>(definition))
    return b->isExact() ? makeProduct(*a, *b) : a->isExact() ? makeProduct(*b, *a) : std::nullopt;
  if (isa<FloorDivOp>(definition)) { // by one number: monotonous in the dividend, whatever the divisor's sign
    if (a->c != 0 || !b->isExact())
      return std::nullopt;
    Value x = builder.createOrFold<FloorDivOp>(loc, a->lo, b->lo), y = a->isExact() ? x : builder.createOrFold<FloorDivOp>(loc, a->hi, b->lo);
    Value lo = x == y ? x : min(x, y);
    return Affine{0, lo, x == y ? x : max(x, y), a->isExact() ? 0 : kUnknownSlope};
  }
  if (a->c != b->c)
    return std::nullopt;
  bool isMin = isa<arith::MinSIOp>(definition);
  return combine(a->c, *a, *b, [&](Value x, Value y) { return isMin ? min(x, y) : max(x, y); });
}

/// The elements for the first and the last query, where they bound the others.
std::optional<Affine> Interpreter::ascending(LoadOp load) {
  Value q = op.getMask().getArgument(2);
  if (!load.getAscending() || llvm::any_of(load.getIndices(), [&](Value index) { return index != q && !uniform.contains(index); }))
    return std::nullopt;
  auto at = [&](Value query) -> Value {
    SmallVector<Value> indices;
    for (Value index : load.getIndices())
      indices.push_back(uniform.lookupOrDefault(index));
    llvm::replace(indices, q, query);
    Value element = LoadOp::create(builder, loc, load.getType(), uniform.lookup(load.getParam()), indices, /*ascending=*/true);
    return arith::IndexCastOp::create(builder, loc, builder.getIndexType(), element);
  };
  Value lo = at(qFirst);
  return Affine{0, lo, at(qLast), kUnknownSlope};
}

/// `factor` is exact; its sign decides which end becomes which.
std::optional<Affine> Interpreter::makeProduct(const Affine &a, const Affine &factor) {
  APInt number;
  bool isConstant = matchPattern(factor.lo, m_ConstantInt(&number));
  if (a.c != 0 && !(isConstant && (number.isZero() || number.isOne() || number.isAllOnes())))
    return std::nullopt;
  if (isConstant && number.isOne())
    return a;
  if (isConstant && number.isAllOnes())
    return negate(a);
  Value x = builder.createOrFold<arith::MulIOp>(loc, a.lo, factor.lo), y = x;
  if (isConstant && number.isZero())
    return Affine{0, zero, zero};
  if (a.lo != a.hi)
    y = builder.createOrFold<arith::MulIOp>(loc, a.hi, factor.lo);
  Value lo = x == y ? x : min(x, y);
  return Affine{0, lo, x == y ? x : max(x, y), a.isExact() ? 0 : kUnknownSlope};
}

//===-- conditions --------------------------------------------------------------------------------------------------------------------===//

/// The smallest interval with both; an empty one adds nothing.
Keys Interpreter::hull(Keys a, Keys b) {
  Value aEmpty = lessEqual(a.hi, a.lo), bEmpty = lessEqual(b.hi, b.lo);
  Keys both = {min(a.lo, b.lo), max(a.hi, b.hi)}, otherwise = select(bEmpty, a, both);
  return select(aEmpty, b, otherwise);
}

/// An interval inside the union of both: the hull when there is no gap, otherwise the longer one.
Keys Interpreter::joined(Keys a, Keys b) {
  Value aLength = sub(a.hi, a.lo), bLength = sub(b.hi, b.lo);
  Keys longer = select(lessEqual(bLength, aLength), a, b);
  Keys common = intersect(a, b);
  Value touch = lessEqual(common.lo, common.hi), aFilled = lessEqual(a.lo, a.hi), bFilled = lessEqual(b.lo, b.hi);
  Value filled = builder.createOrFold<arith::AndIOp>(loc, aFilled, bFilled);
  Value noGap = builder.createOrFold<arith::AndIOp>(loc, touch, filled);
  return select(noGap, Keys{min(a.lo, b.lo), max(a.hi, b.hi)}, longer);
}

/// A condition that is the same for all pairs.
Condition Interpreter::when(Value flag) {
  Keys range = select(flag, all(), none());
  return {range, range, true};
}

Condition Interpreter::choose(Value flag, const Condition &yes, const Condition &no) {
  Keys may = select(flag, yes.may, no.may);
  return {may, select(flag, yes.must, no.must), yes.perQuery && no.perQuery};
}

Condition Interpreter::condition(Value value, bool negated) {
  auto found = conditions[negated].find(value);
  if (found != conditions[negated].end())
    return found->second;
  Condition result = makeCondition(value, negated);
  conditions[negated].try_emplace(value, result);
  return result;
}

/// Negations are pushed down to the comparisons: the complement of an interval is none.
Condition Interpreter::makeCondition(Value value, bool negated) {
  if (uniform.contains(value)) {
    Value flag = uniform.lookup(value);
    if (negated)
      flag = builder.createOrFold<arith::XOrIOp>(loc, flag, arith::ConstantOp::create(builder, loc, builder.getBoolAttr(true)));
    return when(flag);
  }
  Operation *definition = value.getDefiningOp();
  if (auto both = dyn_cast_or_null<arith::AndIOp>(definition)) {
    Condition a = condition(both.getLhs(), negated), b = condition(both.getRhs(), negated);
    return negated ? disjunction(a, b) : conjunction(a, b);
  }
  if (auto either = dyn_cast_or_null<arith::OrIOp>(definition)) {
    Condition a = condition(either.getLhs(), negated), b = condition(either.getRhs(), negated);
    return negated ? conjunction(a, b) : disjunction(a, b);
  }
  if (auto different = dyn_cast_or_null<arith::XOrIOp>(definition)) {
    Value a = different.getLhs(), b = different.getRhs();
    if (matchPattern(b, m_One()))
      return condition(a, !negated);
    return exclusive(a, b, negated);
  }
  if (auto choice = dyn_cast_or_null<arith::SelectOp>(definition)) {
    Condition yes = condition(choice.getTrueValue(), negated), no = condition(choice.getFalseValue(), negated);
    if (uniform.contains(choice.getCondition()))
      return choose(uniform.lookup(choice.getCondition()), yes, no);
    Condition chosen = condition(choice.getCondition(), false), refused = condition(choice.getCondition(), true);
    Condition first = conjunction(chosen, yes), second = conjunction(refused, no);
    return disjunction(first, second);
  }
  if (auto comparison = dyn_cast_or_null<arith::CmpIOp>(definition))
    return compare(negated ? arith::invertPredicate(comparison.getPredicate()) : comparison.getPredicate(), comparison.getLhs(),
                   comparison.getRhs());
  return unknown();
}

/// a xor b = (a and not b) or (not a and b); negated: (a and b) or (not a and not b).
Condition Interpreter::exclusive(Value a, Value b, bool negated) {
  Condition a0 = condition(a, false), b0 = condition(b, !negated), a1 = condition(a, true), b1 = condition(b, negated);
  Condition first = conjunction(a0, b0), second = conjunction(a1, b1);
  return disjunction(first, second);
}

Condition Interpreter::compare(CmpIPredicate predicate, Value left, Value right) {
  if (left.getType().isInteger(1)) {
    if (predicate != CmpIPredicate::eq && predicate != CmpIPredicate::ne)
      return unknown();
    return exclusive(left, right, /*negated=*/predicate == CmpIPredicate::eq);
  }
  std::optional<Affine> a = integer(left), b = integer(right);
  if (!a || !b)
    return unknown();
  switch (predicate) {
  case CmpIPredicate::ult:
  case CmpIPredicate::ule:
  case CmpIPredicate::ugt:
  case CmpIPredicate::uge:
    return compareUnsigned(predicate, *a, *b);
  default:
    return compareSigned(predicate, *a, *b);
  }
}

/// Unsigned order is signed order between numbers of one sign; a negative number is above all others.
Condition Interpreter::compareUnsigned(CmpIPredicate predicate, const Affine &left, const Affine &right) {
  bool isLess = predicate == CmpIPredicate::ult || predicate == CmpIPredicate::ule;
  bool orEqual = predicate == CmpIPredicate::ule || predicate == CmpIPredicate::uge;
  const Affine &small = isLess ? left : right, &large = isLess ? right : left, nothing{0, zero, zero};
  Condition ordered = compareSigned(orEqual ? CmpIPredicate::sle : CmpIPredicate::slt, small, large);
  Condition largeNegative = compareSigned(CmpIPredicate::slt, large, nothing);
  Condition smallPositive = compareSigned(CmpIPredicate::sge, small, nothing);
  Condition smallNegative = compareSigned(CmpIPredicate::slt, small, nothing);
  Condition largePositive = compareSigned(CmpIPredicate::sge, large, nothing);
  Condition bothPositive = conjunction(smallPositive, largePositive), bothNegative = conjunction(smallNegative, largeNegative);
  Condition sameSign = disjunction(bothPositive, bothNegative);
  Condition otherSigns = conjunction(smallPositive, largeNegative), sameSigns = conjunction(sameSign, ordered);
  return disjunction(otherSigns, sameSigns);
}

Condition Interpreter::compareSigned(CmpIPredicate predicate, const Affine &left, const Affine &right) {
  std::optional<Affine> difference = subtract(left, right);
  if (!difference)
    return unknown();
  Affine one{0, constant(1), {}};
  one.hi = one.lo;
  switch (predicate) {
  case CmpIPredicate::sle:
    return atMostZero(*difference);
  case CmpIPredicate::slt:
    return atMostZero(*add(*difference, one));
  case CmpIPredicate::sge:
    return atMostZero(negate(*difference));
  case CmpIPredicate::sgt:
    return atMostZero(*add(negate(*difference), one));
  case CmpIPredicate::eq: {
    Condition below = atMostZero(*difference), above = atMostZero(negate(*difference));
    return conjunction(below, above);
  }
  case CmpIPredicate::ne: {
    Condition below = atMostZero(*add(*difference, one)), above = atMostZero(*add(negate(*difference), one));
    return disjunction(below, above);
  }
  default:
    return unknown();
  }
}

/// c * k + d <= 0 with d in [lo, hi]: `may` takes the smallest d, `must` the largest.
Condition Interpreter::atMostZero(const Affine &value) {
  auto range = [&](Value d) -> Keys {
    if (value.c == 1) // k <= -d
      return {zero, sub(constant(1), d)};
    if (value.c == -1) // k >= d
      return {d, keys};
    return select(lessEqual(d, zero), all(), none());
  };
  Keys may = range(value.lo);
  const int endSlope = value.slope == kUnknownSlope ? kUnknownSlope : -value.c * value.slope;
  const bool perQuery = value.c == 0 ? value.isExact() : endSlope == 0 || endSlope == 1;
  return {may, value.lo == value.hi ? may : range(value.hi), perQuery};
}

struct BlockStructurePass : mhac::impl::BlockStructurePassBase<BlockStructurePass> {
  void runOnOperation() override {
    WalkResult result = getOperation().walk([](AttentionOp op) {
      if (!op.getBlocks().empty())
        return WalkResult::advance();
      if (!op.getMasks().empty() || op.getParams().size() < 2 || !op.getParams().back().getType().isIndex()) {
        op.emitOpError("wants expanded variants and the numbers of queries and keys as its last params");
        return WalkResult::interrupt();
      }
      if (!Interpreter(op, op.addRegionBlock(AttentionOp::Blocks)).run())
        mhac::interpretTile(op, op.addRegionBlock(AttentionOp::Tiles));
      return WalkResult::advance();
    });
    if (result.wasInterrupted())
      signalPassFailure();
  }
};

} // namespace
