// Stage 4: lowered module + targets -> one copy of each entry a target and regime, every op carrying #attn.schedule, and the attn.entry that lists them.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "support/Diagnostics.h"
#include "targets/Target.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/Support/LLVM.h"

namespace mhac {

/// `targets` are words for findTarget, at least one. The candidates are ordered so that a target comes before those it includes; equal ones count once.
/// An op that only a generic rule takes gives a performance warning. The module is changed in place.
mlir::LogicalResult chooseSchedules(mlir::ModuleOp module, llvm::ArrayRef<std::string> targets, Diagnostics &diagnostics);

} // namespace mhac
