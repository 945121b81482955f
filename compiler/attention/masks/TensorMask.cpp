// Mask `tensor`: an input says what is visible, as truth values, or as numbers that are added to the score, -inf being hidden. It may end before
// the keys; the rest of them is hidden.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "attention/AttentionDialect.h"
#include "attention/masks/Conditions.h"

using namespace mlir;
using namespace mhac::attn;

static constexpr StringLiteral kMask = "mask", kMaskKeys = "mask_keys";

const VariantInfo &TensorAttr::info() {
  static constexpr StringLiteral dtypes[] = {"bool", "float"}, dims[] = {"b", "h", "q"};
  static const FieldInfo fields[] = {
      {"dtype", FieldType::Word, dtypes, "", "bool: true is visible; float: added to the score"},
      {"broadcast", FieldType::WordList, dims, "[]", "dimensions along which the mask is the same everywhere and has extent 1"}};
  static const VariantInfo info{getMnemonic(), VariantKind::Mask, "an input says what is visible", fields};
  return info;
}

Attribute TensorAttr::fromSpec(VariantReader &reader) {
  SmallVector<StringRef> broadcast = reader.words("broadcast");
  auto varies = [&](StringRef dim) { return !llvm::is_contained(broadcast, dim); };
  return get(reader.context, reader.word("dtype") == "float", varies("b"), varies("h") ? *reader.spec.layer.heads : 1, varies("q"));
}

LogicalResult TensorAttr::verify(llvm::function_ref<InFlightDiagnostic()> emitError, bool, bool, int64_t heads, bool) {
  if (heads < 1)
    return emitError() << "tensor wants at least one head, found " << heads;
  return success();
}

SmallVector<VariantParameter> TensorAttr::parameters() const {
  VariantParameter mask = plainInput(kMask, getAdded() ? "f32" : "bool",
                                     {getBatch() ? "batch" : "1", std::to_string(getHeads()), getQuery() ? "query" : "1", kMaskKeys.str()});
  mask.strided = true;
  return {mask};
}

SmallVector<StringRef> TensorAttr::sizes() const { return {kMaskKeys}; }

/// The element for the region's pair.
static Value element(TensorAttr mask, RegionBuilder &region) {
  Value zero = region.constant(0);
  return region.load(kMask, {mask.getBatch() ? region.b : zero, mask.getHeads() > 1 ? region.h : zero, mask.getQuery() ? region.q : zero, region.k});
}

Value TensorAttr::isVisible(RegionBuilder &region) const {
  Value end = region.extent(kMask, 3), inside = isBelow(region, region.k, end), value = element(*this, region);
  if (getAdded()) {
    Value hidden = arith::ConstantOp::create(region.builder, region.loc,
                                             FloatAttr::get(region.builder.getF32Type(), -std::numeric_limits<float>::infinity()));
    value = arith::CmpFOp::create(region.builder, region.loc, arith::CmpFPredicate::OGT, value, hidden);
  }
  return both(region, inside, value);
}

Value TensorAttr::transformScore(RegionBuilder &region, Value score) const {
  if (!getAdded())
    return score;
  return arith::AddFOp::create(region.builder, region.loc, score, element(*this, region));
}
