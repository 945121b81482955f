// The straight line: six stages, each takes one value and returns one. Everything else here writes down what they return.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "driver/Pipeline.h"

#include "attention/AttentionDialect.h"
#include "attention/ImportSpec.h"
#include "driver/Diagnostics.h"
#include "driver/Explain.h"
#include "driver/LayerText.h"
#include "driver/MaskDrawing.h"
#include "driver/MlirDiagnostics.h"
#include "driver/ScheduleOverride.h"
#include "emit/Emit.h"
#include "emit/OutputFile.h"
#include "halide/BuildPipeline.h"
#include "passes/Passes.h"
#include "spec/SpecPrinter.h"
#include "spec/SpecReader.h"
#include "targets/ChooseSchedule.h"

#include "mlir/IR/MLIRContext.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"

#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"

using llvm::StringRef;

namespace mhac {

static const StageInfo stageTable[] = {
    {Stage::Read, "read", "YAML text becomes a Spec"},
    {Stage::Import, "import", "the Spec becomes a module of attn ops, one function an entry"},
    {Stage::Lower, "lower", "scores and masks become regions, projections merge, the mask's block structure is found"},
    {Stage::Schedule, "schedule", "every op of every target gets its schedule"},
    {Stage::Build, "build", "Halide turns ops and schedules into bitcode"},
    {Stage::Emit, "emit", "bitcode becomes object, header and manifest"},
};

llvm::ArrayRef<StageInfo> stages() { return stageTable; }

llvm::ArrayRef<EmitWord> emitWords() {
  static const std::vector<EmitWord> words = [] {
    std::vector<EmitWord> rows = {
        {"spec", Stage::Read, true, ".yaml", "the spec with all defaults filled in"},
        {"attn", Stage::Import, true, ".mlir", "the layer as attn ops"},
        {"lowered", Stage::Lower, true, ".mlir", "with score and mask regions and block structure"},
        {"scheduled", Stage::Schedule, true, ".mlir", "one copy of the entry a target and regime, ops with schedules"},
        {"mask-svg", Stage::Schedule, true, ".svg", "a picture of the mask's tiles: empty, partial or full, see --draw"},
        {"stmt", Stage::Build, true, ".stmt", "Halide's loops"},
    };
    for (const EmitKindInfo &kind : emitKinds())
      rows.push_back({kind.word, Stage::Emit, kind.kind == EmitKind::Assembly || kind.kind == EmitKind::LlvmIr, kind.suffix, kind.sentence});
    return rows;
  }();
  return words;
}

const EmitWord *emitWordFor(StringRef word, StringRef output) {
  StringRef suffix = output.empty() ? ".o" : llvm::sys::path::extension(output);
  for (const EmitWord &row : emitWords())
    if (word.empty() ? row.stage == Stage::Emit && row.suffix == suffix : row.word == word)
      return &row;
  return nullptr;
}

namespace {

/// One compilation: what the stages pass on, and where it is written.
class Compilation {
public:
  Compilation(const Options &options, const Input &input, StringRef executable, Diagnostics &diagnostics)
      : options(options), input(input), executable(executable), diagnostics(diagnostics), emit(*emitWordFor(options.emit, options.output)) {}

  void run();

private:
  bool read(std::optional<Spec> &spec);
  bool import(const Spec &spec);
  bool parse();
  bool lower();
  bool schedule();
  bool build();
  void emitFiles();

  bool failed() const { return exitCodeOf(diagnostics, options) != 0; }
  bool explains() const { return options.explain || options.explainSchedule; }
  /// An explanation goes to standard output; with one, only what -o names is written besides.
  bool writes() const { return !options.check && (!explains() || !options.output.empty()); }
  bool wants(Stage stage) const { return emit.stage == stage && writes(); }
  /// Writes the text of a stage where it was asked for; whether that ends the run.
  bool finish(Stage stage, const std::string &text);
  void dump(StringRef fileName, const std::string &text);
  void writeText(StringRef path, const std::string &text);
  void print(const std::string &explanation) { writeText("-", explanation); }
  std::string moduleText();
  /// The files that were read, by the names that the user gave them.
  std::vector<std::string> inputFiles() const;
  std::string pathBeside(StringRef output, StringRef suffix) const;

  const Options &options;
  const Input &input;
  StringRef executable;
  Diagnostics &diagnostics;
  const EmitWord &emit;

