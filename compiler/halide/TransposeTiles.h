// Tiles of 16 x 16 are transposed in registers, by the shuffles that move least: pairs, then pairs of pairs inside 128 bits, then blocks of 128 bits.
// Halide would load columns element by element; as interleavings of whole rows, which it has, a tile takes three times as many shuffles.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "Halide.h"

namespace mhac::halide {

/// End of the names of Funcs whose definition is a transposition: f(y, x) = rows(x, y) for 16 x 16 elements, y vectorised, x unrolled.
inline constexpr const char *kTransposed = "_transposed";

/// A lowering pass: such a Func is made by blocks of `lanes` x `lanes` (4, 8 or 16: the elements of a vector register).
class TransposeTiles : public Halide::Internal::IRMutator {
public:
  explicit TransposeTiles(int lanes) : lanes(lanes) {}

protected:
  using IRMutator::visit;
  Halide::Internal::Stmt visit(const Halide::Internal::ProducerConsumer *op) override;

private:
  int lanes;
};

} // namespace mhac::halide
