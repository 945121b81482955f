// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "halide/ScoreParts.h"

#include "attention/AttentionDialect.h"

#include "mlir/IR/Matchers.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"

#include <cmath>
#include <limits>

using namespace mlir;

namespace mhac::halide {
namespace {

/// How a value depends on the pair (q, k): q * a + k * b + what does not depend on them, or else a function of the distance, or anything.
struct Dependence {
  enum Kind { Linear, Distance, Other } kind = Other;
  int64_t q = 0, k = 0; // Linear only

  bool isConstant() const { return kind == Linear && q == 0 && k == 0; }
  bool isByDistance() const { return kind == Distance || (kind == Linear && q == -k); }
};

class Analysis {
public:
  explicit Analysis(Block &block) {
    // b, h, q, k, s, then parameters.
    for (BlockArgument argument : block.getArguments())
      known[argument] = {Dependence::Linear, argument.getArgNumber() == 2, argument.getArgNumber() == 3};
    known[block.getArgument(4)] = {Dependence::Other};
    for (Operation &op : block.without_terminator())
      for (Value result : op.getResults())
        known[result] = of(&op);
  }
  Dependence operator[](Value value) const { return known.at(value); }

private:
  Dependence of(Operation *op) const {
    auto in = [&](unsigned i) { return known.at(op->getOperand(i)); };
    const bool isSum = isa<arith::AddIOp>(op), isDifference = isa<arith::SubIOp>(op);
    if ((isSum || isDifference) && in(0).kind == Dependence::Linear && in(1).kind == Dependence::Linear) {
      const int64_t sign = isSum ? 1 : -1;
      return {Dependence::Linear, in(0).q + sign * in(1).q, in(0).k + sign * in(1).k};
    }
    if (isa<arith::IndexCastOp>(op))
      return in(0);
    if (llvm::all_of(op->getOperands(), [&](Value operand) { return known.at(operand).isConstant(); }))
      return {Dependence::Linear};
    if (llvm::all_of(op->getOperands(), [&](Value operand) { return known.at(operand).isByDistance(); }))
      return {Dependence::Distance};
    return {};
  }

  llvm::DenseMap<Value, Dependence> known;
};

} // namespace

SmallVector<Value> findDistanceParts(Region &score) {
  SmallVector<Value> parts;
  if (score.empty())
    return parts;
  Analysis analysis(score.front());
  for (Operation &op : score.front().without_terminator()) {
    if (op.getNumResults() != 1 || !op.getResult(0).getType().isF32() || analysis[op.getResult(0)].kind != Dependence::Distance)
      continue;
    // What leads to another one of these is made with it.
    bool isLast = llvm::any_of(op.getUsers(), [&](Operation *user) { return user->getNumResults() == 0 || !analysis[user->getResult(0)].isByDistance(); });
    if (isLast)
      parts.push_back(op.getResult(0));
  }
  return parts;
}

/// A bound of the number's size: infinity when none is known.
static double boundOf(Value value) {
  Operation *op = value.getDefiningOp();
  FloatAttr constant;
  if (op && matchPattern(value, m_Constant(&constant)))
    return std::abs(constant.getValueAsDouble());
  if (isa_and_nonnull<math::TanhOp>(op))
    return 1;
  if (isa_and_nonnull<arith::MulFOp>(op))
    return boundOf(op->getOperand(0)) * boundOf(op->getOperand(1));
  return std::numeric_limits<double>::infinity();
}

bool isBounded(Region &score) { return !score.empty() && boundOf(score.front().getTerminator()->getOperand(0)) < 1e37; }

} // namespace mhac::halide
