// Score, mask and block regions -> Halide expressions. About thirty arith and math ops; no variant is known here by name.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "Halide.h"

#include "mlir/IR/Region.h"
#include "mlir/Support/LLVM.h"

#include <variant>
#include <vector>

namespace mhac::halide {

/// What a block argument stands for: a scalar, or a tensor parameter whose dimensions are reversed as everywhere in Halide.
using RegionValue = std::variant<Halide::Expr, Halide::ImageParam>;

/// How far the last query or key of a tile lies behind the first, plus one, at most: what attn.load_range reads.
struct TileSpans {
  int queries = 1, keys = 1;
};

/// The values that the region yields for these block arguments. Indices and i64 become int32: sizes are checked to fit before a kernel runs.
/// Fails with an error at an op that has no translation.
mlir::FailureOr<std::vector<Halide::Expr>> translateRegion(mlir::Region &region, const std::vector<RegionValue> &arguments,
                                                             const TileSpans &spans = {});

} // namespace mhac::halide
