// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "halide/NumberFormat.h"

using namespace Halide;

namespace mhac::halide {
namespace {

// f32.
constexpr int kFraction = 23, kBias = 127;
constexpr uint32_t kInfinity = 0x7f800000, kNan = 0x7fc00000;

Expr constant(uint32_t bits) { return Expr(bits); }
Expr bitsOf(const Expr &x) { return reinterpret<uint32_t>(x); }
Expr floatOf(uint32_t bits) { return reinterpret<float>(constant(bits)); }

} // namespace

NumberFormat::NumberFormat(DType dtype, const Target &machine)
    : info(&dtypeInfo(dtype)),
      isConvertedByMachine(info->isNarrowFloat() && info->exponentBits == 5 && info->specials == Specials::Ieee && machine.has_feature(Target::F16C)) {}

Type NumberFormat::stored() const {
  if (info->isBits())
    return UInt(info->bytes() * 8);
  return Type(info->isFloat() ? halide_type_float : info->code == NumberCode::Int ? halide_type_int : halide_type_uint, info->bits, 1);
}

// Floats are compared and added in strict_float, and otherwise handled as integers: Halide's arithmetic may assume that nothing is NaN or infinite.
Expr NumberFormat::load(const Expr &element) const {
  if (!isNarrow())
    return element;
  if (!info->isFloat())
    return cast<float>(cast<int32_t>(element));
  if (isConvertedByMachine) // the upper bits of an f16
    return strict_float(cast<float>(reinterpret(Float(16), cast<uint16_t>(element) << (16 - info->bits))));
  Expr bits = cast<uint32_t>(element);
  if (info->exponentBits == 8) // the upper bits of an f32
    return reinterpret<float>(bits << (32 - info->bits));
  const uint32_t signBit = 1u << (info->bits - 1), rebias = uint32_t(kBias - info->exponentBias()) << kFraction;
  // From here on nothing is a number.
  const uint32_t infinity = (info->largestPattern() + 1) << (kFraction - info->fractionBits());
  Expr magnitude = (bits & constant(signBit - 1)) << (kFraction - info->fractionBits()), sign = (bits & constant(signBit)) << (32 - info->bits);
  // A number without a leading one gets one, with the exponent that its unit has, which is then subtracted: exact, and no step is subnormal in f32.
  const uint32_t leadingOne = rebias + (1u << kFraction);
  Expr small = bitsOf(strict_float(reinterpret<float>(magnitude + constant(leadingOne)) - floatOf(leadingOne)));
  Expr special = info->specials == Specials::Ieee ? magnitude | constant(kInfinity) : constant(kNan);
  Expr wide = select(magnitude >= constant(infinity), special, magnitude < constant(1u << kFraction), small, magnitude + constant(rebias));
  return reinterpret<float>(wide | sign);
}

Expr NumberFormat::load(const ImageParam &param, const std::vector<Expr> &at) const {
  if (info->bits >= 8)
    return load(param(at));
  // Two numbers a byte, the first one low: moved to the top of 32 bits and back, with its sign.
  std::vector<Expr> place = at;
  place[0] = at[0] / numbersPerByte();
  Expr shift = 32 - info->bits - at[0] % numbersPerByte() * info->bits;
  return cast<float>(cast<int32_t>(cast<uint32_t>(param(place)) << cast<uint32_t>(shift)) >> (32 - info->bits));
}

// The last number of a byte keeps its place at the top, with zeros below; the others are moved to the top of 32 bits.
Expr NumberFormat::loadPlace(const Expr &element, int place) const {
  if (info->bits >= 8)
    return load(element);
  if (place == numbersPerByte() - 1)
    return cast<float>(cast<int32_t>(cast<int8_t>(element)) & Expr(-(1 << (8 - info->bits))));
  return cast<float>(cast<int32_t>(cast<uint32_t>(element) << (32 - (place + 1) * info->bits)));
}

float NumberFormat::powerOf(int place) const {
  if (info->bits >= 8)
    return 1;
  return place == numbersPerByte() - 1 ? float(1 << (8 - info->bits)) : float(1u << (32 - info->bits));
}

Expr NumberFormat::store(const Expr &value) const {
  if (!info->isNarrowFloat())
    return value;
  if (isConvertedByMachine && info->bits == 16)
    return reinterpret(UInt(16), strict_float(cast(Float(16), value)));
  const int dropped = kFraction - info->fractionBits();
  const uint32_t nan = info->largestPattern() + 1 + (info->specials == Specials::Ieee ? 1u << (info->fractionBits() - 1) : 0);
  const uint32_t rebias = uint32_t(kBias - info->exponentBias()) << kFraction, infinity = info->largestPattern() + 1;
  Expr bits = bitsOf(value), magnitude = bits & constant(0x7fffffff), sign = (bits >> (32 - info->bits)) & constant(1u << (info->bits - 1));
  // Half a unit up, less a little where the last bit that stays is even; a carry moves into the exponent, and at last to infinity.
  Expr rebased = magnitude - constant(rebias);
  Expr rounded = (rebased + constant((1u << (dropped - 1)) - 1) + ((rebased >> dropped) & constant(1))) >> dropped;
  if (rebias) {
    // Below the smallest normal number all have one unit; an f32 with that unit in its last place, added, rounds to it.
    const uint32_t unit = uint32_t(kBias + 1 - info->exponentBias() - info->fractionBits() + kFraction) << kFraction;
    Expr small = bitsOf(strict_float(reinterpret<float>(magnitude) + floatOf(unit))) - constant(unit);
    rounded = min(select(magnitude < constant(rebias + (1u << kFraction)), small, rounded), constant(infinity));
  }
  Expr finite = select(magnitude > constant(kInfinity), constant(nan), rounded);
  return cast(stored(), finite | sign);
}

} // namespace mhac::halide
