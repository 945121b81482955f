// Which keys a query sees: the reference's own reading of the spec's `mask` list and of `query_offset` (semantics section 3). Interprets the
// trees of the spec directly and shares nothing with the dialect's masks, because it judges them.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "spec/Spec.h"

#include <cstdint>
#include <string>
#include <vector>

namespace mhac::reference {

/// The run-time numbers of one batch row that masks and positions depend on.
struct RowNumbers {
  int64_t queries = 0, keys = 0; // of the tensors
  int64_t keyStart = 0;          // key_starts[b]; 0 where the spec has no such input
  int64_t keyLength = 0;         // key_lengths[b]; `keys` where the spec has no such input
};

/// The mask of one batch row.
class RowMask {
public:
  /// `spec` must outlive the mask.
  RowMask(const Spec &spec, const RowNumbers &row);

  /// Whether query `q` sees key `k` (indices in the tensors): all listed conditions hold.
  bool isVisible(int64_t q, int64_t k) const;
  /// Absolute positions.
  int64_t queryPosition(int64_t q) const { return q + offset; }
  int64_t keyPosition(int64_t k) const { return k - row.keyStart; }

private:
  bool holds(const VariantSpec &mask, int64_t q, int64_t k) const;

  const Spec &spec;
  RowNumbers row;
  int64_t offset;
};

/// Names of the int64 inputs [batch] that the spec's masks read, in the order key_lengths, key_starts.
std::vector<std::string> maskInputs(const Spec &spec);

/// The first mask of the spec that this file does not know, or nullptr.
const VariantSpec *unknownMask(const Spec &spec);

} // namespace mhac::reference
