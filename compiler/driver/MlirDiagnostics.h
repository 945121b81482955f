// MLIR's own diagnostics become ours while an object of this class lives.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "support/Diagnostics.h"

#include "mlir/IR/Diagnostics.h"

namespace mhac {

class MlirDiagnostics : public mlir::ScopedDiagnosticHandler {
public:
  MlirDiagnostics(mlir::MLIRContext &context, Diagnostics &diagnostics);
};

} // namespace mhac
