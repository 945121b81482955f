// The depfile that make and ninja read: `target: spec.yaml ...`.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"

#include <string>

namespace mhac {

/// One rule, with an empty rule for each dependency so that a deleted file does not stop make (as gcc -MP).
std::string emitDepfile(llvm::StringRef target, llvm::ArrayRef<std::string> dependencies);

} // namespace mhac
