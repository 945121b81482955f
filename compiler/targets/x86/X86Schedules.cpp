// x86-64 with AVX2 or AVX-512. What is peculiar: two FMA units, a broadcast load folded into the FMA on AVX-512, and the number of vector registers
// (32 of 16 lanes, 16 of 8 lanes) that bounds a register tile. All intermediates keep 16 tokens in the lanes; a vector of 16 is two registers on AVX2.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "targets/ScheduleRule.h"
#include "targets/TileSizes.h"

namespace mhac {
namespace {

ScheduleChoice projectWide(mlir::Operation *op, const Target &target, const Regime &) {
  if (target.vectorLanes < 16)
    return ScheduleChoice::passOver("needs vectors of 16 lanes");
  return {true,
          "24 accumulators of 12 features x 2 vectors, 2 vectors of tokens and a broadcast weight in 32 registers",
          {{"features", tileRows(target, 2)}, {"vectors", 2}, {"tokens", tokensFor(op, target)}, {"slab", 96}, {"inputs", kTileInputs}}};
}

ScheduleChoice projectToken(mlir::Operation *op, const Target &target, const Regime &regime) {
  auto project = mlir::cast<attn::ProjectOp>(op);
  if (project.getScales().empty() || project.getQuantizedTokens() || regime.mostTokens(op) > 1)
    return ScheduleChoice::passOver();
  if (target.vectorLanes < 8)
    return ScheduleChoice::passOver("needs vectors of 8 lanes");
  if (project.getLayout() != attn::Layout::OutIn || !project.getColumns().empty() || project.getInputs().size() > 1)
    return ScheduleChoice::passOver("wants rows of weights to be read from end to end");
  return {true,
          "one token: input features in the lanes, rows of weights are read in their order, 4 at a time",
          {{"features", 4}, {"vectors", 0}, {"tokens", 32}, {"slab", 96}, {"inputs", kTileInputs}}};
}

ScheduleChoice projectOneVector(mlir::Operation *op, const Target &target, const Regime &regime) {
  if (target.vectorLanes < 16)
    return ScheduleChoice::passOver("needs vectors of 16 lanes");
  if (regime.mostTokens(op) > 16)
    return ScheduleChoice::passOver("is for at most 16 tokens");
  return {true,
          "one vector of tokens; 8 accumulators, one a feature, weights broadcast from memory",
          {{"features", 8}, {"vectors", 1}, {"tokens", 32}, {"slab", 96}, {"inputs", kTileInputs}}};
}

ScheduleChoice projectNarrow(mlir::Operation *op, const Target &target, const Regime &) {
  if (target.vectorLanes != 8)
    return ScheduleChoice::passOver("needs vectors of 8 lanes");
  return {true,
          "12 accumulators of 6 features x 2 half vectors, 2 half vectors of tokens and a broadcast weight in 16 registers",
          {{"features", tileRows(target, 2)}, {"vectors", 1}, {"tokens", tokensFor(op, target)}, {"slab", 96}, {"inputs", kTileInputs}}};
}

ScheduleChoice attendWide(mlir::Operation *op, const Target &target, const Regime &regime) {
  if (target.vectorLanes < 16)
    return ScheduleChoice::passOver("needs vectors of 16 lanes");
  return attendWith(op, target, regime, {2, tileRows(target, 2)}, "blocks of 32 queries; 20 to 24 accumulators of 10 keys (12 rows of V) x 2 vectors in 32 registers; a chunk of keys in L2");
}

ScheduleChoice attendNarrow(mlir::Operation *op, const Target &target, const Regime &regime) {
  if (target.vectorLanes != 8)
    return ScheduleChoice::passOver("needs vectors of 8 lanes");
  return attendWith(op, target, regime, {1, tileRows(target, 2)}, "blocks of 16 queries; 12 accumulators of 6 keys (6 rows of V) x 2 half vectors in 16 registers; a chunk of keys in L2");
}

const ScheduleRule rules[] = {
    {"x86_project_f4_t1", "attn.project", projectToken},
    {"x86_project_f8_t16", "attn.project", projectOneVector},
    {"x86_project_f12_t32", "attn.project", projectWide},
    {"x86_project_f6_t16", "attn.project", projectNarrow},
    {"x86_prefill_q32_k10", "attn.attention", attendWide},
    {"x86_prefill_q16_k6", "attn.attention", attendNarrow},
};

} // namespace

llvm::ArrayRef<ScheduleRule> x86Rules() { return rules; }

} // namespace mhac
