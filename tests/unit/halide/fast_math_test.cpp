// The elementary functions against libm in double.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "halide/FastMath.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

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

} // namespace
