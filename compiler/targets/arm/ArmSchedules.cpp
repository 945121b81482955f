// AArch64: 32 registers of 4 lanes, and of more with SVE. A multiply-add takes its scalar from a lane of a register, so a broadcast costs a load only.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "targets/TileSizes.h"

namespace mhac {
namespace {

const ScheduleRule rules[] = {
    {"arm_project_f6_t16", "attn.project", projectWithLanes<4>},
    {"arm_prefill_q16_k6", "attn.attention", attendWithLanes<4>},
    {"arm_project_f12_t16", "attn.project", projectWithLanes<8>},
    {"arm_prefill_q16_k10", "attn.attention", attendWithLanes<8>},
    {"arm_project_f12_t32", "attn.project", projectWithLanes<16>},
    {"arm_prefill_q32_k10", "attn.attention", attendWithLanes<16>},
};

} // namespace

llvm::ArrayRef<ScheduleRule> armRules() { return rules; }

} // namespace mhac
