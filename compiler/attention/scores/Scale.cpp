// Score change `scale`: the factor of the products Q·K, 1/sqrt(head_dim) by default. It joins the op's own scale, so it costs nothing.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "attention/AttentionDialect.h"
#include "spec/Spec.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

#include <cmath>

using namespace mlir;
using namespace mhac::attn;

const VariantInfo &ScaleAttr::info() {
  static constexpr StringLiteral words[] = {"default"};
  static const FieldInfo fields[] = {
      {"", FieldType::Number, words, "default", "the factor of the products; default is 1/sqrt(head_dim)", 0, /*exclusiveMinimum=*/true}};
  static const VariantInfo info{getMnemonic(), VariantKind::Score, "multiplies the products of queries and keys; comes first", fields};
  return info;
}

Attribute ScaleAttr::fromSpec(VariantReader &reader) {
  if (reader.place != 0) {
    std::string message = "'scale' must be the first element of 'score', found it as element " + std::to_string(reader.place + 1);
    reader.diagnostics.error(reader.element.word.loc, message).length = getMnemonic().size();
    return {};
  }
  double value = reader.number("").value_or(1.0 / std::sqrt(static_cast<double>(*reader.spec.layer.headDim)));
  // Far from where scale * log2(e) or its products leave f32.
  if (value < 1e-30 || value > 1e30) {
    reader.diagnostics.error(reader.element.word.loc, "'scale' must be from 1e-30 to 1e30").length = getMnemonic().size();
    return {};
  }
  return get(reader.context, FloatAttr::get(Float64Type::get(reader.context), value));
}

LogicalResult ScaleAttr::verify(llvm::function_ref<InFlightDiagnostic()> emitError, FloatAttr value) {
  if (!value.getType().isF64() || !value.getValue().isFinite() || value.getValueAsDouble() <= 0)
    return emitError() << "scale wants a finite f64 above 0, found " << value;
  return success();
}

std::optional<double> ScaleAttr::constantFactor() const { return getValue().getValueAsDouble(); }

Value ScaleAttr::transformScore(RegionBuilder &region, Value score) const {
  return arith::MulFOp::create(region.builder, region.loc, score, region.constantF32(getValue().getValueAsDouble()));
}
