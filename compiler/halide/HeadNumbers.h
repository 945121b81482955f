// Lists of numbers by head, where heads are left out or shared irregularly.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "Halide.h"

#include <cstdint>
#include <vector>

namespace mhac::halide {

/// A constant of the object, f32 or int32. Named by its content: equal lists are one, in every compilation.
Halide::Buffer<> constantBuffer(Halide::Type type, const std::vector<double> &elements);

/// numbers[h], in closed form where the numbers are equally spaced, otherwise from a constant of the object. An empty list is h itself.
Halide::Expr numberOf(const std::vector<int64_t> &numbers, const Halide::Expr &h);

} // namespace mhac::halide
