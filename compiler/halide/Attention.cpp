// Softmax in two levels: each chunk of keys has its own maximum, sum and unnormalised output, made without loop-carried state; chunks are merged
// with weights 2^(M_c - M). Everything is in base 2; probabilities of hidden keys are exactly 0.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "halide/Attention.h"

#include "halide/FastMath.h"
#include "halide/TrimSlots.h"
#include "halide/UnrollTiles.h"

#include <algorithm>
#include <array>
#include <limits>

using namespace Halide;
using Halide::Internal::expr_uses_var;
using Halide::Internal::is_const_zero;
using Halide::Internal::simplify;

namespace mhac::halide {

// Finite, because Halide's arithmetic may assume that no operand is infinite: maxima start below every real score, and a hidden score lies so far
// below them that its probability is exactly 0, also in a chunk where a row sees nothing.
static constexpr float kLowest = -1.7e38f, kHidden = -3.4e38f;

Expr finiteScore(const Expr &x) {
  return select(strict_float(x < kHidden), kHidden, select(strict_float(x > -kLowest), -kLowest, x));
}

namespace {

/// A chunk of a tensor [.., q, .., k] with queries in the lanes: (lane, key of the group, vector of the block, group of 16 keys, chunk, block, h, b).
class TransposedPairs {
public:
  TransposedPairs(const ImageParam &tensor, const std::vector<Expr> &index, int queryDim, int vectors, int chunk, const Expr &firstKey, const std::array<Var, 4> &rest)
      : tensor(tensor), queryDim(queryDim), vectors(vectors), groups((chunk - 1) / kLanes + 1), rest(rest),
        transpose([&](Expr x, Expr y) { return element(index, firstKey, x, y); }, {i, group, rest[0], rest[1], rest[2], rest[3]}, tensor.name() + "_pairs") {}

  /// The element of key `offset` of the chunk; those behind the tensor's last are the last.
  Expr at(Expr lane, Expr i, Expr offset, Expr firstKey) const {
    Expr group = offset / kLanes;
    Expr key = min(firstKey + offset, extent() - 1) - groupStart(firstKey, group);
    return transpose.columns(lane, clamp(key, 0, kLanes - 1), i, group, rest[0], rest[1], rest[2], rest[3]);
  }

  /// Made at `level` and kept for the whole of `stored`.
  void schedule(const LoopLevel &stored, const LoopLevel &level) {
    Func &columns = transpose.columns;
    columns.store_at(stored).compute_at(level).bound(i, 0, vectors).bound_storage(group, groups).never_partition_all();
    transpose.rows.compute_at(columns, i).store_in(MemoryType::Stack).bound_extent(i, 1).bound_extent(group, 1);
    for (Func *f : {&columns, &transpose.rows})
      for (const Var &v : rest)
        f->bound_extent(v, 1);
  }

  ImageParam tensor;
  int queryDim;

private:
  Expr extent() const { return tensor.dim(0).extent(); }
  /// A group that would reach beyond the tensor is moved back, if the tensor is long enough.
  Expr groupStart(const Expr &firstKey, const Expr &group) const { return max(min(firstKey + group * kLanes, extent() - kLanes), 0); }
  Expr element(std::vector<Expr> at, const Expr &firstKey, const Expr &x, const Expr &y) const {
    Expr start = groupStart(firstKey, group);
    for (int d = 1; d < tensor.dimensions(); ++d)
      at[d] = d == queryDim ? (rest[1] * vectors + i) * kLanes + y : at[d];
    for (int d = 1; d < tensor.dimensions(); ++d)
      at[d] = max(min(at[d], tensor.dim(d).extent() - 1), 0);
    // A scalar decides, so that it is a branch; only there the vector's elements are one behind the other.
    at[0] = start + x;
    Expr whole = cast<float>(tensor(at));
    at[0] = max(min(start + x, extent() - 1), 0);
    Expr single = cast<float>(tensor(at));
    return branch(extent() >= kLanes, whole, single);
  }

