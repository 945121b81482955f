// The definition of a layer: Spec + inputs -> outputs, in double, by the loops of the formulas. Tests and mhac-run judge compiled kernels with
// it, so it shares no code with the lowering and is never optimised beyond computing only the rows that are asked for. The same code also runs
// with every number in f32: the "naive" computation that the tolerance rule compares with (Tolerance.h).
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "reference/Tensors.h"
#include "spec/Spec.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace mhac::reference {

/// One query of one batch row.
struct Row {
  int64_t b = 0, q = 0;
};

/// All rows of a call.
std::vector<Row> allRows(const Sizes &sizes);

/// What a layer computes for a list of rows, row after row.
struct LayerResult {
  int64_t width = 0; // features of a row of y: d_model, or heads * v_head_dim without output projection
  int64_t heads = 0; // without pruned ones
  std::vector<double> y;   // [rows, width]; concatenated heads in order
  std::vector<double> lse; // [rows, heads], natural logarithm; -inf for a row that sees no key
  std::vector<bool> uncertain; // [rows]: which keys the row sees depends on how f32 rounds (hashing.h)
  // Only where the spec asks for them:
  std::vector<double> attentionMap;                // [rows, heads, keys], at the spec's stage
  std::vector<double> entropy, peak, diagonalMass; // [rows, heads]
  std::vector<double> probabilities;               // [rows, heads, keys], -1 for hidden keys: what a position of the peak is judged by
  std::vector<int64_t> batches;                    // the batch rows among `rows`, in order
  std::vector<double> keyMass;                     // [batches, heads, keys], over all queries
  std::vector<double> headNorms;                   // [batches, heads]
  std::vector<bool> uncertainSums;                 // [batches]: some query's row is uncertain
};

/// The number type of every intermediate. Float is the textbook computation in f32, each sum from left to right.
enum class Arithmetic { Double, Float };

/// Computes the layer for `rows`. Keys that a row does not see are never looked at. Empty, with the reason in `error`, when an input is missing
/// or has another shape than the spec says, or the spec has a variant that the reference does not know.
std::optional<LayerResult> computeLayer(const Spec &spec, const Sizes &sizes, const Tensors &inputs, const std::vector<Row> &rows,
                                        Arithmetic arithmetic, std::string &error);

/// Where feature `i` of a row lies in `y`, whatever its layout.
int64_t yOffset(const Spec &spec, const Tensor &y, Row row, int64_t i);

/// Which rows of the weight or bias of an input projection, columns of wo, or heads of q, k and v are those of heads that are not left out, up to the
/// last of these. Empty for other names.
std::vector<bool> usedParts(const Spec &spec, std::string_view name);

/// Useful floating-point operations of a call: the projections, and 2 (head_dim + v_head_dim) for each visible pair of a query and a key. Pairs that
/// only `lsh` hides count: nothing is hashed here.
double usefulFlops(const Spec &spec, const Sizes &sizes, const Tensors &inputs);

} // namespace mhac::reference
