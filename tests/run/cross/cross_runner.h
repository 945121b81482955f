// Calls a layer that was compiled for another machine: writes the operands of many calls for the program that has it (cross_driver.c), runs the program in
// an emulator and reads what it computed.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "layer_runner.h"

#include <memory>
#include <string>
#include <vector>

namespace mhac::grid {

/// The other machine: a program and its first arguments, which run the program named next ("": this machine).
struct Emulator {
  std::vector<std::string> command;
};

struct CrossCall {
  std::unique_ptr<artefact::Operands> operands;
  uint64_t features; // of the context; 0: all of the machine
  int threads;
  std::string status; // after the run: "", or what the layer said
};

class CrossRunner {
public:
  /// Reads <folder>/<name>_layer.mhac/<name>_layer.json; the program is <folder>/<name>.
  CrossRunner(const Emulator &emulator, const std::string &folder, const std::string &name);

  /// Why the layer cannot be called, or "".
  const std::string &error() const { return problem; }
  const artefact::Manifest &manifest() const { return *read; }
  const Spec &spec() const { return *layer; }
  /// What the program's mhac_cpu_features() and <name>_info() say there.
  uint64_t features() const { return machineFeatures; }
  const std::string &selected() const { return selectedTarget; }

  /// Runs all calls in one program, which fills their outputs. What kept it from running, or "".
  std::string run(std::vector<CrossCall> &calls);

private:
  std::string problem, program, selectedTarget;
  Emulator emulator;
  uint64_t machineFeatures = 0;
  std::optional<artefact::Manifest> read;
  std::optional<Spec> layer;
};

} // namespace mhac::grid