  Var i{"i"}, group{"group"};
  int vectors, groups;
  std::array<Var, 4> rest; // chunk, block of queries, h, b
  TileTranspose transpose;
};

/// Builds the kernel stage by stage: which tiles are visited, scores, probabilities, output of a chunk, rows over all chunks; then the loops.
///
/// A query is (lane, vector i of the block, block qb), a key (jj, tile jt, chunk c). Block qb is the qi-th of group qg, which a task makes.
class Attend {
public:
  Attend(const AttentionProblem &p, const AttentionTiles &tiles)
      : p(p), NB(tiles.queryVectors), TJ(tiles.scoreKeys), D(p.headDim), E(p.vHeadDim), U(entryOf(p, tiles)), C(chunkOf(p, tiles)), TE(tileHeight(E, tiles.outputRows)),
        everyTileFull(!p.masked && p.fixedKeys && p.maximumKeys % TJ == 0), oneChunk(p.fixedKeys && p.maximumKeys <= C),
        listed(static_cast<bool>(p.tileContent)), G(oneChunk ? 1 : tiles.queryBlocks), rd(0, D, "rd"), rj(0, TJ, 0, C / TJ, "rj"), rr(0, TJ - 1, "rr"),
        rt(0, C / TJ, "rt"), rs(0, E + 4, 0, (p.keys + C - 1) / C, "rs"), rl(0, 3, 0, C / U, 0, 2, "rl"), ru(0, C / TJ, kSlotLoop), rv(0, C / TJ, kSlotLoop),
        rw(0, C / TJ, "rw"), rp(0, TJ, 0, C / TJ, "rp"), out(p.name) {
    if (p.queryRows)
      queryTile.emplace("Q", p.queryRows, D, p.queries, p.queryScale);
  }

  Func build(const std::optional<RowLayout> &layout) {
    chooseTiles();
    makeScores();
    makeProbabilities();
    makeOutput();
    Func lanes = mergeChunks();
    scheduleTask(lanes, layout);
    scheduleChunk();
    return out;
  }

private:
  /// Keys of an entry of the list of tiles.
  static int entryOf(const AttentionProblem &p, const AttentionTiles &tiles) { return p.tileContent && tiles.listKeys ? tiles.listKeys : tiles.scoreKeys; }

  /// Without keys there must be no tile: then the loop over chunks is empty.
  static int chunkOf(const AttentionProblem &p, const AttentionTiles &tiles) {
    const int U = entryOf(p, tiles);
    const int64_t roundedKeys = (p.maximumKeys + U - 1) / U * U;
    return static_cast<int>(std::clamp<int64_t>(roundedKeys, U, std::max(tiles.chunk / U, 1) * U));
  }

  Expr query(const Expr &v) const { return (qb * NB + v) * kLanes; }
  Expr blockOf(const Expr &block) const { return G == 1 ? Expr(qg) : qg * G + block; }
  Expr kvHead() const { return p.kvHead(h); }

  /// What a number of blocks can see.
  KeyRange keyRange(const Expr &first, int blocks) const {
    Expr firstQuery = first * NB * kLanes;
    return p.keyRange(b, h, firstQuery, min(firstQuery + blocks * NB * kLanes, p.queries) - 1);
  }

  // Rows of Tl: numbers of full and of all tiles, then the entries, full ones first.
  static constexpr int kFull = 0, kAll = 1, kEntries = 2;
  Expr listAt(const Expr &row) const { return Tl(row, c, qb, h, b); }
  Expr tileOffset(const Expr &tile) const {
    if (!listed)
      return tile * TJ;
    return unsafe_promise_clamped(listAt(kEntries + tile / (U / TJ)), 0, C / U - 1) * U + tile % (U / TJ) * TJ;
  }
  Expr tileKey(const Expr &tile) const { return base + c * C + tileOffset(tile); }
  /// Key j of a tile. One that starts at a multiple of its size lies inside a block of 16 keys, which bounds inference does not see from the sum.
  Expr keyOf(const Expr &j, const Expr &tile, bool exists) const {
    Expr k = tileKey(tile);
    if (p.keysAreLanes && fromFirstKey && kLanes % TJ == 0)
      return k / kLanes * kLanes + unsafe_promise_clamped(k % kLanes + j, 0, kLanes - 1);
    return exists ? k + j : min(k + j, p.keys - 1);
  }

