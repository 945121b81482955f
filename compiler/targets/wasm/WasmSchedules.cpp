// WebAssembly with simd128: values have no registers here; engines have 16 on x86-64 and 32 on AArch64, and the fewer must do. Without a multiply-add.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "targets/TileSizes.h"

namespace mhac {
namespace {

const ScheduleRule rules[] = {
    {"wasm_project_f3_t16", "attn.project", projectWithLanes<4>},
    {"wasm_prefill_q16_k3", "attn.attention", attendWithLanes<4>},
};

} // namespace

llvm::ArrayRef<ScheduleRule> wasmRules() { return rules; }

} // namespace mhac
