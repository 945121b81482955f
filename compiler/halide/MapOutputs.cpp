// The map itself and the sums of its columns have 16 keys in the lanes, and rows of Q as broadcast scalars; statistics of rows have 16 queries in the
// lanes, so that they are kept without horizontal operations.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "halide/MapOutputs.h"

#include "halide/FastMath.h"

#include <limits>

using namespace Halide;

namespace mhac::halide {
namespace {

/// The lse of a query in base 2, with 0 instead of -inf: a row that sees nothing has no probabilities that it could be used for.
Expr logSum(const MapProblem &p, const Expr &q, const Expr &h, const Expr &b) {
  Expr lse = p.output(q % kLanes, p.attention.vHeadDim, q / kLanes, h, b);
  Expr sum = select(strict_float(lse > -1e30f), lse * kLog2e, 0.f);
  if (!p.attention.sink)
    return sum;
  // The sink is in the denominator, but not in the lse.
  Expr logit = finiteScore(p.attention.sink(b, h, q) * kLog2e), larger = max(sum, logit);
  return larger + logPositive(exp2NonPositive(sum - larger) + exp2NonPositive(logit - larger)) * kLog2e;
}

/// log2 of a visible key's probability from its score in base 2. Rounding must not lift it above 0, where exp2NonPositive ends.
Expr logProbability(const Expr &score, const Expr &logSum) { return min(score - logSum, 0.f); }

/// Q·K with keys in the lanes, by register tiles: (lane, vector v of key tile kt, row qi of query tile qt). Reads beyond the ends repeat the last query
/// and the last block of keys. Where `skips`, tiles that hold nothing visible are 0.
class KeyMajorProducts {
public:
  KeyMajorProducts(const MapProblem &p, const KeyTile &tile, bool skips)
      : func("products"), visits("visits"), tile(tile), rd(0, p.attention.headDim, "rd") {
    const AttentionProblem &a = p.attention;
    if (skips && a.masked) {
      const int width = tile.vectors * kLanes;
      Expr firstQuery = qt * tile.rows, lastQuery = min(firstQuery + tile.rows, a.queries) - 1, firstKey = kt * width;
      KeyRange range = a.keyRange(b, h, firstQuery, lastQuery);
      Expr sees = range.lo < firstKey + width && range.hi > firstKey;
      if (a.tileContent)
        sees = sees && a.tileContent(b, h, firstQuery, lastQuery, firstKey, min(firstKey + width, a.keys) - 1).mayBeVisible;
      visits(qt, kt, h, b) = cast<uint8_t>(sees);
      rd.where(visits(qt, kt, h, b) != 0); // of the tile alone: a branch around the sum
    }
    Expr query = min(qt * tile.rows + qi, a.queries - 1), block = min(kt * tile.vectors + v, (a.keys - 1) / kLanes);
    func(lane, v, qi, kt, qt, h, b) = 0.f;
    func(lane, v, qi, kt, qt, h, b) +=
        a.queryLanes(query % kLanes, rd, query / kLanes, h, b) * p.keyLanes(lane, rd, block, a.kvHead(h), b);
  }
  Func func, visits; // visits(qt, kt, h, b): whether the tile holds something; undefined when all do
  Expr at(const Expr &key, const Expr &query, const Expr &h, const Expr &b) {
    return func(key % kLanes, key / kLanes % tile.vectors, query % tile.rows, key / (tile.vectors * kLanes), query / tile.rows, h, b);
  }
  void computeAt(const LoopLevel &level) {
    if (visits.defined())
      visits.compute_at(level).bound_extent(qt, 1).bound_extent(kt, 1).bound_extent(h, 1).bound_extent(b, 1);
    func.compute_at(level).bound(lane, 0, kLanes).bound(v, 0, tile.vectors).bound(qi, 0, tile.rows);
    func.bound_extent(kt, 1).bound_extent(qt, 1).bound_extent(h, 1).bound_extent(b, 1);
    func.vectorize(lane).unroll(v).unroll(qi).never_partition_all();
    func.update().reorder(lane, v, qi, rd, kt, qt).vectorize(lane).unroll(v).unroll(qi).never_partition_all();
  }

private:
  KeyTile tile;
  RDom rd;
  Var lane{"lane"}, v{"v"}, kt{"kt"}, qi{"qi"}, qt{"qt"}, h{"h"}, b{"b"};
};

Expr scaled(const AttentionProblem &a, const Expr &product) { return a.scale == 1.f ? product : product * a.scale; }

/// Whether a changed score, in units of `unit`, is so low that it hides its key as a mask does (specs/README.md, "Scores").
Expr hides(const AttentionProblem &a, const Expr &score, float unit) {
  return a.changeScore && !a.boundedScores ? Expr(strict_float(score < -1.1e38f * unit)) : Internal::const_false();
}

/// The score of a product of Q and K with all its changes, in base 2 and finite as in attend().
Expr finalScore(const AttentionProblem &a, const Expr &b, const Expr &h, const Expr &q, const Expr &k, const Expr &product) {
  if (!a.changeScore)
    return scaled(a, product);
  Expr changed = a.changeScore(b, h, q, k, scaled(a, product), {}) * kLog2e;
  return a.boundedScores ? changed : finiteScore(changed);
}

} // namespace

Func storeMap(const std::string &name, const MapProblem &p, MapStage stage, const AttentionTiles &tiles, int firstHead) {
  const AttentionProblem &a = p.attention;
  const KeyTile tile(tiles);
  Var k("k"), q("q"), h("h"), b("b"), ko("ko"), kv("kv"), kl("kl"), qo("qo"), qt("qt"), qi("qi"), task("task");
  KeyMajorProducts products(p, tile, stage >= MapStage::Masked);
  Func out(name);
  const Expr head = h - firstHead;
  Expr product = products.at(k, q, head, b);
  // In natural units: those of `changeScore`, which sees no other.
  Expr natural = a.changeScore ? scaled(a, product) : scaled(a, product) * kLn2;
  Expr changed = a.changeScore ? a.changeScore(b, head, q, k, natural, {}) : natural;
  // Out of sight of bounds inference, which would want products for visible pairs only and, in a tile without any, look for them in the tiles behind.
  Func seen("seen");
  Expr visible = Internal::const_true();
  if (a.masked && stage >= MapStage::Masked) {
    seen(k, q, h, b) = cast<uint8_t>(a.isVisible(b, head, q, k));
    visible = seen(k, q, h, b) != 0;
  }
  switch (stage) {
  case MapStage::Scores: out(k, q, h, b) = natural; break;
  case MapStage::Modified: out(k, q, h, b) = p.changeBeforeMask ? p.changeBeforeMask(b, head, q, k, natural) : changed; break;
  case MapStage::Masked: out(k, q, h, b) = select(visible && !hides(a, changed, 1.f), changed, -std::numeric_limits<float>::infinity()); break;
  case MapStage::Probabilities:
    out(k, q, h, b) = select(visible, exp2NonPositive(logProbability(finalScore(a, b, head, q, k, product), logSum(p, q, head, b))), 0.f);
    break;
  }

  // A task takes a few rows of the map and walks along the keys; each step is a register tile.
  const int taskRows = 4 * tile.rows;
  out.bound(h, firstHead, a.heads);
  out.split(k, ko, kv, tile.vectors * kLanes, TailStrategy::GuardWithIf).split(kv, kv, kl, kLanes, TailStrategy::PredicateStores);
  out.split(q, qo, qi, taskRows, TailStrategy::GuardWithIf).split(qi, qt, qi, tile.rows, TailStrategy::GuardWithIf);
  out.reorder(kl, kv, qi, qt, ko, qo, h, b).vectorize(kl).fuse(qo, h, task).fuse(task, b, task).parallel(task).never_partition_all();
  products.computeAt(LoopLevel(out, qt));
  if (seen.defined())
    seen.compute_at(out, kv).bound_extent(q, 1).bound_extent(h, 1).bound_extent(b, 1).vectorize(k, kLanes, TailStrategy::RoundUp).never_partition_all();
  out.output_buffer().dim(0).set_stride(1);
  beginAtZero(out.output_buffer(), 2, firstHead);
  return out;
}

Func keyMass(const std::string &name, const MapProblem &p, const AttentionTiles &tiles, int firstHead) {
  const AttentionProblem &a = p.attention;
  const KeyTile tile(tiles);
  // A key is (lane, vector v of tile kt), a tile what a task owns.
  Var lane("lane"), v("v"), kt("kt"), h("h"), b("b"), k("k"), ko("ko"), kv("kv"), kl("kl"), task("task");
  KeyMajorProducts products(p, tile, true);
  Func mass("mass"), out(name);
  const int width = tile.vectors * kLanes;
  RDom rq(0, tile.rows, 0, (a.queries + tile.rows - 1) / tile.rows, "rq");
  if (products.visits.defined())
    rq.where(products.visits(rq.y, kt, h, b) != 0);
  Expr q = rq.y * tile.rows + rq.x, key = (kt * tile.vectors + v) * kLanes + lane;
  Expr visible = key < a.keys && q < a.queries;
  if (a.masked)
    visible = visible && a.isVisible(b, h, q, key);
  Expr score = finalScore(a, b, h, q, key, products.func(lane, v, rq.x, kt, rq.y, h, b));
  Expr probability = select(visible, exp2NonPositive(logProbability(score, logSum(p, min(q, a.queries - 1), h, b))), 0.f);
  mass(lane, v, kt, h, b) = 0.f;
  mass(lane, v, kt, h, b) += probability;
  out(k, h, b) = mass(k % kLanes, k / kLanes % tile.vectors, k / width, h - firstHead, b);

  out.bound(h, firstHead, a.heads);
  out.split(k, ko, kv, width, TailStrategy::GuardWithIf).split(kv, kv, kl, kLanes, TailStrategy::PredicateStores);
  out.reorder(kl, kv, ko, h, b).vectorize(kl).fuse(ko, h, task).fuse(task, b, task).parallel(task).never_partition_all();
  mass.compute_at(out, task).bound(lane, 0, kLanes).bound(v, 0, tile.vectors).bound_extent(kt, 1).bound_extent(h, 1).bound_extent(b, 1);
  mass.vectorize(lane).unroll(v).never_partition_all();
  mass.update().reorder(lane, v, rq.x, rq.y).vectorize(lane).unroll(v).never_partition_all();
  products.computeAt(LoopLevel(mass, rq.y));
  beginAtZero(out.output_buffer(), 1, firstHead);
  return out;
}

Func mapStatistics(const std::string &name, const MapProblem &p, const std::vector<MapStatistic> &statistics, const AttentionTiles &tiles, int firstHead) {
  const AttentionProblem &a = p.attention;
  const int NB = tiles.queryVectors, TJ = tiles.scoreKeys;
  // A query is (lane, vector i of block qb), a key (jj, tile jt).
  Var lane("lane"), i("i"), qb("qb"), h("h"), b("b"), jj("jj"), jt("jt"), q("q"), qv("qv"), ql("ql"), task("task");
  auto query = [&](const Expr &lane, const Expr &i) { return (qb * NB + i) * kLanes + lane; };
  KeyRange range{0, a.keys, 0, a.keys};
  if (a.masked)
    range = a.keyRange(b, h, qb * NB * kLanes, min((qb + 1) * NB * kLanes, a.queries) - 1);
  Expr base = a.masked ? Internal::simplify(clamp(range.lo, 0, a.keys)) : Expr(0), count = range.hi - base;

  RDom rd(0, a.headDim, "rd"), rj(0, TJ, 0, (a.keys + TJ - 1) / TJ, "rj");
  rj.where(rj.y * TJ < count);
  Func visits("visits"), products("products"), logs("logs"), state("state"), out(name);
  if (a.tileContent) {
    Expr firstKey = base + jt * TJ;
    visits(jt, qb, h, b) = cast<uint8_t>(a.tileContent(b, h, query(0, 0), min(query(0, NB), a.queries) - 1, firstKey, min(firstKey + TJ, a.keys) - 1).mayBeVisible);
    rj.where(visits(rj.y, qb, h, b) != 0);
    rd.where(visits(jt, qb, h, b) != 0); // of the tile alone: a branch around the sum
  }
  products(lane, i, jj, jt, qb, h, b) = 0.f;
  products(lane, i, jj, jt, qb, h, b) += a.queryLanes(lane, rd, qb * NB + i, h, b) * lanesAccessor(p.keyLanes)(rd, min(base + jt * TJ + jj, a.keys - 1), a.kvHead(h), b);
  // A hidden key's is far below 0, which no other reaches: what follows needs no mask.
  constexpr float hidden = -1e30f;
  Expr key = base + jt * TJ + jj, full = key - jj + TJ <= range.fullHi && key - jj >= range.fullLo, visible = key < a.keys;
  if (a.masked)
    visible = visible && a.isVisible(b, h, query(lane, i), key);
  Expr sum = logSum(p, query(lane, i), h, b);
  Expr score = finalScore(a, b, h, query(lane, i), key, products(lane, i, jj, jt, qb, h, b)), log = logProbability(score, sum);
  if (a.changeScore && !a.boundedScores)
    log = select(hides(a, score, kLog2e), hidden, log);
  logs(lane, i, jj, jt, qb, h, b) = branch(full, log, select(visible, log, hidden));

  // The largest so far begins below every probability, so that the first visible key counts even if its own rounds to 0.
  Expr at = base + rj.y * TJ + rj.x, logAt = logs(lane, i, rj.x, rj.y, qb, h, b), isVisible = logAt > hidden * 0.5f, value = exp2NonPositive(logAt);
  Expr near = p.isNearDiagonal ? p.isNearDiagonal(b, h, query(lane, i), at) : Internal::const_false();
  enum { kEntropy, kPeak, kPosition, kDiagonal };
  Tuple now = {Expr(0.f), Expr(-1.f), Expr(-1), Expr(0.f)};
  state(lane, i, qb, h, b) = now;
  auto element = [&](int which) { return Expr(state(lane, i, qb, h, b)[which]); };
  Expr isPeak = isVisible && value > element(kPeak);
  state(lane, i, qb, h, b) = Tuple(element(kEntropy) - select(value > 0.f, value * logAt, 0.f), select(isPeak, value, element(kPeak)),
                                   select(isPeak, at, element(kPosition)), element(kDiagonal) + select(near, value, 0.f));
  Expr vector = q / kLanes;
  auto final = [&](int which) { return Expr(state(q % kLanes, vector % NB, vector / NB, h - firstHead, b)[which]); };
  std::vector<Expr> results;
  for (MapStatistic statistic : statistics)
    switch (statistic) {
    case MapStatistic::Entropy: results.push_back(final(kEntropy) * kLn2); break;
    case MapStatistic::Peak: results.push_back(max(final(kPeak), 0.f)); break;
    case MapStatistic::PeakPosition: results.push_back(cast<int64_t>(final(kPosition))); break;
    case MapStatistic::DiagonalMass: results.push_back(final(kDiagonal)); break;
    }
  out(q, h, b) = Tuple(results);

  out.bound(h, firstHead, a.heads);
  out.split(q, qb, qv, NB * kLanes, TailStrategy::GuardWithIf).split(qv, qv, ql, kLanes, TailStrategy::PredicateStores);
  out.reorder(ql, qv, qb, h, b).vectorize(ql).fuse(qb, h, task).fuse(task, b, task).parallel(task).never_partition_all();
  state.compute_at(out, task);
  if (visits.defined())
    visits.compute_at(state, rj.y).bound_extent(jt, 1).bound_extent(qb, 1).bound_extent(h, 1).bound_extent(b, 1);
  products.compute_at(state, rj.y);
  logs.compute_at(state, rj.y);
  for (Func *f : {&products, &logs, &state}) {
    f->bound(lane, 0, kLanes).bound(i, 0, NB).bound_extent(qb, 1).bound_extent(h, 1).bound_extent(b, 1).vectorize(lane).unroll(i).never_partition_all();
    if (f != &state)
      f->bound_extent(jt, 1).bound(jj, 0, TJ).unroll(jj);
  }
  products.update().reorder(lane, i, jj, rd, jt, qb).vectorize(lane).unroll(i).unroll(jj).never_partition_all();
  state.update().reorder(lane, i, rj.x, rj.y).vectorize(lane).unroll(i).never_partition_all();
  beginAtZero(out.output_buffers()[0], 1, firstHead); // the others have the same bounds
  return out;
}

Func headNorms(const std::string &name, const ImageParam &lanes, int width, int heads, int firstHead, const Expr &tokens) {
  Var lane("lane"), block("block"), h("h"), b("b");
  RDom re(0, width, "re"), rb(0, (tokens + kLanes - 1) / kLanes, "rb"), rl(0, kLanes, "rl"), rh(0, heads, "rh");
  // In pieces, whose sums stay small against their terms: a block of tokens, then all blocks of a lane, then the lanes.
  Func squares("squares"), sums("sums"), total("total"), out(name);
  squares(lane, block, h, b) = 0.f;
  Expr element = lanes(lane, re, block, h, b);
  squares(lane, block, h, b) += element * element;
  sums(lane, h, b) = 0.f;
  sums(lane, h, b) += select(rb * kLanes + lane < tokens, squares(lane, rb, h, b), 0.f);
  total(h, b) = 0.f;
  total(h, b) += sums(rl, h, b);
  // As an update: a definition for all heads would have to make all of them, and Halide takes a bound for where the innermost dimension begins.
  out(h, b) = undef<float>();
  out(firstHead + rh, b) = sqrt(total(rh, b));
  out.update().parallel(rh);
  squares.compute_at(sums, rb).bound_extent(block, 1).bound_extent(h, 1).bound_extent(b, 1).bound(lane, 0, kLanes).vectorize(lane).update().vectorize(lane);
  sums.compute_at(out, rh).bound_extent(h, 1).bound_extent(b, 1).bound(lane, 0, kLanes).vectorize(lane).update().reorder(lane, rb).vectorize(lane);
  total.compute_at(out, rh).bound_extent(h, 1).bound_extent(b, 1);
  beginAtZero(out.output_buffer(), 0, 0);
  return out;
}

} // namespace mhac::halide