  /// Which tiles of a chunk are visited, and in which loops.
  void chooseTiles() {
    range = keyRange(qb, 1);
    // Visiting starts at the first visible key itself (a second condition on the reduction would keep bounds inference from trimming the tiles).
    base = p.masked ? simplify(clamp(range.lo, 0, p.keys)) : Expr(0);
    fromFirstKey = is_const_zero(p.masked ? simplify(range.lo) : base);
    if (fromFirstKey)
      base = 0;
    // Where intervals do not say everything, the tiles of a chunk that hold something are listed, and all that follows counts slots of the list. Tiles
    // begin at multiples of their size, where blocks of masks do.
    if (listed)
      base = base / U * U;
    Expr count = (p.masked ? range.hi : p.keys) - base;
    if (G > 1)
      count = select(query(0) < p.queries, count, 0); // the last group may not be whole
    p.hoist = [this](const Expr &value) -> Expr {
      if (expr_uses_var(value, jt.name()))
        return value;
      Func f("hoisted");
      f(c, qb, h, b) = value;
      hoisted.push_back(f);
      return f(c, qb, h, b);
    };
    if (listed)
      listTiles(count);
    rt.where(listed ? rt < listAt(kAll) : c * C + rt * TJ < count);
    // P.V: full tiles in one loop, then the rest, key by key, so that V at hidden keys is never read: it may hold NaN.
    Expr inChunk = clamp(count - c * C, 0, C), fullTiles = inChunk / TJ;
    rj.where(rj.y < (listed ? listAt(kFull) : fullTiles)); // the variable stands alone, so that whatever `count` is bounds the loop
    restTile = min(fullTiles, max(inChunk - 1, 0) / TJ);   // without a rest no tile more is asked for
    rr.where(rr < inChunk % TJ);
    if (G > 1 && p.masked) {
      KeyRange group = keyRange(qg * G, G);
      rs.where(rs.y * C < group.hi - clamp(group.lo, 0, p.keys)); // bounds inference trims chunks by this one
    }
    rs.where(rs.y * C < substitute(qb.name(), blockOf(qi), count));
  }

  void listTiles(const Expr &count) {
    Expr first = base + c * C + jt * U, last = min(first + U, p.keys) - 1;
    TileContent content = p.tileContent(b, h, query(0), min(query(0) + NB * kLanes, p.queries) - 1, first, last);
    Ts(jt, c, qb, h, b) = select(content.mayBeVisible && c * C + jt * U < count, select(content.isFull && first + U <= p.keys, 2, 1), 0);
    Tl(e, c, qb, h, b) = 0;
    // Full entries in the first pass, partial ones in the second. Three steps an entry of the pass: it is written behind the last one, then counted.
    const int tiles = U / TJ;
    rl.where(Ts(rl.y, c, qb, h, b) == 2 - rl.z);
    Tl(select(rl.x == 0, kEntries + clamp(listAt(kAll) / tiles, 0, C / U), rl.x == 1, kAll, kFull), c, qb, h, b) =
        select(rl.x == 0, rl.y, rl.x == 1, listAt(kAll) + tiles, listAt(kFull) + (1 - rl.z) * tiles);
    ru.where(ru < listAt(kAll));
    rv.where(rv < listAt(kAll));
    rw.where(rw < listAt(kAll));
    rp.where(rp.y < listAt(kAll) - listAt(kFull));
  }

