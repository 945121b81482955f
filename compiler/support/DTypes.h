// The dtype table (DTypes.def) and its look-ups; used by every stage that speaks of number formats.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

namespace mhac {

enum class DType {
#define MHAC_DTYPE(name, ...) name,
#include "support/DTypes.def"
#undef MHAC_DTYPE
};

enum class NumberCode { Int = 0, UInt = 1, Float = 2 };
/// What the patterns with the largest exponent stand for.
enum class Specials { Ieee, NanOnly };
/// What `dtype` in a spec may give a format to.
enum class FormatUse { Nothing, Anything, ScaledWeights };

struct DTypeInfo {
  DType dtype;
  std::string_view word;
  std::string_view mlirType;
  NumberCode code;
  int bits;
  int exponentBits; // of a float
  Specials specials;
  FormatUse use;
  std::string_view cType;
  DType accumulator;
  double atol;
  double rtol;

  /// Of what the memory of a tensor is counted in: a number, or several that share a byte.
  int bytes() const { return (bits + 7) / 8; }
  int numbersPerByte() const { return bits < 8 ? 8 / bits : 1; }
  /// `count` numbers of a row, which begins with a byte of its own, in units of bytes().
  int64_t storedCount(int64_t count) const { return (count + numbersPerByte() - 1) / numbersPerByte(); }
  bool isFloat() const { return code == NumberCode::Float; }
  bool isScaled() const { return use == FormatUse::ScaledWeights; }
  /// C has no such type: its variables hold bits.
  bool isBits() const { return bits < 8 || isNarrowFloat(); }
  /// A float of fewer bits than kernels compute with.
  bool isNarrowFloat() const { return isFloat() && bits < 32; }
  int fractionBits() const { return bits - 1 - exponentBits; }
  int exponentBias() const { return (1 << (exponentBits - 1)) - 1; }
  /// Of a float: the pattern of the largest finite number.
  uint32_t largestPattern() const {
    const uint32_t exponents = (1u << (bits - 1)) - (1u << fractionBits()); // all ones
    return specials == Specials::Ieee ? exponents - 1 : (1u << (bits - 1)) - 2;
  }
};

const DTypeInfo &dtypeInfo(DType dtype);
/// All rows, in the order of the table.
std::span<const DTypeInfo> allDTypes();
std::optional<DType> dtypeFromWord(std::string_view word);

} // namespace mhac
