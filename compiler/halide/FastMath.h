// Elementary functions as straight-line vector code: kernels may leave no function of libm undefined.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "Halide.h"

namespace mhac::halide {

inline constexpr float kLog2e = 1.44269504f;
inline constexpr float kLn2 = 0.69314718f;

/// A choice by a scalar condition as a branch: only the side taken is computed, also where it stands in a vector.
Halide::Expr branch(const Halide::Expr &condition, const Halide::Expr &yes, const Halide::Expr &no);

/// 2^x for f32 x <= 0, relative error below 2e-7; exactly 0 below -126, so that hidden scores leave no trace and no
/// denormal numbers; NaN stays NaN.
Halide::Expr exp2NonPositive(const Halide::Expr &x);

/// ln(x) for normal f32 x > 0, relative error below 2e-7.
Halide::Expr logPositive(const Halide::Expr &x);

/// e^x for every f32 x, relative error below 3e-7. Never infinite: from 88.72 on it is e^88.72 = 3.4e38. Exactly 0 below -87.33, where the result
/// would not be a normal number; NaN stays NaN.
Halide::Expr expFinite(const Halide::Expr &x);

/// ln(x) for every f32 x, relative error below 3e-7, denormal numbers too; -inf for 0, NaN for negative numbers and NaN, +inf for +inf.
Halide::Expr logAny(const Halide::Expr &x);

/// tanh(x) for every f32 x, relative error below 4e-7, +-1 from about 8.7 on; NaN stays NaN. Twenty instructions and no division: a soft cap applies
/// it to every score.
Halide::Expr tanhFast(const Halide::Expr &x);

/// Cosine and sine of an angle that is given as a fraction of a turn: 2 pi phase / 2^32, phase an int32 of any value. Absolute error below 1.2e-7.
/// The same bits wherever they are computed: no operation is contracted or reassociated.
struct CosSin {
  Halide::Expr cos, sin;
};
CosSin cosSinOfPhase(const Halide::Expr &phase);

} // namespace mhac::halide
