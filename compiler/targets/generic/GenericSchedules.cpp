// Schedules that every target can take: register tiles for 16 registers of 4 lanes.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "targets/ScheduleRule.h"

#include "attention/AttentionDialect.h"

namespace mhac {
namespace {

ScheduleChoice project(mlir::Operation *op, const Target &) {
  if (!mlir::isa<attn::ProjectOp>(op))
    return ScheduleChoice::passOver("for attn.project");
  return {true, "8 accumulators of 2 features x 4 quarter vectors", {{"features", 2}, {"vectors", 1}, {"tokens", 64}, {"slab", 64}}};
}

ScheduleChoice attend(mlir::Operation *op, const Target &) {
  if (!mlir::isa<attn::AttentionOp>(op))
    return ScheduleChoice::passOver("for attn.attention");
  return {true, "8 accumulators of 2 keys x 4 quarter vectors", {{"query_vectors", 1}, {"score_keys", 2}, {"output_rows", 2}, {"chunk", 256}}};
}

const ScheduleRule rules[] = {
    {"generic_project_f2_t16", project},
    {"generic_prefill_q16_k2", attend},
};

} // namespace

llvm::ArrayRef<ScheduleRule> genericRules() { return rules; }

} // namespace mhac
