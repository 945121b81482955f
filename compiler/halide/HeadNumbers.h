// Lists of numbers by head, where heads are left out or shared irregularly.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "Halide.h"

#include <cstdint>
#include <vector>

namespace mhac::halide {

/// numbers[h], in closed form where the numbers are equally spaced, otherwise from a constant of the object. An empty list is h itself.
Halide::Expr numberOf(const std::vector<int64_t> &numbers, const Halide::Expr &h);

} // namespace mhac::halide
