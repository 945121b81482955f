// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "attention/RegionEvaluator.h"

#include "attention/AttentionDialect.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

#include "llvm/ADT/TypeSwitch.h"

#include <algorithm>
#include <cmath>

using namespace mlir;

namespace mhac::attn {
namespace {

class Evaluator {
public:
  explicit Evaluator(const RegionTensors &tensors) : tensors(tensors) {}

  std::optional<SmallVector<RegionNumber>> run(Block &block, ArrayRef<RegionNumber> arguments) {
    for (auto [argument, number] : llvm::zip_equal(block.getArguments(), arguments))
      values[argument] = number;
    for (Operation &op : block.without_terminator())
      if (!evaluate(&op))
        return std::nullopt;
    return llvm::map_to_vector(block.getTerminator()->getOperands(), [&](Value value) { return values.lookup(value); });
  }

private:
  int64_t integer(Operation *op, unsigned i) { return values.lookup(op->getOperand(i)).integer; }
  double real(Operation *op, unsigned i) { return values.lookup(op->getOperand(i)).real; }
  static APInt wide(int64_t value) { return APInt(64, static_cast<uint64_t>(value), /*isSigned=*/true); }
  bool set(Operation *op, int64_t value) { return values[op->getResult(0)] = {value, 0}, true; }
  bool setReal(Operation *op, double value) { return values[op->getResult(0)] = {0, static_cast<float>(value)}, true; }

  /// The element at indices that are clamped to the tensor.
  RegionNumber element(Value param, ArrayRef<int64_t> index) {
    auto tensor = cast<BlockArgument>(param);
    SmallVector<int64_t> at;
    for (auto [dim, i] : llvm::enumerate(index))
      at.push_back(std::clamp<int64_t>(i, 0, std::max<int64_t>(tensors.extent(tensor, static_cast<int64_t>(dim)) - 1, 0)));
    return tensors.element(tensor, at);
  }

  bool range(LoadRangeOp op) {
    SmallVector<int64_t> first, last, at;
    for (auto [from, to] : llvm::zip_equal(op.getFirst(), op.getLast())) {
      first.push_back(values.lookup(from).integer);
      last.push_back(std::max(values.lookup(to).integer, first.back()));
    }
    at = first;
    RegionNumber least = element(op.getParam(), at), most = least;
    while (true) {
      size_t dim = at.size();
      while (dim > 0 && at[dim - 1] == last[dim - 1])
        --dim, at[dim] = first[dim];
      if (dim == 0)
        break;
      ++at[dim - 1];
      RegionNumber next = element(op.getParam(), at);
      least = {std::min(least.integer, next.integer), std::min(least.real, next.real)};
      most = {std::max(most.integer, next.integer), std::max(most.real, next.real)};
    }
    values[op.getSmallest()] = least, values[op.getLargest()] = most;
    return true;
  }

  bool table(TableOp op) {
    auto elements = cast<DenseElementsAttr>(op.getElements());
    const int64_t i = std::clamp<int64_t>(integer(op, 0), 0, elements.getNumElements() - 1);
    Attribute value = elements.getValues<Attribute>()[i];
    return isa<FloatAttr>(value) ? setReal(op, cast<FloatAttr>(value).getValueAsDouble()) : set(op, cast<IntegerAttr>(value).getInt());
  }

  bool constant(arith::ConstantOp op) {
    if (auto number = dyn_cast<FloatAttr>(op.getValue()))
      return setReal(op, number.getValueAsDouble());
    auto number = cast<IntegerAttr>(op.getValue());
    return set(op, number.getType().isInteger(1) ? number.getValue().getZExtValue() : number.getValue().getSExtValue());
  }

