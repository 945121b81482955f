// main(): options -> compile() -> exit code; nothing else.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "attention/SpecSchema.h"
#include "driver/Diagnostics.h"
#include "driver/Options.h"
#include "driver/Pipeline.h"
#include "spec/SpecFields.h"

#include "llvm/Config/llvm-config.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/raw_ostream.h"

using namespace mhac;

constexpr int exitUsage = 2;

/// What --help and its like print; empty when the options ask for a compilation.
static std::string information(const Options &options) {
  if (options.help)
    return helpText();
  if (options.version)
    return "mhac " MHAC_VERSION "\nLLVM " LLVM_VERSION_STRING "\n";
  if (options.printSchema)
    return specSchema();
  if (options.printFields)
    return fieldTableMarkdown();
  if (options.listTargets)
    return targetList();
  if (!options.completion.empty())
    return bashCompletion();
  return "";
}

/// MLIR by its suffix; standard input by how its text starts.
static bool isMlir(llvm::StringRef path, llvm::StringRef text) {
  return path == "-" ? text.ltrim().starts_with("module") || text.starts_with("//") : path.ends_with(".mlir");
}

int main(int argc, char **argv) {
  llvm::SmallVector<llvm::StringRef> arguments(argv + 1, argv + argc);
  Options options;
  std::vector<std::string> errors;
  if (!parseOptions(arguments, options, errors)) {
    for (const std::string &error : errors)
      llvm::errs() << "mhac: error: " << error << '\n';
    return exitUsage;
  }
  if (std::string text = information(options); !text.empty()) {
    llvm::outs() << text;
    return 0;
  }

  auto buffer = llvm::MemoryBuffer::getFileOrSTDIN(options.input, /*IsText=*/false, /*RequiresNullTerminator=*/false);
  if (!buffer) {
    llvm::errs() << "mhac: error: cannot read '" << options.input << "': " << buffer.getError().message() << '\n';
    return exitUsage;
  }
  llvm::StringRef text = (*buffer)->getBuffer();
  text.consume_front("\xEF\xBB\xBF"); // a byte order mark is no column
  Input input{options.input == "-" ? "<stdin>" : options.input, text.str(), false};
  input.isMlir = isMlir(options.input, input.text);
  std::string executable = llvm::sys::fs::getMainExecutable(argv[0], reinterpret_cast<void *>(&main));

  Diagnostics diagnostics;
  compile(options, input, executable, diagnostics);
  if (options.verifyDiagnostics) {
    std::string difference = verifyDiagnostics(diagnostics, input.path, input.text, options);
    llvm::errs() << difference;
    return difference.empty() ? 0 : 1;
  }
  llvm::errs() << formatDiagnostics(diagnostics, input.path, input.text, options);
  return exitCodeOf(diagnostics, options);
}
