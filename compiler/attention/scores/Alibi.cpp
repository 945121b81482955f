// Score change `alibi`: keys lose with their distance, by a slope of each head's own (Press et al., "Train short, test long").
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "attention/AttentionDialect.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

#include <cmath>

using namespace mlir;
using namespace mhac::attn;

const VariantInfo &AlibiAttr::info() {
  static constexpr StringLiteral slopes[] = {"default"}, forms[] = {"symmetric", "one_sided"};
  static const FieldInfo fields[] = {
      {"slopes", FieldType::NumberList, slopes, "default", "one slope a query head; default: those of the paper"},
      {"form", FieldType::Word, forms, "symmetric", "what the slope is multiplied with: -|p_q - p_k|, or p_k - p_q (one_sided)"}};
  static const VariantInfo info{getMnemonic(), VariantKind::Score, "adds a number that falls with the distance of query and key", fields};
  return info;
}

/// For a power of two 2^(-8 (h + 1) / heads); otherwise those of the next lower power of two, then every second one of twice that.
static SmallVector<double> defaultSlopes(int64_t heads) {
  const int64_t power = int64_t(llvm::bit_floor(uint64_t(heads)));
  SmallVector<double> slopes;
  for (int64_t h = 0; h < heads; ++h)
    slopes.push_back(h < power ? std::exp2(-8. * double(h + 1) / double(power)) : std::exp2(-4. * double(2 * (h - power) + 1) / double(power)));
  return slopes;
}

Attribute AlibiAttr::fromSpec(VariantReader &reader) {
  const int64_t heads = *reader.spec.layer.heads;
  SmallVector<double> slopes = reader.numbers("slopes").value_or(defaultSlopes(heads));
  if (int64_t(slopes.size()) != heads) {
    std::string message = "'slopes' must be one number a query head, " + std::to_string(heads) + ", found " + std::to_string(slopes.size());
    reader.diagnostics.error(reader.location("slopes"), message);
    return {};
  }
  return get(reader.context, reader.word("form") == "symmetric", DenseF64ArrayAttr::get(reader.context, slopes));
}

LogicalResult AlibiAttr::verify(llvm::function_ref<InFlightDiagnostic()> emitError, bool, DenseF64ArrayAttr slopes) {
  if (slopes.empty() || llvm::any_of(slopes.asArrayRef(), [](double slope) { return !std::isfinite(static_cast<float>(slope)); }))
    return emitError() << "alibi wants finite slopes, one a head, found " << slopes;
  return success();
}

Value AlibiAttr::transformScore(RegionBuilder &region, Value score) const {
  OpBuilder &builder = region.builder;
  Value key = region.keyPosition(), query = region.queryPosition();
  Value distance = arith::SubIOp::create(builder, region.loc, key, query);
  if (getSymmetric()) {
    Value opposite = arith::SubIOp::create(builder, region.loc, query, key);
    distance = arith::MinSIOp::create(builder, region.loc, distance, opposite);
  }
  Value integer = arith::IndexCastOp::create(builder, region.loc, builder.getI32Type(), distance);
  Value number = arith::SIToFPOp::create(builder, region.loc, builder.getF32Type(), integer);
  Value slope = region.table(getSlopes().asArrayRef(), region.h);
  Value penalty = arith::MulFOp::create(builder, region.loc, slope, number);
  return arith::AddFOp::create(builder, region.loc, score, penalty);
}
