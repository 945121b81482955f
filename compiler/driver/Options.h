// The command line: one table of options, from which parsing, --help and shell completion come.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"

#include <string>
#include <vector>

namespace mhac {

struct Options {
  std::string input; // a path, or "-"
  std::string output, header, manifest;
  std::string emit; // a word of --emit; empty: the suffix of `output` decides
  std::string name; // replaces the spec's
  std::vector<std::string> targets; // words for findTarget; none: host
  std::string schedule; // <attr> or @<file>
  std::string draw; // sizes and inputs of --emit=mask-svg
  std::string dumpDirectory;
  std::string depfile, depTarget;
  std::string completion;
  bool writeDepfile = false;
  bool check = false, explain = false, explainSchedule = false;
  bool werror = false, noPerformanceWarnings = false, verifyDiagnostics = false;
  bool help = false, version = false, printSchema = false, printFields = false, listTargets = false;
};

/// Fills `options` from the arguments, the program's name left out. What is wrong goes to `errors`, a line each; true without any.
bool parseOptions(llvm::ArrayRef<llvm::StringRef> arguments, Options &options, std::vector<std::string> &errors);

std::string helpText();
std::string bashCompletion();
/// The names that --target knows, with a sentence each.
std::string targetList();

} // namespace mhac
