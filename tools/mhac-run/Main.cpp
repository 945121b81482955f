// mhac-run: loads artefacts by their manifests, checks them against the reference and times them.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Artefact.h"
#include "FaultReport.h"
#include "Judge.h"
#include "Measure.h"
#include "Options.h"

#include "spec/DidYouMean.h"
#include "spec/SpecReader.h"

#include "llvm/Support/FileSystem.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/raw_ostream.h"

#include <cmath>

using namespace mhac;
using namespace mhac::artefact;

namespace {

/// The worst of what happened decides the exit code; see worse().
enum Outcome { Good = 0, Wrong = 1, Usage = 2, NoTarget = 3 };

struct Case {
  const Artefact &artefact;
  const Spec &spec;
  const Options &options;
  SizeValues sizes;
  int threads;
  const Target &target;
};

int fail(const std::string &message, Outcome outcome = Wrong) {
  llvm::errs() << "mhac-run: error: " << message << "\n";
  return outcome;
}

/// Not all was run (NoTarget) is better than nothing was run (Usage), and that is better than a wrong result.
int worse(int a, int b) {
  auto rank = [](int outcome) { return outcome == Wrong ? 3 : outcome == Usage ? 2 : outcome == NoTarget ? 1 : 0; };
  return rank(a) >= rank(b) ? a : b;
}

/// What is wrong about the sizes that the user asks for, or "": values that a size cannot have, and sizes that the layer does not have.
std::string checkSizes(const Manifest &manifest, const Options &options) {
  for (const auto &[name, values] : {std::pair("batch", &options.batch), {"query", &options.query}, {"key", &options.key}}) {
    const SizeField *size = manifest.size(name);
    for (int64_t value : *values) {
      std::string found = std::string("--") + name + ": found " + std::to_string(value) + ", ";
      if (!size)
        return found + manifest.name + " takes no size '" + name + "'" + (name == std::string("key") ? ": its keys are the queries" : "");
      if (size->isFixed() && value != size->minimum)
        return found + "wanted " + std::to_string(size->minimum) + ", which " + manifest.name + " was compiled for";
      if (value < size->minimum || value > size->maximum)
        return found + "wanted " + std::to_string(size->minimum) + " to " + std::to_string(size->maximum);
    }
  }
  return "";
}

std::string shapeText(const SizeValues &sizes) {
  std::string text;
  for (const auto &[name, value] : sizes)
    text += (text.empty() ? "" : " ") + name + "=" + std::to_string(value);
  return text;
}

/// "f32", or with weights of another format "f32 with weights of bf16".
std::string dtypeText(const Spec &spec) {
  const std::string activations(dtypeInfo(*spec.dtype.activations).word), weights(dtypeInfo(*spec.dtype.weights).word);
  const bool hasWeights = *spec.projections.input != InputProjection::None || *spec.projections.output;
  return activations == weights || !hasWeights ? activations : activations + " with weights of " + weights;
}

/// The attributes that say which call it was.
void writeCase(llvm::json::OStream &json, const Case &c) {
  json.attribute("name", *c.spec.name);
  json.attribute("entry", c.artefact.manifest.callSymbol);
  json.attributeObject("shape", [&] {
    for (const auto &[name, value] : c.sizes)
      json.attribute(name, value);
  });
  json.attributeObject("dtype", [&] {
    for (auto [key, dtype] : {std::pair("activations", *c.spec.dtype.activations), {"weights", *c.spec.dtype.weights}})
      json.attribute(key, llvm::StringRef(dtypeInfo(dtype).word));
  });
  json.attribute("threads", c.threads);
  json.attribute("target", c.target.name);
}

void printJson(const Case &c, const Operands &operands, const Measurement &times, const Verdict &verdict, std::optional<double> originalError, size_t workspaceBytes,
               int64_t residentBytes) {
  std::string line;
  llvm::raw_string_ostream out(line);
  llvm::json::OStream json(out);
  double flops = reference::usefulFlops(c.spec, operands.sizes(), operands.tensors()), bytes = operands.bytes();
  double ns = double(times.minimum());
  json.object([&] {
    writeCase(json, c);
    json.attribute("runs", int64_t(times.times.size()));
    json.attribute("min_ns", times.minimum());
    json.attribute("median_ns", times.median());
    json.attribute("flops", flops);
    json.attribute("gflops", flops / ns);
    json.attribute("peak_gflops", times.peakGflops);
    json.attribute("share_of_peak", flops / ns / times.peakGflops);
    json.attribute("bytes", bytes);
    json.attribute("gb_per_s", bytes / ns);
    json.attribute("bandwidth_gb_per_s", times.bandwidthGbPerS);
    json.attribute("share_of_bandwidth", bytes / ns / times.bandwidthGbPerS);
    if (c.options.check)
      json.attribute("max_abs_error", verdict.maxError);
    else
      json.attribute("max_abs_error", nullptr);
    if (originalError)
      json.attribute("error_to_f32_weights", *originalError);
    json.attribute("workspace_bytes", int64_t(workspaceBytes));
    json.attribute("peak_rss_bytes", residentBytes);
  });
  llvm::outs() << line << "\n";
}

/// What was checked, of a call that is not timed.
void printCheckedJson(const Case &c, const Verdict &verdict, std::optional<double> originalError) {
  std::string line;
  llvm::raw_string_ostream out(line);
  llvm::json::OStream json(out);
  json.object([&] {
    writeCase(json, c);
    if (c.options.check) { // not a number and infinity, which JSON does not have, are null
      json.attribute("max_abs_error", std::isfinite(verdict.maxError) ? llvm::json::Value(verdict.maxError) : nullptr);
      json.attribute("allowed", verdict.allowed);
      json.attribute("ok", verdict.accepted);
      if (originalError)
        json.attribute("error_to_f32_weights", *originalError);
    }
  });
  llvm::outs() << line << "\n";
}

void printText(const Case &c, const Operands &operands, const Measurement &times) {
  double flops = reference::usefulFlops(c.spec, operands.sizes(), operands.tensors()), ns = double(times.minimum());
  llvm::outs() << llvm::formatv("  {0} calls: best {1:F3} ms, median {2:F3} ms; {3:F1} GFLOP/s = {4:P1} of the peak of {5:F1}; "
                                "{6:F1} GB/s = {7:P1} of the bandwidth of {8:F1}\n",
                                times.times.size(), ns * 1e-6, double(times.median()) * 1e-6, flops / ns, flops / ns / times.peakGflops,
                                times.peakGflops, operands.bytes() / ns, operands.bytes() / ns / times.bandwidthGbPerS, times.bandwidthGbPerS);
}

/// One call, checked, and its measurement.
int runCase(const Case &c, const Operands *&weights, std::unique_ptr<Operands> &keepWeights) {
  FillOptions fill;
  fill.seed = c.options.seed;
  fill.strided = c.options.strided;
  if (c.options.bench) { // the ordinary case: all keys valid, memory as an allocator gives it
    fill.poison = false;
    fill.fullLengths = true;
    fill.placement = GuardedMemory::Placement::Start;
  }
  auto operands = std::make_unique<Operands>(c.artefact.manifest, c.spec, c.sizes, fill, weights);
  CallContext context(c.artefact, c.threads, &c.target);
  std::string label = *c.spec.name + " " + dtypeText(c.spec) + " " + shapeText(c.sizes) + " threads=" + std::to_string(c.threads) + " target=" + c.target.name;
  if (context.status() != MHAC_STATUS_OK)
    return fail(label + ": no context: " + context.describe(context.status()));

  const Functions &functions = c.artefact.functions();
  size_t workspaceBytes = 0;
  mhac_status status = functions.workspaceBytes(context.get(), operands->args(), &workspaceBytes);
  if (status != MHAC_STATUS_OK)
    return fail(label + ": " + context.describe(status));
  operands->setWorkspace(workspaceBytes);
  FaultReport faults(*operands, label);
  llvm::outs().flush(); // a fault ends the program
  status = functions.call(context.get(), operands->args());
  if (status != MHAC_STATUS_OK)
    return fail(label + ": " + context.describe(status));
  // State that is made once gives the same bits; measured is the call with it, which is what an application would do.
  const std::string unprepared = functions.prepare ? operands->outputBytes() : "";
  PreparedState prepared(c.artefact, context.get(), *operands);
  status = prepared.status();
  if (status == MHAC_STATUS_OK && prepared.exists())
    status = functions.call(context.get(), operands->args());
  if (status != MHAC_STATUS_OK)
    return fail(label + ", prepared: " + context.describe(status));
  if (prepared.exists() && operands->outputBytes() != unprepared)
    return fail(label + ": a call with prepared state gave other bits");
  int64_t residentBytes = peakResidentBytes(); // before the reference and the probes need memory of their own

  int outcome = Good;
  Verdict verdict;
  std::optional<double> originalError; // of weights before they were rounded
  if (c.options.check) {
    size_t limit = c.options.rows ? size_t(c.options.rows) : SIZE_MAX;
    const Judge judge(c.spec, *operands, chooseRows(operands->sizes(), limit, c.options.seed), c.options.seed);
    verdict = judge.judge();
    if (verdict.accepted && !operands->originalWeights().empty())
      originalError = judge.errorOfOriginals();
    if (!verdict.accepted)
      outcome = fail(label + ": " + verdict.message);
    else if (!c.options.json)
      llvm::outs() << label
                   << llvm::formatv(": ok, largest error {0:E2} of {1:E2} allowed in {2} rows, workspace {3} bytes\n", verdict.maxError,
                                    verdict.allowed, verdict.rows, workspaceBytes)
                   << (originalError ? llvm::formatv("  {0:E2} from the layer with weights of f32\n", *originalError).str() : "");
  } else if (!c.options.json) {
    llvm::outs() << label << ": called\n";
  }
  if (c.options.json && !c.options.bench)
    printCheckedJson(c, verdict, originalError);
  if (c.options.bench && outcome == Good) {
    MeasureOptions options;
    options.series = c.options.series;
    options.calls = c.options.calls;
    options.threads = std::max(c.threads, 1);
    options.vectors = vectorKind(c.target.features);
    Measurement times = measure(options, [&] {
      status = functions.call(context.get(), operands->args());
      return status == MHAC_STATUS_OK;
    });
    if (status != MHAC_STATUS_OK)
      return fail(label + ": " + context.describe(status));
    if (c.options.json)
      printJson(c, *operands, times, verdict, originalError, workspaceBytes, residentBytes);
    else
      printText(c, *operands, times);
  }
  if (!weights) {
    keepWeights = std::move(operands);
    weights = keepWeights.get();
  }
  return outcome;
}

std::string targetNames(const Manifest &manifest) {
  std::vector<llvm::StringRef> names;
  for (const Target &target : manifest.targets)
    if (names.empty() || names.back() != target.name) // a target's candidates stand together
      names.push_back(target.name);
  return listWords(names, "and");
}

/// All shapes, thread counts and targets of one artefact.
int runArtefact(const std::string &path, const Options &options, const std::string &runtimeArchive) {
  std::string error;
  std::optional<Manifest> manifest = readManifest(path, error);
  if (!manifest)
    return fail(error, Usage);
  if (std::string reason = checkSizes(*manifest, options); !reason.empty())
    return fail(reason, Usage);
  std::string specText = manifest->spec, specFile = manifest->specFile;
  if (!options.specFile.empty()) {
    auto buffer = llvm::MemoryBuffer::getFile(options.specFile);
    if (!buffer)
      return fail("cannot read " + options.specFile + ": " + buffer.getError().message(), Usage);
    specText = (*buffer)->getBuffer().str();
    specFile = options.specFile;
  }
  if (specText.empty())
    return fail(path + " has no spec in it; name one with --spec", Usage);
  Diagnostics diagnostics;
  std::optional<Spec> spec = readSpec(specText, specFile, diagnostics);
  if (!spec || diagnostics.hasErrors())
    return fail("the spec " + specFile + " is wrong: " + (diagnostics.all().empty() ? "" : diagnostics.all().front().message), Usage);
  std::unique_ptr<Artefact> artefact = Artefact::load(*manifest, runtimeArchive, error);
  if (!artefact)
    return fail(error, Usage);

  std::vector<const Target *> targets;
  for (const std::string &name : options.targets) {
    const Target *target = artefact->manifest.target(name);
    if (!target)
      return fail("--target: found '" + name + "', wanted one of " + path + ": " + targetNames(artefact->manifest), Usage);
    targets.push_back(target);
  }
  if (targets.empty() && artefact->bestTarget())
    targets.push_back(artefact->bestTarget());
  int outcome = targets.empty() ? NoTarget : Good;
  if (targets.empty())
    llvm::errs() << "[SKIP] " << path << ": none of its targets runs on this CPU\n";

  const Operands *weights = nullptr;
  std::unique_ptr<Operands> keepWeights;
  for (const Target *target : targets) {
    if (!artefact->canRun(*target)) {
      llvm::errs() << "[SKIP] " << path << ": " << target->name << " does not run on this CPU\n";
      outcome = worse(outcome, NoTarget);
      continue;
    }
    for (int64_t threads : options.threads)
      for (int64_t batch : options.batch.empty() ? std::vector<int64_t>{1} : options.batch)
        for (int64_t query : options.query.empty() ? std::vector<int64_t>{128} : options.query)
          for (int64_t key : options.key.empty() ? std::vector<int64_t>{query} : options.key) {
            SizeValues sizes = chooseSizes(artefact->manifest, {{"batch", batch}, {"query", query}, {"key", key}});
            int result = runCase({*artefact, *spec, options, sizes, int(threads), *target}, weights, keepWeights);
            outcome = worse(outcome, result);
          }
  }
  return outcome;
}

} // namespace

int main(int argc, char **argv) {
  int exitCode = 0;
  std::optional<Options> options = readOptions(argc, argv, exitCode);
  if (!options)
    return exitCode;
  std::string runtimeArchive = options->runtimeArchive;
  if (runtimeArchive.empty())
    runtimeArchive = findRuntimeArchive(llvm::sys::fs::getMainExecutable(argv[0], reinterpret_cast<void *>(&fail)));
  for (const std::string &path : options->manifests) {
    int result = runArtefact(path, *options, runtimeArchive);
    exitCode = worse(exitCode, result);
  }
  return exitCode;
}
