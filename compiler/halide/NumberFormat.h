// How the numbers of a tensor of the call lie in memory and become the f32 that kernels compute with: the only place of this stage that looks into
// formats. What it knows of them stands in the dtype table.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "support/DTypes.h"

#include "Halide.h"

#include <vector>

namespace mhac::halide {

class NumberFormat {
public:
  /// `machine`: converts by its own instructions where it has them.
  explicit NumberFormat(DType dtype = DType::F32, const Halide::Target &machine = Halide::Target());

  /// Of an element in memory: floats of fewer than 32 bits are their bits, as unsigned integers, as are bytes with several numbers.
  Halide::Type stored() const;
  /// Whether reading a number takes instructions: one that is read many times is worth keeping in f32.
  bool isNarrow() const { return info->isNarrowFloat() || info->isScaled(); }
  int numbersPerByte() const { return info->numbersPerByte(); }
  /// A narrow float or the number of a scaled weight as f32, exactly; anything else as it is.
  Halide::Expr load(const Halide::Expr &element) const;
  /// The number at a place of a tensor, counted in numbers along its innermost dimension.
  Halide::Expr load(const Halide::ImageParam &param, const std::vector<Halide::Expr> &at) const;
  /// Number `place` of a byte, times powerOf(place): what it is multiplied with is divided by that instead, which saves instructions. Exact.
  Halide::Expr loadPlace(const Halide::Expr &element, int place) const;
  float powerOf(int place) const;
  /// f32 to the nearest number of the format, ties to even; beyond the largest: infinite; NaN stays NaN.
  Halide::Expr store(const Halide::Expr &value) const;

private:
  const DTypeInfo *info;
  bool isConvertedByMachine;
};

/// A tensor of the call as kernels see it.
struct NumberParam {
  Halide::ImageParam param;
  NumberFormat format;
  Halide::Expr operator()(const std::vector<Halide::Expr> &at) const { return format.load(param, at); }
};

} // namespace mhac::halide
