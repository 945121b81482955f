// What every stage says to the user: collected here, printed once by the driver. Stages add to a list instead of stopping at the first error,
// so that all errors of a file appear in one run.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "support/Located.h"

#include <string>
#include <vector>

namespace mhac {

/// The classes of design section 6; the numbers of the failing ones decide the exit code (see exitCode).
enum class Severity { Note, PerformanceWarning, Warning, Error, Usage, Unsupported, Internal };

struct Diagnostic {
  Severity severity = Severity::Error;
  SourceLocation loc;
  /// Length of the marked text in columns; the caret is extended with ~ to it.
  unsigned length = 1;
  /// Lower-case start, no final period, found and wanted.
  std::string message;
  std::vector<Diagnostic> notes;
};

/// The diagnostics of one compilation in the order they were found.
class Diagnostics {
public:
  Diagnostic &error(SourceLocation loc, std::string message) { return add(Severity::Error, std::move(loc), std::move(message)); }
  /// Wrong options, or a file that they name cannot be read or written: exit code 2.
  Diagnostic &usage(SourceLocation loc, std::string message) { return add(Severity::Usage, std::move(loc), std::move(message)); }
  /// A valid spec that this compiler or target cannot do: exit code 3.
  Diagnostic &unsupported(SourceLocation loc, std::string message) { return add(Severity::Unsupported, std::move(loc), std::move(message)); }
  Diagnostic &warning(SourceLocation loc, std::string message) { return add(Severity::Warning, std::move(loc), std::move(message)); }
  Diagnostic &performanceWarning(SourceLocation loc, std::string message) {
    return add(Severity::PerformanceWarning, std::move(loc), std::move(message));
  }
  /// A broken invariant of the compiler: exit code 70.
  Diagnostic &internal(SourceLocation loc, std::string message) { return add(Severity::Internal, std::move(loc), std::move(message)); }
  Diagnostic &add(Severity severity, SourceLocation loc, std::string message) {
    list.push_back({severity, std::move(loc), 1, std::move(message), {}});
    return list.back();
  }

  bool hasErrors() const { return exitCode() != 0; }
  /// 0 without errors; otherwise 70 (internal) before 1 (wrong spec), 2 (wrong use) and 3 (unsupported).
  int exitCode() const;
  const std::vector<Diagnostic> &all() const { return list; }

private:
  std::vector<Diagnostic> list;
};

} // namespace mhac
