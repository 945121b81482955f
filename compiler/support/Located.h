// Values that remember where in the user's file they were written, so that every later error can point there.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <string>
#include <utility>

namespace mhac {

/// A place in a file; line and column count from 1, line 0 means "no place".
struct SourceLocation {
  std::string file;
  unsigned line = 0;
  unsigned column = 0;

  bool isKnown() const { return line != 0; }
};

/// A value and the place of the YAML node it came from. `given` is false for defaults; the place is then that of the enclosing key.
template <typename T> struct Located {
  T value{};
  SourceLocation loc;
  bool given = false;

  const T &operator*() const { return value; }
  const T *operator->() const { return &value; }
};

} // namespace mhac
