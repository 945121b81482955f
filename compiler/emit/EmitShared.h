// A shared library of one object with the runtime inside, made by the system's compiler driver (it knows the linker, its options and libc).
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "attention/KernelInterface.h"
#include "support/Diagnostics.h"

#include "llvm/ADT/StringRef.h"

#include <optional>
#include <string>

namespace mhac {

/// The shared library's bytes. It exports the entry's functions and the runtime's public ones (a caller needs mhac_context_create, ...);
/// its own references to them cannot be taken over by another library of the process. `fileName` becomes its soname.
std::optional<std::string> emitShared(llvm::StringRef object, const KernelInterface &interface, llvm::StringRef runtimeArchive,
                                      llvm::StringRef fileName, Diagnostics &diagnostics);

} // namespace mhac
