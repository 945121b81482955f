// Code generation: the finished module as machine code or assembly; an object as static library.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "support/Diagnostics.h"

#include "llvm/ADT/StringRef.h"

#include <optional>
#include <string>

namespace llvm {
class Module;
} // namespace llvm

namespace mhac {

/// Position-independent object (or assembly text) of the module. Objects are checked to leave only isAllowedUndefined symbols undefined,
/// which also finds calls that code generation adds by itself.
std::optional<std::string> emitObject(llvm::Module &module, Diagnostics &diagnostics);
std::optional<std::string> emitAssembly(llvm::Module &module, Diagnostics &diagnostics);

/// A static library with the object as its one member of that name; without dates and owners.
std::optional<std::string> emitArchive(llvm::StringRef object, llvm::StringRef memberName, Diagnostics &diagnostics);

} // namespace mhac
