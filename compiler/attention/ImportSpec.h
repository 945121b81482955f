// Stage 2: Spec -> MLIR module with one entry function of attn ops.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "spec/Spec.h"
#include "support/Diagnostics.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"

namespace mhac {

/// The layer as a module at stage "attn"; every op is located at the YAML key it comes from. Reports what is wrong with the variants, also
/// when `diagnostics` has errors of the reader already; null when there is an error of either.
mlir::OwningOpRef<mlir::ModuleOp> importSpec(const Spec &spec, mlir::MLIRContext &context, Diagnostics &diagnostics);

} // namespace mhac
