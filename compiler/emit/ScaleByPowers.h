// AVX-512 has instructions for what FastMath's exp2NonPositive does with integers: the distance to the nearest integer (vreduceps) and the product
// with a power of two (vscalefps). Halide cannot name them, so the pattern is replaced after linking: ten operations instead of twelve.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "llvm/IR/Module.h"

namespace mhac {

/// In functions for AVX-512 DQ, on vectors of 16: with s = x + 1.5 * 2^23 and n = s - 1.5 * 2^23,
///   x - n                                     becomes  reduce(x)
///   select(x < c, 0, p * 2^n by adding s << 23)  becomes  scalef(p, n), zero where x < c.
/// Returns the number of products replaced.
unsigned scaleByPowers(llvm::Module &module);

} // namespace mhac
