// Parts of a score region that need not be made score by score: found here, made by attend().
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "mlir/IR/Region.h"
#include "mlir/IR/Value.h"

namespace mhac::halide {

/// The numbers (f32) of a score region that queries and keys enter by q - k alone, and that are used where this is not so: one table over the
/// distances serves all pairs of a block of queries.
llvm::SmallVector<mlir::Value> findDistanceParts(mlir::Region &score);

/// Whether the region's scores are finite, far from the ends of f32, whatever goes in (or NaN): a soft cap ends with a bounded number.
bool isBounded(mlir::Region &score);

} // namespace mhac::halide
