// Memory between two inaccessible pages, for the arguments of a checked call: whatever touches the pages beyond stops the program, and what is
// written in the rest of its own pages is found afterwards.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstddef>
#include <cstdint>

namespace mhac::artefact {

class GuardedMemory {
public:
  /// Where the data lies in its pages. End: it ends where the inaccessible page begins, aligned to nothing but its size; Start: it begins
  /// where the inaccessible page ends, on a page boundary.
  enum class Placement { Start, End };

  /// All accessible bytes are 0xff: NaN as a float of any format, -1 as int64. Ends the program when there is no memory.
  GuardedMemory(size_t bytes, Placement placement);
  ~GuardedMemory();
  GuardedMemory(const GuardedMemory &) = delete;
  GuardedMemory &operator=(const GuardedMemory &) = delete;

  /// Never null, also for 0 bytes (then not accessible).
  void *data() const { return start; }
  size_t bytes() const { return size; }
  void makeReadOnly();
  /// Makes all accessible bytes 0xff again.
  void reset();
  /// Whether the accessible bytes beside the data are still 0xff.
  bool isIntact() const;
  /// Whether the address lies in the memory or in the pages around it.
  bool surrounds(const void *address) const { return address >= mapping && address < mapping + mappingBytes; }

private:
  char *mapping, *pages, *start;
  size_t size, pageBytes, mappingBytes;
};

} // namespace mhac::artefact
