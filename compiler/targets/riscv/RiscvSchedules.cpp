// RISC-V with V: 32 registers, of which a vector of 16 tokens is a group. A multiply-add takes its scalar from a floating-point register.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "targets/TileSizes.h"

namespace mhac {
namespace {

const ScheduleRule rules[] = {
    {"riscv_project_f6_t16", "attn.project", projectWithLanes<4>},
    {"riscv_prefill_q16_k6", "attn.attention", attendWithLanes<4>},
    {"riscv_project_f12_t16", "attn.project", projectWithLanes<8>},
    {"riscv_prefill_q16_k10", "attn.attention", attendWithLanes<8>},
    {"riscv_project_f12_t32", "attn.project", projectWithLanes<16>},
    {"riscv_prefill_q32_k10", "attn.attention", attendWithLanes<16>},
};

} // namespace

llvm::ArrayRef<ScheduleRule> riscvRules() { return rules; }

} // namespace mhac
