// `layer.qk_norm`: Q and K are normalised, a head at a time or over all heads, ahead of the position encoding or behind it.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "attention/AttentionDialect.h"
#include "spec/Spec.h"

using namespace mlir;
using namespace mhac::attn;

static constexpr StringLiteral kQueryWeight = "q_norm_weight", kKeyWeight = "k_norm_weight";

const VariantInfo &QkNormAttr::info() {
  static constexpr StringLiteral kinds[] = {"rms", "l2"}, scopes[] = {"head", "all"}, truth[] = {"true", "false"},
                                 places[] = {"before_rope", "after_rope"};
  static const FieldInfo fields[] = {
      {"kind", FieldType::Word, kinds, "", "what is divided by: the root mean square (rms) or the length (l2)"},
      {"epsilon", FieldType::Number, {}, "1e-6", "added to the mean square (rms), or the smallest length (l2)"},
      {"scope", FieldType::Word, scopes, "head", "features that are normalised together: those of a head, or of all heads"},
      {"weight", FieldType::Word, truth, "true", "whether learned weights multiply the result: q_norm_weight and k_norm_weight"},
      {"place", FieldType::Word, places, "before_rope", "before or after the position encoding"}};
  static const VariantInfo info{getMnemonic(), VariantKind::Position, "normalisation of Q and K", fields, /*repeatable=*/false, /*listed=*/false};
  return info;
}

Attribute QkNormAttr::fromSpec(VariantReader &reader) {
  const LayerSpec &layer = reader.spec.layer;
  bool acrossHeads = reader.word("scope") == "all", hasWeight = reader.word("weight") == "true";
  int64_t q = *layer.headDim * (acrossHeads ? *layer.heads : 1), k = *layer.headDim * (acrossHeads ? *layer.kvHeads : 1);
  if (!layer.headGroups.empty()) {
    reader.diagnostics.error(reader.element.word.loc, "'qk_norm' needs heads of one width, 'head_dim' is a list");
    return {};
  }
  if (acrossHeads && !layer.prunedHeads.empty()) {
    reader.diagnostics.error(reader.location("scope"), "'scope: all' needs all heads, which 'pruned_heads' leaves out; only 'scope: head' goes with it");
    return {};
  }
  auto epsilon = FloatAttr::get(Float64Type::get(reader.context), *reader.number("epsilon"));
  return get(reader.context, *symbolizeNorm(reader.word("kind")), epsilon, acrossHeads, hasWeight ? q : 0, hasWeight ? k : 0);
}

LogicalResult QkNormAttr::verify(llvm::function_ref<InFlightDiagnostic()> emitError, Norm, FloatAttr epsilon, bool, int64_t queryFeatures,
                                 int64_t keyFeatures) {
  if (!epsilon.getType().isF64() || !epsilon.getValue().isFinite() || epsilon.getValueAsDouble() < 0)
    return emitError() << "epsilon wants a finite f64 of at least 0, found " << epsilon;
  if (queryFeatures < 0 || keyFeatures < 0 || (queryFeatures == 0) != (keyFeatures == 0))
    return emitError() << "q_features and k_features want to be both above 0 or both 0, found " << queryFeatures << " and " << keyFeatures;
  return success();
}

SmallVector<VariantParameter> QkNormAttr::parameters() const {
  SmallVector<VariantParameter> list;
  for (auto [name, features] : {std::pair(kQueryWeight, getQFeatures()), std::pair(kKeyWeight, getKFeatures())})
    if (features > 0) {
      VariantParameter weight;
      weight.name = name, weight.dims = {std::to_string(features)};
      weight.isWeight = true;
      list.push_back(weight);
    }
  return list;
}

static Value normalize(QkNormAttr norm, SequenceBuilder &sequence, Value heads, StringRef weight, int64_t features) {
  Value operand = features > 0 ? sequence.parameter(weight) : Value();
  return NormalizeOp::create(sequence.builder, sequence.loc, heads.getType(), heads, operand, norm.getKind(), norm.getEpsilon().getValue(),
                             norm.getAcrossHeads(), llvm::APFloat(1.0));
}

Value QkNormAttr::transformQuery(SequenceBuilder &sequence, Value query) const {
  return normalize(*this, sequence, query, kQueryWeight, getQFeatures());
}

Value QkNormAttr::transformKey(SequenceBuilder &sequence, Value key) const {
  return normalize(*this, sequence, key, kKeyWeight, getKFeatures());
}
