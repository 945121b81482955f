// Score change `relative_bias`: a learned number for each head and bucket of distances is added (Raffel et al., T5). Which bucket a distance has is
// a constant list, because distances from max_distance on share one.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "attention/AttentionDialect.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

#include <cmath>

using namespace mlir;
using namespace mhac::attn;

static constexpr StringLiteral kTable = "relative_bias";
// Constant lists stay small, and distances plus this within 32 bits.
static constexpr int64_t kLargestDistance = 65536, kLargestBuckets = 65536;

const VariantInfo &RelativeBiasAttr::info() {
  static constexpr StringLiteral truths[] = {"true", "false"};
  static const FieldInfo fields[] = {
      {"buckets", FieldType::Integer, {}, "", "rows of the table; half of them for keys behind the query with bidirectional", 1},
      {"max_distance", FieldType::Integer, {}, "", "distance from which on all share the last bucket", 1},
      {"bidirectional", FieldType::Word, truths, "", "true: keys behind the query have buckets of their own (encoders); false: bucket 0 (decoders)"}};
  static const VariantInfo info{getMnemonic(), VariantKind::Score, "adds a learned number for each head and bucket of distances", fields};
  return info;
}

/// Buckets of one direction, and those among them that are for one distance each.
static int64_t oneSide(int64_t buckets, bool bidirectional) { return bidirectional ? buckets / 2 : buckets; }
static int64_t exactBuckets(int64_t buckets, bool bidirectional) { return oneSide(buckets, bidirectional) / 2; }

Attribute RelativeBiasAttr::fromSpec(VariantReader &reader) {
  const std::optional<int64_t> buckets = reader.integer("buckets"), distance = reader.integer("max_distance");
  const bool bidirectional = reader.word("bidirectional") == "true";
  bool good = true;
  auto refuse = [&](StringRef field, const std::string &wanted) {
    std::string found = reader.word(field).str();
    reader.diagnostics.error(reader.location(field), "'" + field.str() + "' must be " + wanted + ", found '" + found + "'").length = found.size();
    good = false;
  };
  if (!buckets || *buckets > kLargestBuckets)
    refuse("buckets", "at most " + std::to_string(kLargestBuckets));
  else if (bidirectional && *buckets % 2)
    refuse("buckets", "even with 'bidirectional: true'");
  else if (!distance || *distance > kLargestDistance)
    refuse("max_distance", "at most " + std::to_string(kLargestDistance));
  else if (int64_t exact = exactBuckets(*buckets, bidirectional); *distance <= exact)
    refuse("max_distance", "above " + std::to_string(exact) + ", the number of buckets for one distance each");
  return good ? get(reader.context, *buckets, *distance, bidirectional, *reader.spec.layer.heads) : Attribute();
}

LogicalResult RelativeBiasAttr::verify(llvm::function_ref<InFlightDiagnostic()> emitError, int64_t buckets, int64_t maxDistance, bool bidirectional,
                                       int64_t heads) {
  if (buckets < 1 || buckets > kLargestBuckets || (bidirectional && buckets % 2))
    return emitError() << "relative_bias wants 1 to " << kLargestBuckets << " buckets, an even number when bidirectional, found " << buckets;
  if (maxDistance <= exactBuckets(buckets, bidirectional) || maxDistance > kLargestDistance)
    return emitError() << "relative_bias wants a max_distance above " << exactBuckets(buckets, bidirectional) << " and up to " << kLargestDistance
                       << ", found " << maxDistance;
  if (heads < 1)
    return emitError() << "relative_bias wants at least one head, found " << heads;
  return success();
}

SmallVector<VariantParameter> RelativeBiasAttr::parameters() const {
  VariantParameter table;
  table.name = kTable;
  table.dtype = "f32";
  table.dims = {std::to_string(getBuckets()), std::to_string(getHeads())};
  return {table};
}

/// The buckets of the distances 0 ... maxDistance of one direction.
static SmallVector<int64_t> bucketsOf(int64_t count, int64_t maxDistance) {
  const int64_t exact = count / 2;
  SmallVector<int64_t> buckets;
  for (int64_t distance = 0; distance <= maxDistance; ++distance) {
    int64_t bucket = distance;
    if (exact == 0)
      bucket = 0;
    else if (distance >= exact) {
      // A quotient that is a whole number must not come out just below it.
      double share = std::log(double(distance) / double(exact)) / std::log(double(maxDistance) / double(exact));
      bucket = std::min(count - 1, exact + int64_t(std::floor(share * double(count - exact) + 1e-9)));
    }
    buckets.push_back(bucket);
  }
  return buckets;
}

Value RelativeBiasAttr::transformScore(RegionBuilder &region, Value score) const {
  OpBuilder &builder = region.builder;
  const int64_t side = oneSide(getBuckets(), getBidirectional());
  SmallVector<int64_t> past = bucketsOf(side, getMaxDistance());
  SmallVector<int64_t> buckets(llvm::reverse(past)); // from -max_distance to 0, and on to max_distance when it matters
  if (getBidirectional())
    for (int64_t bucket : ArrayRef(past).drop_front())
      buckets.push_back(side + bucket);
  else
    buckets.push_back(0);
  Value key = region.keyPosition(), query = region.queryPosition();
  Value distance = arith::SubIOp::create(builder, region.loc, key, query);
  Value bucket = region.table(buckets, arith::AddIOp::create(builder, region.loc, distance, region.constant(getMaxDistance())));
  Value bias = region.load(kTable, {bucket, region.h});
  return arith::AddFOp::create(builder, region.loc, score, bias);
}
