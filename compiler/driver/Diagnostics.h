// Diagnostics as people read them: `file:line:column: error: message`, the line, a caret; and their comparison with expectations in tests.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "driver/Options.h"
#include "support/Diagnostics.h"

#include "llvm/ADT/StringRef.h"

#include <string>

namespace mhac {

/// The diagnostics in the order of their places; `text` is the content of `file`, for the lines to show.
std::string formatDiagnostics(const Diagnostics &diagnostics, llvm::StringRef file, llvm::StringRef text, const Options &options);

/// The exit code with --werror and --no-perf-warnings taken into account.
int exitCodeOf(const Diagnostics &diagnostics, const Options &options);

/// Compares with the comments `expected-error@+1 {{part of the message}}` in `text` (error, usage, unsupported, warning, note, internal; @+n and
/// @-n count lines, nothing is the line itself; @* is any place). Returns what is missing or unexpected, a line each; empty when all is as
/// expected.
std::string verifyDiagnostics(const Diagnostics &diagnostics, llvm::StringRef file, llvm::StringRef text, const Options &options);

} // namespace mhac
