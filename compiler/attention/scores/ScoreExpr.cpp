// Score change `expr`: the new score is an expression of the old one, `s`, and of the pair (specs/README.md has the language).
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "attention/AttentionDialect.h"
#include "attention/LowerExpression.h"

using namespace mlir;
using namespace mhac;
using namespace mhac::attn;

const VariantInfo &ScoreExprAttr::info() {
  static const FieldInfo fields[] = {{"", FieldType::Text, {}, "", "the new score, as \"s - 0.1 * abs(q - k)\""}};
  static const VariantInfo info{"expr", VariantKind::Score, "the new score, written as an expression", fields, /*repeatable=*/true};
  return info;
}

Attribute ScoreExprAttr::fromSpec(VariantReader &reader) {
  std::optional<ExpressionSource> source = readExpression(reader, ExpressionUse::Score);
  return source ? get(reader.context, source->text, source->parameters) : Attribute();
}

LogicalResult ScoreExprAttr::verify(llvm::function_ref<InFlightDiagnostic()> emitError, StringRef text, ArrayRef<StringAttr> parameters) {
  SmallVector<ExpressionParameter> declared;
  std::string error;
  return parseSource(text, ExpressionUse::Score, parameters, declared, error) ? success() : LogicalResult(emitError() << error);
}

SmallVector<VariantParameter> ScoreExprAttr::parameters() const { return expressionInputs(getParameters()); }

bool ScoreExprAttr::comparesPositions() const { return readsBothPositions(getText(), ExpressionUse::Score, getParameters()); }

int64_t ScoreExprAttr::largestSize() const { return largestPosition; }

Value ScoreExprAttr::transformScore(RegionBuilder &region, Value score) const {
  return lowerExpression(region, getText(), ExpressionUse::Score, getParameters(), score);
}
