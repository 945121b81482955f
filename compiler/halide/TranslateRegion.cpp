// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "halide/TranslateRegion.h"

#include "attention/AttentionDialect.h"

#include "llvm/ADT/TypeSwitch.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"

using Halide::Expr;
using namespace mlir;

namespace mhac::halide {
namespace {

class Translator {
public:
  explicit Translator(Region &region) : block(region.front()) {}

  FailureOr<std::vector<Expr>> run(const std::vector<RegionValue> &arguments) {
    if (arguments.size() != block.getNumArguments())
      return block.getParentOp()->emitError("a region has ") << block.getNumArguments() << " arguments, the kernel gives " << arguments.size();
    for (auto [argument, value] : llvm::zip(block.getArguments(), arguments)) {
      if (auto *tensor = std::get_if<Halide::ImageParam>(&value))
        tensors.insert({argument, *tensor});
      else
        values[argument] = std::get<Expr>(value);
    }
    for (Operation &op : block.without_terminator()) {
      Expr result = translate(&op);
      if (!result.defined())
        return op.emitError("'") << op.getName() << "' has no translation to Halide";
      values[op.getResult(0)] = result;
    }
    std::vector<Expr> results;
    for (Value value : block.getTerminator()->getOperands())
      results.push_back(values.at(value));
    return results;
  }

private:
  Expr in(Operation *op, unsigned i) { return values.at(op->getOperand(i)); }

  Expr constant(Attribute attribute) {
    if (auto boolean = dyn_cast<BoolAttr>(attribute))
      return Halide::Internal::make_bool(boolean.getValue());
    if (auto integer = dyn_cast<IntegerAttr>(attribute))
      return Expr(static_cast<int32_t>(integer.getInt()));
    if (auto number = dyn_cast<FloatAttr>(attribute))
      return Expr(static_cast<float>(number.getValueAsDouble()));
    return Expr();
  }

  Expr compare(arith::CmpIPredicate predicate, Expr a, Expr b) {
    using P = arith::CmpIPredicate;
    switch (predicate) {
    case P::eq: return a == b;
    case P::ne: return a != b;
    case P::slt: case P::ult: return a < b;
    case P::sle: case P::ule: return a <= b;
    case P::sgt: case P::ugt: return a > b;
    case P::sge: case P::uge: return a >= b;
    }
    return Expr();
  }

  Expr compare(arith::CmpFPredicate predicate, Expr a, Expr b) {
    using P = arith::CmpFPredicate;
    switch (predicate) {
    case P::OEQ: return a == b;
    case P::UNE: return a != b;
    case P::OLT: return a < b;
    case P::OLE: return a <= b;
    case P::OGT: return a > b;
    case P::OGE: return a >= b;
    default: return Expr();
    }
  }

  /// Block arguments 0 and 1 are b and h, which lie inside every tensor; other indices are clamped to it (see attn.load).
  Expr load(attn::LoadOp op) {
    Halide::ImageParam &tensor = tensors.at(op.getParam());
    std::vector<Expr> at;
    for (auto [i, index] : llvm::enumerate(op.getIndices())) {
      Halide::Internal::Dimension dim = tensor.dim(tensor.dimensions() - 1 - static_cast<int>(i));
      auto argument = dyn_cast<BlockArgument>(index);
      bool isInside = argument && argument.getArgNumber() < 2;
      at.push_back(isInside ? values.at(index) : clamp(values.at(index), 0, dim.extent() - 1));
    }
    std::reverse(at.begin(), at.end());
    Expr value = tensor(at);
    return value.type().is_int() ? Halide::cast<int32_t>(value) : value;
  }

  Expr translate(Operation *op) {
    return llvm::TypeSwitch<Operation *, Expr>(op)
        .Case([&](arith::ConstantOp o) { return constant(o.getValue()); })
        .Case<arith::AddIOp, arith::AddFOp>([&](auto o) { return in(o, 0) + in(o, 1); })
        .Case<arith::SubIOp, arith::SubFOp>([&](auto o) { return in(o, 0) - in(o, 1); })
        .Case<arith::MulIOp, arith::MulFOp>([&](auto o) { return in(o, 0) * in(o, 1); })
        .Case<arith::FloorDivSIOp, arith::DivFOp>([&](auto o) { return in(o, 0) / in(o, 1); })
        .Case<arith::MinSIOp, arith::MinimumFOp>([&](auto o) { return min(in(o, 0), in(o, 1)); })
        .Case<arith::MaxSIOp, arith::MaximumFOp>([&](auto o) { return max(in(o, 0), in(o, 1)); })
        .Case([&](arith::NegFOp o) { return -in(o, 0); })
        .Case([&](arith::CmpIOp o) { return compare(o.getPredicate(), in(o, 0), in(o, 1)); })
        .Case([&](arith::CmpFOp o) { return compare(o.getPredicate(), in(o, 0), in(o, 1)); })
        .Case([&](arith::AndIOp o) { return o.getType().isInteger(1) ? in(o, 0) && in(o, 1) : in(o, 0) & in(o, 1); })
        .Case([&](arith::OrIOp o) { return o.getType().isInteger(1) ? in(o, 0) || in(o, 1) : in(o, 0) | in(o, 1); })
        .Case([&](arith::XOrIOp o) { return o.getType().isInteger(1) ? in(o, 0) != in(o, 1) : in(o, 0) ^ in(o, 1); })
        .Case([&](arith::SelectOp o) { return select(in(o, 0), in(o, 1), in(o, 2)); })
        .Case<arith::IndexCastOp, arith::ExtSIOp, arith::TruncIOp>([&](auto o) { return in(o, 0); })
        .Case([&](arith::SIToFPOp o) { return Halide::cast<float>(in(o, 0)); })
        .Case([&](attn::LoadOp o) { return load(o); })
        .Default([](Operation *) { return Expr(); });
  }

  Block &block;
  llvm::DenseMap<Value, Halide::ImageParam> tensors;
  std::map<Value, Expr, decltype([](Value a, Value b) { return a.getAsOpaquePointer() < b.getAsOpaquePointer(); })> values;
};

} // namespace

FailureOr<std::vector<Expr>> translateRegion(Region &region, const std::vector<RegionValue> &arguments) { return Translator(region).run(arguments); }

} // namespace mhac::halide
