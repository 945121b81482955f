// The C header of an entry: what an application includes. C99 and C++, needs only <mhac/runtime.h>.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "attention/KernelInterface.h"
#include "support/Diagnostics.h"

#include <optional>
#include <string>

namespace mhac {

/// The header's text; nothing (and an internal error) when the fields of the interface do not fill the argument struct.
std::optional<std::string> emitHeader(const KernelInterface &interface, Diagnostics &diagnostics);

/// "[batch, query, 768]"
std::string shapeText(const ArgumentInfo &argument);
/// "input", "weight", "parameter" or "output"
llvm::StringRef roleText(ArgumentRole role);

} // namespace mhac
