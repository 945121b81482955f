// The JSON manifest of an artefact: enough to call every entry without having seen its header (mhac-run, tools/mhac_call.py).
// Fields are added, never removed; "schema" is the version.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "attention/KernelInterface.h"

#include <string>

namespace mhac {

/// `specText` is carried as it is; `object` and `header` are file names without folders.
std::string emitManifest(const KernelInterface &interface, llvm::StringRef specText, llvm::StringRef object, llvm::StringRef header);

} // namespace mhac
