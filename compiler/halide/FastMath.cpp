// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "halide/FastMath.h"

using namespace Halide;

namespace mhac::halide {

Expr exp2NonPositive(const Expr &x) {
  // Minimax of 2^f on [-0.5, 0.5]. Adding 1.5 * 2^23 rounds to nearest and leaves the integer in the low bits, which move into the exponent.
  static const float c[] = {1.00000007f, 0.693146967f, 0.240221197f, 0.0555071327f, 0.00967554133f, 0.0013276472f};
  const float magic = 12582912.f;
  Expr shifted = strict_float(x + magic);
  Expr f = x - strict_float(shifted - magic);
  Expr p = c[5];
  for (int i = 4; i >= 0; --i)
    p = p * f + c[i];
  Expr power = reinterpret<float>(reinterpret<int32_t>(p) + (reinterpret<int32_t>(shifted) << 23));
  return select(strict_float(x < -126.f), 0.f, power); // strict: otherwise NaN may take either side
}

Expr logPositive(const Expr &x) {
  // x = 2^n * m with m in [sqrt(1/2), sqrt(2)); ln m = 2 atanh(t), t = (m - 1) / (m + 1), |t| <= 0.172: four terms of the series reach f32.
  Expr bits = reinterpret<int32_t>(x);
  Expr n = (bits - 0x3f3504f3) >> 23;
  Expr m = reinterpret<float>(bits - (n << 23));
  Expr t = (m - 1.f) / (m + 1.f);
  Expr t2 = t * t;
  Expr series = t * (2.f + t2 * (0.666666667f + t2 * (0.4f + t2 * (0.285714286f + t2 * 0.222222222f))));
  return cast<float>(n) * kLn2 + series;
}

} // namespace mhac::halide
