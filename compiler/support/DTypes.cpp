// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "support/DTypes.h"

namespace mhac {

static const DTypeInfo table[] = {
#define MHAC_DTYPE(name, word, mlir, code, bits, exponent, specials, use, c, accumulator, atol, rtol)                                      \
  {DType::name, word, mlir, NumberCode::code, bits, exponent, Specials::specials, FormatUse::use, c, DType::accumulator, atol, rtol},
#include "support/DTypes.def"
#undef MHAC_DTYPE
};

std::span<const DTypeInfo> allDTypes() { return table; }
const DTypeInfo &dtypeInfo(DType dtype) { return table[static_cast<int>(dtype)]; }

std::optional<DType> dtypeFromWord(std::string_view word) {
  for (const DTypeInfo &info : table)
    if (info.word == word)
      return info.dtype;
  return std::nullopt;
}

} // namespace mhac