  /// Sm: scores in base 2, those of hidden keys far below.
  void makeScores() {
    // Keys that are no f32 are converted once for a block of queries, with their tile.
    Expr key = p.key(rd, keyOf(jj, jt, everyTileFull), kvHead(), b);
    if (p.narrowKey) {
      Kt(e, jj, jt, c, qb, h, b) = p.key(e, keyOf(jj, jt, everyTileFull), kvHead(), b);
      key = Kt(rd, jj, jt, c, qb, h, b);
    }
    Expr vector = qb * NB + i;
    Sa(lane, i, jj, jt, c, qb, h, b) = 0.f;
    Sa(lane, i, jj, jt, c, qb, h, b) += (queryTile ? Expr(queryTile->func(lane, rd, vector, h, b)) : Expr(p.queryLanes(lane, rd, vector, h, b))) * key;
    // Tensors along queries and keys lie with the keys innermost, but queries are in the lanes: 16 x 16 elements at a time are transposed ahead.
    p.loadPair = [this](ImageParam tensor, std::vector<Expr> at, int queryDim) {
      auto found = std::find_if(pairs.begin(), pairs.end(), [&](const TransposedPairs &known) { return known.tensor.name() == tensor.name() && known.queryDim == queryDim; });
      if (found == pairs.end())
        found = pairs.insert(pairs.end(), TransposedPairs(tensor, at, queryDim, NB, C, base + c * C, {c, qb, h, b}));
      return found->at(lane, i, tileOffset(jt) + jj, base + c * C);
    };
    Expr scaled = Sa(lane, i, jj, jt, c, qb, h, b) * (p.scale == 1.f ? Expr(1.f) : Expr(p.scale));
    if (p.changeScore) {
      std::vector<Expr> parts;
      for (const auto &part : p.distanceParts) {
        Func &table = distanceTables.emplace_back("distances");
        table(e, h, b) = part(b, h, e);
        parts.push_back(table(query(i) + lane - (tileKey(jt) + jj), h, b));
      }
      // Before the mask, so that it is there once; finite whatever it makes of a hidden score, and below what any real one may reach.
      Expr changed = p.changeScore(b, h, query(i) + lane, tileKey(jt) + jj, scaled, parts) * kLog2e;
      Sx(lane, i, jj, jt, c, qb, h, b) = p.boundedScores ? changed : finiteScore(changed);
      scaled = Sx(lane, i, jj, jt, c, qb, h, b);
    }
    if (everyTileFull) {
      Sm(lane, i, jj, jt, c, qb, h, b) = scaled;
      return;
    }
    // A tile that reaches beyond the last key is partly hidden. A scalar branch around the mask, decided by the tile alone, lets full tiles pass without
    // mask work.
    Expr k = tileKey(jt) + jj, full = tileKey(jt) + TJ <= (p.masked ? range.fullHi : p.keys), visible = k < p.keys;
    if (p.masked) {
      full = listed ? jt < listAt(kFull) : full && tileKey(jt) >= range.fullLo;
      visible = visible && p.isVisible(b, h, query(i) + lane, k);
    }
    Expr hidden = select(visible, scaled, kHidden);
    Sm(lane, i, jj, jt, c, qb, h, b) = branch(full, scaled, hidden);
  }

  /// f(at..., jt, c, qb, h, b). In slots of a list as an update: only there a predicate can keep the rest of the slots from being made.
  void define(Func f, std::vector<Expr> at, const RDom &slots, const Expr &value) {
    at.insert(at.end(), {jt, c, qb, h, b});
    f(at) = listed ? undef<float>() : value;
    if (!listed)
      return;
    at[at.size() - 5] = slots;
    f(at) = substitute(jt.name(), Expr(slots), value);
  }

