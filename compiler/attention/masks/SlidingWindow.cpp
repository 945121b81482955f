// Mask `sliding_window`: a query sees the keys beside its own position, at most so many on each side.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "attention/AttentionDialect.h"
#include "attention/masks/Conditions.h"

using namespace mlir;
using namespace mhac::attn;

const VariantInfo &SlidingWindowAttr::info() {
  static const FieldInfo fields[] = {
      {"left", FieldType::Integer, {}, "-1", "keys before the own position that are seen; -1: all", -1},
      {"right", FieldType::Integer, {}, "-1", "keys behind the own position that are seen; -1: all", -1}};
  static const VariantInfo info{getMnemonic(), VariantKind::Mask, "a query sees the keys near its own position", fields};
  return info;
}

Attribute SlidingWindowAttr::fromSpec(VariantReader &reader) {
  int64_t left = lengthOf(reader, "left"), right = lengthOf(reader, "right");
  if (left < 0 && right < 0) {
    reader.diagnostics.error(reader.element.word.loc, "'sliding_window' must limit 'left' or 'right', found -1 (unlimited) for both; leave it out to see all keys")
        .length = getMnemonic().size();
    return {};
  }
  return get(reader.context, left, right);
}

LogicalResult SlidingWindowAttr::verify(llvm::function_ref<InFlightDiagnostic()> emitError, int64_t left, int64_t right) {
  if (left < -1 || right < -1 || left > kLongest || right > kLongest)
    return emitError() << "sliding_window wants left and right from -1 to " << kLongest << ", found " << left << " and " << right;
  return success();
}

bool SlidingWindowAttr::comparesPositions() const { return true; }

/// `position` is at most `count` beyond `other`; null when that is always so.
static Value isNear(RegionBuilder &region, Value position, Value other, int64_t count) {
  if (count < 0)
    return {};
  if (count == 0) // the comparison that `causal` makes, so that both together are one
    return isAtMost(region, position, other);
  Value distance = difference(region, position, other), limit = region.constant(count);
  return isAtMost(region, distance, limit);
}

Value SlidingWindowAttr::isVisible(RegionBuilder &region) const {
  Value key = region.keyPosition(), query = region.queryPosition();
  Value before = isNear(region, key, query, getRight()), after = isNear(region, query, key, getLeft());
  return both(region, before, after);
}
