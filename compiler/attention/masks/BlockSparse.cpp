// Mask `block_sparse` (BigBird): positions are cut into blocks. A block of queries sees the blocks beside its own, the first ones, and some that are
// drawn from seed, head and block; the first blocks of queries see everything.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "attention/AttentionDialect.h"
#include "attention/masks/Conditions.h"

using namespace mlir;
using namespace mhac::attn;

/// Draws are numbers below this prime, whose squares fit 32 bits.
static constexpr int64_t kPrime = 46337;
/// Every draw is code of its own.
static constexpr int64_t kMostDraws = 64;

const VariantInfo &BlockSparseAttr::info() {
  static const FieldInfo fields[] = {
      {"block", FieldType::Integer, {}, "", "positions in a block", 1},
      {"local", FieldType::Integer, {}, "", "blocks on each side of the own one that are seen", 0},
      {"global", FieldType::Integer, {}, "", "blocks from position 0 on that see and are seen by all", 0},
      {"random", FieldType::Integer, {}, "", "blocks that are drawn for each head and block of queries", 0},
      {"seed", FieldType::Integer, {}, "0", "what the draws begin with", 0}};
  static const VariantInfo info{getMnemonic(), VariantKind::Mask, "a block of queries sees blocks near it, the first ones, and some drawn ones", fields};
  return info;
}

Attribute BlockSparseAttr::fromSpec(VariantReader &reader) {
  std::optional<int64_t> random = reader.integer("random"), seed = reader.integer("seed");
  auto refuse = [&](StringRef field, int64_t most) {
    Diagnostic &report = reader.diagnostics.error(reader.location(field), "'" + field.str() + "' must be at most " + std::to_string(most) + ", found '" +
                                                                              reader.word(field).str() + "'");
    report.length = reader.word(field).size();
  };
  bool tooMany = !random || *random > kMostDraws;
  if (tooMany)
    refuse("random", kMostDraws);
  if (!seed)
    refuse("seed", std::numeric_limits<int64_t>::max());
  if (tooMany || !seed)
    return {};
  int64_t block = lengthOf(reader, "block"), local = lengthOf(reader, "local"), global = lengthOf(reader, "global");
  return get(reader.context, block, local, global, *random, *seed % kPrime);
}

LogicalResult BlockSparseAttr::verify(llvm::function_ref<InFlightDiagnostic()> emitError, int64_t block, int64_t local, int64_t global, int64_t random,
                                      int64_t seed) {
  if (block < 1 || block > kLongest)
    return emitError() << "block_sparse wants a block from 1 to " << kLongest << ", found " << block;
  for (int64_t count : {local, global})
    if (count < 0 || count > kLongest)
      return emitError() << "block_sparse wants local and global from 0 to " << kLongest << ", found " << count;
  if (random < 0 || random > kMostDraws || seed < 0 || seed >= kPrime)
    return emitError() << "block_sparse wants random up to " << kMostDraws << " and a seed below " << kPrime << ", found " << random << " and " << seed;
  return success();
}

bool BlockSparseAttr::comparesPositions() const { return true; }

static Value plus(RegionBuilder &region, Value a, Value b) { return arith::AddIOp::create(region.builder, region.loc, a, b); }
static Value times(RegionBuilder &region, Value a, Value b) { return arith::MulIOp::create(region.builder, region.loc, a, b); }

/// The next number after `x` and `v`, both from 0 to kPrime - 1: with y = (x + v) mod P, ((y + 1)^2 mod P + 17 y) mod P.
static Value draw(RegionBuilder &region, Value x, Value v) {
  Value prime = region.constant(kPrime), one = region.constant(1), factor = region.constant(17);
  Value sum = plus(region, x, v), y = region.floorMod(sum, prime), next = plus(region, y, one), square = times(region, next, next);
  Value rest = region.floorMod(square, prime), added = times(region, y, factor), both = plus(region, rest, added);
  return region.floorMod(both, prime);
}

Value BlockSparseAttr::isVisible(RegionBuilder &region) const {
  // All conditions are on the distance of the key from where a block begins, so that intervals of keys remain.
  Value key = region.keyPosition(), query = region.queryPosition(), size = region.constant(getBlock());
  Value own = region.floorDiv(query, size), first = times(region, own, size), distance = difference(region, key, first);
  int64_t reach = std::min(getLocal() * getBlock(), kLongest - getBlock() + 1);
  Value visible = isWithin(region, distance, -reach, getBlock() - 1 + reach);
  if (getGlobal() > 0) {
    int64_t positions = std::min(getGlobal() * getBlock(), kLongest);
    Value seen = isInFirst(region, key, region.k, positions), sees = isInFirst(region, query, region.q, positions);
    Value isGlobal = either(region, seen, sees);
    visible = either(region, visible, isGlobal);
  }
  if (getRandom() == 0)
    return visible;

  Value keys = region.keys(), one = region.constant(1), prime = region.constant(kPrime);
  // ceil(keys / block), at least 1.
  Value lastKey = difference(region, keys, one), last = region.floorDiv(lastKey, size), count = plus(region, last, one);
  Value blocks = arith::MaxSIOp::create(region.builder, region.loc, count, one);
  Value seed = region.constant(getSeed()), head = region.floorMod(region.h, prime), ofHead = draw(region, seed, head);
  Value block = region.floorMod(own, prime), ofBlock = draw(region, ofHead, block);
  for (int64_t i = 0; i < getRandom(); ++i) {
    Value number = region.constant(i), drawn = draw(region, ofBlock, number), drawnBlock = region.floorMod(drawn, blocks);
    Value begin = times(region, drawnBlock, size), from = difference(region, key, begin), isDrawn = isWithin(region, from, 0, getBlock() - 1);
    visible = either(region, visible, isDrawn);
  }
  return visible;
}
