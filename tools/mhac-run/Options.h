// The command line of mhac-run.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace mhac::artefact {

struct Options {
  std::vector<std::string> manifests;
  std::string specFile, runtimeArchive;
  std::vector<int64_t> batch, query, key; // as given; empty: 1, 128 and as many as queries, or what the layer fixes
  std::vector<int64_t> threads{1};
  std::vector<std::string> targets; // empty: the best one that runs here
  uint64_t seed = 1;
  bool check = true, bench = false, json = false, strided = false;
  int series = 3, calls = 60;
  int64_t rows = 64; // compared with the reference when benchmarking
};

/// Empty when the program should end at once: with `exitCode`, after printing help or an error.
std::optional<Options> readOptions(int argc, char **argv, int &exitCode);

} // namespace mhac::artefact
