// Mask `chunked`: positions are cut into chunks of equal size, and a query sees the keys of its own chunk.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "attention/AttentionDialect.h"
#include "attention/masks/Conditions.h"

using namespace mlir;
using namespace mhac::attn;

const VariantInfo &ChunkedAttr::info() {
  static const FieldInfo fields[] = {{"", FieldType::Integer, {}, "", "positions in a chunk", 1}};
  static const VariantInfo info{getMnemonic(), VariantKind::Mask, "a query sees the keys of its own chunk of positions", fields};
  return info;
}

Attribute ChunkedAttr::fromSpec(VariantReader &reader) { return get(reader.context, lengthOf(reader, "")); }

LogicalResult ChunkedAttr::verify(llvm::function_ref<InFlightDiagnostic()> emitError, int64_t size) {
  if (size < 1 || size > kLongest)
    return emitError() << "chunked wants a size from 1 to " << kLongest << ", found " << size;
  return success();
}

bool ChunkedAttr::comparesPositions() const { return true; }

Value ChunkedAttr::isVisible(RegionBuilder &region) const {
  // Where the chunk of the query begins is the same for all keys, so that an interval of keys remains, which block structure can see.
  Value key = region.keyPosition(), query = region.queryPosition(), size = region.constant(getSize());
  Value chunk = region.floorDiv(query, size);
  Value first = arith::MulIOp::create(region.builder, region.loc, chunk, size);
  Value distance = difference(region, key, first);
  return isWithin(region, distance, 0, getSize() - 1);
}
