// The six stages in a row. Newcomers: start reading in Pipeline.cpp.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "driver/Options.h"
#include "support/Diagnostics.h"

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"

#include <string>

namespace mhac {

enum class Stage { Read, Import, Lower, Schedule, Build, Emit };

struct StageInfo {
  Stage stage;
  llvm::StringRef name;
  llvm::StringRef sentence;
};

/// In the order in which they run.
llvm::ArrayRef<StageInfo> stages();

/// A word of --emit: the stage after which compilation stops, and what is written.
struct EmitWord {
  llvm::StringRef word;
  Stage stage;
  bool isText; // goes to standard output unless -o says otherwise
  llvm::StringRef suffix;
  llvm::StringRef sentence;
};

llvm::ArrayRef<EmitWord> emitWords();
/// The row of a word; with an empty word the one that the suffix of the output asks for, `obj` without output. Null when there is none.
const EmitWord *emitWordFor(llvm::StringRef word, llvm::StringRef output);

/// The input of one compilation.
struct Input {
  std::string path; // for messages, as the user gave it; "<stdin>" for "-"
  std::string text;
  bool isMlir = false;
};

/// Compiles `input` as `options` say and writes the results; all that went wrong is in `diagnostics`. `executable` is this program's path, for
/// finding the runtime library beside it.
void compile(const Options &options, const Input &input, llvm::StringRef executable, Diagnostics &diagnostics);

} // namespace mhac
