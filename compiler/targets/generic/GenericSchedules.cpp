// Schedules that every target can take: register tiles for 16 registers of 4 lanes.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "targets/ScheduleRule.h"

namespace mhac {
namespace {

ScheduleChoice project(mlir::Operation *, const Target &, const Regime &) {
  return {true, "8 accumulators of 2 features x 4 quarter vectors", {{"features", 2}, {"vectors", 1}, {"tokens", 64}, {"slab", 64}, {"inputs", 1024}}};
}

ScheduleChoice attend(mlir::Operation *, const Target &, const Regime &) {
  return {true, "8 accumulators of 2 keys x 4 quarter vectors", {{"query_vectors", 1}, {"query_blocks", 1}, {"score_keys", 2}, {"output_rows", 2}, {"chunk", 256}}};
}

const ScheduleRule rules[] = {
    {"generic_project_f2_t16", "attn.project", project},
    {"generic_prefill_q16_k2", "attn.attention", attend},
};

} // namespace

llvm::ArrayRef<ScheduleRule> genericRules() { return rules; }

} // namespace mhac
