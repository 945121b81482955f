// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "layer_runner.h"

#include "FaultReport.h"
#include "spec/SpecReader.h"

#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Program.h"
#include "llvm/Support/raw_ostream.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>

namespace mhac::grid {

using namespace artefact;

static const std::string allTargets = "x86-64-v3,x86-64-v4,x86-64-v4-bf16";

Paths readPaths(int argc, char **argv) {
  Paths paths;
  for (int i = 1; i < argc; ++i)
    for (auto [option, value] : {std::pair{"--mhac=", &paths.mhac}, {"--run=", &paths.run}, {"--specs=", &paths.specs}, {"--work=", &paths.work}})
      if (llvm::StringRef argument = argv[i]; argument.consume_front(option))
        *value = argument.str();
  return paths;
}

/// The targets that this CPU runs and one that it does not, as a small layer compiled for all of them says; the goldens compile for the others as well.
static const std::pair<std::string, std::string> &targetsHere(const Paths &paths) {
  static const auto found = [&] {
    const char *shard = std::getenv("GTEST_SHARD_INDEX"); // processes beside this one write the same folder
    LayerRunner all(paths, std::string("targets") + (shard ? shard : ""), "{mhac: 1, name: targets, layer: {d_model: 8, heads: 1}}", allTargets);
    std::string names;
    for (const Target *target : all.targets())
      names += (names.empty() ? "" : ",") + target->name;
    return std::pair(names.empty() ? allTargets : names, all.skippedTarget());
  }();
  return found;
}

LayerRunner::LayerRunner(const Paths &paths, const std::string &name, const std::string &yaml)
    : LayerRunner(paths, name, yaml, targetsHere(paths).first) {
  skipped = targetsHere(paths).second;
}

LayerRunner::LayerRunner(const Paths &paths, const std::string &name, const std::string &yaml, const std::string &targets) {
  const std::string stem = paths.work + "/" + name, messages = stem + ".txt";
  std::error_code code = llvm::sys::fs::create_directories(paths.work);
  if (!code)
    llvm::raw_fd_ostream(stem + ".yaml", code) << yaml;
  if (code) {
    problem = "cannot write " + stem + ".yaml: " + code.message();
    return;
  }
  std::string input = stem + ".yaml", output = stem + ".so", target = "--target=" + targets;
  llvm::StringRef arguments[] = {paths.mhac, input, "-o", output, target};
  std::optional<llvm::StringRef> redirects[] = {std::nullopt, llvm::StringRef(messages), llvm::StringRef(messages)};
  int exitCode = llvm::sys::ExecuteAndWait(paths.mhac, arguments, std::nullopt, redirects, 0, 0, &problem);
  if (exitCode != 0) {
    auto text = llvm::MemoryBuffer::getFile(messages);
    problem = "mhac ended with exit code " + std::to_string(exitCode) + ": " + problem + (text ? (*text)->getBuffer().str() : "");
    return;
  }
  manifestPath = stem + ".json";
  std::optional<Manifest> read = readManifest(manifestPath, problem);
  if (!read)
    return;
  Diagnostics diagnostics;
  layer = readSpec(read->spec, read->specFile, diagnostics);
  if (!layer || diagnostics.hasErrors())
    problem = "the spec in the manifest cannot be read back";
  else
    artefact = Artefact::load(*read, "", problem);
  if (!artefact)
    return;
  for (const Target &candidate : artefact->manifest.targets) {
    if (!artefact->canRun(candidate))
      skipped = candidate.name;
    else if (std::none_of(runnable.begin(), runnable.end(), [&](const Target *known) { return known->name == candidate.name; }))
      runnable.push_back(&candidate); // a target may have several candidates
  }
  if (runnable.empty())
    problem = "none of the targets runs on this CPU";
}

std::string LayerRunner::run(const Cell &cell, size_t &calls) {
  FillOptions fill;
  fill.seed = cell.seed;
  fill.strided = cell.strided;
  fill.placement = cell.seed % 2 ? GuardedMemory::Placement::End : GuardedMemory::Placement::Start;
  auto operands = std::make_unique<Operands>(manifest(), spec(), cell.sizes, fill, weights.get());
  Judge judge(spec(), *operands, chooseRows(operands->sizes(), cell.rows, cell.seed), cell.seed);
  auto attempt = [&](const Target *target, int threads) {
    std::string label = "mhac-run " + manifestPath + " --seed=" + std::to_string(cell.seed) + (cell.strided ? " --strided" : "");
    for (const auto &[name, value] : cell.sizes)
      label += " --" + name + "=" + std::to_string(value);
    label += " --threads=" + std::to_string(threads) + (target ? " --target=" + target->name : "");
    ++calls;
    return callOnce(*operands, judge, target, threads, label);
  };
  std::string failure;
  for (const Target *target : runnable)
    for (int threads : {1, 2})
      if (failure.empty())
        failure = attempt(target, threads);
  if (failure.empty())
    failure = attempt(nullptr, 0); // without a context
  if (!weights)
    weights = std::move(operands);
  return failure;
}

std::string LayerRunner::callOnce(Operands &operands, const Judge &judge, const Target *target, int threads, const std::string &label) {
  CallContext context(*artefact, threads, target);
  const Functions &functions = artefact->functions();
  size_t workspaceBytes = 0;
  mhac_status status = context.status();
  if (status == MHAC_STATUS_OK)
    status = functions.workspaceBytes(context.get(), operands.args(), &workspaceBytes);
  if (status == MHAC_STATUS_OK) {
    operands.setWorkspace(workspaceBytes);
    operands.resetOutputs();
    FaultReport faults(operands, label);
    status = functions.call(context.get(), operands.args());
    // Same inputs, same threads: same bits, whatever the workspace held before.
    std::string first = operands.outputBytes();
    if (status == MHAC_STATUS_OK)
      status = functions.call(context.get(), operands.args());
    if (status == MHAC_STATUS_OK && operands.outputBytes() != first)
      return label + ": a second call with the same inputs gave other bits";
    if (status == MHAC_STATUS_OK) {
      PreparedState prepared(*artefact, context.get(), operands);
      status = prepared.status();
      if (status == MHAC_STATUS_OK && prepared.exists()) {
        operands.resetOutputs();
        status = functions.call(context.get(), operands.args());
      }
      if (status == MHAC_STATUS_OK && operands.outputBytes() != first)
        return label + ": a call with prepared state gave other bits";
    }
  }
  if (status != MHAC_STATUS_OK)
    return label + ": " + context.describe(status);
  const std::string wrong = compare(spec(), judge);
  return wrong.empty() ? "" : label + ": " + wrong;
}

std::string compare(const Spec &spec, const Judge &judge) {
  Verdict verdict = judge.judge();
  // Where the textbook computation comes near the bound (sums of 8192 features, scores of hundreds) the general rule alone holds.
  const bool isF32 = *spec.dtype.activations == DType::F32;
  if (isF32 && verdict.accepted && verdict.maxError > std::max(1e-5, 2 * verdict.naiveError))
    verdict.message = "the largest error " + std::to_string(verdict.maxError) + " is above 1e-5";
  return verdict.message;
}

std::vector<Cell> planGrid(const LayerRunner &runner) {
  std::vector<Cell> cells;
  const std::vector<int64_t> lengths = {0, 1, 15, 16, 17, 63, 64, 65, 127, 128, 129, 509, 1000};
  const LayerSpec &layer = runner.spec().layer;
  const int64_t width = *layer.heads * (*layer.headDim + *layer.vHeadDim);
  auto add = [&](int64_t batch, int64_t query, int64_t key) {
    SizeValues wanted{{"batch", batch}, {"query", query}, {"key", key}}, sizes = chooseSizes(runner.manifest(), wanted);
    if (batch * query * std::max(query, key) * width > int64_t(1) << 30)
      return; // a second of reference and kernels; the same length is there with a smaller batch
    Cell cell{sizes, cells.size() % 2 == 1, cells.size() + 1};
    if (std::none_of(cells.begin(), cells.end(), [&](const Cell &other) { return other.sizes == sizes; }))
      cells.push_back(cell);
  };
  for (size_t i = 0; i < lengths.size(); ++i)
    for (int64_t batch : {1, 3, 0})
      add(batch, lengths[i], lengths[(i * 5 + size_t(batch)) % lengths.size()]); // 5 and 13 have no common factor: all keys appear
  add(1, 1, 1000);
  // Batch-major from four elements a worker on: with one thread all of these, with two the last two.
  for (auto [batch, query, key] : {std::tuple<int64_t, int64_t, int64_t>{4, 17, 16}, {5, 33, 127}, {7, 15, 63}, {8, 129, 129}, {9, 64, 65}})
    add(batch, query, key);
  add(2, 0, 17);
  add(2, 17, 0);
  return cells;
}

std::vector<Cell> planModel(const LayerRunner &runner) {
  std::vector<Cell> cells;
  for (auto [batch, query, key] : {std::tuple<int64_t, int64_t, int64_t>{1, 5, 9}, {2, 17, 17}}) {
    bool large = *runner.spec().layer.dModel >= 4096;
    if (large && batch > 1)
      continue; // hundreds of megabytes of weights: a few rows take the reference a second
    SizeValues sizes = chooseSizes(runner.manifest(), {{"batch", batch}, {"query", query}, {"key", key}});
    cells.push_back({sizes, batch > 1, uint64_t(query), large ? size_t(2) : size_t(8)});
  }
  return cells;
}

} // namespace mhac::grid
