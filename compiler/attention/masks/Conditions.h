// What several masks are written with: comparisons of indices, joined. Kernels count in 32 bits, so lengths from YAML are clamped to more than positions
// of a call differ by.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "attention/VariantInterface.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

#include <algorithm>
#include <limits>
#include <utility>

namespace mhac::attn {

/// Longer than any sequence, and such that the sum of two lengths and a position stays in 32 bits.
constexpr int64_t kLongest = int64_t(1) << 29;

/// An integer field that is not a word; `kLongest` for all that is larger.
inline int64_t lengthOf(const VariantReader &reader, llvm::StringRef field) {
  return std::min(reader.integer(field).value_or(kLongest), kLongest);
}

inline mlir::Value isAtMost(RegionBuilder &region, mlir::Value a, mlir::Value b) {
  return mlir::arith::CmpIOp::create(region.builder, region.loc, mlir::arith::CmpIPredicate::sle, a, b);
}
inline mlir::Value isBelow(RegionBuilder &region, mlir::Value a, mlir::Value b) {
  return mlir::arith::CmpIOp::create(region.builder, region.loc, mlir::arith::CmpIPredicate::slt, a, b);
}
inline mlir::Value isEqual(RegionBuilder &region, mlir::Value a, mlir::Value b) {
  return mlir::arith::CmpIOp::create(region.builder, region.loc, mlir::arith::CmpIPredicate::eq, a, b);
}
inline mlir::Value difference(RegionBuilder &region, mlir::Value a, mlir::Value b) {
  return mlir::arith::SubIOp::create(region.builder, region.loc, a, b);
}
/// Either may be null, which is true.
inline mlir::Value both(RegionBuilder &region, mlir::Value a, mlir::Value b) {
  if (!a || !b)
    return a ? a : b;
  return mlir::arith::AndIOp::create(region.builder, region.loc, a, b);
}
inline mlir::Value either(RegionBuilder &region, mlir::Value a, mlir::Value b) {
  return mlir::arith::OrIOp::create(region.builder, region.loc, a, b);
}
/// low <= value <= high.
inline mlir::Value isWithin(RegionBuilder &region, mlir::Value value, int64_t low, int64_t high) {
  mlir::Value first = region.constant(low), last = region.constant(high);
  mlir::Value above = isAtMost(region, first, value), below = isAtMost(region, value, last);
  return both(region, above, below);
}
/// 0 <= position < length; `index` is what the position is made of, and never negative itself.
inline mlir::Value isInFirst(RegionBuilder &region, mlir::Value position, mlir::Value index, int64_t length) {
  mlir::Value end = region.constant(length), below = isBelow(region, position, end);
  if (position == index)
    return below;
  mlir::Value zero = region.constant(0), above = isAtMost(region, zero, position);
  return both(region, above, below);
}

/// An input whose values are not checked.
inline VariantParameter plainInput(llvm::StringRef name, llvm::StringRef dtype, llvm::SmallVector<std::string> dims) {
  VariantParameter parameter;
  parameter.name = name;
  parameter.dtype = dtype;
  parameter.dims = std::move(dims);
  return parameter;
}

/// Whether queries and keys are the same tokens, so that one input describes both.
inline bool sharesTokens(const Spec &spec) {
  return *spec.layer.source == Source::Self && *spec.projections.input != InputProjection::None;
}

} // namespace mhac::attn
