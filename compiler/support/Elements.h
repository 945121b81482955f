// Elements of float tensors in memory, one at a time, in every format of the dtype table: for the reference and the tools, which are in no hurry.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "support/DTypes.h"

#include <cstdint>

namespace mhac {

/// The number that a pattern of the format's bits stands for; f32 holds all of them.
float valueOfBits(DType dtype, uint32_t bits);
/// The pattern nearest to `value`, ties to even; too large becomes infinite, NaN stays NaN.
uint32_t bitsOfValue(DType dtype, float value);

/// Element `index` of an array of floats.
float loadElement(DType dtype, const void *data, int64_t index);
void storeElement(DType dtype, void *data, int64_t index, float value);

} // namespace mhac
