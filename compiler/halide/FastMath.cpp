// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "halide/FastMath.h"

using namespace Halide;

namespace mhac::halide {

/// c[0] + c[1] x + c[2] x^2 + ...
template <size_t N> static Expr polynomial(const Expr &x, const float (&c)[N]) {
  Expr sum = c[N - 1];
  for (size_t i = N - 1; i-- > 0;)
    sum = sum * x + c[i];
  return sum;
}

Expr branch(const Expr &condition, const Expr &yes, const Expr &no) {
  return Internal::Call::make(yes.type(), Internal::Call::if_then_else, {condition, yes, no}, Internal::Call::PureIntrinsic);
}

Expr exp2NonPositive(const Expr &x) {
  // Minimax of 2^f on [-0.5, 0.5]. Adding 1.5 * 2^23 rounds to nearest and leaves the integer in the low bits, which move into the exponent.
  static const float c[] = {1.00000007f, 0.693146967f, 0.240221197f, 0.0555071327f, 0.00967554133f, 0.0013276472f};
  const float magic = 12582912.f;
  Expr shifted = strict_float(x + magic);
  Expr f = x - strict_float(shifted - magic);
  Expr power = reinterpret<float>(reinterpret<int32_t>(polynomial(f, c)) + (reinterpret<int32_t>(shifted) << 23));
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

Expr expFinite(const Expr &x) {
  // x = n ln 2 + f with |f| <= ln(2) / 2; ln 2 in two parts, so that n times the first is exact. Strict: NaN takes the sides that keep it, and the
  // subtractions stay in this order. From 88.37 on n is 128, whose exponent only fits because the polynomial is then below 1.
  static const float c[] = {1.00000007f, 0.693146967f, 0.240221197f, 0.0555071327f, 0.00967554133f, 0.0013276472f};
  const float magic = 12582912.f, largest = 88.72283f, smallest = -87.33654f;
  Expr clamped = select(strict_float(largest < x), largest, x);
  Expr shifted = strict_float(clamped * kLog2e + magic);
  Expr n = strict_float(shifted - magic);
  Expr f = strict_float((clamped - n * 0.693359375f) - n * -2.12194440e-4f);
  Expr power = reinterpret<float>(reinterpret<int32_t>(polynomial(f * kLog2e, c)) + (reinterpret<int32_t>(shifted) << 23));
  return select(strict_float(x < smallest), 0.f, power);
}

Expr logAny(const Expr &x) {
  const float smallestNormal = 1.17549435e-38f;
  Expr isSmall = strict_float(x < smallestNormal);
  Expr result = logPositive(select(isSmall, x * 8388608.f, x)) - select(isSmall, 23 * kLn2, 0.f);
  // By their bits, because arithmetic that may assume finite numbers could drop the special values.
  const int32_t infinity = 0x7f800000, notANumber = 0x7fc00000;
  Expr bits = select(strict_float(x > 0.f), select(reinterpret<int32_t>(x) == infinity, infinity, reinterpret<int32_t>(result)),
                     strict_float(x == 0.f), -0x800000, notANumber);
  return reinterpret<float>(bits);
}

Expr tanhFast(const Expr &x) {
  // factor x P(x^2) / Q(x^2), minimax for |x| <= 8.7, where the result is 1 - 6e-8. Both polynomials have leading coefficient 1, so that Horner's first
  // step is an addition and the factor may join one that follows. Written as select, so that NaN passes.
  static const float numerator[] = {71955318.72193624f, 9642345.228543594f, 253191.95067468946f, 1510.6115760850687f};
  static const float denominator[] = {1250550.5315200007f, 584429.5611902752f, 32470.385144789077f, 415.6378530793405f};
  const float factor = 0.017379542404951365f, largest = 8.7f;
  Expr below = select(strict_float(largest < x), largest, x);
  Expr clamped = select(strict_float(-largest > below), -largest, below);
  Expr square = clamped * clamped, n = square, d = square;
  for (int i = 3; i >= 0; --i) {
    n = i == 3 ? n + numerator[i] : n * square + numerator[i];
    d = i == 3 ? d + denominator[i] : d * square + denominator[i];
  }
  n = n * clamped;
  // 1/d: bits subtracted from a constant are within 6 %, a minimax polynomial of d times that within 3e-5, a Newton step within the rounding.
  static const float correction[] = {3.0481951f, -3.09533517f, 1.04711702f};
  Expr guess = reinterpret<float>(0x7ef00000 - reinterpret<int32_t>(d));
  Expr inverse = guess * polynomial(d * guess, correction);
  Expr quotient = n * inverse;
  return (quotient * (1.f - d * inverse) + quotient) * factor;
}

CosSin cosSinOfPhase(const Expr &phase) {
  // The nearest quarter of a turn, exactly, in wrapping integers; the rest is in [-1/8, 1/8) of a turn.
  Expr turn = reinterpret<uint32_t>(phase);
  Expr quarter = (turn + Expr(1u << 29)) >> Expr(30u);
  Expr rest = reinterpret<int32_t>(turn - (quarter << Expr(30u)));
  Expr x = cast<float>(rest) * 1.46291808e-9f, x2 = x * x; // 2 pi / 2^32
  // Minimax on [-pi/4, pi/4].
  Expr sine = x + x * x2 * (-1.6666654611e-1f + x2 * (8.3321608736e-3f + x2 * -1.9515295891e-4f));
  Expr cosine = 1.f - x2 * 0.5f + x2 * x2 * (4.166664568298827e-2f + x2 * (-1.388731625493765e-3f + x2 * 2.443315711809948e-5f));
  Expr isOdd = (quarter & Expr(1u)) != Expr(0u);
  auto signedBy = [](const Expr &value, const Expr &bit) { return reinterpret<float>(reinterpret<uint32_t>(value) ^ ((bit & Expr(2u)) << Expr(30u))); };
  sine = strict_float(sine), cosine = strict_float(cosine);
  return {signedBy(select(isOdd, sine, cosine), quarter + Expr(1u)), signedBy(select(isOdd, cosine, sine), quarter)};
}

} // namespace mhac::halide
