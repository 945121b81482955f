// Outputs beside y and lse: the attention map, what is known of its rows and columns without making it, norms of heads. Scores are computed
// again from Q and K, tile by tile, and with the lse of a row that attend() has left behind, P = 2^(S - lse): no scratch grows with the sequences.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "halide/Attention.h"

namespace mhac::halide {

/// A map kernel reads Q and K in lanes and evaluates the regions of the attention as it does.
struct MapProblem {
  AttentionProblem attention; // with `queryLanes`
  Halide::ImageParam keyLanes;
  Halide::ImageParam output; // of attend(), with the lse in row `vHeadDim`; not needed for maps ahead of the softmax
  /// The changes of a score without what masks add, if that is not all of `changeScore`.
  std::function<Halide::Expr(Halide::Expr b, Halide::Expr h, Halide::Expr q, Halide::Expr k, Halide::Expr score)> changeBeforeMask;
  std::function<Halide::Expr(Halide::Expr b, Halide::Expr h, Halide::Expr q, Halide::Expr k)> isNearDiagonal;
};

/// Register tiles of kernels with keys in the lanes: rows of Q, a power of two so that they divide blocks of 16, and vectors of keys.
struct KeyTile {
  int rows, vectors;
  explicit KeyTile(const AttentionTiles &tiles) : rows(tiles.scoreKeys >= 8 ? 8 : tiles.scoreKeys >= 4 ? 4 : 2), vectors(tiles.queryVectors) {}
};

enum class MapStage { Scores, Modified, Masked, Probabilities };
enum class MapStatistic { Entropy, Peak, PeakPosition, DiagonalMass };

// Each stores its heads as heads `firstHead` and behind of the output.

/// The map [b, h, q, k] at a stage: hidden keys are -inf when masked and 0 in the probabilities; ahead of the mask they are pairs like any other.
Halide::Func storeMap(const std::string &name, const MapProblem &problem, MapStage stage, const AttentionTiles &tiles, int firstHead);

/// [b, h, k]: the sum of a key's probabilities over all queries.
Halide::Func keyMass(const std::string &name, const MapProblem &problem, const AttentionTiles &tiles, int firstHead);

/// A tuple of [b, h, q], one element a statistic: the entropy in nats, the largest probability, the smallest k that has it (int64; -1 for a row
/// that sees nothing), and the probability within `isNearDiagonal`.
Halide::Func mapStatistics(const std::string &name, const MapProblem &problem, const std::vector<MapStatistic> &statistics,
                           const AttentionTiles &tiles, int firstHead);

/// [b, h]: the Euclidean norm of a head's first `width` rows in lanes, over `tokens` tokens.
Halide::Func headNorms(const std::string &name, const Halide::ImageParam &lanes, int width, int heads, int firstHead, const Halide::Expr &tokens);

} // namespace mhac::halide
