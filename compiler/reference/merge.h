// Joining parts of rows over disjoint keys: the reference's own reading of `merge_states` (semantics section 5).
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "reference/LayerReference.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace mhac::reference {

/// The output of one row and head, its lse ahead of it: [1 + width]. `outputs` and `lses` are the parts, `sinks` may be missing.
template <typename T> std::vector<T> mergeRow(const Spec &spec, const Tensors &inputs, Row row, int64_t h) {
  const Tensor &outputs = inputs.find("outputs")->second, &lses = inputs.find("lses")->second;
  const T none = -std::numeric_limits<T>::infinity();
  std::vector<T> merged(1 + *spec.layer.vHeadDim, T(0));
  T largest = none, sum = 0;
  for (int64_t p = 0; p < lses.shape[0]; ++p)
    largest = std::max(largest, T(lses.number({p, row.b, h, row.q})));
  merged[0] = none;
  if (largest == none)
    return merged;
  for (int64_t p = 0; p < lses.shape[0]; ++p)
    sum += std::exp(T(lses.number({p, row.b, h, row.q})) - largest);
  merged[0] = largest + std::log(sum);
  auto sinks = inputs.find("sinks");
  const T denominator = sinks == inputs.end() ? sum : sum + std::exp(T(sinks->second.number({h})) - largest);
  for (int64_t p = 0; p < lses.shape[0]; ++p) {
    T lse = T(lses.number({p, row.b, h, row.q}));
    if (lse == none) // saw nothing: whatever its output is
      continue;
    for (int64_t i = 0; i < *spec.layer.vHeadDim; ++i)
      merged[1 + i] += std::exp(lse - largest) / denominator *
                       T(*spec.shape.layout == ActivationLayout::Bshd ? outputs.number({p, row.b, row.q, h, i}) : outputs.number({p, row.b, h, row.q, i}));
  }
  return merged;
}

} // namespace mhac::reference