  /// Maximum and sum of a chunk. Row TJ of a tile of scores is its maximum, row TJ of a tile of probabilities its sum: both are made in registers.
  void makeProbabilities() {
    auto score = [&](const Expr &j) { return Sm(lane, i, j, jt, c, qb, h, b); };
    Expr tileMaximum = score(0);
    for (int j = 1; j < TJ; ++j)
      tileMaximum = max(tileMaximum, score(j));
    define(S, {lane, i, jj}, ru, select(jj < TJ, score(min(jj, TJ - 1)), tileMaximum));
    Mc(lane, i, c, qb, h, b) = kLowest;
    Mc(lane, i, c, qb, h, b) = max(Mc(lane, i, c, qb, h, b), S(lane, i, TJ, rt, c, qb, h, b));
    Pe(lane, i, jj, jt, c, qb, h, b) = exp2NonPositive(S(lane, i, jj, jt, c, qb, h, b) - Mc(lane, i, c, qb, h, b));
    Expr tileSum = Pe(lane, i, 0, jt, c, qb, h, b);
    for (int j = 1; j < TJ; ++j)
      tileSum = tileSum + Pe(lane, i, j, jt, c, qb, h, b);
    define(P, {lane, i, jj}, rv, select(jj < TJ, Pe(lane, i, min(jj, TJ - 1), jt, c, qb, h, b), tileSum));
    Lc(lane, i, c, qb, h, b) = 0.f;
    Lc(lane, i, c, qb, h, b) += P(lane, i, TJ, rt, c, qb, h, b);
  }

  // Output row ei of register tile eo. The last tile is moved back to end with the last row; what it shares with the one before is made twice.
  Expr firstRow(const Expr &tile) const { return E % TE ? min(tile * TE, E - TE) : tile * TE; }
  Expr outputRow(const Expr &row, const Expr &chunk, const Expr &at) const {
    return Oa(lane, i, unsafe_promise_clamped(row - firstRow(row / TE), 0, TE - 1), row / TE, chunk, at, h, b);
  }

  /// Oa: P.V of a chunk, not normalised. Values that are no f32 are converted ahead, for a block of queries.
  void makeOutput() {
    if (p.narrowValue)
      define(Vc, {e, jj}, rw, p.value(e, keyOf(jj, jt, everyTileFull), kvHead(), b));
    auto value = [&](const Expr &j, const Expr &tile, bool exists) {
      return p.narrowValue ? Expr(Vc(firstRow(eo) + ei, j, tile, c, qb, h, b)) : p.value(firstRow(eo) + ei, keyOf(j, tile, exists), kvHead(), b);
    };
    Oa(lane, i, ei, eo, c, qb, h, b) = 0.f;
    Oa(lane, i, ei, eo, c, qb, h, b) += P(lane, i, rj.x, rj.y, c, qb, h, b) * value(rj.x, rj.y, true);
    if (listed) {
      // Keys of a tile that is not full may be hidden from every query, and V there may be NaN.
      Expr slot = unsafe_promise_clamped(listAt(kFull) + rp.y, 0, C / TJ - 1);
      Expr weight = P(lane, i, rp.x, slot, c, qb, h, b);
      // Chosen as integers: 0 * x is folded to 0 or back where no NaN is expected.
      Expr seen = reinterpret<float>(select(strict_float(weight != 0.f), reinterpret<int32_t>(value(rp.x, slot, false)), 0));
      Oa(lane, i, ei, eo, c, qb, h, b) += weight * seen;
    } else if (!everyTileFull) {
      Oa(lane, i, ei, eo, c, qb, h, b) += P(lane, i, rr, restTile, c, qb, h, b) * value(rr, restTile, true);
    }
  }

