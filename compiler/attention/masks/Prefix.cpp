// Mask `prefix`: the first keys are visible, to all queries. A prefix language model sees them or what is causal: any: [causal, prefix: input].
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "attention/AttentionDialect.h"
#include "attention/masks/Conditions.h"

using namespace mlir;
using namespace mhac::attn;

static constexpr StringLiteral kLengths = "prefix_lengths";

const VariantInfo &PrefixAttr::info() {
  static constexpr StringLiteral words[] = {"input"};
  static const FieldInfo fields[] = {
      {"", FieldType::Integer, words, "", "how many keys from position 0 on are visible; input: prefix_lengths[b] of a run-time input", 0}};
  static const VariantInfo info{getMnemonic(), VariantKind::Mask, "the first keys are visible to all queries", fields};
  return info;
}

Attribute PrefixAttr::fromSpec(VariantReader &reader) {
  return get(reader.context, reader.word("") == "input" ? std::optional<int64_t>() : lengthOf(reader, ""));
}

LogicalResult PrefixAttr::verify(llvm::function_ref<InFlightDiagnostic()> emitError, std::optional<int64_t> length) {
  if (length && (*length < 0 || *length > kLongest))
    return emitError() << "prefix wants a length from 0 to " << kLongest << ", found " << *length;
  return success();
}

SmallVector<VariantParameter> PrefixAttr::parameters() const {
  if (getLength())
    return {};
  return {{kLengths, "i64", {"batch"}, /*strided=*/false, ValueCheck::Range, "key", {}}};
}

Value PrefixAttr::isVisible(RegionBuilder &region) const {
  Value key = region.keyPosition();
  Value length = getLength() ? region.constant(*getLength()) : region.load(kLengths, region.b);
  return isBelow(region, key, length);
}
