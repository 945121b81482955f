// attn.attention as Halide Funcs: fused scores, mask, softmax and weighted sum for blocks of queries, without the n x n map.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "halide/HeadNumbers.h"
#include "halide/Lanes.h"
#include "halide/TranslateRegion.h"

namespace mhac::halide {

/// Tile sizes of the attention kernel (names in #attn.schedule in quotes).
struct AttentionTiles {
  int queryVectors = 2; // "query_vectors": vectors of 16 queries of a block
  int queryBlocks = 1;  // "query_blocks": blocks of a task, which take turns on each chunk of keys
  int scoreKeys = 8;    // "score_keys": keys of a register tile of scores; divides 16
  int outputRows = 8;   // "output_rows": rows of V^T of a register tile of the output
  int chunk = 1024;     // "chunk": keys whose scores are held at a time, a multiple of 16; one chunk when no call has more keys
  int listKeys = 0;     // "list_keys": keys of an entry of a list of tiles, a multiple of score_keys; 0: one tile
};

/// The keys that the queries of a block can see: outside [lo, hi) none, inside [fullLo, fullHi) all.
struct KeyRange {
  Halide::Expr lo, hi, fullLo, fullHi;
};

/// What a tile of queries and keys holds: nothing that can be visible, or nothing hidden.
struct TileContent {
  Halide::Expr mayBeVisible, isFull;
};

struct AttentionProblem {
  std::string name;
  int heads = 1, kvHeads = 1, headDim = 1, vHeadDim = 1;
  std::vector<int64_t> kvHeadOf; // the key/value head of each query head; empty: they are shared by equally many, in order
  Accessor queryRows;            // rows, transposed by each task; `queryScale` goes into them
  float queryScale = 1.f;
  Halide::ImageParam queryLanes; // or lane-major, scale and log2(e) already in it
  Accessor key, value;
  bool narrowKey = false, narrowValue = false; // reading one takes instructions, see NumberFormat
  bool keysAreLanes = false; // key and value come from a projection: blocks are padded, reads beyond the last key stay inside
  Halide::Expr queries, keys;
  int64_t maximumKeys = 0; // over all calls
  bool fixedKeys = false;  // every call has maximumKeys keys
  float scale = 1.f;       // multiplies the scores (log2(e) included unless there is `changeScore`)
  /// What becomes of a score, in natural units, from the values of `distanceParts` for the pair; none: nothing.
  std::function<Halide::Expr(Halide::Expr b, Halide::Expr h, Halide::Expr q, Halide::Expr k, Halide::Expr score, const std::vector<Halide::Expr> &parts)>
      changeScore;
  bool boundedScores = false; // what changeScore makes is never infinite
  /// What scores need that is a function of q - k for a row of the batch and a head.
  std::vector<std::function<Halide::Expr(Halide::Expr b, Halide::Expr h, Halide::Expr distance)>> distanceParts;
  /// A logit of the row that joins the denominator, in natural units; none: nothing.
  std::function<Halide::Expr(Halide::Expr b, Halide::Expr h, Halide::Expr q)> sink;
  bool masked = false;     // some key can be hidden from a query
  std::function<Halide::Expr(Halide::Expr b, Halide::Expr h, Halide::Expr q, Halide::Expr k)> isVisible;
  std::function<KeyRange(Halide::Expr b, Halide::Expr h, Halide::Expr firstQuery, Halide::Expr lastQuery)> keyRange;
  /// Of first and last query and key; none: `keyRange` says everything.
  std::function<TileContent(Halide::Expr b, Halide::Expr h, Halide::Expr firstQuery, Halide::Expr lastQuery, Halide::Expr firstKey, Halide::Expr lastKey)>
      tileContent;
  /// Set by the kernel's builder for those that evaluate a region, see TileContext.
  mutable LoadPair loadPair;
  mutable std::function<Halide::Expr(Halide::Expr)> hoist;
  /// The key/value head that query head `h` reads.
  Halide::Expr kvHead(const Halide::Expr &h) const { return kvHeadOf.empty() ? h / (heads / kvHeads) : numberOf(kvHeadOf, h); }
  bool wantLse = false; // the result has one more row: the natural logarithm of the sum of exponentials
};

/// The output in lane-major layout, vHeadDim (+ 1) rows, or as rows in the given layout (without lse).
Halide::Func attend(const AttentionProblem &problem, const AttentionTiles &tiles, const std::optional<RowLayout> &layout);

/// A score (or sink) as the softmax takes it: infinities become the nearest number that it may be; NaN stays.
Halide::Expr finiteScore(const Halide::Expr &x);

/// Row `row` of a lane-major buffer as heads `firstHead` and behind of a dense tensor [b, h, q].
Halide::Func storeRow(const std::string &name, const Halide::ImageParam &lanes, int row, int heads, int firstHead);

} // namespace mhac::halide
