// Register tiles are unrolled when everything else is done. Halide unrolls ahead of most of its lowering, each of whose steps then walks over, and
// simplifies, every copy of the tile's body: that was most of the compile time of an attention kernel.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "Halide.h"

namespace mhac::halide {

/// How the names of variables begin whose loops are unrolled so. `Stage::rename` takes a loop out of it, or in.
inline constexpr const char *kUnrolledLoop = "tile_";

/// A lowering pass: serial loops over such variables, which have constant extents, become their iterations.
class UnrollTiles : public Halide::Internal::IRMutator {
protected:
  using IRMutator::visit;
  Halide::Internal::Stmt visit(const Halide::Internal::For *op) override;
};

} // namespace mhac::halide
