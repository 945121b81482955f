// Mask `lsh`: queries see the keys that fall into their bucket in at least one round of hashing (Reformer). The hashes are ops ahead of attn.attention.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "attention/AttentionDialect.h"
#include "attention/masks/Conditions.h"

using namespace mlir;
using namespace mhac::attn;

const VariantInfo &LshAttr::info() {
  static const FieldInfo fields[] = {{"buckets", FieldType::Integer, {}, "", "buckets of a round, an even number up to 4096", 2},
                                     {"rounds", FieldType::Integer, {}, "1", "rounds of hashing, up to 8; a key is seen when one of them gives its bucket to the query", 1},
                                     {"seed", FieldType::Integer, {}, "0", "what the rotations are drawn with, modulo 2^32"}};
  static const VariantInfo info{getMnemonic(), VariantKind::Mask, "a query sees the keys that are hashed into its bucket", fields};
  return info;
}

Attribute LshAttr::fromSpec(VariantReader &reader) {
  auto refuse = [&](StringRef field, const Twine &wanted) {
    reader.diagnostics.error(reader.location(field), ("'" + field + "' must be " + wanted + ", found '" + reader.text(field).text + "'").str());
    return Attribute();
  };
  const int64_t buckets = *reader.integer("buckets"), rounds = *reader.integer("rounds");
  if (buckets % 2 || buckets > HashOp::kMostBuckets)
    return refuse("buckets", "an even integer from 2 to " + Twine(HashOp::kMostBuckets));
  if (rounds > HashOp::kMostRounds)
    return refuse("rounds", "an integer from 1 to " + Twine(HashOp::kMostRounds));
  const std::optional<int64_t> seed = reader.integer("seed");
  if (!seed)
    return refuse("seed", "at most " + Twine(std::numeric_limits<int64_t>::max()));
  return get(reader.context, buckets, rounds, *seed & 0xffffffff, *reader.spec.layer.heads / *reader.spec.layer.kvHeads);
}

LogicalResult LshAttr::verify(llvm::function_ref<InFlightDiagnostic()> emitError, int64_t buckets, int64_t rounds, int64_t seed, int64_t group) {
  if (group < 1)
    return emitError() << "lsh wants a group of at least one head, found " << group;
  return verifyHash(emitError, buckets, rounds, seed);
}

/// The name of a table says all that its values follow from.
static std::string tableName(LshAttr lsh, StringRef what) {
  return (what + "_buckets_" + Twine(lsh.getBuckets()) + "_" + Twine(lsh.getRounds()) + "_" + Twine(lsh.getSeed())).str();
}

void LshAttr::expandBefore(OpBuilder &builder, Operation *op, SmallVectorImpl<ComputedTable> &tables) const {
  auto attention = cast<AttentionOp>(op);
  const int64_t heads = cast<RankedTensorType>(attention.getQuery().getType()).getDimSize(1);
  const int64_t kvHeads = cast<RankedTensorType>(attention.getKey().getType()).getDimSize(1);
  // Numbers of key/value heads in the whole layer, by query head and by key/value head of the op.
  SmallVector<int64_t> ofQueries, ofKeys(kvHeads, 0);
  for (int64_t h = 0; h < heads; ++h) {
    ofQueries.push_back((attention.getHeadNumbers().empty() ? h : attention.getHeadNumbers()[h]) / getGroup());
    ofKeys[attention.getKvHead(h)] = ofQueries.back();
  }
  for (auto [what, input, rotations] : {std::tuple("query", attention.getQuery(), ofQueries), {"key", attention.getKey(), ofKeys}}) {
    std::string name = tableName(*this, what);
    if (llvm::none_of(tables, [&](const ComputedTable &table) { return table.name == name; }))
      tables.push_back({name, HashOp::create(builder, op->getLoc(), input, getBuckets(), getRounds(), getSeed(), rotations)});
  }
}

Value LshAttr::isVisible(RegionBuilder &region) const {
  Value head = region.headIndex(), keyHead = region.keyHeadIndex(), visible;
  for (int64_t i = 0; i < getRounds(); ++i) {
    Value round = region.constant(i);
    Value query = region.load(tableName(*this, "query"), {region.b, head, round, region.q});
    Value key = region.load(tableName(*this, "key"), {region.b, keyHead, round, region.k}), same = isEqual(region, query, key);
    visible = visible ? either(region, visible, same) : same;
  }
  return visible;
}
