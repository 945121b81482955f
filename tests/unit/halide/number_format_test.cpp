// Conversions in kernels against those of the judge, for every narrow float of the dtype table: by integers, and by the machine where it can.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "halide/NumberFormat.h"

#include "support/Elements.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <limits>
#include <random>

using namespace Halide;
using namespace mhac;
using mhac::halide::NumberFormat;

namespace {

const DType allFormats[] = {
#define MHAC_DTYPE(name, ...) DType::name,
#include "support/DTypes.def"
#undef MHAC_DTYPE
};

/// Every narrow float, converted by integers and by the machine.
template <typename F> void forEachFormat(F f) {
  for (DType dtype : allFormats)
    if (dtypeInfo(dtype).isNarrowFloat())
      for (const Target &machine : {Target(), get_host_target()}) {
        SCOPED_TRACE(std::string(dtypeInfo(dtype).word) + (machine.has_feature(Target::F16C) ? ", machine" : ", integers"));
        f(dtype, NumberFormat(dtype, machine));
      }
}

TEST(NumberFormat, LoadsEveryPattern) {
  size_t patterns = 0;
  forEachFormat([&](DType dtype, const NumberFormat &format) {
    const int count = 1 << dtypeInfo(dtype).bits;
    Var x("x");
    Func out("out");
    out(x) = format.load(cast(format.stored(), x));
    out.vectorize(x, 16);
    Buffer<float> result = out.realize({count});
    for (int i = 0; i < count; ++i, ++patterns) {
      const float wanted = valueOfBits(dtype, uint32_t(i));
      ASSERT_TRUE(std::isnan(wanted) ? std::isnan(result(i)) : std::bit_cast<uint32_t>(result(i)) == std::bit_cast<uint32_t>(wanted)) << i;
    }
  });
  EXPECT_GE(patterns, 4u << 16);
}

/// Numbers of the format, those in the middle between two neighbours (ties), and their neighbours in f32; numbers beyond its ends; any f32.
std::vector<float> hardToRound(DType dtype) {
  const float infinity = std::numeric_limits<float>::infinity();
  std::vector<float> values = {0, infinity, std::numeric_limits<float>::max(), std::numeric_limits<float>::denorm_min(), std::numeric_limits<float>::quiet_NaN()};
  for (uint32_t bits = 0; bits < (1u << (dtypeInfo(dtype).bits - 1)); ++bits) {
    const float value = valueOfBits(dtype, bits);
    if (!std::isfinite(value))
      continue;
    // Half a unit above: in double, as f32 has subnormal numbers of its own there.
    const float next = valueOfBits(dtype, bits + 1);
    const double step = std::isfinite(next) ? double(next) - value : double(value) - valueOfBits(dtype, bits - 1);
    const float tie = float(value + step / 2);
    for (float each : {value, tie})
      for (float beside : {std::nextafterf(each, 0.f), each, std::nextafterf(each, infinity)})
        values.push_back(beside);
  }
  std::mt19937 random(1);
  for (int i = 0; i < 200000; ++i)
    values.push_back(std::bit_cast<float>(uint32_t(random())));
  for (size_t i = 0, count = values.size(); i < count; ++i)
    values.push_back(-values[i]);
  return values;
}

TEST(NumberFormat, StoresTheNearestNumber) {
  forEachFormat([&](DType dtype, const NumberFormat &format) {
    std::vector<float> values = hardToRound(dtype);
    Buffer<float> in(values.data(), int(values.size()));
    Var x("x");
    Func out("out");
    out(x) = cast<uint32_t>(format.store(in(x)));
    out.vectorize(x, 16, TailStrategy::GuardWithIf);
    Buffer<uint32_t> result = out.realize({int(values.size())});
    for (size_t i = 0; i < values.size(); ++i) {
      const uint32_t found = result(int(i));
      ASSERT_TRUE(std::isnan(values[i]) ? std::isnan(valueOfBits(dtype, found)) : found == bitsOfValue(dtype, values[i])) << values[i] << ' ' << found;
    }
  });
}

/// Every byte of the formats of weights that are integers: a number at a time, and by its place in the byte.
TEST(NumberFormat, LoadsIntegersWithTheirSigns) {
  for (DType dtype : {DType::I8, DType::I4}) {
    const NumberFormat format(dtype);
    const int places = format.numbersPerByte(), count = 256 * places;
    Buffer<uint8_t> bytes(256);
    for (int i = 0; i < 256; ++i)
      bytes(i) = uint8_t(i);
    ImageParam param(format.stored(), 1, "bytes");
    param.set(Buffer<>(format.stored(), bytes.data(), 256));
    Var x("x");
    Func one("one"), placed("placed");
    one(x) = format.load(param, {x});
    Expr value = 0.f;
    for (int place = 0; place < places; ++place)
      value = select(x % places == place, format.loadPlace(param(x / places), place) / format.powerOf(place), value);
    placed(x) = value;
    Buffer<float> found = one.realize({count}), also = placed.realize({count});
    for (int i = 0; i < count; ++i) {
      const float wanted = loadElement(dtype, bytes.data(), i);
      ASSERT_EQ(found(i), wanted) << i;
      ASSERT_EQ(also(i), wanted) << i;
    }
  }
}

TEST(NumberFormat, LeavesOtherTypesAsTheyAre) {
  EXPECT_EQ(NumberFormat(DType::F32).stored(), Float(32));
  EXPECT_EQ(NumberFormat(DType::I64).stored(), Int(64));
  EXPECT_EQ(NumberFormat(DType::Bool).stored(), UInt(8));
  EXPECT_FALSE(NumberFormat(DType::F32).isNarrow());
}

} // namespace
