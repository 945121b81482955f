// The buckets of mask `lsh`: the reference's own reading of the rotations and of the hash (specs/README.md), in double. Kernels hash in f32: of a vector
// whose two largest products are nearly equal, either bucket is right, so a vector has a list of candidates here, and rows that depend on which of
// them is taken are not judged.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "spec/Spec.h"

#include <compare>
#include <cstdint>
#include <map>
#include <tuple>
#include <vector>

namespace mhac::reference {

/// What an lsh mask says: masks that say the same hash the same.
struct HashKind {
  int64_t buckets = 2, rounds = 1;
  uint32_t seed = 0;
  explicit HashKind(const VariantSpec &mask);
  auto operator<=>(const HashKind &) const = default;
};

/// The buckets that a vector may have, by round; the first of each round is the one that it has in double.
using Candidates = std::vector<std::vector<int64_t>>;

/// Draws each rotation once.
class Hasher {
public:
  Candidates candidates(const HashKind &kind, int64_t kvHead, const std::vector<double> &vector);

private:
  const std::vector<double> &rotation(const HashKind &kind, int64_t kvHead, int64_t round, int64_t width);
  std::map<std::tuple<HashKind, int64_t, int64_t, int64_t>, std::vector<double>> rotations; // [features, columns]
};

/// Of a batch row: by kind of hash, all vectors of keys [kv heads, keys], or those of one query [heads].
using Buckets = std::map<HashKind, std::vector<Candidates>>;

/// Which of the candidates count.
enum class Certainty { AsComputed, Possible, Certain };

/// Whether two vectors meet in a round: by their first candidates, by any, or by the only ones that they have.
bool meet(const Candidates &a, const Candidates &b, Certainty certainty);

} // namespace mhac::reference
