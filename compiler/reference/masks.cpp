// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "reference/masks.h"

#include <algorithm>
#include <string_view>

namespace mhac::reference {

/// The scalar under `key` of a variant's arguments, `fallback` when it is not there.
static std::string_view word(const VariantSpec &variant, std::string_view key, std::string_view fallback) {
  for (const auto &[name, value] : variant.arguments.fields)
    if (*name == key)
      return value.scalar;
  return fallback;
}

static bool hasPadding(const Spec &spec, std::string_view side) {
  return std::any_of(spec.mask.begin(), spec.mask.end(), [&](const VariantSpec &mask) {
    return *mask.word == "padding" && word(mask, "side", "right") == side;
  });
}

std::vector<std::string> maskInputs(const Spec &spec) {
  std::vector<std::string> inputs;
  if (hasPadding(spec, "right") || hasPadding(spec, "both"))
    inputs.push_back("key_lengths");
  if (hasPadding(spec, "left") || hasPadding(spec, "both"))
    inputs.push_back("key_starts");
  return inputs;
}

const VariantSpec *unknownMask(const Spec &spec) {
  for (const VariantSpec &mask : spec.mask)
    if (*mask.word != "causal" && *mask.word != "padding")
      return &mask;
  return nullptr;
}

/// Absolute position of query 0.
static int64_t queryOffset(const Spec &spec, const RowNumbers &row) {
  switch (*spec.queryOffset) {
  case QueryOffset::BottomRight:
    return row.keys - row.queries;
  case QueryOffset::TopLeft:
    return 0;
  case QueryOffset::RowEnd: {
    bool leftOnly = hasPadding(spec, "left") && !hasPadding(spec, "right") && !hasPadding(spec, "both");
    int64_t validKeys = leftOnly ? row.keys - row.keyStart : row.keyLength;
    return validKeys - row.queries;
  }
  }
  return 0;
}

RowMask::RowMask(const Spec &spec, const RowNumbers &row) : spec(spec), row(row), offset(queryOffset(spec, row)) {}

bool RowMask::holds(const VariantSpec &mask, int64_t q, int64_t k) const {
  if (*mask.word == "causal")
    return keyPosition(k) <= queryPosition(q);
  if (*mask.word == "padding") {
    std::string_view side = word(mask, "side", "right");
    if (side == "right")
      return k < row.keyLength;
    if (side == "left")
      return k >= row.keyStart;
    return row.keyStart <= k && k < row.keyStart + row.keyLength;
  }
  return false;
}

bool RowMask::isVisible(int64_t q, int64_t k) const {
  return std::all_of(spec.mask.begin(), spec.mask.end(), [&](const VariantSpec &mask) { return holds(mask, q, k); });
}

} // namespace mhac::reference
