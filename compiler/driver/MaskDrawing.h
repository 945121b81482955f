// --emit=mask-svg: the tiles of an attention kernel as a picture, empty, partial or full, for one head of one batch row and chosen sizes.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "support/Diagnostics.h"

#include "llvm/ADT/StringRef.h"
#include "mlir/IR/BuiltinOps.h"

#include <string>

namespace mhac {

/// The drawing of the scheduled module's first candidate that takes all sizes. `numbers` is "name=integer,...": sizes of the call (those that are
/// not fixed are 256 otherwise), `b` and `h` (0), and run-time inputs, of which every element is that number (lengths are otherwise full, all else
/// is 0). Empty after an error.
std::string drawMask(mlir::ModuleOp scheduled, llvm::StringRef numbers, Diagnostics &diagnostics);

} // namespace mhac
