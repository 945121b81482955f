// Mask `padding`: keys outside a batch row's own tokens are hidden. `key_lengths` is a count, `key_starts` the index of the first token.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "attention/AttentionDialect.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using namespace mhac::attn;

static constexpr StringLiteral kLengths = "key_lengths", kStarts = "key_starts";

const VariantInfo &PaddingAttr::info() {
  static constexpr StringLiteral sides[] = {"right", "left", "both"};
  static const FieldInfo fields[] = {{"side", FieldType::Word, sides, "right",
                                      "where the padding lies: key_lengths[b] valid keys (right), from key_starts[b] on (left), or both"}};
  static const VariantInfo info{getMnemonic(), VariantKind::Mask, "rows of the batch are padded; no query sees the padding", fields};
  return info;
}

Attribute PaddingAttr::fromSpec(VariantReader &reader) { return get(reader.context, *symbolizeSide(reader.word("side"))); }

SmallVector<VariantParameter> PaddingAttr::parameters() const {
  bool both = getSide() == Side::Both;
  VariantParameter lengths{kLengths, "i64", {"batch"}, false, both ? ValueCheck::Sum : ValueCheck::Range, "key",
                           both ? StringRef(kStarts) : StringRef()};
  VariantParameter starts{kStarts, "i64", {"batch"}, false, ValueCheck::Range, "key", {}};
  switch (getSide()) {
  case Side::Right:
    return {lengths};
  case Side::Left:
    return {starts};
  case Side::Both:
    return {lengths, starts};
  }
  return {};
}

bool PaddingAttr::shiftsKeys() const { return getSide() != Side::Right; }

Value PaddingAttr::firstKey(RegionBuilder &region) const { return shiftsKeys() ? region.load(kStarts, region.b) : Value(); }

Value PaddingAttr::validKeys(RegionBuilder &region) const {
  if (getSide() != Side::Left)
    return region.load(kLengths, region.b);
  Value keys = region.keys(), start = region.load(kStarts, region.b);
  return arith::SubIOp::create(region.builder, region.loc, keys, start);
}

Value PaddingAttr::isVisible(RegionBuilder &region) const {
  OpBuilder &builder = region.builder;
  if (getSide() == Side::Right)
    return arith::CmpIOp::create(builder, region.loc, arith::CmpIPredicate::slt, region.k, region.load(kLengths, region.b));
  Value start = region.load(kStarts, region.b);
  Value after = arith::CmpIOp::create(builder, region.loc, arith::CmpIPredicate::sge, region.k, start);
  if (getSide() == Side::Left)
    return after;
  Value end = arith::AddIOp::create(builder, region.loc, start, region.load(kLengths, region.b));
  Value before = arith::CmpIOp::create(builder, region.loc, arith::CmpIPredicate::slt, region.k, end);
  return arith::AndIOp::create(builder, region.loc, after, before);
}
