// Sizes of tiles from what a target has: registers bound a register tile, L2 bounds what a task goes through again and again.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "targets/ScheduleRule.h"

namespace mhac {

/// Rows of a register tile that is `width` registers wide: accumulators take three quarters of the registers, the rest hold the vectors that they are
/// multiplied with and the broadcast rows.
int64_t tileRows(const Target &target, int64_t width);

/// Keys of a tile of scores with at most `rows`: each key of row-major K has a pointer of its own, and beside ten of them the loop needs three general
/// registers. Tiles of a list begin at multiples of their size; a power of two divides the blocks that masks are made of.
int64_t scoreKeys(mlir::Operation *op, int64_t rows);

/// Keys of an entry of a list of tiles: several tiles make it short. One where the tensor elements of a tile have to be looked through.
int64_t listKeys(mlir::Operation *op, int64_t rows);

/// Keys whose scores a task holds: K, V and the scores and probabilities of a block of queries (two f32 buffers) fit L2. Twice as many where tiles are
/// listed: most of them are empty then.
int64_t chunkFor(mlir::Operation *op, const Target &target, int64_t queries);

/// Blocks of queries of a task: where K and V come from L2 or beyond, four share what comes.
int64_t blocksFor(const Regime &regime);

/// Input features that are summed in registers.
inline constexpr int64_t kTileInputs = 1024;

/// Tokens of a projection's task: the input features that are summed at a time take three quarters of L2, weights stream through the rest.
int64_t tokensFor(mlir::Operation *op, const Target &target);

/// Attention in blocks of `vectors` times 16 queries with register tiles of at most `rows` keys or rows of V.
struct AttentionTile {
  int64_t vectors, rows;
};
ScheduleChoice attendWith(mlir::Operation *op, const Target &target, const Regime &regime, AttentionTile tile, std::string reason);

/// Register tiles whose rows are all the registers that vectors of `lanes` allow, for targets with such vectors: of 16 tokens or queries, of 32 where
/// a vector has 16 lanes.
ScheduleChoice projectByRegisters(mlir::Operation *op, const Target &target, int lanes);
ScheduleChoice attendByRegisters(mlir::Operation *op, const Target &target, const Regime &regime, int lanes);

/// The same as rules.
template <int lanes> ScheduleChoice projectWithLanes(mlir::Operation *op, const Target &target, const Regime &) { return projectByRegisters(op, target, lanes); }
template <int lanes> ScheduleChoice attendWithLanes(mlir::Operation *op, const Target &target, const Regime &regime) {
  return attendByRegisters(op, target, regime, lanes);
}

} // namespace mhac