  bool evaluate(Operation *op) {
    return llvm::TypeSwitch<Operation *, bool>(op)
        .Case([&](arith::ConstantOp o) { return constant(o); })
        .Case([&](arith::AddIOp) { return set(op, integer(op, 0) + integer(op, 1)); })
        .Case([&](arith::SubIOp) { return set(op, integer(op, 0) - integer(op, 1)); })
        .Case([&](arith::MulIOp) { return set(op, integer(op, 0) * integer(op, 1)); })
        .Case([&](arith::MinSIOp) { return set(op, std::min(integer(op, 0), integer(op, 1))); })
        .Case([&](arith::MaxSIOp) { return set(op, std::max(integer(op, 0), integer(op, 1))); })
        .Case<FloorDivOp, arith::FloorDivSIOp>([&](auto) { return set(op, floorDiv(integer(op, 0), integer(op, 1))); })
        .Case([&](FloorModOp) {
          return set(op, floorMod(integer(op, 0), integer(op, 1)));
        })
        .Case([&](math::AbsIOp) { return set(op, std::abs(integer(op, 0))); })
        .Case([&](arith::AndIOp) { return set(op, integer(op, 0) & integer(op, 1)); })
        .Case([&](arith::OrIOp) { return set(op, integer(op, 0) | integer(op, 1)); })
        .Case([&](arith::XOrIOp) { return set(op, integer(op, 0) ^ integer(op, 1)); })
        .Case([&](arith::CmpIOp o) { return set(op, arith::applyCmpPredicate(o.getPredicate(), wide(integer(op, 0)), wide(integer(op, 1)))); })
        .Case([&](arith::CmpFOp o) { return set(op, arith::applyCmpPredicate(o.getPredicate(), APFloat(real(op, 0)), APFloat(real(op, 1)))); })
        .Case([&](arith::SelectOp) { return values[op->getResult(0)] = values.lookup(op->getOperand(integer(op, 0) ? 1 : 2)), true; })
        .Case<arith::IndexCastOp, arith::IndexCastUIOp, arith::ExtSIOp, arith::TruncIOp>([&](auto) { return set(op, integer(op, 0)); })
        .Case([&](arith::SIToFPOp) { return setReal(op, static_cast<double>(integer(op, 0))); })
        .Case([&](arith::FPToSIOp) { return set(op, static_cast<int64_t>(real(op, 0))); })
        .Case([&](arith::AddFOp) { return setReal(op, real(op, 0) + real(op, 1)); })
        .Case([&](arith::SubFOp) { return setReal(op, real(op, 0) - real(op, 1)); })
        .Case([&](arith::MulFOp) { return setReal(op, real(op, 0) * real(op, 1)); })
        .Case([&](arith::DivFOp) { return setReal(op, real(op, 0) / real(op, 1)); })
        .Case([&](arith::NegFOp) { return setReal(op, -real(op, 0)); })
        .Case([&](arith::MinimumFOp) { return setReal(op, std::min(real(op, 0), real(op, 1))); })
        .Case([&](arith::MaximumFOp) { return setReal(op, std::max(real(op, 0), real(op, 1))); })
        .Case([&](math::AbsFOp) { return setReal(op, std::abs(real(op, 0))); })
        .Case([&](math::FloorOp) { return setReal(op, std::floor(real(op, 0))); })
        .Case([&](math::ExpOp) { return setReal(op, std::exp(real(op, 0))); })
        .Case([&](math::LogOp) { return setReal(op, std::log(real(op, 0))); })
        .Case([&](math::TanhOp) { return setReal(op, std::tanh(real(op, 0))); })
        .Case([&](tensor::DimOp o) { return set(op, tensors.extent(cast<BlockArgument>(o.getSource()), *o.getConstantIndex())); })
        .Case([&](LoadOp o) {
          SmallVector<int64_t> at = llvm::map_to_vector(o.getIndices(), [&](Value index) { return values.lookup(index).integer; });
          return values[o.getResult()] = element(o.getParam(), at), true;
        })
        .Case([&](LoadRangeOp o) { return range(o); })
        .Case([&](TableOp o) { return table(o); })
        .Default([](Operation *) { return false; });
  }

  const RegionTensors &tensors;
  llvm::DenseMap<Value, RegionNumber> values;
};

} // namespace

std::optional<SmallVector<RegionNumber>> evaluateRegion(Block &block, ArrayRef<RegionNumber> arguments, const RegionTensors &tensors) {
  return Evaluator(tensors).run(block, arguments);
}

} // namespace mhac::attn
