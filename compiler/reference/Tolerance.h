// The rule that decides whether a kernel's output is right (semantics section 4):
//   max |out - ref| <= 2 max |naive - ref| + atol + rtol max |ref|
// with the reference in double, the naive computation in f32 and atol, rtol from the row of the output's dtype. Tests never bring tolerances of their own.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "support/DTypes.h"

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace mhac::reference {

/// The verdict on one output tensor.
struct Comparison {
  bool accepted = true;
  double maxError = 0; // max |out - ref|; infinite when a value is NaN, or infinite where the reference is not or the reverse
  double naiveError = 0; // max |naive - ref|
  double allowed = 0;
  size_t worst = 0; // index of the largest error
  double found = 0, wanted = 0;
  int64_t ulps = 0; // between found and wanted, as f32

  /// "index 17: found 0.5, wanted 0.25, 8388608 ULP apart; error 0.25, allowed 1e-06".
  std::string describe() const;
};

/// Compares `out` with `ref`; `naive` has the same length. Equal infinities agree.
Comparison compare(const std::vector<float> &out, const std::vector<double> &ref, const std::vector<double> &naive, DType dtype);

/// Number of f32 values between two numbers; the largest int64 when one of them is NaN.
int64_t ulpDistance(float a, float b);

} // namespace mhac::reference
