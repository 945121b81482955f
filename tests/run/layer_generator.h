// Specs for the run grid: a seeded choice that covers as many pairs of properties as it can, and named corner cases.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstdint>
#include <ostream>
#include <set>
#include <string>
#include <vector>

namespace mhac::grid {

struct GridLayer {
  std::string name, yaml;
  /// "head_dim=40", "mask=causal": one a property.
  std::vector<std::string> facets;
};

/// GoogleTest's way to show a parameter.
inline void PrintTo(const GridLayer &layer, std::ostream *out) { *out << layer.name; }

/// `count` specs, the same for the same seed. Each is the candidate that shows the most pairs of facets that no earlier one has.
std::vector<GridLayer> generateLayers(size_t count, uint64_t seed);

/// Specs at the edges: one feature of everything, odd widths, many heads on one, the smallest and largest head.
std::vector<GridLayer> cornerLayers();

/// How many pairs of facets the layers show together.
size_t countPairs(const std::vector<GridLayer> &layers);

/// The facets that some layer of the list shows.
std::set<std::string> facetsOf(const std::vector<GridLayer> &layers);

} // namespace mhac::grid
