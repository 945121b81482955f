// Stage 3: module at stage "attn" -> module at stage "lowered". Passes.td says what each pass does, PassPipeline.cpp in which order.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Pass/Pass.h"

namespace mhac {

#define GEN_PASS_DECL
#define GEN_PASS_REGISTRATION
#include "passes/Passes.h.inc"

/// All passes of stage 3 in their order; for a pass manager on builtin.module.
void buildLoweringPipeline(mlir::OpPassManager &manager);

/// Makes the passes and the pipeline (`attn-lower`) known to pass pipelines in text.
void registerMhacPasses();

} // namespace mhac
