// Elements of narrow floats in memory against the compiler's own conversions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "support/Elements.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <limits>

using namespace mhac;

namespace {

constexpr float kInfinity = std::numeric_limits<float>::infinity();

TEST(Elements, Bf16IsTheUpperHalfOfAnF32) {
  for (uint32_t bits = 0; bits < 65536; ++bits) {
    const float wanted = std::bit_cast<float>(bits << 16), found = valueOfBits(DType::BF16, bits);
    ASSERT_TRUE(std::isnan(wanted) ? std::isnan(found) : std::bit_cast<uint32_t>(found) == bits << 16) << bits;
    if (!std::isnan(wanted)) {
      ASSERT_EQ(bitsOfValue(DType::BF16, wanted), bits);
    }
  }
}

TEST(Elements, F16IsThatOfTheCompiler) {
  for (uint32_t bits = 0; bits < 65536; ++bits) {
    const float wanted = float(std::bit_cast<_Float16>(uint16_t(bits))), found = valueOfBits(DType::F16, bits);
    if (std::isnan(wanted)) {
      ASSERT_TRUE(std::isnan(found)) << bits;
      continue;
    }
    ASSERT_EQ(std::bit_cast<uint32_t>(found), std::bit_cast<uint32_t>(wanted)) << bits;
    // Between this number and the next.
    for (float value : {wanted, wanted * 1.0002f, wanted * 1.0004882f, wanted + 3e-8f, wanted * 1.0007f})
      ASSERT_EQ(bitsOfValue(DType::F16, value), std::bit_cast<uint16_t>(_Float16(value))) << value;
  }
}

TEST(Elements, RoundToEvenAndOverflowToInfinity) {
  EXPECT_EQ(bitsOfValue(DType::BF16, 1.00390625f), 0x3f80u); // ties
  EXPECT_EQ(bitsOfValue(DType::BF16, 1.01171875f), 0x3f82u);
  EXPECT_EQ(bitsOfValue(DType::BF16, -3.4e38f), 0xff80u);
  EXPECT_EQ(bitsOfValue(DType::F16, 65519.f), 0x7bffu);
  EXPECT_EQ(bitsOfValue(DType::F16, 65520.f), 0x7c00u);
  EXPECT_EQ(bitsOfValue(DType::F16, -kInfinity), 0xfc00u);
  EXPECT_EQ(bitsOfValue(DType::F16, 0x1p-25f), 0u); // half of the smallest number
  EXPECT_EQ(bitsOfValue(DType::F16, 0x1.01p-25f), 1u);
  for (DType dtype : {DType::BF16, DType::F16})
    EXPECT_TRUE(std::isnan(valueOfBits(dtype, bitsOfValue(dtype, std::numeric_limits<float>::quiet_NaN()))));
}

TEST(Elements, LieOneBehindTheOther) {
  uint16_t memory[3] = {0xffff, 0xffff, 0xffff};
  storeElement(DType::F16, memory, 1, 1.5f);
  EXPECT_EQ(memory[0], 0xffff);
  EXPECT_EQ(memory[1], 0x3e00);
  EXPECT_EQ(memory[2], 0xffff);
  EXPECT_EQ(loadElement(DType::F16, memory, 1), 1.5f);
  float wide[2] = {0, 0};
  storeElement(DType::F32, wide, 1, 0.1f);
  EXPECT_EQ(wide[1], 0.1f);
}

TEST(Elements, SmallFloatsReachTheirEnds) {
  EXPECT_EQ(valueOfBits(DType::FP8E4M3, 0x7e), 448.f);
  EXPECT_EQ(valueOfBits(DType::FP8E4M3, 0x78), 256.f); // the largest exponent is that of numbers
  EXPECT_EQ(valueOfBits(DType::FP8E4M3, 0x81), -0x1p-9f);
  EXPECT_TRUE(std::isnan(valueOfBits(DType::FP8E4M3, 0x7f)) && std::isnan(valueOfBits(DType::FP8E4M3, 0xff)));
  EXPECT_EQ(bitsOfValue(DType::FP8E4M3, 464.f), 0x7eu); // a tie
  EXPECT_EQ(bitsOfValue(DType::FP8E4M3, 465.f), 0x7fu);
  EXPECT_EQ(bitsOfValue(DType::FP8E4M3, -kInfinity), 0xffu);
  EXPECT_EQ(valueOfBits(DType::FP8E5M2, 0x7b), 57344.f);
  EXPECT_EQ(valueOfBits(DType::FP8E5M2, 0x7c), kInfinity);
  EXPECT_EQ(valueOfBits(DType::FP8E5M2, 0x01), 0x1p-16f);
  EXPECT_EQ(bitsOfValue(DType::FP8E5M2, 61440.f), 0x7cu);
}

TEST(Elements, NumbersOfFourBitsShareABytesLowHalfFirst) {
  uint8_t memory[2] = {0xff, 0xff};
  storeElement(DType::I4, memory, 0, 7.f);
  storeElement(DType::I4, memory, 3, -8.f);
  EXPECT_EQ(memory[0], 0xf7);
  EXPECT_EQ(memory[1], 0x8f);
  EXPECT_EQ(loadElement(DType::I4, memory, 0), 7.f);
  EXPECT_EQ(loadElement(DType::I4, memory, 1), -1.f);
  EXPECT_EQ(loadElement(DType::I4, memory, 3), -8.f);
  storeElement(DType::I8, memory, 0, -2.5f); // ties to even
  EXPECT_EQ(loadElement(DType::I8, memory, 0), -2.f);
}

} // namespace
