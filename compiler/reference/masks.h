// Which keys a query sees: the reference's own reading of the spec's `mask` list and of `query_offset` (semantics section 3). Interprets the
// trees of the spec directly and shares nothing with the dialect's masks, because it judges them.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "reference/Tensors.h"
#include "reference/hashing.h"
#include "spec/Spec.h"

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace mhac::reference {

/// Whether query `q` sees key `k` in head `h`.
using Condition = std::function<bool(int64_t h, int64_t q, int64_t k)>;

/// Absolute positions in one batch row; indices are those of the tensors.
struct RowPositions {
  int64_t offset = 0;   // of query 0
  int64_t keyStart = 0; // key_starts[b]; 0 where the spec has no such input
  int64_t ofQuery(int64_t q) const { return q + offset; }
  int64_t ofKey(int64_t k) const { return k - keyStart; }
};

/// The mask of one batch row.
class RowMask {
public:
  /// The spec must be known (unknownMask) and the inputs there, in their shapes (maskInputs). All must outlive the mask.
  RowMask(const Spec &spec, const Sizes &sizes, const Tensors &inputs, int64_t b);

  /// All listed conditions hold. `lsh` holds until buckets are given.
  bool isVisible(int64_t h, int64_t q, int64_t k) const;
  /// What `lsh` goes by, for all queries that are asked for from now on: the buckets of all keys and of one query. Both must outlive the mask.
  void useBuckets(const Buckets &ofKeys, const Buckets &ofQuery, Certainty certainty = Certainty::AsComputed) { *hashed = {&ofKeys, &ofQuery, certainty}; }
  /// Whether heads can see different keys; otherwise all see what head 0 sees.
  bool dependsOnHead() const { return perHead; }
  /// What float masks add to the score of a visible pair.
  double addition(int64_t h, int64_t q, int64_t k) const;
  int64_t queryPosition(int64_t q) const { return positions.ofQuery(q); }
  int64_t keyPosition(int64_t k) const { return positions.ofKey(k); }

private:
  struct Hashed {
    const Buckets *keys = nullptr, *query = nullptr;
    Certainty certainty = Certainty::AsComputed;
  };
  Condition condition(const VariantSpec &mask) const;
  Condition allOf(const std::vector<VariantSpec> &list) const;

  const Spec &spec;
  const Sizes sizes;
  const Tensors &inputs;
  int64_t b;
  bool projectsKeys; // queries and keys are the same tokens
  int64_t keyLength; // key_lengths[b]; the number of keys where the spec has no such input
  RowPositions positions;
  std::shared_ptr<Hashed> hashed = std::make_shared<Hashed>(); // seen by the conditions, which are copied
  Condition visible;
  const Tensor *added = nullptr; // of a float mask
  bool perHead = false;
};

/// The inputs that the spec's masks read, with their shapes. A size of -1 is free: `mask` may be shorter than the keys.
std::vector<std::pair<std::string, std::vector<int64_t>>> maskInputs(const Spec &spec, const Sizes &sizes);

/// The hashes of the spec's `lsh` masks.
std::vector<HashKind> hashKinds(const Spec &spec);

/// The word of the first mask that this file does not know, or "".
std::string unknownMask(const Spec &spec);

} // namespace mhac::reference
