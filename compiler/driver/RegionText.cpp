// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "driver/RegionText.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Matchers.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;

namespace mhac {

// A formula that is used more than once and longer than this gets a name.
constexpr size_t maxRepeatedLength = 24;

std::string argumentName(Value value) {
  auto argument = dyn_cast<BlockArgument>(value);
  auto function = argument ? dyn_cast<func::FuncOp>(argument.getOwner()->getParentOp()) : func::FuncOp();
  auto attribute = function ? function.getArgAttrOfType<attn::ArgumentAttr>(argument.getArgNumber(), attn::kArgumentAttr) : attn::ArgumentAttr();
  return attribute ? attribute.getName().str() : "";
}

/// Without the parentheses around the whole.
static std::string withoutOuterParentheses(const std::string &text) {
  if (text.empty() || text[0] != '(')
    return text;
  int depth = 0;
  for (size_t i = 0; i < text.size(); ++i) {
    depth += text[i] == '(' ? 1 : text[i] == ')' ? -1 : 0;
    if (depth == 0)
      return i + 1 == text.size() ? text.substr(1, text.size() - 2) : text;
  }
  return text;
}

namespace {

class FormulaWriter {
public:
  llvm::DenseMap<Value, std::string> names;

  std::string write(Value value) {
    auto [found, isNew] = names.try_emplace(value);
    if (!isNew)
      return found->second;
    std::string text = writeOp(value);
    if (text.size() > maxRepeatedLength && !value.hasOneUse()) {
      definitions.emplace_back("t" + std::to_string(definitions.size() + 1), withoutOuterParentheses(text));
      text = definitions.back().first;
    }
    return names[value] = text;
  }
  std::vector<std::pair<std::string, std::string>> definitions;

private:
  std::string infix(Operation *op, StringRef symbol) {
    return "(" + write(op->getOperand(0)) + " " + symbol.str() + " " + write(op->getOperand(1)) + ")";
  }
  std::string call(Operation *op, StringRef name) {
    std::string text = name.str() + "(";
    for (unsigned i = 0; i < op->getNumOperands(); ++i)
      text += (i ? ", " : "") + write(op->getOperand(i));
    return text + ")";
  }
  /// min and max of several values, each once.
  template <typename Op> std::string fold(Op op, StringRef name) {
    std::vector<std::string> parts;
    collect<Op>(op.getResult(), parts, /*isRoot=*/true);
    return parts.size() == 1 ? parts.front() : name.str() + "(" + llvm::join(parts, ", ") + ")";
  }
  template <typename Op> void collect(Value value, std::vector<std::string> &parts, bool isRoot = false) {
    auto op = value.getDefiningOp<Op>();
    if (!op || (!isRoot && !value.hasOneUse())) {
      if (std::string text = write(value); !llvm::is_contained(parts, text))
        parts.push_back(std::move(text));
      return;
    }
    collect<Op>(op.getLhs(), parts);
    collect<Op>(op.getRhs(), parts);
  }
  std::string compare(arith::CmpIOp op) {
    switch (op.getPredicate()) {
    case arith::CmpIPredicate::eq:
      return infix(op, "==");
    case arith::CmpIPredicate::ne:
      return infix(op, "!=");
    case arith::CmpIPredicate::slt:
    case arith::CmpIPredicate::ult:
      return infix(op, "<");
    case arith::CmpIPredicate::sle:
    case arith::CmpIPredicate::ule:
      return infix(op, "<=");
    case arith::CmpIPredicate::sgt:
    case arith::CmpIPredicate::ugt:
      return infix(op, ">");
    case arith::CmpIPredicate::sge:
    case arith::CmpIPredicate::uge:
      return infix(op, ">=");
    }
    return "?";
  }
  std::string writeConstant(Attribute attribute) {
    if (auto integer = dyn_cast<IntegerAttr>(attribute))
      return integer.getType().isInteger(1) ? (integer.getValue().isZero() ? "false" : "true")
                                            : std::to_string(integer.getValue().getSExtValue());
    std::string text;
    llvm::raw_string_ostream(text) << attribute;
    return text;
  }
  std::string writeOp(Value value) {
    Operation *op = value.getDefiningOp();
    if (!op)
      return "?";
    Attribute constant;
    if (matchPattern(op, m_Constant(&constant)))
      return writeConstant(constant);
    return llvm::TypeSwitch<Operation *, std::string>(op)
        .Case([&](arith::AddIOp each) { return infix(each, "+"); })
        .Case([&](arith::SubIOp each) { return infix(each, "-"); })
        .Case([&](arith::MulIOp each) { return infix(each, "*"); })
        .Case([&](arith::AndIOp each) { return infix(each, "and"); })
        .Case([&](arith::OrIOp each) { return infix(each, "or"); })
        .Case([&](arith::MinSIOp each) { return fold(each, "min"); })
        .Case([&](arith::MaxSIOp each) { return fold(each, "max"); })
        .Case([&](attn::FloorDivOp each) { return infix(each, "//"); })
        .Case([&](attn::FloorModOp each) { return infix(each, "%"); })
        .Case([&](arith::XOrIOp each) { return matchPattern(each.getRhs(), m_One()) ? "not " + write(each.getLhs()) : infix(each, "!="); })
        .Case([&](arith::IndexCastUIOp each) { return write(each.getIn()); })
        .Case([&](arith::SelectOp each) { return call(each, "where"); })
        .Case([&](arith::CmpIOp each) { return compare(each); })
        .Case([&](arith::IndexCastOp each) { return write(each.getIn()); })
        .Case([&](attn::LoadOp each) {
          std::string text = write(each.getParam()) + "[";
          for (auto [i, index] : llvm::enumerate(each.getIndices()))
            text += (i ? ", " : "") + write(index);
          return text + "]";
        })
        .Default([&](Operation *each) { return call(each, each->getName().stripDialect()); });
  }
};

} // namespace

/// "queries" or "keys" for a dimension of an argument of the entry that has so many; empty for other values.
static std::string sizeName(Value value) {
  auto dim = value.getDefiningOp<tensor::DimOp>();
  auto argument = dim ? dyn_cast<BlockArgument>(dim.getSource()) : BlockArgument();
  auto function = argument ? dyn_cast<func::FuncOp>(argument.getOwner()->getParentOp()) : func::FuncOp();
  auto attribute = function ? function.getArgAttrOfType<attn::ArgumentAttr>(argument.getArgNumber(), attn::kArgumentAttr) : attn::ArgumentAttr();
  if (!attribute || !dim.getConstantIndex())
    return "";
  StringRef size = attribute.getDims()[*dim.getConstantIndex()].getValue();
  return size == "query" ? "queries" : size == "key" ? "keys" : "";
}

RegionFormulas regionFormulas(attn::AttentionOp op, Region &region, llvm::ArrayRef<StringRef> names) {
  return regionFormulas(op.getParams(), region, names);
}

RegionFormulas regionFormulas(OperandRange params, Region &region, llvm::ArrayRef<StringRef> names) {
  RegionFormulas formulas;
  if (region.empty())
    return formulas;
  FormulaWriter writer;
  Block &block = region.front();
  for (auto [i, argument] : llvm::enumerate(block.getArguments())) {
    if (i < names.size()) {
      writer.names[argument] = names[i].str();
      continue;
    }
    size_t param = i - names.size();
    std::string name = param < params.size() ? argumentName(params[param]) : "";
    if (name.empty() && param < params.size())
      name = sizeName(params[param]);
    if (name.empty() && param < params.size() && isa<RankedTensorType>(params[param].getType()) && params[param].getDefiningOp()) // made by an op: "hash0"
      name = params[param].getDefiningOp()->getName().stripDialect().str() + std::to_string(param);
    if (name.empty())
      name = param + 2 == params.size() ? "queries" : param + 1 == params.size() ? "keys" : "param" + std::to_string(param);
    writer.names[argument] = name;
  }
  for (Value value : block.getTerminator()->getOperands())
    formulas.results.push_back(withoutOuterParentheses(writer.write(value)));
  formulas.definitions = std::move(writer.definitions);
  return formulas;
}

} // namespace mhac
