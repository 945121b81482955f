// Elementary functions as straight-line vector code: kernels may leave no function of libm undefined.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "Halide.h"

namespace mhac::halide {

inline constexpr float kLog2e = 1.44269504f;
inline constexpr float kLn2 = 0.69314718f;

/// 2^x for f32 x <= 0, relative error below 2e-7; exactly 0 below -126, so that hidden scores leave no trace and no
/// denormal numbers; NaN stays NaN.
Halide::Expr exp2NonPositive(const Halide::Expr &x);

/// ln(x) for normal f32 x > 0, relative error below 2e-7.
Halide::Expr logPositive(const Halide::Expr &x);

} // namespace mhac::halide
