// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "GuardedMemory.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include <sys/mman.h>
#include <unistd.h>

namespace mhac::artefact {

GuardedMemory::GuardedMemory(size_t bytes, Placement placement) : size(bytes) {
  const size_t page = size_t(sysconf(_SC_PAGESIZE));
  pageBytes = (bytes + page - 1) / page * page;
  mappingBytes = pageBytes + 2 * page;
  void *memory = mmap(nullptr, mappingBytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED || (pageBytes && mprotect(static_cast<char *>(memory) + page, pageBytes, PROT_READ | PROT_WRITE) != 0)) {
    std::fprintf(stderr, "mhac-run: out of memory: %zu bytes\n", bytes);
    std::exit(70);
  }
  mapping = static_cast<char *>(memory);
  pages = mapping + page;
  start = placement == Placement::End ? pages + pageBytes - bytes : pages;
  reset();
}

GuardedMemory::~GuardedMemory() { munmap(mapping, mappingBytes); }

void GuardedMemory::makeReadOnly() {
  if (pageBytes)
    mprotect(pages, pageBytes, PROT_READ);
}

void GuardedMemory::reset() { std::memset(pages, 0xff, pageBytes); }

bool GuardedMemory::isIntact() const {
  auto untouched = [](char byte) { return byte == char(0xff); };
  return std::all_of(pages, start, untouched) && std::all_of(start + size, pages + pageBytes, untouched);
}

} // namespace mhac::artefact
