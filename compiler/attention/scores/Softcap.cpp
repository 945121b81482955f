// Score change `softcap`: scores stay within a bound, cap * tanh(S / cap) (Gemma 2).
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "attention/AttentionDialect.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"

using namespace mlir;
using namespace mhac::attn;

const VariantInfo &SoftcapAttr::info() {
  static const FieldInfo fields[] = {{"", FieldType::Number, {}, "", "the bound", 0, /*exclusiveMinimum=*/true}};
  static const VariantInfo info{getMnemonic(), VariantKind::Score, "keeps scores within a bound, cap * tanh(S / cap)", fields};
  return info;
}

Attribute SoftcapAttr::fromSpec(VariantReader &reader) {
  double cap = *reader.number("");
  // Far from where 1 / cap leaves f32.
  if (cap < 1e-30 || cap > 1e30) {
    reader.diagnostics.error(reader.location(""), "'softcap' must be from 1e-30 to 1e30, found " + reader.word("").str()).length = reader.word("").size();
    return {};
  }
  return get(reader.context, FloatAttr::get(Float64Type::get(reader.context), cap));
}

LogicalResult SoftcapAttr::verify(llvm::function_ref<InFlightDiagnostic()> emitError, FloatAttr cap) {
  if (!cap.getType().isF64() || !cap.getValue().isFinite() || cap.getValueAsDouble() <= 0)
    return emitError() << "softcap wants a finite f64 above 0, found " << cap;
  return success();
}

Value SoftcapAttr::transformScore(RegionBuilder &region, Value score) const {
  const double cap = getCap().getValueAsDouble();
  Value inverse = region.constantF32(1 / cap);
  Value share = math::TanhOp::create(region.builder, region.loc, arith::MulFOp::create(region.builder, region.loc, score, inverse));
  return arith::MulFOp::create(region.builder, region.loc, share, region.constantF32(cap));
}
