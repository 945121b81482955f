// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "emit/EmitObject.h"

#include "emit/LinkBitcode.h"

#include "llvm/ADT/SmallString.h"
#include "llvm/IR/LegacyPassManager.h"
#include "llvm/IR/Module.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/Object/ArchiveWriter.h"
#include "llvm/Object/ObjectFile.h"
#include "llvm/Support/CodeGen.h"
#include "llvm/Support/TargetSelect.h"
#include "llvm/Support/raw_ostream.h"
#include "llvm/Target/TargetMachine.h"

#include <mutex>

namespace mhac {

/// What code without attributes may use, and how floats are handed over: what every system of the architecture has.
struct Baseline {
  llvm::StringRef features, abi;
  llvm::Reloc::Model relocation = llvm::Reloc::PIC_;
};

static Baseline baselineOf(const llvm::Triple &triple) {
  if (triple.isRISCV64())
    return {"+m,+a,+f,+d,+c", "lp64d"};
  if (triple.isWasm()) // a program is one module, which is not moved
    return {"", "", llvm::Reloc::Static};
  return {};
}

static std::optional<std::string> generate(llvm::Module &module, llvm::CodeGenFileType type, Diagnostics &diagnostics) {
  static std::once_flag once;
  std::call_once(once, [] {
    llvm::InitializeAllTargetInfos();
    llvm::InitializeAllTargets();
    llvm::InitializeAllTargetMCs();
    llvm::InitializeAllAsmPrinters();
    llvm::InitializeAllAsmParsers();
  });
  std::string error;
  const llvm::Triple &triple = module.getTargetTriple();
  const llvm::Target *target = llvm::TargetRegistry::lookupTarget(triple, error);
  if (!target) {
    diagnostics.unsupported({}, "this LLVM cannot generate code for '" + triple.str() + "': " + error);
    return std::nullopt;
  }
  // No processor here: every function carries its own as attributes, and what carries none is for the baseline. Which operations may be
  // fused stands in the instructions' flags.
  llvm::TargetOptions options;
  options.UseInitArray = true;
  const Baseline baseline = baselineOf(triple);
  options.MCOptions.ABIName = baseline.abi.str();
  std::unique_ptr<llvm::TargetMachine> machine(target->createTargetMachine(triple, /*CPU=*/"", baseline.features, options, baseline.relocation,
                                                                           llvm::CodeModel::Small, llvm::CodeGenOptLevel::Aggressive));
  module.setDataLayout(machine->createDataLayout());
  llvm::SmallString<0> bytes;
  llvm::raw_svector_ostream stream(bytes);
  llvm::legacy::PassManager passes;
  if (machine->addPassesToEmitFile(passes, stream, nullptr, type)) {
    diagnostics.internal({}, "LLVM cannot emit this kind of file for '" + triple.str() + "'");
    return std::nullopt;
  }
  passes.run(module);
  if (diagnostics.exitCode() == 70) // code generation reports through the LLVMContext's handler
    return std::nullopt;
  return bytes.str().str();
}

std::optional<std::string> emitAssembly(llvm::Module &module, Diagnostics &diagnostics) {
  return generate(module, llvm::CodeGenFileType::AssemblyFile, diagnostics);
}

std::optional<std::string> emitObject(llvm::Module &module, Diagnostics &diagnostics) {
  std::optional<std::string> bytes = generate(module, llvm::CodeGenFileType::ObjectFile, diagnostics);
  if (!bytes)
    return std::nullopt;
  auto object = llvm::object::ObjectFile::createObjectFile(llvm::MemoryBufferRef(*bytes, module.getName()));
  if (!object) {
    diagnostics.internal({}, "the object cannot be read back: " + llvm::toString(object.takeError()));
    return std::nullopt;
  }
  bool ok = true;
  for (const llvm::object::SymbolRef &symbol : (*object)->symbols()) {
    llvm::Expected<uint32_t> flags = symbol.getFlags();
    llvm::Expected<llvm::StringRef> name = symbol.getName();
    if (!flags || !name) {
      llvm::consumeError(flags.takeError());
      llvm::consumeError(name.takeError());
      continue;
    }
    bool undefined = (*flags & llvm::object::SymbolRef::SF_Undefined) && !(*flags & llvm::object::SymbolRef::SF_FormatSpecific);
    if (undefined && !isAllowedUndefined(*name)) {
      diagnostics.internal({}, ("the object needs the symbol '" + *name + "'; wanted only mhac_* and memcpy, memmove, memset").str());
      ok = false;
    }
  }
  return ok ? bytes : std::nullopt;
}

std::optional<std::string> emitArchive(llvm::StringRef object, llvm::StringRef memberName, Diagnostics &diagnostics) {
  llvm::NewArchiveMember member(llvm::MemoryBufferRef(object, memberName));
  auto archive = llvm::writeArchiveToBuffer(member, llvm::SymtabWritingMode::NormalSymtab, llvm::object::Archive::K_GNU,
                                            /*Deterministic=*/true, /*Thin=*/false);
  if (!archive) {
    diagnostics.internal({}, "the static library cannot be made: " + llvm::toString(archive.takeError()));
    return std::nullopt;
  }
  return (*archive)->getBuffer().str();
}

} // namespace mhac
