// From the locations that ops carry to places in the user's file, for every stage that reports about an op.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "support/Located.h"

#include "mlir/IR/Location.h"

namespace mhac {

/// The first file position inside `loc`; no place when there is none.
inline SourceLocation sourceLocation(mlir::Location loc) {
  if (auto place = loc->findInstanceOf<mlir::FileLineColLoc>())
    return {place.getFilename().str(), place.getLine(), place.getColumn()};
  return {};
}

} // namespace mhac
