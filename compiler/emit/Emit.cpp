// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "emit/Emit.h"

#include "emit/EmitDepfile.h"
#include "emit/EmitHeader.h"
#include "emit/EmitManifest.h"
#include "emit/EmitObject.h"
#include "emit/EmitShared.h"
#include "emit/EntryShim.h"
#include "emit/LinkBitcode.h"
#include "emit/OutputFile.h"

#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/Module.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/raw_ostream.h"

namespace mhac {

llvm::ArrayRef<EmitKindInfo> emitKinds() {
  static const EmitKindInfo kinds[] = {
#define MHAC_EMIT_KIND(name, word, suffix, sentence) {EmitKind::name, word, suffix, sentence},
#include "emit/EmitKinds.def"
#undef MHAC_EMIT_KIND
  };
  return kinds;
}

std::optional<EmitKind> emitKindFromPath(llvm::StringRef path) {
  llvm::StringRef suffix = llvm::sys::path::extension(path);
  for (const EmitKindInfo &info : emitKinds())
    if (info.suffix == suffix)
      return info.kind;
  return std::nullopt;
}

/// The bytes of the output file.
static std::optional<std::string> emitCode(const EmitRequest &request, llvm::Module &module, Diagnostics &diagnostics) {
  llvm::StringRef fileName = llvm::sys::path::filename(request.outputPath);
  switch (request.kind) {
  case EmitKind::LlvmIr: {
    std::string text;
    llvm::raw_string_ostream out(text);
    module.print(out, nullptr);
    return text;
  }
  case EmitKind::Assembly:
    return emitAssembly(module, diagnostics);
  case EmitKind::Object:
  case EmitKind::Archive:
  case EmitKind::SharedObject:
    break;
  }
  std::optional<std::string> object = emitObject(module, diagnostics);
  if (!object || request.kind == EmitKind::Object)
    return object;
  if (request.kind == EmitKind::Archive)
    return emitArchive(*object, request.interface.name + ".o", diagnostics);
  return emitShared(*object, request.interface, request.runtimeArchive, fileName, diagnostics);
}

bool emitOutputs(const EmitRequest &request, Diagnostics &diagnostics) {
  const KernelInterface &interface = request.interface;
  llvm::LLVMContext context;
  std::unique_ptr<llvm::Module> module = linkBitcode(interface, request.bitcode, context, diagnostics);
  if (!module)
    return false;
  addEntryShim(interface, *module);
  if (!finishModule(*module, interface, diagnostics))
    return false;
  std::optional<std::string> code = emitCode(request, *module, diagnostics);
  std::optional<std::string> header = emitHeader(interface, diagnostics);
  if (!code || !header)
    return false;

  OutputFiles files;
  for (const std::string &input : request.dependencies)
    files.keep(input, "input");
  if (!request.runtimeArchive.empty())
    files.keep(request.runtimeArchive, "runtime library");
  files.add(request.outputPath, std::move(*code), request.kind == EmitKind::SharedObject);
  if (!request.headerPath.empty())
    files.add(request.headerPath, std::move(*header));
  if (!request.manifestPath.empty())
    files.add(request.manifestPath, emitManifest(interface, request.specText, llvm::sys::path::filename(request.outputPath),
                                                 llvm::sys::path::filename(request.headerPath)));
  if (!request.depfilePath.empty())
    files.add(request.depfilePath,
              emitDepfile(request.depTarget.empty() ? request.outputPath : request.depTarget, request.dependencies));
  return files.commit(diagnostics);
}

} // namespace mhac
