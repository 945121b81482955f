// Mask `dilated`: a query sees every step-th key beside its own position, at most `window` of them on each side.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "attention/AttentionDialect.h"
#include "attention/masks/Conditions.h"

using namespace mlir;
using namespace mhac::attn;

const VariantInfo &DilatedAttr::info() {
  static const FieldInfo fields[] = {
      {"window", FieldType::Integer, {}, "", "keys on each side of the own position that are seen", 1},
      {"step", FieldType::Integer, {}, "", "distance of one seen key from the next", 1}};
  static const VariantInfo info{getMnemonic(), VariantKind::Mask, "a query sees every step-th key near its own position", fields};
  return info;
}

Attribute DilatedAttr::fromSpec(VariantReader &reader) {
  int64_t window = lengthOf(reader, "window"), step = lengthOf(reader, "step");
  return get(reader.context, window, step);
}

LogicalResult DilatedAttr::verify(llvm::function_ref<InFlightDiagnostic()> emitError, int64_t window, int64_t step) {
  if (window < 1 || window > kLongest || step < 1 || step > kLongest)
    return emitError() << "dilated wants window and step from 1 to " << kLongest << ", found " << window << " and " << step;
  return success();
}

bool DilatedAttr::comparesPositions() const { return true; }

Value DilatedAttr::isVisible(RegionBuilder &region) const {
  Value key = region.keyPosition(), query = region.queryPosition(), distance = difference(region, query, key);
  int64_t reach = std::min(getWindow() * getStep(), kLongest); // both factors are below 2^31
  Value near = isWithin(region, distance, -reach, reach);
  if (getStep() == 1)
    return near;
  Value step = region.constant(getStep()), rest = region.floorMod(distance, step), zero = region.constant(0);
  Value isStep = isEqual(region, rest, zero);
  return both(region, near, isStep);
}
