// A small entry made by hand, with real Halide kernels, for tests of the emit stage: y[b, m] = 2 * (x[b, m] + w[m]) for 16 columns, in two
// kernels with an intermediate in the workspace, a parallel loop and heap scratch; counts[b] is only checked.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "attention/KernelInterface.h"

#include <string>
#include <vector>

namespace mhac::test {

constexpr int tinyColumns = 16;

struct TinyEntry {
  KernelInterface interface;
  std::vector<std::string> bitcode;
};

/// The entry for the targets "x86-64-v3" and "x86-64-v4" (any list of them, best first). Every call builds new Halide Funcs, so that the
/// counters in Halide's names move on.
TinyEntry makeTinyEntry(const std::string &name, const std::vector<std::string> &targets);

/// Bitcode of one kernel `symbol` that calls the C function `callee`.
std::string makeCallingKernel(const std::string &symbol, const std::string &callee);

} // namespace mhac::test
