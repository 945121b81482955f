// The elementary functions against libm in double.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "halide/FastMath.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <limits>
#include <numbers>

using namespace Halide;

namespace {

/// f at every point of `points`, compiled as kernels are.
Buffer<float> evaluate(Expr (*f)(const Expr &), const std::vector<float> &points) {
  Buffer<float> in(const_cast<float *>(points.data()), static_cast<int>(points.size()));
  Var x("x");
  Func out("out");
  out(x) = f(in(x));
  out.vectorize(x, 8, TailStrategy::GuardWithIf);
  return out.realize({static_cast<int>(points.size())});
}

TEST(FastMath, Exp2IsWithinTwoUnitsOfItsRange) {
  std::vector<float> points;
  for (int i = 0; i < 200000; ++i)
    points.push_back(-125.99f * i / 199999);
  Buffer<float> result = evaluate(mhac::halide::exp2NonPositive, points);
  for (size_t i = 0; i < points.size(); ++i) {
    const double wanted = std::exp2(static_cast<double>(points[i]));
    ASSERT_LE(std::fabs(result(i) - wanted), 2.5e-7 * wanted) << "2^" << points[i];
  }
}

TEST(FastMath, Exp2IsExactlyZeroFarBelowAndKeepsNan) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  Buffer<float> result = evaluate(mhac::halide::exp2NonPositive, {-126.5f, -1000.f, -1e30f, -2e38f, 0.f, nan});
  for (int i = 0; i < 4; ++i)
    EXPECT_EQ(result(i), 0.f) << i;
  EXPECT_NEAR(result(4), 1.f, 2e-7f);
  EXPECT_TRUE(std::isnan(result(5)));
}

TEST(FastMath, LogIsWithinTwoUnits) {
  std::vector<float> points;
  for (int i = 0; i < 100000; ++i)
    points.push_back(std::exp2(-20.f + 51.f * i / 99999)); // sums of up to 2^31 probabilities
  Buffer<float> result = evaluate(mhac::halide::logPositive, points);
  for (size_t i = 0; i < points.size(); ++i) {
    const double wanted = std::log(static_cast<double>(points[i]));
    ASSERT_LE(std::fabs(result(i) - wanted), 2.5e-7 * std::fabs(wanted) + 1e-7) << "ln " << points[i];
  }
}

/// Every `step`-th of the floats from `first` to `last`, both positive.
std::vector<float> steps(float first, float last, int step) {
  std::vector<float> points;
  for (int32_t bits = std::bit_cast<int32_t>(first), end = std::bit_cast<int32_t>(last); bits <= end; bits += step)
    points.push_back(std::bit_cast<float>(bits));
  return points;
}

/// Both signs of every point.
std::vector<float> bothSigns(std::vector<float> points) {
  for (size_t i = 0, count = points.size(); i < count; ++i)
    points.push_back(-points[i]);
  return points;
}

void expectRelativeError(Expr (*f)(const Expr &), double (*exact)(double), const std::vector<float> &points, double bound) {
  Buffer<float> result = evaluate(f, points);
  double worst = 0;
  float at = 0;
  for (size_t i = 0; i < points.size(); ++i) {
    const double wanted = exact(points[i]), error = wanted == 0 ? std::fabs(result(i)) : std::fabs(result(i) / wanted - 1);
    if (!(error <= worst))
      worst = error, at = points[i];
  }
  EXPECT_LE(worst, bound) << "at " << at;
  testing::Test::RecordProperty("worst_e9", int(worst * 1e9));
}

const float infinity = std::numeric_limits<float>::infinity(), quiet_nan = std::numeric_limits<float>::quiet_NaN();

TEST(FastMath, ExpIsWithinThreeUnitsOverItsRange) {
  auto exact = [](double x) { return std::exp(x); };
  expectRelativeError(mhac::halide::expFinite, exact, steps(1e-30f, 88.7228f, 4001), 3e-7);
  std::vector<float> negative = steps(1e-30f, 87.336f, 4001);
  for (float &point : negative)
    point = -point;
  expectRelativeError(mhac::halide::expFinite, exact, negative, 3e-7);
}

