// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "support/Elements.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>

namespace mhac {

float valueOfBits(DType dtype, uint32_t bits) {
  const DTypeInfo &info = dtypeInfo(dtype);
  if (info.bits == 32)
    return std::bit_cast<float>(bits);
  if (!info.isFloat()) // of two's complement, by moving the sign to the top
    return float(int32_t(bits << (32 - info.bits)) >> (32 - info.bits));
  const int fractionBits = info.fractionBits(), bias = info.exponentBias();
  const uint32_t fraction = bits & ((1u << fractionBits) - 1), largest = (1u << info.exponentBits) - 1, exponent = bits >> fractionBits & largest;
  float magnitude;
  if (exponent == largest && info.specials == Specials::NanOnly && fraction < (1u << fractionBits) - 1)
    magnitude = std::ldexp(float(fraction | 1u << fractionBits), int(exponent) - bias - fractionBits);
  else if (exponent == largest)
    magnitude = fraction ? std::numeric_limits<float>::quiet_NaN() : std::numeric_limits<float>::infinity();
  else if (exponent == 0)
    magnitude = std::ldexp(float(fraction), 1 - bias - fractionBits);
  else
    magnitude = std::ldexp(float(fraction | 1u << fractionBits), int(exponent) - bias - fractionBits);
  return bits >> (info.bits - 1) & 1 ? -magnitude : magnitude;
}

uint32_t bitsOfValue(DType dtype, float value) {
  const DTypeInfo &info = dtypeInfo(dtype);
  if (info.bits == 32)
    return std::bit_cast<uint32_t>(value);
  if (!info.isFloat()) {
    const double largest = double((1u << (info.bits - 1)) - 1), rounded = std::isnan(value) ? 0 : std::nearbyint(double(value));
    return uint32_t(int32_t(std::clamp(rounded, -largest - 1, largest))) & ((1u << info.bits) - 1);
  }
  const int fractionBits = info.fractionBits(), bias = info.exponentBias();
  const bool isIeee = info.specials == Specials::Ieee;
  // What is too large: infinite, or NaN in a format without infinity.
  const uint32_t sign = std::signbit(value) ? 1u << (info.bits - 1) : 0, infinity = info.largestPattern() + 1;
  if (std::isnan(value))
    return sign | infinity | (isIeee ? 1u << (fractionBits - 1) : 0);
  const double magnitude = std::fabs(double(value));
  if (magnitude == 0 || std::isinf(magnitude))
    return sign | (magnitude == 0 ? 0 : infinity);
  // In units of the last place, which is that of the smallest normal number for all below it. A carry moves into the exponent.
  const int exponent = std::max(std::ilogb(magnitude), 1 - bias);
  const double units = std::nearbyint(std::ldexp(magnitude, fractionBits - exponent));
  const double pattern = std::ldexp(double(exponent + bias - 1), fractionBits) + units;
  return sign | (pattern >= infinity ? infinity : uint32_t(pattern));
}

float loadElement(DType dtype, const void *data, int64_t index) {
  uint32_t bits = 0;
  if (const DTypeInfo &info = dtypeInfo(dtype); info.bits < 8) {
    const uint8_t byte = static_cast<const uint8_t *>(data)[index / info.numbersPerByte()];
    return valueOfBits(dtype, byte >> index % info.numbersPerByte() * info.bits & ((1u << info.bits) - 1));
  }
  const int bytes = dtypeInfo(dtype).bytes();
  std::memcpy(&bits, static_cast<const char *>(data) + index * bytes, size_t(bytes)); // little-endian
  return valueOfBits(dtype, bits);
}

void storeElement(DType dtype, void *data, int64_t index, float value) {
  const uint32_t bits = bitsOfValue(dtype, value);
  if (const DTypeInfo &info = dtypeInfo(dtype); info.bits < 8) {
    uint8_t &byte = static_cast<uint8_t *>(data)[index / info.numbersPerByte()];
    const int shift = int(index % info.numbersPerByte()) * info.bits;
    byte = uint8_t((byte & ~(((1u << info.bits) - 1) << shift)) | bits << shift);
    return;
  }
  const int bytes = dtypeInfo(dtype).bytes();
  std::memcpy(static_cast<char *>(data) + index * bytes, &bits, size_t(bytes));
}

} // namespace mhac