  mlir::MLIRContext context{mlir::MLIRContext::Threading::DISABLED};
  std::string specText;
  mlir::OwningOpRef<mlir::ModuleOp> module;
  Stage done = Stage::Read; // the last stage whose result `module` is
  std::optional<BuiltKernels> kernels;
};

} // namespace

void compile(const Options &options, const Input &input, StringRef executable, Diagnostics &diagnostics) {
  Compilation(options, input, executable, diagnostics).run();
}

void Compilation::run() {
  mlir::DialectRegistry registry;
  registerAttentionDialects(registry);
  context.appendDialectRegistry(registry);
  context.loadAllAvailableDialects();
  MlirDiagnostics handler(context, diagnostics);

  if (input.isMlir) {
    if (!parse())
      return;
  } else {
    std::optional<Spec> spec;
    if (!read(spec) || finish(Stage::Read, specText) || !import(*spec) || finish(Stage::Import, moduleText()))
      return;
  }
  if (done == Stage::Import && (!lower() || finish(Stage::Lower, moduleText())))
    return;
  if (done == Stage::Lower && (!schedule() || finish(Stage::Schedule, moduleText())))
    return;
  if (options.explainSchedule)
    print(explainSchedule(*module));
  if (!options.explain && !(writes() && emit.stage >= Stage::Build))
    return;
  if (!build() || finish(Stage::Build, kernels->stmt))
    return;
  if (options.explain)
    print(explain(kernels->interface, *module));
  if (writes() && emit.stage == Stage::Emit)
    emitFiles();
}

//===-- the stages ------------------------------------------------------------------------------------------------------------------------===//

bool Compilation::read(std::optional<Spec> &spec) {
  spec = readSpec(input.text, input.path, diagnostics);
  if (spec && !options.name.empty())
    spec->name.value = options.name;
  // Errors of masks, positions and scores belong to the same run as the reader's.
  if (spec && diagnostics.hasErrors())
    importSpec(*spec, context, diagnostics);
  if (!spec || failed())
    return false;
  specText = printSpec(*spec);
  return true;
}

bool Compilation::import(const Spec &spec) {
  module = importSpec(spec, context, diagnostics);
  if (!module && !failed())
    diagnostics.internal(spec.loc, "import failed without a reason");
  done = Stage::Import;
  return module && !failed();
}

/// The text of a later stage instead of a spec.
bool Compilation::parse() {
  mlir::ParserConfig config(&context);
  module = mlir::parseSourceString<mlir::ModuleOp>(input.text, config, input.path);
  if (!module) {
    if (!failed())
      diagnostics.error({}, "'" + input.path + "' could not be parsed");
    return false;
  }
  SourceLocation start{input.path, 1, 1};
  auto stage = (*module)->getAttrOfType<mlir::StringAttr>(attn::kStageAttr);
  StringRef word = stage ? stage.getValue() : "";
  if (word == "attn")
    done = Stage::Import;
  else if (word == "lowered")
    done = Stage::Lower;
  else if (word == "scheduled")
    done = Stage::Schedule;
  else {
    diagnostics.error(start, "the module must say its stage, attn.stage = \"attn\", \"lowered\" or \"scheduled\", found " +
                                 (stage ? "'" + word.str() + "'" : std::string("none")));
    return false;
  }
  if (!options.name.empty())
    diagnostics.usage(start, "--name needs a YAML spec");
  if (done == Stage::Schedule && !(options.targets.empty() && options.schedule.empty()))
    diagnostics.usage(start, "--target and --schedule have no effect: the module already has its schedules");
  if (emit.stage < done)
    diagnostics.usage(start, "--emit=" + emit.word.str() + " is not possible: the module is already at stage '" + word.str() + "'");
  return !failed() && (emit.stage != done || !finish(done, moduleText()));
}

bool Compilation::lower() {
  mlir::PassManager passes(&context);
  buildLoweringPipeline(passes);
  if (mlir::failed(passes.run(*module)) && !failed())
    diagnostics.internal({}, "lowering failed without a reason");
  done = Stage::Lower;
  return !failed();
}

bool Compilation::schedule() {
  std::vector<std::string> targets = options.targets;
  if (targets.empty())
    targets.push_back("host");
  if (mlir::failed(chooseSchedules(*module, targets, diagnostics)) && !failed())
    diagnostics.internal({}, "no schedules were chosen, without a reason");
  if (!failed() && !options.schedule.empty())
    overrideSchedules(*module, options.schedule, diagnostics);
  if (!failed() && mlir::failed(mlir::verify(*module)) && !failed())
    diagnostics.internal({}, "the scheduled module is not valid");
  done = Stage::Schedule;
  return !failed();
}

bool Compilation::build() {
  mlir::FailureOr<BuiltKernels> built = buildKernels(*module, wants(Stage::Build) || !options.dumpDirectory.empty(), diagnostics);
  if (mlir::failed(built) && !failed())
    diagnostics.internal({}, "no kernels were built, without a reason");
  if (failed())
    return false;
  kernels = std::move(*built);
  kernels->interface.description = describeLayer(*module);
  return true;
}

void Compilation::emitFiles() {
  const KernelInterface &interface = kernels->interface;
  EmitRequest request{interface, kernels->bitcode};
  request.specText = specText;
  for (const EmitKindInfo &kind : emitKinds())
    if (kind.word == emit.word)
      request.kind = kind.kind;
  request.outputPath = !options.output.empty() ? options.output : emit.isText ? "-" : interface.name + emit.suffix.str();
  request.headerPath = options.header;
  request.manifestPath = options.manifest;
  if (!emit.isText) {
    if (request.headerPath.empty())
      request.headerPath = pathBeside(request.outputPath, ".h");
    if (request.manifestPath.empty())
      request.manifestPath = pathBeside(request.outputPath, ".json");
  }
  if (options.writeDepfile) {
    request.depfilePath = options.depfile.empty() ? pathBeside(request.outputPath, ".d") : options.depfile;
    request.depTarget = options.depTarget;
  }
  request.dependencies = inputFiles();
  if (request.kind == EmitKind::SharedObject)
    request.runtimeArchive = findRuntimeArchive(executable);
  if (!emitOutputs(request, diagnostics) && !failed())
    diagnostics.internal({}, "nothing was written, without a reason");
}

//===-- writing ---------------------------------------------------------------------------------------------------------------------------===//

std::string Compilation::moduleText() {
  std::string text;
  llvm::raw_string_ostream os(text);
  module->print(os);
  return text;
}

bool Compilation::finish(Stage stage, const std::string &text) {
  static constexpr StringRef names[] = {"1-spec.yaml", "2-attn.mlir", "3-lowered.mlir", "4-scheduled.mlir", "5-halide.stmt"};
  if (!options.dumpDirectory.empty())
    dump(names[static_cast<int>(stage)], text);
  if (failed())
    return true;
  if (!wants(stage))
    return false;
  const std::string drawing = emit.word == "mask-svg" ? drawMask(*module, options.draw, diagnostics) : "";
  if (!failed())
    writeText(options.output.empty() ? StringRef("-") : StringRef(options.output), drawing.empty() ? text : drawing);
  return failed() || !explains();
}

void Compilation::dump(StringRef fileName, const std::string &text) {
  if (std::error_code error = llvm::sys::fs::create_directories(options.dumpDirectory, /*IgnoreExisting=*/true, llvm::sys::fs::all_all)) {
    diagnostics.usage({}, "cannot make the directory '" + options.dumpDirectory + "': " + error.message());
    return;
  }
  llvm::SmallString<256> path(options.dumpDirectory);
  llvm::sys::path::append(path, fileName);
  OutputFiles files;
  for (const std::string &file : inputFiles())
    files.keep(file, "input");
  for (const std::string &file : {options.output, options.header, options.manifest, options.depfile})
    if (!file.empty())
      files.keep(file, "output");
  files.add(path.str().str(), text);
  files.commit(diagnostics);
}

void Compilation::writeText(StringRef path, const std::string &text) {
  OutputFiles files;
  for (const std::string &file : inputFiles())
    files.keep(file, "input");
  files.add(path.str(), text);
  files.commit(diagnostics);
}

std::vector<std::string> Compilation::inputFiles() const {
  std::vector<std::string> files;
  if (options.input != "-")
    files.push_back(input.path);
  if (StringRef(options.schedule).starts_with("@"))
    files.push_back(options.schedule.substr(1));
  return files;
}

std::string Compilation::pathBeside(StringRef output, StringRef suffix) const {
  llvm::SmallString<256> path(output);
  llvm::sys::path::replace_extension(path, suffix);
  return path.str().str();
}

} // namespace mhac