  /// Rows over all chunks, normalised: (lane, row, block, h, b), with the lse behind the last row if it is wanted.
  Func mergeChunks() {
    // Chunks are merged as they are made, so that the scratch does not grow with the number of keys. The running state of a block has the rows
    // 0: weight of what is there, 1: weight of the chunk, 2: maximum, 3: sum, 4...: output. The loop over rows runs upwards within a chunk.
    constexpr int kOld = 0, kNew = 1, kMaximum = 2, kSum = 3, kOutput = 4;
    auto state = [&](const Expr &row) { return State(lane, i, row, qi, qg, h, b); };
    Expr maximum, sum, output;
    if (oneChunk) {
      maximum = Mc(lane, i, 0, qb, h, b), sum = Lc(lane, i, 0, qb, h, b), output = outputRow(e, 0, qb);
    } else {
      State(lane, i, e, qi, qg, h, b) = select(e == kMaximum, kLowest, 0.f);
      Expr row = rs.x, chunk = rs.y, at = blockOf(qi);
      Expr chunkMaximum = Mc(lane, i, chunk, at, h, b), newMaximum = max(state(kMaximum), chunkMaximum);
      Expr added = select(row < kOutput, Lc(lane, i, chunk, at, h, b), likely(outputRow(clamp(row - kOutput, 0, E - 1), chunk, at)));
      Expr weights = select(row == kOld, exp2NonPositive(state(kMaximum) - newMaximum), row == kNew, exp2NonPositive(chunkMaximum - newMaximum), newMaximum);
      State(lane, i, row, qi, qg, h, b) = select(row < kSum, weights, likely(state(row) * state(kOld) + added * state(kNew)));
      auto final = [&](const Expr &row) { return State(lane, i, row, qb % G, qb / G, h, b); };
      maximum = final(kMaximum), sum = final(kSum), output = final(e + kOutput);
    }
    Ot(lane, i, e, qb, h, b) = output;
    // A row that sees no key has sum 0: output 0, lse -inf.
    Expr denominator = sum, share = 1.f;
    if (p.sink) {
      // Relative to the larger of both maxima, so that neither power overflows. Two bounded powers, of which one is 1.
      Expr logit = finiteScore(p.sink(b, h, query(i) + lane) * kLog2e), larger = max(maximum, logit);
      share = exp2NonPositive(maximum - larger);
      denominator = sum * share + exp2NonPositive(logit - larger);
    }
    // The logarithm works on bits; what is added to it is 0, or NaN for a sum that is NaN.
    Expr lse = maximum * kLn2 + (logPositive(sum) + strict_float(sum - sum));
    R(lane, i, e, qb, h, b) = select(e == 0, select(sum == 0.f, 0.f, share / denominator), select(strict_float(sum == 0.f), -std::numeric_limits<float>::infinity(), lse));
    auto at = [&](Func f, Expr row) { return f(lane, block % NB, row, block / NB, h, b); };
    Expr normalised = at(Ot, p.wantLse || E % kLanes ? min(e, E - 1) : Expr(e)) * at(R, 0);
    Func lanes(p.name + "_lanes");
    lanes(lane, e, block, h, b) = p.wantLse ? select(e < E, normalised, at(R, 1)) : normalised;
    return lanes;
  }

  /// A task is a group of blocks of queries of one head.
  void scheduleTask(Func lanes, const std::optional<RowLayout> &layout) {
    if (layout) {
      const int paddedE = (E + kLanes - 1) / kLanes * kLanes;
      out = unpackRows(p.name, lanes, E, p.heads, p.queries, *layout, paddedE, G * NB * kLanes, [&](LoopLevel level) { perTask = level; });
    } else {
      Var i_("i_"), task("task");
      const int rows = E + (p.wantLse ? 1 : 0);
      out(lane, e, block, h, b) = lanes(lane, e, block, h, b);
      out.bound(lane, 0, kLanes).bound(e, 0, rows).bound(h, 0, p.heads);
      out.split(block, qb, i_, NB, TailStrategy::RoundUp).split(qb, qg, qb, G, TailStrategy::GuardWithIf);
      out.reorder(lane, i_, e, qb, qg, h, b).vectorize(lane).unroll(i_).fuse(qg, h, task).fuse(task, b, task).parallel(task);
      perTask = LoopLevel(out, task);
      constrainLanes(out.output_buffer(), rows);
    }
    perChunk = perTask;
    if (queryTile) {
      queryTile->func.compute_at(perTask).bound_extent(queryTile->block, G * NB).bound_extent(queryTile->h, 1).bound_extent(queryTile->b, 1);
      queryTile->scheduleTiles();
    }
    for (Func *f : {&Sa, &Sx, &Sm, &S, &Mc, &Pe, &P, &Lc, &Oa})
      if (f->defined())
        f->bound_extent(qb, 1);
    for (Func *f : {&Sa, &Sx, &Sm, &S, &Mc, &Pe, &P, &Lc, &Oa, &State, &R})
      if (f->defined())
        f->bound(lane, 0, kLanes).bound_extent(h, 1).bound_extent(b, 1).vectorize(lane);
    for (Func *f : {&S, &Mc, &P, &Lc, &Oa, &State, &R})
      if (f->defined())
        f->bound(i, 0, NB);
    R.compute_at(perTask).bound_storage(qb, G).bound(e, 0, p.wantLse ? 2 : 1).unroll(e);
    if (oneChunk)
      return;
    State.compute_at(perTask).bound(e, 0, E + 4).bound(qi, 0, G).bound_extent(qg, 1);
    // The first rows are another loop than the rest; the last chunk is none.
    State.update().reorder(lane, i, rs.x, qi, rs.y).vectorize(lane).partition(rs.x, Partition::Always).partition(qi, Partition::Never).partition(rs.y, Partition::Never);
    perChunk = LoopLevel(State, qi);
  }

