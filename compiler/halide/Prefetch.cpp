// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "halide/Prefetch.h"

#include <algorithm>

using namespace Halide;
using namespace Halide::Internal;

namespace mhac::halide {
namespace {

/// Indices of the scalars that a statement reads from a buffer.
class ScalarReads : public IRVisitor {
public:
  ScalarReads(const std::string &buffer, std::vector<std::pair<std::string, Expr>> lets) : buffer(buffer), lets(std::move(lets)) {}
  std::vector<Expr> indices; // without lets
  std::string loop; // the innermost loop that holds them
  Expr extent = 1;

protected:
  using IRVisitor::visit;
  void visit(const Load *op) override {
    IRVisitor::visit(op);
    if (op->name != buffer || !op->type.is_scalar())
      return;
    Expr index = op->index;
    for (auto let = lets.rbegin(); let != lets.rend(); ++let)
      index = substitute(let->first, let->second, index);
    indices.push_back(index);
  }
  void visit(const LetStmt *op) override {
    lets.emplace_back(op->name, op->value);
    IRVisitor::visit(op);
    lets.pop_back();
  }
  void visit(const For *op) override {
    loop = op->name, extent = op->extent;
    IRVisitor::visit(op);
  }

private:
  const std::string &buffer;
  std::vector<std::pair<std::string, Expr>> lets; // in scope, outermost first
};

} // namespace

Stmt PrefetchNextTile::visit(const LetStmt *op) {
  lets.emplace_back(op->name, op->value);
  Stmt result = IRMutator::visit(op);
  lets.pop_back();
  return result;
}

Stmt PrefetchNextTile::visit(const For *op) {
  if (!ends_with(op->name, std::string(".") + kLineLoop)) {
    loops.push_back(op);
    std::vector<std::pair<std::string, Expr>> outside;
    if (ends_with(op->name, std::string(".") + kTileLoop))
      std::swap(lets, outside); // these do not change from tile to tile
    Stmt result = IRMutator::visit(op);
    if (!outside.empty())
      std::swap(lets, outside);
    loops.pop_back();
    return result;
  }
  auto enclosing = [&](const char *name) {
    auto found = std::find_if(loops.rbegin(), loops.rend(), [&](const For *loop) { return ends_with(loop->name, std::string(".") + name); });
    return found == loops.rend() ? nullptr : *found;
  };
  const For *tile = enclosing(kTileLoop), *tokens = enclosing(kTokenLoop);
  ScalarReads reads(buffer, lets);
  op->body.accept(&reads);
  const std::optional<int64_t> steps = as_const_int(reads.extent);
  if (!tile || reads.indices.empty() || !steps)
    return op;
  // What is read a tile later, as distances from its first value.
  auto later = [&](const Expr &index, int step) {
    return simplify(substitute({{reads.loop, step}, {tile->name, Variable::make(Int(32), tile->name) + 1}}, index));
  };
  const Expr first = later(reads.indices.front(), 0);
  std::vector<int64_t> lines;
  for (const Expr &index : reads.indices) {
    const std::optional<int64_t> begin = as_const_int(simplify(later(index, 0) - first)), next = as_const_int(simplify(later(index, 1) - first));
    if (!begin || !next)
      return op; // not the plain walk through a matrix that this is for
    for (int64_t step = 0; step < *steps; ++step) {
      const int64_t distance = *begin + step * (*next - *begin);
      lines.push_back(distance - Internal::mod_imp(distance, static_cast<int64_t>(kLineValues)));
    }
  }
  std::sort(lines.begin(), lines.end());
  lines.erase(std::unique(lines.begin(), lines.end()), lines.end());
  const std::string base = unique_name("next");
  Stmt prefetches;
  for (int64_t line : lines) {
    Expr call = Call::make(Float(32), Call::prefetch, {Variable::make(Handle(), buffer), Variable::make(Int(32), base) + static_cast<int>(line), 1, kLineValues}, Call::Intrinsic);
    Stmt one = Evaluate::make(call);
    prefetches = prefetches.defined() ? Block::make(prefetches, one) : one;
  }
  prefetches = LetStmt::make(base, first, prefetches);
  // The tiles of tokens share the lines: together they bring each once, at an even rate.
  const bool shared = tokens && !is_const_one(tokens->extent);
  const std::string begin = unique_name("begin"), end = unique_name("end");
  Expr line = Variable::make(Int(32), op->name) - op->min;
  if (shared)
    prefetches = IfThenElse::make(line >= Variable::make(Int(32), begin) && line < Variable::make(Int(32), end), prefetches);
  Stmt loop = For::make(op->name, op->min, op->extent, op->for_type, op->partition_policy, op->device_api, Block::make(prefetches, op->body));
  if (shared) {
    Expr turn = Variable::make(Int(32), tokens->name) - tokens->min;
    loop = LetStmt::make(begin, turn * op->extent / tokens->extent, LetStmt::make(end, (turn + 1) * op->extent / tokens->extent, loop));
  }
  return loop;
}

} // namespace mhac::halide
