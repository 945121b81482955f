// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "halide/TrimSlots.h"

using namespace Halide;
using namespace Halide::Internal;

namespace mhac::halide {
namespace {

/// The right side of the first `slot < length` that guards something in the loop.
class FindLength : public IRVisitor {
public:
  explicit FindLength(const std::string &loop) : loop(loop) {}
  Expr length;

protected:
  using IRVisitor::visit;
  void visit(const IfThenElse *op) override {
    const LT *less = op->condition.as<LT>();
    const Variable *slot = less ? less->a.as<Variable>() : nullptr;
    if (slot && slot->name == loop && !length.defined())
      length = less->b;
    IRVisitor::visit(op);
  }

private:
  const std::string &loop;
};

/// Takes away what holds in every iteration that is left.
class DropGuards : public IRMutator {
public:
  DropGuards(const std::string &loop, const Expr &length) : loop(loop), length(length) {}

protected:
  using IRMutator::visit;
  Expr visit(const LT *op) override {
    const Variable *slot = op->a.as<Variable>();
    return slot && slot->name == loop && equal(op->b, length) ? const_true() : IRMutator::visit(op);
  }
  Stmt visit(const IfThenElse *op) override {
    Expr condition = mutate(op->condition);
    return is_const_one(condition) ? mutate(op->then_case) : IRMutator::visit(op);
  }

private:
  const std::string &loop;
  const Expr &length;
};

} // namespace

Stmt TrimSlots::visit(const For *op) {
  if (!starts_with(op->name.substr(op->name.rfind('.') + 1), std::string(kSlotLoop) + "$"))
    return IRMutator::visit(op);
  FindLength find(op->name);
  op->body.accept(&find);
  if (!find.length.defined() || !is_const_zero(op->min))
    throw Error("the loop '" + op->name + "' over slots has no length");
  Stmt body = simplify(DropGuards(op->name, find.length).mutate(mutate(op->body)));
  return For::make(op->name, op->min, min(op->extent, find.length), op->for_type, op->partition_policy, op->device_api, body);
}

} // namespace mhac::halide
