// Compares the outputs of a call with the reference, by the tolerance rule.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "Operands.h"

#include <functional>
#include <string>
#include <vector>

namespace mhac::artefact {

struct Verdict {
  bool accepted = false;
  /// Largest error of all outputs; meaningful when the outputs could be compared.
  double maxError = 0;
  double allowed = 0;
  double naiveError = 0; // of the textbook computation in f32
  size_t rows = 0; // compared with the reference
  /// What is wrong, one line: output, indices, both values, their distance, the seed.
  std::string message;
};

/// All rows, or about `limit` of them: the first and last of each batch row and random ones between.
std::vector<reference::Row> chooseRows(const reference::Sizes &sizes, size_t limit, uint64_t seed);

/// Knows what the rows of a call should be; judges any number of calls with the same operands, for example on several targets.
class Judge {
public:
  /// Computes the rows with the reference. `spec` and `operands` must outlive the judge.
  Judge(const Spec &spec, const Operands &operands, const std::vector<reference::Row> &rows, uint64_t seed);

  /// Checks the outputs in the operands after a call: the rows against the reference, all other rows for numbers that are not finite, and the
  /// memory around for stray writes.
  Verdict judge() const;

  /// Largest difference of y from what the layer computes with its weights as they were before they were rounded to numbers times scales.
  double errorOfOriginals() const;

private:
  /// Compares the values of one output of `places`, by default the rows, each of `width` elements that `last` counts.
  using Check = std::function<void(const char *output, const char *last, int64_t width, const std::vector<float> &out, const std::vector<double> &ref,
                                   const std::vector<double> &plain, const std::vector<reference::Row> *places)>;
  void judgeMaps(const Check &check, Verdict &verdict) const;
  void judgePositions(const reference::Tensor &positions, Verdict &verdict) const;
  std::string findNotFinite() const;

  const Spec &spec;
  const Operands &operands;
  uint64_t seed;
  bool isSample; // not all rows are compared
  std::vector<reference::Row> rows;
  std::string error; // why the reference could not compute
  reference::LayerResult exact, naive;
};

} // namespace mhac::artefact