TEST(FastMath, ExpIsFiniteAboveAndZeroBelowItsRangeAndKeepsNan) {
  Buffer<float> result = evaluate(mhac::halide::expFinite, {88.73f, 1e10f, 3e38f, infinity, -87.34f, -104.f, -1e30f, -infinity, 0.f, quiet_nan});
  for (int i = 0; i < 4; ++i) {
    EXPECT_GT(result(i), 3.4e38f) << i;
    EXPECT_TRUE(std::isfinite(result(i))) << i;
  }
  for (int i = 4; i < 8; ++i)
    EXPECT_EQ(result(i), 0.f) << i;
  EXPECT_NEAR(result(8), 1.f, 2e-7f);
  EXPECT_TRUE(std::isnan(result(9)));
}

TEST(FastMath, LogTakesEveryPositiveNumber) {
  auto exact = [](double x) { return std::log(x); };
  expectRelativeError(mhac::halide::logAny, exact, steps(std::numeric_limits<float>::denorm_min(), 0.999f, 4001), 3e-7);
  expectRelativeError(mhac::halide::logAny, exact, steps(0.9999f, std::numeric_limits<float>::max(), 4001), 3e-7);
}

TEST(FastMath, LogOfZeroIsMinusInfinityAndOfNegativeNumbersNan) {
  Buffer<float> result = evaluate(mhac::halide::logAny, {0.f, -0.f, infinity, 1.f, -1e-45f, -1.f, -infinity, quiet_nan});
  EXPECT_EQ(result(0), -infinity);
  EXPECT_EQ(result(1), -infinity);
  EXPECT_EQ(result(2), infinity);
  EXPECT_EQ(result(3), 0.f);
  for (int i = 4; i < 8; ++i)
    EXPECT_TRUE(std::isnan(result(i))) << i;
}

TEST(FastMath, TanhIsWithinFourUnitsEverywhere) {
  expectRelativeError(mhac::halide::tanhFast, [](double x) { return std::tanh(x); }, bothSigns(steps(1e-30f, 1e30f, 4001)), 4e-7);
}

TEST(FastMath, TanhStaysBetweenOnesAndKeepsNan) {
  Buffer<float> result = evaluate(mhac::halide::tanhFast, {0.f, 9.f, -9.f, infinity, -infinity, 3e38f, quiet_nan});
  EXPECT_EQ(result(0), 0.f);
  for (int i = 1; i < 6; ++i)
    EXPECT_NEAR(std::fabs(result(i)), 1.f, 3e-7f) << i;
  EXPECT_LT(result(2), 0.f);
  EXPECT_LT(result(4), 0.f);
  EXPECT_TRUE(std::isnan(result(6)));
}

TEST(FastMath, CosineAndSineOfPhasesAreWithinTwoUnits) {
  std::vector<int32_t> phases = {0, 1, -1, 1 << 29, (1 << 29) - 1, -(1 << 29), 1 << 30, -(1 << 30), std::numeric_limits<int32_t>::min(),
                                 std::numeric_limits<int32_t>::max()};
  for (uint32_t i = 0; i < 200000; ++i)
    phases.push_back(static_cast<int32_t>(i * 2654435769u));
  Buffer<int32_t> in(phases.data(), static_cast<int>(phases.size()));
  Var x("x");
  Func out("out");
  mhac::halide::CosSin value = mhac::halide::cosSinOfPhase(in(x));
  out(x) = Tuple(value.cos, value.sin);
  out.vectorize(x, 8, TailStrategy::GuardWithIf);
  Realization result = out.realize({static_cast<int>(phases.size())});
  Buffer<float> cosines = result[0], sines = result[1];
  for (size_t i = 0; i < phases.size(); ++i) {
    const double angle = std::ldexp(static_cast<double>(phases[i]), -32) * 2 * std::numbers::pi;
    ASSERT_NEAR(cosines(i), std::cos(angle), 1.2e-7) << "cos of phase " << phases[i];
    ASSERT_NEAR(sines(i), std::sin(angle), 1.2e-7) << "sin of phase " << phases[i];
  }
}

} // namespace
