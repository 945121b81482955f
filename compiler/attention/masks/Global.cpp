// Mask `global`: some tokens see all keys and are seen by all queries (Longformer): the first ones, or those that an input marks.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "attention/AttentionDialect.h"
#include "attention/masks/Conditions.h"

using namespace mlir;
using namespace mhac::attn;

static constexpr StringLiteral kTokens = "global_tokens", kQueries = "global_queries", kKeys = "global_keys";

const VariantInfo &GlobalAttr::info() {
  static constexpr StringLiteral words[] = {"input"};
  static const FieldInfo fields[] = {
      {"tokens", FieldType::Integer, words, "", "how many tokens from position 0 on are global; input: those that a run-time input marks", 1}};
  static const VariantInfo info{getMnemonic(), VariantKind::Mask, "global tokens see all keys and are seen by all queries", fields};
  return info;
}

Attribute GlobalAttr::fromSpec(VariantReader &reader) {
  bool isInput = reader.word("tokens") == "input";
  return get(reader.context, isInput ? std::optional<int64_t>() : lengthOf(reader, "tokens"), isInput && sharesTokens(reader.spec));
}

LogicalResult GlobalAttr::verify(llvm::function_ref<InFlightDiagnostic()> emitError, std::optional<int64_t> tokens, bool shared) {
  if (tokens && (*tokens < 1 || *tokens > kLongest || shared))
    return emitError() << "global wants tokens from 1 to " << kLongest << ", not shared, or none, found " << *tokens;
  return success();
}

SmallVector<VariantParameter> GlobalAttr::parameters() const {
  if (getTokens())
    return {};
  if (getShared())
    return {plainInput(kTokens, "bool", {"batch", "query"})};
  return {plainInput(kQueries, "bool", {"batch", "query"}), plainInput(kKeys, "bool", {"batch", "key"})};
}

Value GlobalAttr::isVisible(RegionBuilder &region) const {
  Value query, key;
  if (getTokens()) {
    Value keyPosition = region.keyPosition(), queryPosition = region.queryPosition();
    key = isInFirst(region, keyPosition, region.k, *getTokens());
    query = isInFirst(region, queryPosition, region.q, *getTokens());
  } else {
    key = region.load(getShared() ? kTokens : kKeys, {region.b, region.k});
    query = region.load(getShared() ? kTokens : kQueries, {region.b, region.q});
  }
  return either(region, key, query);
}
