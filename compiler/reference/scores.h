// What happens to a score before the mask: the reference's own reading of the spec's `score` list (semantics section 2, steps 5 and 6), written
// from the definitions and sharing nothing with the dialect's score changes, because it judges them.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "reference/Tensors.h"
#include "spec/Spec.h"

#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace mhac::reference {

class RowMask;

/// The factor of Q·K of a head: what `scale` says, 1/sqrt(head_dim) for `default` and where the list has no scale.
double scoreScale(const Spec &spec, int64_t headDim);

/// Scores below this hide their key as a mask does; so does -inf (specs/README.md, "Scores").
constexpr double hidingScore = -1.1e38;

/// The score list of one batch row.
class RowScores {
public:
  /// All arguments must outlive the scores; `mask` is that of the same batch row and knows the positions.
  RowScores(const Spec &spec, const Sizes &sizes, const Tensors &inputs, int64_t b, const RowMask &mask);

  /// The score of head `h` for query `q` and key `k` (indices in the tensors) after the whole list; `scaled` is scale · Q·K. T is the type of all
  /// intermediates, double or float.
  template <typename T> T score(int64_t h, int64_t q, int64_t k, T scaled) const;

  /// The logit that joins the denominator of head `h` and nothing else.
  std::optional<double> sink(int64_t h) const;

private:
  /// One element of the list that changes scores, read once: the arithmetic in either type.
  struct Step {
    std::function<double(int64_t h, int64_t q, int64_t k, double score)> inDouble;
    std::function<float(int64_t h, int64_t q, int64_t k, float score)> inFloat;
  };
  std::vector<Step> steps;
  const Tensor *sinkInput = nullptr;
};

/// T5's bucket of the distance p_k - p_q.
int64_t relativeBucket(int64_t distance, int64_t buckets, int64_t maxDistance, bool bidirectional);

/// The default ALiBi slopes of `heads` heads.
std::vector<double> alibiSlopes(int64_t heads);

/// The inputs that the spec's score changes read, with their shapes.
std::vector<std::pair<std::string, std::vector<int64_t>>> scoreInputs(const Spec &spec, const Sizes &sizes);

/// The first element of the spec's score list that this file does not know, or nullptr.
const VariantSpec *unknownScore(const Spec &spec);

} // namespace mhac::reference
