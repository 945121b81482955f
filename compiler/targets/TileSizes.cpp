// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "targets/TileSizes.h"

#include "attention/AttentionDialect.h"

#include <algorithm>

namespace mhac {

int64_t tileRows(const Target &target, int64_t width) { return target.vectorRegisters * 3 / 4 / width; }

int64_t scoreKeys(mlir::Operation *op, int64_t rows) {
  const int64_t keys = std::min<int64_t>(rows, 10);
  return mlir::cast<attn::AttentionOp>(op).getTiles().empty() ? keys : llvm::bit_floor<uint64_t>(keys);
}

int64_t listKeys(mlir::Operation *op, int64_t rows) {
  const bool looksThrough = mlir::cast<attn::AttentionOp>(op).getTiles().walk([](attn::LoadRangeOp) { return mlir::WalkResult::interrupt(); }).wasInterrupted();
  return looksThrough ? scoreKeys(op, rows) : 16;
}

int64_t chunkFor(mlir::Operation *op, const Target &target, int64_t queries) {
  auto width = [](mlir::Value heads) { return mlir::cast<mlir::RankedTensorType>(heads.getType()).getDimSize(3); };
  auto attention = mlir::cast<attn::AttentionOp>(op);
  const int64_t keyBytes = (width(attention.getKey()) + width(attention.getValue()) + 2 * queries) * 4;
  const int64_t keys = target.l2Bytes / keyBytes / 256 * 256;
  return std::clamp<int64_t>(attention.getTiles().empty() ? keys : 2 * keys, 256, 2048);
}

int64_t blocksFor(const Regime &regime) { return regime.fewestKeys() >= 1024 ? 4 : 1; }

int64_t tokensFor(mlir::Operation *op, const Target &target) {
  const int64_t features = mlir::cast<attn::ProjectOp>(op).getInputFeatures();
  return std::clamp<int64_t>(target.l2Bytes * 3 / 4 / (std::min(features, kTileInputs) * 4) / 32 * 32, 32, 256);
}

ScheduleChoice attendWith(mlir::Operation *op, const Target &target, const Regime &regime, AttentionTile tile, std::string reason) {
  ScheduleChoice choice{true,
                        std::move(reason),
                        {{"query_vectors", tile.vectors},
                         {"query_blocks", blocksFor(regime)},
                         {"score_keys", scoreKeys(op, tile.rows)},
                         {"output_rows", tile.rows},
                         {"chunk", chunkFor(op, target, tile.vectors * 16)}}};
  if (!mlir::cast<attn::AttentionOp>(op).getTiles().empty())
    choice.tiles.push_back({"list_keys", listKeys(op, tile.rows)});
  return choice;
}

namespace {

/// The intermediates keep 16 tokens side by side, in one register or several.
struct RegisterTile {
  int64_t vectors, width, rows;
};

RegisterTile registerTile(const Target &target) {
  const int64_t vectors = target.vectorLanes >= 16 ? 2 : 1, width = vectors * 16 / std::min(target.vectorLanes, 16);
  return {vectors, width, tileRows(target, width)};
}

std::string sentence(const Target &target, const RegisterTile &tile, const char *rows) {
  auto text = [](int64_t number) { return std::to_string(number); };
  return text(tile.rows * tile.width) + " accumulators of " + text(tile.rows) + " " + rows + " x " + text(tile.width) + " registers, " + text(tile.width) +
         " registers of tokens and a broadcast in " + text(target.vectorRegisters) + " registers";
}

} // namespace

ScheduleChoice projectByRegisters(mlir::Operation *op, const Target &target, int lanes) {
  if (target.vectorLanes != lanes)
    return ScheduleChoice::passOver("needs vectors of " + std::to_string(lanes) + " lanes");
  const RegisterTile tile = registerTile(target);
  return {true,
          sentence(target, tile, "features"),
          {{"features", tile.rows}, {"vectors", tile.vectors}, {"tokens", tokensFor(op, target)}, {"slab", 96}, {"inputs", kTileInputs}}};
}

ScheduleChoice attendByRegisters(mlir::Operation *op, const Target &target, const Regime &regime, int lanes) {
  if (target.vectorLanes != lanes)
    return ScheduleChoice::passOver("needs vectors of " + std::to_string(lanes) + " lanes");
  const RegisterTile tile = registerTile(target);
  return attendWith(op, target, regime, {tile.vectors, tile.rows}, sentence(target, tile, "keys or rows of V") + "; a chunk of keys in L2");
}

} // namespace mhac
