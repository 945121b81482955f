// RISC-V with V: 32 registers, of which a vector of 16 tokens is a group. A multiply-add takes its scalar from a floating-point register.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "targets/TileSizes.h"

namespace mhac {
namespace {

template <int lanes> ScheduleChoice project(mlir::Operation *op, const Target &target, const Regime &) { return projectByRegisters(op, target, lanes); }
template <int lanes> ScheduleChoice attend(mlir::Operation *op, const Target &target, const Regime &regime) {
  return attendByRegisters(op, target, regime, lanes);
}

const ScheduleRule rules[] = {
    {"riscv_project_f6_t16", "attn.project", project<4>},
    {"riscv_prefill_q16_k6", "attn.attention", attend<4>},
    {"riscv_project_f12_t16", "attn.project", project<8>},
    {"riscv_prefill_q16_k10", "attn.attention", attend<8>},
    {"riscv_project_f12_t32", "attn.project", project<16>},
    {"riscv_prefill_q32_k10", "attn.attention", attend<16>},
};

} // namespace

llvm::ArrayRef<ScheduleRule> riscvRules() { return rules; }

} // namespace mhac