  /// Within a chunk: scores and probabilities tile by tile, then P.V by register tiles of the output.
  void scheduleChunk() {
    for (Func *f : {&S, &P, &Mc, &Lc, &Oa})
      f->compute_at(perChunk).bound_extent(c, 1);
    for (Func *f : {&S, &P})
      f->bound(jj, 0, TJ + 1).bound_storage(jt, C / TJ);
    for (Func *f : {&Mc, &Lc})
      f->update().reorder(lane, i, rt).vectorize(lane);
    for (Func &table : distanceTables)
      table.compute_at(perChunk).bound_storage(e, C + (NB + 2) * kLanes).bound_extent(h, 1).bound_extent(b, 1).vectorize(e, kLanes).never_partition_all();
    // Tile by tile, so that the memory that holds the tensor works beside the products; tiles of a list do not come in order.
    for (TransposedPairs &transposed : pairs)
      transposed.schedule(perChunk, listed ? perChunk : LoopLevel(S, jt));
    if (listed) {
      for (Func &f : hoisted)
        f.compute_at(perChunk).bound_extent(c, 1).bound_extent(qb, 1).bound_extent(h, 1).bound_extent(b, 1);
      Ts.compute_at(perChunk).bound(jt, 0, C / U).bound_extent(c, 1).bound_extent(qb, 1).bound_extent(h, 1).bound_extent(b, 1).never_partition_all();
      if (C / U % 8 == 0)
        Ts.vectorize(jt, 8);
      Tl.compute_at(perChunk).bound(e, 0, C / U + 3).bound_extent(c, 1).bound_extent(qb, 1).bound_extent(h, 1).bound_extent(b, 1);
      Tl.never_partition_all().update().unroll(rl.x).never_partition_all();
      S.update().reorder(lane, i, jj, ru).vectorize(lane);
      P.update().reorder(lane, jj, i, rv).vectorize(lane).rename(i, iLoop);
    } else {
      S.reorder(lane, i, jj, jt);
      P.reorder(lane, jj, i, jt).rename(i, iLoop);
    }
    const LoopLevel perTile = listed ? LoopLevel(S, ru.x) : LoopLevel(S, jt);
    Sm.compute_at(perTile).bound_extent(jj, TJ).reorder(lane, i, jj);
    if (Sx.defined())
      Sx.compute_at(perTile).bound_extent(jj, TJ).reorder(lane, i, jj).rename(jj, jLoop).never_partition_all();
    Sa.compute_at(perTile).update().reorder(lane, i, jj, rd).vectorize(lane).unroll(rd, D % 4 ? 1 : 4);
    Pe.compute_at(P, iLoop).bound_extent(jj, TJ);
    scheduleConverted(Kt, D, perTile, 1);
    scheduleConverted(Vc, E, perChunk, C / TJ);
    Oa.bound(ei, 0, TE).bound_storage(eo, (E + TE - 1) / TE);
    // With constant distances between the keys of a listed tile LLVM would load all eight ahead, into more registers than there are.
    RVar keys("rj_o"), key("tile_r");
    if (listed && TJ % 8 == 0)
      Oa.update(0).split(rj.x, keys, key, 4).reorder(lane, i, ei, key, keys, rj.y, eo).vectorize(lane);
    else
      Oa.update(0).reorder(lane, i, ei, rj.x, rj.y, eo).vectorize(lane).rename(rj.x, key);
    if (listed)
      Oa.update(1).reorder(lane, i, ei, rp.x, rp.y, eo).vectorize(lane);
    else if (!everyTileFull)
      Oa.update(1).reorder(lane, i, ei, rr, eo).vectorize(lane);
    // Their loops have no ends that differ; not looking for them saves a sixth of the compile time.
    for (Func *f : {&Sa, &Sm, &S, &Mc, &Pe, &P, &Lc, &Oa}) {
      f->never_partition_all();
      for (int u = 0; u < f->num_update_definitions(); ++u)
        f->update(u).never_partition_all();
    }
  }

