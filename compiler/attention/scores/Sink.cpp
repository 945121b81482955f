// Score change `sink`: a learned logit a head takes part in the softmax without a value, so that a query may attend to nothing (GPT-OSS).
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "attention/AttentionDialect.h"

using namespace mlir;
using namespace mhac::attn;

static constexpr StringLiteral kSinks = "sinks";

const VariantInfo &SinkAttr::info() {
  static const VariantInfo info{getMnemonic(), VariantKind::Score, "adds a learned logit a head to the softmax's denominator", {}};
  return info;
}

Attribute SinkAttr::fromSpec(VariantReader &reader) { return get(reader.context, *reader.spec.layer.heads); }

LogicalResult SinkAttr::verify(llvm::function_ref<InFlightDiagnostic()> emitError, int64_t heads) {
  if (heads < 1)
    return emitError() << "sink wants at least one head, found " << heads;
  return success();
}

SmallVector<VariantParameter> SinkAttr::parameters() const {
  VariantParameter sinks;
  sinks.name = kSinks;
  sinks.dtype = "f32";
  sinks.dims = {std::to_string(getHeads())};
  return {sinks};
}

Value SinkAttr::updateSoftmax(RegionBuilder &region) const { return region.load(kSinks, region.h); }
