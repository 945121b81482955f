// What --explain and --explain-schedule print: what was compiled and why it is computed as it is.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "attention/KernelInterface.h"

#include "mlir/IR/BuiltinOps.h"

#include <string>

namespace mhac {

/// Parameters, FLOPs, bytes, workspace, block structure of the mask and kernels of a built module.
std::string explain(const KernelInterface &interface, mlir::ModuleOp scheduled);

/// The schedule of every op of every candidate with the reason why it was chosen.
std::string explainSchedule(mlir::ModuleOp scheduled);

} // namespace mhac
