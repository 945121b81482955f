// Score change `bias`: an input is added to the scores, broadcast over any of batch, heads and queries.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "attention/AttentionDialect.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using namespace mhac::attn;

static constexpr StringLiteral kBias = "score_bias";

const VariantInfo &BiasAttr::info() {
  static constexpr StringLiteral dims[] = {"b", "h", "q"};
  static const FieldInfo fields[] = {
      {"broadcast", FieldType::WordList, dims, "[]", "dimensions along which the bias is the same everywhere and has extent 1"}};
  static const VariantInfo info{getMnemonic(), VariantKind::Score, "adds an input to the scores", fields};
  return info;
}

Attribute BiasAttr::fromSpec(VariantReader &reader) {
  SmallVector<StringRef> broadcast = reader.words("broadcast");
  auto varies = [&](StringRef dim) { return !llvm::is_contained(broadcast, dim); };
  return get(reader.context, varies("b"), varies("h") ? *reader.spec.layer.heads : 1, varies("q"));
}

LogicalResult BiasAttr::verify(llvm::function_ref<InFlightDiagnostic()> emitError, bool, int64_t heads, bool) {
  if (heads < 1)
    return emitError() << "bias wants at least one head, found " << heads;
  return success();
}

SmallVector<VariantParameter> BiasAttr::parameters() const {
  VariantParameter bias;
  bias.name = kBias;
  bias.dtype = "f32";
  bias.dims = {getBatch() ? "batch" : "1", std::to_string(getHeads()), getQuery() ? "query" : "1", "key"};
  bias.strided = true;
  return {bias};
}

Value BiasAttr::transformScore(RegionBuilder &region, Value score) const {
  Value zero = region.constant(0);
  Value bias = region.load(kBias, {getBatch() ? region.b : zero, getHeads() > 1 ? region.h : zero, getQuery() ? region.q : zero, region.k});
  return arith::AddFOp::create(region.builder, region.loc, score, bias);
}
