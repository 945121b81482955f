// Score, mask and block regions -> Halide expressions. About thirty arith and math ops; no variant is known here by name.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "Halide.h"

#include "mlir/IR/Region.h"
#include "mlir/Support/LLVM.h"

#include <functional>
#include <map>
#include <variant>
#include <vector>

namespace mhac::halide {

/// What a block argument stands for: a scalar, or a tensor parameter whose dimensions are reversed as everywhere in Halide.
using RegionValue = std::variant<Halide::Expr, Halide::ImageParam>;

/// Reads a tensor that lies along keys at a query and a key: `at` has Halide's order, keys first, and the query at `queryDim`. Nothing clamped yet.
using LoadPair = std::function<Halide::Expr(Halide::ImageParam tensor, std::vector<Halide::Expr> at, int queryDim)>;

/// What a region does not say about the tile that it is evaluated for.
struct TileContext {
  int queries = 1, keys = 1; // from the first to the last, both included, at most: what attn.load_range reads
  /// Makes an expression that costs a loop over queries a value that is computed once, where it is the same for many tiles; none: it stays as it is.
  std::function<Halide::Expr(Halide::Expr)> hoist;
  LoadPair loadPair;         // for attn.load at exactly (..., q, ..., k); none: element by element
};

/// Any order will do: nothing depends on it.
struct ValueOrder {
  bool operator()(mlir::Value a, mlir::Value b) const { return a.getAsOpaquePointer() < b.getAsOpaquePointer(); }
};

/// A part of a region instead of all of it.
struct RegionPart {
  std::map<mlir::Value, Halide::Expr, ValueOrder> known; // what they are
  std::vector<mlir::Value> wanted;                       // instead of what the region yields
};

/// The values that the region yields for these block arguments. Indices and i64 become int32: sizes are checked to fit before a kernel runs.
/// Fails with an error at an op that has no translation.
mlir::FailureOr<std::vector<Halide::Expr>> translateRegion(mlir::Region &region, const std::vector<RegionValue> &arguments,
                                                             const TileContext &tile = {}, const RegionPart &part = {});

} // namespace mhac::halide
