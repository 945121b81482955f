// The dtype table (DTypes.def) and its look-ups; used by every stage that speaks of number formats.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <optional>
#include <string_view>

namespace mhac {

enum class DType {
#define MHAC_DTYPE(name, word, mlir, code, bits, exponent, c, accumulator, atol, rtol) name,
#include "support/DTypes.def"
#undef MHAC_DTYPE
};

enum class NumberCode { Int = 0, UInt = 1, Float = 2 };

struct DTypeInfo {
  DType dtype;
  std::string_view word;
  std::string_view mlirType;
  NumberCode code;
  int bits;
  int exponentBits; // of a float
  std::string_view cType;
  DType accumulator;
  double atol;
  double rtol;

  int bytes() const { return bits / 8; }
  bool isFloat() const { return code == NumberCode::Float; }
  /// A float of fewer bits than kernels compute with.
  bool isNarrowFloat() const { return isFloat() && bits < 32; }
  int fractionBits() const { return bits - 1 - exponentBits; }
  int exponentBias() const { return (1 << (exponentBits - 1)) - 1; }
};

const DTypeInfo &dtypeInfo(DType dtype);
std::optional<DType> dtypeFromWord(std::string_view word);

} // namespace mhac
