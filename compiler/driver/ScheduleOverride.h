// --schedule: schedules that the user wrote take the place of chosen ones.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "support/Diagnostics.h"

#include "mlir/IR/BuiltinOps.h"

#include "llvm/ADT/StringRef.h"

namespace mhac {

/// `text` is `[<op>=]#attn.schedule<...>`, or `@<file>` with one of these a line (`//` starts a comment). Without an op it is for
/// attn.attention. Every op of that name in every target gets it; it is an error when there is none.
void overrideSchedules(mlir::ModuleOp scheduled, llvm::StringRef text, Diagnostics &diagnostics);

} // namespace mhac
