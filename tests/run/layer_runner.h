// Compiles one spec and calls it with many shapes: what all run tests share.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "Artefact.h"
#include "Judge.h"
#include "Operands.h"

#include <memory>
#include <string>
#include <vector>

namespace mhac::grid {

struct Paths {
  std::string mhac, run, specs, work;
};
/// From --mhac= --run= --specs= --work=.
Paths readPaths(int argc, char **argv);

/// One set of inputs; called on every target, serially and with two threads.
struct Cell {
  artefact::SizeValues sizes;
  bool strided = false;
  uint64_t seed = 1;
  size_t rows = 48; // compared with the reference
};

/// What a call with these operands gave, compared: what went wrong, or "". Beside the judge, what semantics section 4 adds for f32 on unit-variance data.
std::string compare(const Spec &spec, const artefact::Judge &judge);

class LayerRunner {
public:
  /// Compiles `yaml` to <work>/<name>.so for the targets that this CPU runs and loads it.
  LayerRunner(const Paths &paths, const std::string &name, const std::string &yaml);
  LayerRunner(const Paths &paths, const std::string &name, const std::string &yaml, const std::string &targets);

  /// Why the layer cannot be called, or "".
  const std::string &error() const { return problem; }
  const artefact::Manifest &manifest() const { return artefact->manifest; }
  const Spec &spec() const { return *layer; }
  /// Those that are compiled and run here.
  const std::vector<const artefact::Target *> &targets() const { return runnable; }
  /// Name of a target that this CPU cannot run, or "".
  const std::string &skippedTarget() const { return skipped; }
  size_t callsPerCell() const { return 2 * runnable.size() + 1; }

  /// Fills, calls and compares; counts the calls. What went wrong with how to repeat it, or "".
  std::string run(const Cell &cell, size_t &calls);

private:
  std::string callOnce(artefact::Operands &operands, const artefact::Judge &judge, const artefact::Target *target, int threads,
                       const std::string &label);

  std::string problem, skipped, manifestPath;
  std::unique_ptr<artefact::Artefact> artefact;
  std::optional<Spec> layer;
  std::vector<const artefact::Target *> runnable;
  std::unique_ptr<artefact::Operands> weights;
};

/// The lengths and batches of the grid: n in {0, 1, 15, ..., 1000} x batch in {0, 1, 3}, larger batches for a few of them, keys and queries in different orders where they may
/// differ, dense and strided in turn, within the sizes that the layer allows.
std::vector<Cell> planGrid(const LayerRunner &runner);
/// A few tokens: for layers with the weights of real models.
std::vector<Cell> planModel(const LayerRunner &runner);

} // namespace mhac::grid
