// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "region_interpreter.h"

#include "attention/AttentionDialect.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

#include "llvm/ADT/TypeSwitch.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>

using namespace mlir;

static double number_of(int64_t bits) { return std::bit_cast<double>(bits); }

static int64_t constant_value(arith::ConstantOp op) {
  if (auto number = dyn_cast<FloatAttr>(op.getValue()))
    return std::bit_cast<int64_t>(number.getValueAsDouble());
  auto number = cast<IntegerAttr>(op.getValue());
  return number.getType().isInteger(1) ? number.getValue().getZExtValue() : number.getValue().getSExtValue();
}

static int64_t compare(arith::CmpIPredicate predicate, int64_t a, int64_t b) {
  auto ua = static_cast<uint64_t>(a), ub = static_cast<uint64_t>(b);
  switch (predicate) {
  case arith::CmpIPredicate::eq: return a == b;
  case arith::CmpIPredicate::ne: return a != b;
  case arith::CmpIPredicate::slt: return a < b;
  case arith::CmpIPredicate::sle: return a <= b;
  case arith::CmpIPredicate::sgt: return a > b;
  case arith::CmpIPredicate::sge: return a >= b;
  case arith::CmpIPredicate::ult: return ua < ub;
  case arith::CmpIPredicate::ule: return ua <= ub;
  case arith::CmpIPredicate::ugt: return ua > ub;
  case arith::CmpIPredicate::uge: return ua >= ub;
  }
  return 0;
}

/// As attn.load: indices outside a tensor are clamped to it.
static int64_t element_of(const region_argument &tensor, const std::vector<int64_t> &indices) {
  std::vector<int64_t> shape = tensor.shape;
  if (shape.empty())
    shape = {int64_t(tensor.elements.size())};
  int64_t offset = 0;
  for (size_t i = 0; i < indices.size(); ++i)
    offset = offset * shape[i] + std::clamp<int64_t>(indices[i], 0, std::max<int64_t>(shape[i] - 1, 0));
  return tensor.elements.empty() ? 0 : tensor.elements[size_t(offset)]; // what is read of an empty tensor does not matter
}

static int64_t floor_divide(int64_t a, int64_t b) { return b == 0 ? 0 : a / b - (a % b != 0 && (a < 0) != (b < 0)); }

std::vector<int64_t> run_region(Block &block, const std::vector<region_argument> &arguments) {
  llvm::DenseMap<Value, int64_t> values;
  llvm::DenseMap<Value, const region_argument *> tensors;
  for (auto [argument, given] : llvm::zip_equal(block.getArguments(), arguments)) {
    values[argument] = given.number;
    tensors[argument] = &given;
  }
  for (Operation &op : block.without_terminator()) {
    auto in = [&](unsigned i) { return values.lookup(op.getOperand(i)); };
    values[op.getResult(0)] =
        llvm::TypeSwitch<Operation *, int64_t>(&op)
            .Case([&](arith::ConstantOp op) { return constant_value(op); })
            .Case([&](arith::AddIOp) { return in(0) + in(1); })
            .Case([&](arith::SubIOp) { return in(0) - in(1); })
            .Case([&](arith::MulIOp) { return in(0) * in(1); })
            .Case([&](arith::MinSIOp) { return std::min(in(0), in(1)); })
            .Case([&](arith::MaxSIOp) { return std::max(in(0), in(1)); })
            .Case([&](arith::AndIOp) { return in(0) & in(1); })
            .Case([&](arith::OrIOp) { return in(0) | in(1); })
            .Case([&](arith::XOrIOp) { return in(0) ^ in(1); })
            .Case([&](arith::SelectOp) { return in(0) ? in(1) : in(2); })
            .Case([&](arith::IndexCastOp) { return in(0); })
            .Case([&](arith::CmpIOp op) { return compare(op.getPredicate(), in(0), in(1)); })
            .Case([&](arith::CmpFOp op) {
              if (op.getPredicate() != arith::CmpFPredicate::OGT)
                ADD_FAILURE() << "the interpreter knows no other comparison of floats than ogt";
              return int64_t(number_of(in(0)) > number_of(in(1)));
            })
            .Case([&](mhac::attn::FloorDivOp) { return floor_divide(in(0), in(1)); })
            .Case([&](mhac::attn::FloorModOp) { return in(1) == 0 ? 0 : in(0) - floor_divide(in(0), in(1)) * in(1); })
            .Case([&](tensor::DimOp op) { return tensors.lookup(op.getSource())->shape[size_t(*op.getConstantIndex())]; })
            .Case([&](mhac::attn::LoadOp op) {
              std::vector<int64_t> indices;
              for (Value index : op.getIndices())
                indices.push_back(values.lookup(index));
              return element_of(*tensors.lookup(op.getParam()), indices);
            })
            .Default([](Operation *op) {
              ADD_FAILURE() << "the interpreter does not know " << op->getName().getStringRef().str();
              return 0;
            });
  }
  std::vector<int64_t> yielded;
  for (Value value : block.getTerminator()->getOperands())
    yielded.push_back(values.lookup(value));
  return yielded;
}
