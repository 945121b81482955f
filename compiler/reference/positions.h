// What happens to Q and K between the input projections and the scores: the reference's own reading of `position` and `layer.qk_norm` (semantics
// section 2, steps 3 and 4). Shares nothing with the dialect's encodings, because it judges them.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "reference/LayerReference.h"

namespace mhac::reference {

class Positions {
public:
  /// All must outlive the object.
  Positions(const Spec &spec, const Sizes &sizes, const Tensors &inputs);

  /// Normalises and rotates the heads of token `s` of batch row `b`, [heads, head_dim] of Q or K. `position` is that of semantics section 3.
  template <typename T> void encode(bool isKey, int64_t b, int64_t s, int64_t position, std::vector<T> &heads) const;

private:
  template <typename T> void normalize(bool isKey, std::vector<T> &heads) const;
  template <typename T> void rotate(int64_t position, std::vector<T> &heads) const;

  const Spec &spec;
  const Tensors &inputs;
  const VariantSpec *rope = nullptr;
  std::vector<double> frequencies; // radians a position, one a pair
  double magnitude = 1;
};

/// Names and shapes of the inputs and weights that encodings read.
std::vector<std::pair<std::string, std::vector<int64_t>>> positionInputs(const Spec &spec, const Sizes &sizes);

/// The first element of the spec's position list that this file does not know, or nullptr.
const VariantSpec *unknownPosition(const Spec &spec);

} // namespace mhac::reference
