// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "region_interpreter.h"

#include "attention/AttentionDialect.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

#include "llvm/ADT/TypeSwitch.h"

#include <gtest/gtest.h>

#include <algorithm>

using namespace mlir;

static int64_t constant_value(arith::ConstantOp op) {
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

std::vector<int64_t> run_region(Block &block, const std::vector<region_argument> &arguments) {
  llvm::DenseMap<Value, int64_t> values;
  llvm::DenseMap<Value, const std::vector<int64_t> *> tensors;
  for (auto [argument, given] : llvm::zip_equal(block.getArguments(), arguments)) {
    values[argument] = given.number;
    tensors[argument] = &given.elements;
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
            .Case([&](mhac::attn::LoadOp op) {
              const std::vector<int64_t> &elements = *tensors.lookup(op.getParam());
              return elements[std::clamp<int64_t>(in(1), 0, elements.size() - 1)];
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
