// x86-64 with AVX2 or AVX-512. What is peculiar: two FMA units, a broadcast load folded into the FMA on AVX-512, and the number of vector registers
// (32 of 16 lanes, 16 of 8 lanes) that bounds a register tile. All intermediates keep 16 tokens in the lanes; a vector of 16 is two registers on AVX2.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "targets/ScheduleRule.h"

#include "attention/AttentionDialect.h"

#include <algorithm>

namespace mhac {
namespace {

/// Rows of a register tile that is two registers wide: accumulators take three quarters of the registers, the rest hold the two vectors that they are
/// multiplied with and the broadcast rows.
int64_t tileRows(const Target &target) { return target.vectorRegisters * 3 / 4 / 2; }

/// Keys of a tile of scores: each key of row-major K has a pointer of its own, and beside ten of them the loop needs three of the 15 general registers.
/// Tiles of a list begin at multiples of their size; a power of two divides the blocks that masks are made of.
int64_t scoreKeys(mlir::Operation *op, const Target &target) {
  const int64_t keys = std::min<int64_t>(tileRows(target), 10);
  return mlir::cast<attn::AttentionOp>(op).getTiles().empty() ? keys : llvm::bit_floor<uint64_t>(keys);
}

/// Keys of an entry of a list of tiles: several tiles make it short. One where the tensor elements of a tile have to be looked through.
int64_t listKeys(mlir::Operation *op, const Target &target) {
  const bool looksThrough = mlir::cast<attn::AttentionOp>(op).getTiles().walk([](attn::LoadRangeOp) { return mlir::WalkResult::interrupt(); }).wasInterrupted();
  return looksThrough ? scoreKeys(op, target) : 16;
}

/// Keys whose scores a task holds: K, V and the scores and probabilities of a block of queries (two f32 buffers) fit L2. Twice as many where tiles are
/// listed: most of them are empty then.
int64_t chunkFor(mlir::Operation *op, const Target &target, int64_t queries) {
  auto width = [](mlir::Value heads) { return mlir::cast<mlir::RankedTensorType>(heads.getType()).getDimSize(3); };
  auto attention = mlir::cast<attn::AttentionOp>(op);
  const int64_t keyBytes = (width(attention.getKey()) + width(attention.getValue()) + 2 * queries) * 4;
  const int64_t keys = target.l2Bytes / keyBytes / 256 * 256;
  return std::clamp<int64_t>(attention.getTiles().empty() ? keys : 2 * keys, 256, 2048);
}

/// Blocks of queries of a task: where K and V come from L2 or beyond, four share what comes.
int64_t blocksFor(const Regime &regime) { return regime.fewestKeys() >= 1024 ? 4 : 1; }

/// Input features that are summed in registers.
constexpr int64_t inputs = 1024;

/// Tokens of a projection's task: the input features that are summed at a time take three quarters of L2, weights stream through the rest.
int64_t tokensFor(mlir::Operation *op, const Target &target) {
  const int64_t features = mlir::cast<attn::ProjectOp>(op).getInputFeatures();
  return std::clamp<int64_t>(target.l2Bytes * 3 / 4 / (std::min(features, inputs) * 4) / 32 * 32, 32, 256);
}

ScheduleChoice projectWide(mlir::Operation *op, const Target &target, const Regime &) {
  if (target.vectorLanes < 16)
    return ScheduleChoice::passOver("needs vectors of 16 lanes");
  return {true,
          "24 accumulators of 12 features x 2 vectors, 2 vectors of tokens and a broadcast weight in 32 registers",
          {{"features", tileRows(target)}, {"vectors", 2}, {"tokens", tokensFor(op, target)}, {"slab", 96}, {"inputs", inputs}}};
}

ScheduleChoice projectOneVector(mlir::Operation *op, const Target &target, const Regime &regime) {
  if (target.vectorLanes < 16)
    return ScheduleChoice::passOver("needs vectors of 16 lanes");
  if (regime.mostTokens(op) > 16)
    return ScheduleChoice::passOver("is for at most 16 tokens");
  return {true,
          "one vector of tokens; 8 accumulators, one a feature, weights broadcast from memory",
          {{"features", 8}, {"vectors", 1}, {"tokens", 32}, {"slab", 96}, {"inputs", inputs}}};
}

ScheduleChoice projectNarrow(mlir::Operation *op, const Target &target, const Regime &) {
  if (target.vectorLanes != 8)
    return ScheduleChoice::passOver("needs vectors of 8 lanes");
  return {true,
          "12 accumulators of 6 features x 2 half vectors, 2 half vectors of tokens and a broadcast weight in 16 registers",
          {{"features", tileRows(target)}, {"vectors", 1}, {"tokens", tokensFor(op, target)}, {"slab", 96}, {"inputs", inputs}}};
}

ScheduleChoice attend(mlir::Operation *op, const Target &target, const Regime &regime, int64_t vectors, std::string reason) {
  ScheduleChoice choice{true, std::move(reason), {{"query_vectors", vectors}, {"query_blocks", blocksFor(regime)}, {"score_keys", scoreKeys(op, target)},
                                                  {"output_rows", tileRows(target)}, {"chunk", chunkFor(op, target, 16 * vectors)}}};
  if (!mlir::cast<attn::AttentionOp>(op).getTiles().empty())
    choice.tiles.push_back({"list_keys", listKeys(op, target)});
  return choice;
}

ScheduleChoice attendWide(mlir::Operation *op, const Target &target, const Regime &regime) {
  if (target.vectorLanes < 16)
    return ScheduleChoice::passOver("needs vectors of 16 lanes");
  return attend(op, target, regime, 2, "blocks of 32 queries; 20 to 24 accumulators of 10 keys (12 rows of V) x 2 vectors in 32 registers; a chunk of keys in L2");
}

ScheduleChoice attendNarrow(mlir::Operation *op, const Target &target, const Regime &regime) {
  if (target.vectorLanes != 8)
    return ScheduleChoice::passOver("needs vectors of 8 lanes");
  return attend(op, target, regime, 1, "blocks of 16 queries; 12 accumulators of 6 keys (6 rows of V) x 2 half vectors in 16 registers; a chunk of keys in L2");
}

const ScheduleRule rules[] = {
    {"x86_project_f8_t16", "attn.project", projectOneVector},
    {"x86_project_f12_t32", "attn.project", projectWide},
    {"x86_project_f6_t16", "attn.project", projectNarrow},
    {"x86_prefill_q32_k10", "attn.attention", attendWide},
    {"x86_prefill_q16_k6", "attn.attention", attendNarrow},
};

} // namespace

llvm::ArrayRef<ScheduleRule> x86Rules() { return rules; }

} // namespace mhac