  /// Kt or Vc, where there is one: features lie one behind the other. Those of the last vector that are there already are made again, except where
  /// slots are an update.
  void scheduleConverted(Func f, int width, const LoopLevel &level, int tilesKept) {
    if (!f.defined())
      return;
    f.compute_at(level).bound(e, 0, width).bound(jj, 0, TJ).bound_extent(c, 1).bound_extent(qb, 1).bound_extent(h, 1).bound_extent(b, 1);
    f.bound_storage(jt, tilesKept);
    int values = kLanes;
    while (values > width)
      values /= 2;
    Stage stage = f.num_update_definitions() ? f.update().reorder(e, jj, rw) : Stage(f);
    stage.vectorize(e, values, width % values && listed ? TailStrategy::GuardWithIf : TailStrategy::Auto).never_partition_all();
  }

  const AttentionProblem &p;
  const int NB, TJ, D, E, U, C, TE; // vectors of a block, keys of a tile, widths, keys of an entry of the list and of a chunk, rows of an output tile
  const bool everyTileFull, oneChunk, listed;
  const int G; // blocks of a task

  Var lane{"lane"}, i{"tile_i"}, qb{"qb"}, qi{"qi"}, qg{"qg"}, h{"h"}, b{"b"}, jj{"tile_j"}, jt{"jt"}, c{"c"}, e{"e"}, eo{"eo"}, ei{"tile_e"}, block{"block"};
  Var iLoop{"i"}, jLoop{"jj"}; // i and jj where they stay loops, see UnrollTiles.h
  RDom rd, rj, rr, rt, rs, rl, ru, rv, rw, rp;
  KeyRange range;
  Expr base, restTile; // first key that is visited; the tile of P.V's rest
  bool fromFirstKey = false;
  Func Ts{"Ts"}, Tl{"Tl"}; // what the tiles of a chunk hold, and the list of those that are visited
  Func Sa{"Sa"}, Sx{"Sx"}, Sm{"Sm"}, S{"S"}, Mc{"Mc"}, Pe{"Pe"}, P{"P"}, Lc{"Lc"}, Oa{"Oa"}, State{"State"}, R{"R"}, Ot{"Ot"}, Kt{"Kt"}, Vc{"Vc"}, out;
  std::optional<LanesOfRows> queryTile;
  std::vector<Func> hoisted; // what is the same for all tiles of a chunk
  std::vector<TransposedPairs> pairs;
  std::vector<Func> distanceTables;
  LoopLevel perTask, perChunk;
};

} // namespace

Func attend(const AttentionProblem &problem, const AttentionTiles &tiles, const std::optional<RowLayout> &layout) {
  return Attend(problem, tiles).build(layout);
}

Func storeRow(const std::string &name, const ImageParam &lanes, int row, int heads, int firstHead) {
  Var q("q"), h("h"), b("b"), qi("qi"), task("task");
  Func out(name);
  out(q, h, b) = lanes(q % kLanes, row, q / kLanes, h - firstHead, b);
  out.bound(h, firstHead, heads).split(q, q, qi, kLanes, TailStrategy::PredicateStores).vectorize(qi).fuse(q, h, task).fuse(task, b, task).parallel(task);
  beginAtZero(out.output_buffer(), 1, firstHead);
  return out;
}

} // namespace mhac::halide
