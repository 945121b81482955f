// Mask `document`: several documents lie packed in a row of the batch, and tokens see those with the same number.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "attention/AttentionDialect.h"
#include "attention/masks/Conditions.h"

using namespace mlir;
using namespace mhac::attn;

static constexpr StringLiteral kDocuments = "documents", kQueries = "query_documents", kKeys = "key_documents";

const VariantInfo &DocumentAttr::info() {
  static const VariantInfo info{getMnemonic(), VariantKind::Mask, "a query sees the keys of its own document, a number a token", {}};
  return info;
}

Attribute DocumentAttr::fromSpec(VariantReader &reader) { return get(reader.context, sharesTokens(reader.spec)); }

/// The numbers of the documents of tokens; kernels compare them in 32 bits.
static VariantParameter numbers(StringRef name, const char *tokens) {
  VariantParameter parameter = plainInput(name, "i64", {"batch", tokens});
  parameter.check = ValueCheck::Position;
  return parameter;
}

SmallVector<VariantParameter> DocumentAttr::parameters() const {
  if (getShared())
    return {numbers(kDocuments, "query")};
  return {numbers(kQueries, "query"), numbers(kKeys, "key")};
}

Value DocumentAttr::isVisible(RegionBuilder &region) const {
  Value query = region.load(getShared() ? kDocuments : kQueries, {region.b, region.q});
  Value key = region.load(getShared() ? kDocuments : kKeys, {region.b, region.k});
  return isEqual(region, query, key);
}
