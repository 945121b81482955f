// Outputs that are made from the map of queries and keys and from the heads: the reference's own reading of semantics section 5. Everything is made
// from rows that are written out in full.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "reference/LayerReference.h"
#include "reference/scores.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <limits>

namespace mhac::reference {

/// One row of the map of one head, every key with its numbers.
template <typename T> struct MapRow {
  // Only where the stage asks for them; scaled and modified whatever hides the key:
  std::vector<T> scaled, modified;
  std::vector<T> added;            // by float masks, to visible keys
  std::vector<char> visible;
  std::vector<T> probabilities;    // 0 for hidden keys
  std::vector<int64_t> distance;   // |p_k - p_q|
};

/// Whether a layer has outputs that need rows of the map, scores of hidden keys among them, or sums over all queries.
inline bool needsMapRows(const Spec &spec) {
  return spec.hasOutput(OutputKind::AttentionMap) || spec.hasOutput(OutputKind::MapStatistics) || spec.hasOutput(OutputKind::KeyMass);
}
inline bool needsHiddenScores(const Spec &spec) { return spec.hasOutput(OutputKind::AttentionMap) && *spec.mapStage != MapStage::Probabilities; }
inline bool needsAllQueries(const Spec &spec) { return spec.hasOutput(OutputKind::KeyMass) || spec.hasOutput(OutputKind::HeadNorms); }

/// Appends what a row and head give to the outputs of rows.
template <typename T> void appendMapRow(const Spec &spec, const MapRow<T> &row, LayerResult &result) {
  if (spec.hasOutput(OutputKind::AttentionMap))
    for (size_t k = 0; k < row.visible.size(); ++k)
      switch (*spec.mapStage) {
      case MapStage::Scores:
        result.attentionMap.push_back(row.scaled[k]);
        break;
      case MapStage::Modified:
        result.attentionMap.push_back(row.modified[k]);
        break;
      case MapStage::Masked:
        result.attentionMap.push_back(row.visible[k] && !(row.modified[k] + row.added[k] < T(hidingScore)) ? row.modified[k] + row.added[k]
                                                                                                            : -std::numeric_limits<T>::infinity());
        break;
      case MapStage::Probabilities:
        result.attentionMap.push_back(row.probabilities[k]);
        break;
      }
  if (!spec.hasOutput(OutputKind::MapStatistics))
    return;
  T entropy = 0, peak = 0, diagonal = 0;
  for (size_t k = 0; k < row.visible.size(); ++k) {
    T p = row.probabilities[k];
    entropy -= p > 0 ? p * std::log(p) : T(0);
    peak = std::max(peak, p);
    diagonal += row.distance[k] <= *spec.diagonalWindow ? p : T(0);
    result.probabilities.push_back(row.visible[k] ? double(p) : -1);
  }
  result.entropy.push_back(entropy);
  result.peak.push_back(peak);
  result.diagonalMass.push_back(diagonal);
}

/// What all queries of a batch row give together.
template <typename T> struct QuerySums {
  std::vector<T> mass;    // [heads, keys]
  std::vector<T> squares; // [heads]
};

} // namespace mhac::reference
