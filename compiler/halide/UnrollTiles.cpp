// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "halide/UnrollTiles.h"

#include <vector>

using namespace Halide;
using namespace Halide::Internal;

namespace mhac::halide {

Stmt UnrollTiles::visit(const For *op) {
  const std::string variable = op->name.substr(op->name.rfind('.') + 1);
  if (op->for_type != ForType::Serial || !starts_with(variable, kUnrolledLoop))
    return IRMutator::visit(op);
  const std::optional<int64_t> first = as_const_int(op->min), extent = as_const_int(op->extent);
  if (!first || !extent)
    throw Error("the loop '" + op->name + "' over a register tile has no constant extent");
  Stmt body = mutate(op->body);
  std::vector<Stmt> iterations;
  for (int64_t i = *first; i < *first + *extent; ++i)
    iterations.push_back(simplify(substitute(op->name, Expr(static_cast<int>(i)), body)));
  return Block::make(iterations);
}

} // namespace mhac::halide
