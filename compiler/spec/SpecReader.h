// Stage 1: YAML text -> Spec. Reports everything it can find in one run and repairs what was wrong, so that import can report errors of masks,
// positions and scores in the same run.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "spec/Spec.h"
#include "support/Diagnostics.h"

#include "llvm/ADT/StringRef.h"

#include <optional>

namespace mhac {

/// The spec in `text`; `file` is its name for messages. Empty when nothing of it can be used (not YAML, not a map). A spec that is returned is
/// consistent, but only what the user meant when `diagnostics` has no errors: wrong fields are replaced by ones that fit.
std::optional<Spec> readSpec(llvm::StringRef text, llvm::StringRef file, Diagnostics &diagnostics);

} // namespace mhac
