// Stage 5: scheduled module -> Halide pipelines -> LLVM bitcode of each candidate, and the KernelInterface with kernels and workspace. Makes no
// choices: it does what the ops and their schedule attributes say.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "attention/KernelInterface.h"
#include "support/Diagnostics.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/Support/LLVM.h"

#include <string>
#include <vector>

namespace mhac {

struct BuiltKernels {
  KernelInterface interface;
  std::vector<std::string> bitcode; // one a candidate, in the order of the interface; empty when a later one has all its kernels
  std::string stmt;                 // Halide's lowered loops of all kernels, when asked for
};

/// Halide's errors come back as internal errors at the op's location.
mlir::FailureOr<BuiltKernels> buildKernels(mlir::ModuleOp scheduled, bool wantStmt, Diagnostics &diagnostics);

} // namespace mhac
