// Names of entries that would compile alone but break the application that they are linked into. Part of stage 1.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "llvm/ADT/StringRef.h"

namespace mhac {

/// Whether the C library or its headers already use the name: as a function (a second `memset` would replace the first in the whole
/// program), a variable, a type or a macro.
bool isLibraryName(llvm::StringRef name);

/// Whether an argument struct can have a field of that name, so that an input named by the user cannot.
bool isInterfaceName(llvm::StringRef name);

} // namespace mhac
