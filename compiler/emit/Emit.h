// Stage 6: the bitcode of all candidates and their KernelInterface become files: code (an EmitKind), C header, JSON manifest, depfile.
// All outputs or none: everything is made in memory, written beside its destination and renamed. Same request, same bytes.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "attention/KernelInterface.h"
#include "support/Diagnostics.h"

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"

#include <optional>
#include <string>
#include <vector>

namespace mhac {

/// What the output file holds; see EmitKinds.def.
enum class EmitKind {
#define MHAC_EMIT_KIND(name, word, suffix, sentence) name,
#include "emit/EmitKinds.def"
#undef MHAC_EMIT_KIND
};

struct EmitKindInfo {
  EmitKind kind;
  llvm::StringRef word, suffix, sentence;
};

/// All kinds, in the order of EmitKinds.def.
llvm::ArrayRef<EmitKindInfo> emitKinds();
/// The kind that the suffix of an output path stands for; nothing for other suffixes.
std::optional<EmitKind> emitKindFromPath(llvm::StringRef path);

struct EmitRequest {
  const KernelInterface &interface;
  /// One module of LLVM 21 bitcode a candidate, in the order of the interface.
  llvm::ArrayRef<std::string> bitcode;
  /// The normalised spec, carried by the manifest so that an artefact can be checked without its source.
  std::string specText = {};
  EmitKind kind = EmitKind::Object;
  /// "-" writes to standard output (text kinds only). The others may be empty: not written.
  std::string outputPath = {}, headerPath = {}, manifestPath = {}, depfilePath = {};
  /// The target named in the depfile, outputPath when empty; and the files that were read, which no output may replace.
  std::string depTarget = {};
  std::vector<std::string> dependencies = {};
  /// libmhac_runtime.a, for EmitKind::SharedObject only; see findRuntimeArchive.
  std::string runtimeArchive = {};
};

/// Writes all files of the request; on false nothing was written and the reason is in the diagnostics.
bool emitOutputs(const EmitRequest &request, Diagnostics &diagnostics);

/// The runtime library that belongs to an mhac executable: where it is installed or in the build tree. Empty when there is none.
std::string findRuntimeArchive(llvm::StringRef executable);

} // namespace mhac
