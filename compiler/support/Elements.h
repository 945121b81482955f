// Elements of tensors of floats and of scaled weights in memory, one at a time, in every such format of the dtype table: for the reference and the
// tools, which are in no hurry.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "support/DTypes.h"

#include <cstdint>

namespace mhac {

/// The number that a pattern of the format's bits stands for; f32 holds all of them.
float valueOfBits(DType dtype, uint32_t bits);
/// The pattern nearest to `value`, ties to even. Too large becomes infinite, or NaN in a float without infinity, and the last number in an integer; NaN
/// stays NaN, and is 0 in an integer.
uint32_t bitsOfValue(DType dtype, float value);

/// Element `index` of an array.
float loadElement(DType dtype, const void *data, int64_t index);
void storeElement(DType dtype, void *data, int64_t index, float value);

} // namespace mhac
