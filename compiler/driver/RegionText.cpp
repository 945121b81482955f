// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "driver/RegionText.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Matchers.h"

#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;

namespace mhac {

// Formulas of shared values are written out at every use: longer ones would be no help.
constexpr size_t maxFormulaLength = 2000;

std::string argumentName(Value value) {
  auto argument = dyn_cast<BlockArgument>(value);
  auto function = argument ? dyn_cast<func::FuncOp>(argument.getOwner()->getParentOp()) : func::FuncOp();
  auto attribute = function ? function.getArgAttrOfType<attn::ArgumentAttr>(argument.getArgNumber(), attn::kArgumentAttr) : attn::ArgumentAttr();
  return attribute ? attribute.getName().str() : "";
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
    if (text.size() > maxFormulaLength)
      text = "...";
    return names[value] = text;
  }

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
        .Case([&](arith::MinSIOp each) { return call(each, "min"); })
        .Case([&](arith::MaxSIOp each) { return call(each, "max"); })
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

std::vector<std::string> regionFormulas(attn::AttentionOp op, Region &region, llvm::ArrayRef<StringRef> names) {
  std::vector<std::string> formulas;
  if (region.empty())
    return formulas;
  FormulaWriter writer;
  Block &block = region.front();
  auto params = op.getParams();
  for (auto [i, argument] : llvm::enumerate(block.getArguments())) {
    if (i < names.size()) {
      writer.names[argument] = names[i].str();
      continue;
    }
    size_t param = i - names.size();
    std::string name = param < params.size() ? argumentName(params[param]) : "";
    if (name.empty())
      name = param + 2 == params.size() ? "queries" : param + 1 == params.size() ? "keys" : "param" + std::to_string(param);
    writer.names[argument] = name;
  }
  for (Value value : block.getTerminator()->getOperands())
    formulas.push_back(withoutOuterParentheses(writer.write(value)));
  return formulas;
}

} // namespace mhac
