// The tolerance rule accepts what semantics section 4 accepts and nothing else.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "reference/Tolerance.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

using namespace mhac;
using namespace mhac::reference;

static const double infinity = std::numeric_limits<double>::infinity();

TEST(Tolerance, AllowsTwiceTheNaiveErrorAndTheRowOfTheDType) {
  // allowed: 2 * 0.01 + 1e-6 + 1e-6 * 2
  EXPECT_TRUE(compare({1.019f, 2}, {1, 2}, {1, 2.01}, DType::F32).accepted);
  EXPECT_FALSE(compare({1.021f, 2}, {1, 2}, {1, 2.01}, DType::F32).accepted);
  EXPECT_NEAR(compare({1, 2}, {1, 2}, {1, 2.01}, DType::F32).allowed, 0.020003, 1e-12);
}

TEST(Tolerance, NaNAndWrongInfinitiesAreNeverAccepted) {
  EXPECT_FALSE(compare({NAN}, {1}, {2}, DType::F32).accepted);
  EXPECT_FALSE(compare({1}, {NAN}, {NAN}, DType::F32).accepted);
  EXPECT_FALSE(compare({float(infinity)}, {-infinity}, {-infinity}, DType::F32).accepted);
  EXPECT_FALSE(compare({-1e30f}, {-infinity}, {-infinity}, DType::F32).accepted);
  EXPECT_TRUE(compare({-float(infinity), 1}, {-infinity, 1}, {-infinity, 1}, DType::F32).accepted);
}

TEST(Tolerance, NamesTheWorstElement) {
  Comparison comparison = compare({1, 3, 1}, {1, 2, 1}, {1, 2, 1}, DType::F32);
  EXPECT_EQ(comparison.worst, 1u);
  EXPECT_EQ(comparison.describe(), "index 1: found 3, wanted 2, 4194304 ULP apart; error 1, allowed 3e-06");
}

TEST(Tolerance, CountsUlpsAcrossZero) {
  EXPECT_EQ(ulpDistance(1, std::nextafter(1.f, 2.f)), 1);
  EXPECT_EQ(ulpDistance(0.f, -0.f), 0);
  EXPECT_EQ(ulpDistance(std::nextafter(0.f, 1.f), std::nextafter(0.f, -1.f)), 2);
}

TEST(Tolerance, AcceptsNothingToCompare) { EXPECT_TRUE(compare({}, {}, {}, DType::F32).accepted); }
