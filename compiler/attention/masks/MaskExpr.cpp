// Mask `expr`: a key is visible when a condition written in the spec holds (specs/README.md has the language).
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "attention/AttentionDialect.h"
#include "attention/LowerExpression.h"

using namespace mlir;
using namespace mhac;
using namespace mhac::attn;

const VariantInfo &MaskExprAttr::info() {
  static const FieldInfo fields[] = {{"", FieldType::Text, {}, "", "the condition, as \"k <= q and q - k < 512\""}};
  static const VariantInfo info{"expr", VariantKind::Mask, "a condition written as an expression", fields, /*repeatable=*/true};
  return info;
}

Attribute MaskExprAttr::fromSpec(VariantReader &reader) {
  std::optional<ExpressionSource> source = readExpression(reader, ExpressionUse::Mask);
  return source ? get(reader.context, source->text, source->parameters) : Attribute();
}

LogicalResult MaskExprAttr::verify(llvm::function_ref<InFlightDiagnostic()> emitError, StringRef text, ArrayRef<StringAttr> parameters) {
  SmallVector<ExpressionParameter> declared;
  std::string error;
  return parseSource(text, ExpressionUse::Mask, parameters, declared, error) ? success() : LogicalResult(emitError() << error);
}

SmallVector<VariantParameter> MaskExprAttr::parameters() const { return expressionInputs(getParameters()); }

bool MaskExprAttr::comparesPositions() const { return readsBothPositions(getText(), ExpressionUse::Mask, getParameters()); }

int64_t MaskExprAttr::largestSize() const { return largestPosition; }

Value MaskExprAttr::isVisible(RegionBuilder &region) const { return lowerExpression(region, getText(), ExpressionUse::Mask, getParameters()); }
