// Weights stream from L3 or memory once a block of tokens. Hardware prefetchers follow one line of a row at a time and stop at its end, so that
// every register tile would begin with cache misses: while one tile is computed, the weights of the next are brought into L2.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "Halide.h"

namespace mhac::halide {

/// Names of the loops between which the pass works, from the outside: register tiles of features, register tiles of tokens, cache lines of the sum.
inline constexpr const char *kTileLoop = "tile", *kTokenLoop = "tokens", *kLineLoop = "line";

/// Values of a cache line.
inline constexpr int kLineValues = 16;

/// A lowering pass: in the line loop, one prefetch for every cache line of `buffer` that the iteration's broadcasts would read one tile of features
/// later; tiles of tokens, which read the same weights, take a part of the lines each. Halide's own directive prefetches the whole of the next tile
/// at one point, more than the machine's fill buffers can take.
class PrefetchNextTile : public Halide::Internal::IRMutator {
public:
  explicit PrefetchNextTile(std::string buffer) : buffer(std::move(buffer)) {}

protected:
  using IRMutator::visit;
  Halide::Internal::Stmt visit(const Halide::Internal::For *op) override;
  Halide::Internal::Stmt visit(const Halide::Internal::LetStmt *op) override;

private:
  std::string buffer;
  std::vector<std::pair<std::string, Halide::Expr>> lets; // in scope inside the tile loop, outermost first
  std::vector<const Halide::Internal::For *> loops; // around the place, outermost first
};

} // namespace mhac::halide
