// Mask `any`: alternatives, one of which must hold. An alternative is one mask, or a list of masks that must all hold.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "attention/AttentionDialect.h"
#include "attention/masks/Conditions.h"

using namespace mlir;
using namespace mhac::attn;

const VariantInfo &AnyAttr::info() {
  static const FieldInfo fields[] = {{"", FieldType::Variants, {}, "", "alternatives: masks, or lists of masks that must all hold"}};
  static const VariantInfo info{getMnemonic(), VariantKind::Mask, "a key is visible when one of the alternatives holds", fields, /*repeatable=*/true};
  return info;
}

static SmallVector<VariantInterface> variantsOf(ArrayAttr alternatives) {
  SmallVector<VariantInterface> variants;
  for (auto masks : alternatives.getAsRange<ArrayAttr>())
    for (Attribute mask : masks)
      variants.push_back(cast<VariantInterface>(mask));
  return variants;
}

Attribute AnyAttr::fromSpec(VariantReader &reader) {
  ArrayRef<SmallVector<Attribute>> alternatives = reader.variants("");
  const std::vector<mhac::Tree> &items = reader.element.arguments.items;
  auto refuse = [&](const mhac::SourceLocation &loc, size_t length, const std::string &message) {
    reader.diagnostics.error(loc, message).length = length;
    return Attribute();
  };
  if (alternatives.empty())
    return refuse(reader.element.word.loc, getMnemonic().size(), "'any' must have at least one alternative, found an empty list");
  SmallVector<Attribute> lists;
  for (auto [masks, item] : llvm::zip_equal(alternatives, items)) {
    if (masks.empty())
      return refuse(item.loc, 1, "an alternative of 'any' must have at least one mask, found an empty list");
    for (Attribute mask : masks)
      if (auto tensor = dyn_cast<TensorAttr>(mask); tensor && tensor.getAdded())
        return refuse(item.loc, 1, "'tensor' with 'dtype: float' is added to the score and cannot be an alternative; use 'dtype: bool'");
    auto list = ArrayAttr::get(reader.context, masks);
    if (llvm::is_contained(lists, Attribute(list)))
      return refuse(item.loc, 1, "this alternative of 'any' stands there already");
    lists.push_back(list);
  }
  return get(reader.context, ArrayAttr::get(reader.context, lists));
}

LogicalResult AnyAttr::verify(llvm::function_ref<InFlightDiagnostic()> emitError, ArrayAttr alternatives) {
  if (alternatives.empty())
    return emitError() << "any wants at least one alternative";
  for (Attribute alternative : alternatives) {
    auto masks = dyn_cast<ArrayAttr>(alternative);
    if (!masks || masks.empty() || llvm::any_of(masks, [](Attribute mask) { return variantKind(mask) != VariantKind::Mask; }))
      return emitError() << "any wants lists of masks, found " << alternative;
  }
  return success();
}

/// With repetitions: whoever joins lists of parameters sees all of them.
SmallVector<VariantParameter> AnyAttr::parameters() const {
  SmallVector<VariantParameter> parameters;
  for (VariantInterface variant : variantsOf(getAlternatives()))
    llvm::append_range(parameters, variant.parameters());
  return parameters;
}

SmallVector<StringRef> AnyAttr::sizes() const {
  SmallVector<StringRef> names;
  for (VariantInterface variant : variantsOf(getAlternatives()))
    llvm::append_range(names, variant.sizes());
  return names;
}

int64_t AnyAttr::largestSize() const {
  int64_t smallest = 0;
  for (VariantInterface variant : variantsOf(getAlternatives()))
    if (int64_t own = variant.largestSize(); own != 0 && (smallest == 0 || own < smallest))
      smallest = own;
  return smallest;
}

bool AnyAttr::shiftsKeys() const {
  return llvm::any_of(variantsOf(getAlternatives()), [](VariantInterface variant) { return variant.shiftsKeys(); });
}

bool AnyAttr::comparesPositions() const {
  return llvm::any_of(variantsOf(getAlternatives()), [](VariantInterface variant) { return variant.comparesPositions(); });
}

Value AnyAttr::firstKey(RegionBuilder &region) const {
  for (VariantInterface variant : variantsOf(getAlternatives()))
    if (Value first = variant.firstKey(region))
      return first;
  return {};
}

Value AnyAttr::validKeys(RegionBuilder &region) const {
  for (VariantInterface variant : variantsOf(getAlternatives()))
    if (Value valid = variant.validKeys(region))
      return valid;
  return {};
}

void AnyAttr::expandBefore(OpBuilder &builder, Operation *attention, SmallVectorImpl<ComputedTable> &tables) const {
  for (VariantInterface variant : variantsOf(getAlternatives()))
    variant.expandBefore(builder, attention, tables);
}

Value AnyAttr::isVisible(RegionBuilder &region) const {
  Value visible;
  for (auto masks : getAlternatives().getAsRange<ArrayAttr>()) {
    Value all;
    for (Attribute mask : masks)
      all = both(region, all, cast<VariantInterface>(mask).isVisible(region));
    if (!all) // an alternative that always holds
      return {};
    visible = visible ? either(region, visible, all) : all;
  }
  return visible;
}
