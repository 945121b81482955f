// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "emit/LinkBitcode.h"

#include "emit/EntryShim.h"
#include "emit/ExpandRounding.h"
#include "emit/ScaleByPowers.h"
#include "emit/StoreSingleLanes.h"

#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Bitcode/BitcodeReader.h"
#include "llvm/IR/Constants.h"
#include "llvm/IR/DebugInfo.h"
#include "llvm/IR/DiagnosticInfo.h"
#include "llvm/IR/DiagnosticPrinter.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/Module.h"
#include "llvm/IR/Operator.h"
#include "llvm/IR/PassManager.h"
#include "llvm/IR/Verifier.h"
#include "llvm/Linker/Linker.h"
#include "llvm/Passes/PassBuilder.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/raw_ostream.h"
#include "llvm/Transforms/IPO/GlobalDCE.h"

namespace mhac {

/// Halide's hooks under the private names of our runtime: other Halide code in the program keeps its own.
static constexpr std::pair<llvm::StringLiteral, llvm::StringLiteral> hooks[] = {
    {"halide_malloc", "mhac_kernel_alloc"}, {"halide_free", "mhac_kernel_free"}, {"halide_do_par_for", "mhac_kernel_parallel_for"}};

bool isAllowedUndefined(llvm::StringRef symbol) {
  return symbol.starts_with("mhac_") || symbol == "memcpy" || symbol == "memmove" || symbol == "memset" ||
         symbol == "__stack_pointer" || symbol == "__indirect_function_table" || symbol == "__linear_memory"; // the linker makes these, for WebAssembly
}

std::string kernelName(const KernelInterface &interface, size_t candidate, size_t kernel) {
  const std::string symbol = interface.candidates[candidate].kernels[kernel].symbol;
  // Candidates share a kernel by its symbol; it is named after the last of them, in whose bitcode it is.
  for (size_t i = candidate; i < interface.candidates.size(); ++i)
    for (size_t j = 0; j < interface.candidates[i].kernels.size(); ++j)
      if (interface.candidates[i].kernels[j].symbol == symbol)
        candidate = i, kernel = j;
  auto words = [](const CandidateInfo &c, const KernelInfo &k) { return c.function + "." + k.name; };
  const std::string name = words(interface.candidates[candidate], interface.candidates[candidate].kernels[kernel]);
  // Kernels made twice, and candidates made from one function, share these words.
  for (const CandidateInfo &c : interface.candidates)
    for (const KernelInfo &k : c.kernels)
      if (k.symbol != symbol && words(c, k) == name)
        return name + "." + std::to_string(candidate) + "_" + std::to_string(kernel);
  return name;
}

/// Whether a kernel is in the bitcode of a later candidate, which shares it.
static bool isBuiltLater(const KernelInterface &interface, size_t candidate, const std::string &symbol) {
  return llvm::any_of(llvm::drop_begin(interface.candidates, candidate + 1),
                      [&](const CandidateInfo &later) { return llvm::any_of(later.kernels, [&](const KernelInfo &k) { return k.symbol == symbol; }); });
}

/// What code generation needs to make scalable vectors of the fixed ones that Halide writes (halide/HalideBoundary). The length is the shortest that the
/// code is right for.
static void applyVectorLength(llvm::Module &module, llvm::StringRef machine) {
  int bits = 0;
  std::string features;
  for (llvm::StringRef word : llvm::split(machine, '-'))
    if (word.consume_front("vector_bits_"))
      word.getAsInteger(10, bits);
    else if (word == "sve2")
      features = "+sve2";
    else if (word == "rvv")
      features = "+m,+a,+f,+d,+c,+v";
  if (!bits)
    return;
  const bool isRiscv = machine.starts_with("riscv-");
  if (isRiscv) {
    module.setTargetTriple(llvm::Triple("riscv64-unknown-linux-gnu"));
    features += ",+zvl" + std::to_string(bits) + "b";
  }
  constexpr unsigned granule = 128; // bits of SVE's shortest vector, which vscale multiplies; RISC-V takes the length from the feature
  for (llvm::Function &function : module) {
    if (function.isDeclaration())
      continue;
    llvm::StringRef known = isRiscv ? "" : function.getFnAttribute("target-features").getValueAsString();
    function.addFnAttr("target-features", known.empty() ? features : known.str() + "," + features);
    if (isRiscv)
      function.removeFnAttr("target-cpu"), function.removeFnAttr("tune-cpu");
    else
      function.addFnAttr(llvm::Attribute::getWithVScaleRangeArgs(module.getContext(), bits / granule, 2048 / granule));
  }
}

/// Halide names a product of one maker for targets that several make (Zen 4), with instructions that the others lack; the features that the target
/// asks for stand beside it.
static llvm::StringRef commonProcessor(llvm::StringRef processor) { return processor.starts_with("znver") ? "x86-64-v4" : processor; }

/// Halide records the processor as module flags; modern versions also as function attributes. Code generation sees attributes only.
static void applyTargetAttributes(llvm::Module &module, llvm::StringRef machine) {
  auto flag = [&](llvm::StringRef name) -> llvm::StringRef {
    auto *string = llvm::dyn_cast_or_null<llvm::MDString>(module.getModuleFlag(name));
    return string ? string->getString() : "";
  };
  std::pair<llvm::StringRef, llvm::StringRef> attributes[] = {{"target-cpu", flag("halide_mcpu_target")},
                                                              {"tune-cpu", flag("halide_mcpu_tune")},
                                                              {"target-features", flag("halide_mattrs")}};
  for (llvm::Function &function : module) {
    for (auto [name, value] : attributes) {
      if (function.isDeclaration())
        function.removeFnAttr(name); // one declaration serves candidates of several processors
      else if (!function.hasFnAttribute(name) && !value.empty())
        function.addFnAttr(name, value);
    }
    if (function.hasFnAttribute("target-cpu"))
      function.addFnAttr("target-cpu", commonProcessor(function.getFnAttribute("target-cpu").getValueAsString()));
  }
  applyVectorLength(module, machine);
}

static void dropModuleMetadata(llvm::Module &module) {
  llvm::StripDebugInfo(module);
  while (!module.named_metadata_empty())
    module.eraseNamedMetadata(&*module.named_metadata_begin());
  for (const char *keepAlive : {"llvm.used", "llvm.compiler.used"})
    if (llvm::GlobalVariable *list = module.getNamedGlobal(keepAlive))
      list->eraseFromParent();
  module.setModuleInlineAsm("");
}

/// Gives every definition of one candidate a local name and hides all but the kernels.
static bool localise(llvm::Module &module, const KernelInterface &interface, size_t candidate, Diagnostics &diagnostics) {
  const CandidateInfo &info = interface.candidates[candidate];
  llvm::DenseMap<llvm::Function *, std::string> names;
  for (size_t k = 0; k < info.kernels.size(); ++k) {
    std::string symbol = info.kernels[k].symbol, name = kernelName(interface, candidate, k);
    if (isBuiltLater(interface, candidate, symbol))
      continue;
    llvm::Function *wrapper = module.getFunction(symbol + "_argv");
    if (!wrapper || wrapper->isDeclaration()) {
      diagnostics.internal({}, "the bitcode of target '" + info.target + "' does not define kernel '" + symbol + "_argv'");
      return false;
    }
    names[wrapper] = name;
    if (llvm::Function *body = module.getFunction(symbol))
      names[body] = name + ".body";
    unsigned parts = 0; // bodies of parallel loops, named by Halide after the kernel and a counter of the process
    for (llvm::Function &function : module)
      if (!function.isDeclaration() && function.getName().starts_with(symbol + "_par_for") && !names.count(&function))
        names[&function] = name + ".task" + std::to_string(parts++);
  }
  unsigned helpers = 0;
  for (llvm::Function &function : module) {
    if (function.isDeclaration())
      continue;
    auto known = names.find(&function);
    bool isKernel = known != names.end() && function.getName().ends_with("_argv");
    function.setName(known != names.end() ? known->second
                                          : interface.name + "." + info.target + ".helper" + std::to_string(candidate) + "_" +
                                                std::to_string(helpers++));
    function.setComdat(nullptr);
    function.setVisibility(llvm::GlobalValue::DefaultVisibility);
    function.setDLLStorageClass(llvm::GlobalValue::DefaultStorageClass);
    function.setLinkage(isKernel ? llvm::GlobalValue::ExternalLinkage : llvm::GlobalValue::InternalLinkage);
  }
  for (llvm::GlobalVariable &variable : module.globals()) {
    if (variable.isDeclaration())
      continue;
    variable.setComdat(nullptr);
    variable.setVisibility(llvm::GlobalValue::DefaultVisibility);
    variable.setLinkage(llvm::GlobalValue::PrivateLinkage);
  }
  return true;
}

std::unique_ptr<llvm::Module> linkBitcode(const KernelInterface &interface, llvm::ArrayRef<std::string> bitcode, llvm::LLVMContext &context,
                                          Diagnostics &diagnostics) {
  if (bitcode.size() != interface.candidates.size()) {
    diagnostics.internal({}, "found " + std::to_string(bitcode.size()) + " bitcode modules for " +
                                 std::to_string(interface.candidates.size()) + " candidates");
    return nullptr;
  }
  context.setDiagnosticHandlerCallBack(
      [](const llvm::DiagnosticInfo *info, void *list) {
        if (info->getSeverity() != llvm::DS_Error)
          return;
        std::string text;
        llvm::raw_string_ostream stream(text);
        llvm::DiagnosticPrinterRawOStream printer(stream);
        info->print(printer);
        static_cast<Diagnostics *>(list)->internal({}, text);
      },
      &diagnostics);
  auto whole = std::make_unique<llvm::Module>(interface.name, context);
  whole->setSourceFileName(interface.specFile);
  llvm::Linker linker(*whole);
  for (size_t i = 0; i < bitcode.size(); ++i) {
    if (bitcode[i].empty()) // all of its kernels are another's
      continue;
    const std::string &target = interface.candidates[i].target;
    auto parsed = llvm::parseBitcodeFile(llvm::MemoryBufferRef(bitcode[i], target), context);
    if (!parsed) {
      diagnostics.internal({}, "the bitcode of target '" + target + "' cannot be read: " + llvm::toString(parsed.takeError()));
      return nullptr;
    }
    llvm::Module &module = **parsed;
    applyTargetAttributes(module, interface.candidates[i].machine);
    if (whole->getTargetTriple().empty()) {
      whole->setTargetTriple(module.getTargetTriple());
      whole->setDataLayout(module.getDataLayout());
    } else if (module.getTargetTriple() != whole->getTargetTriple()) {
      diagnostics.error({}, "targets of one object must have one architecture and system, found '" + target + "' (" +
                                module.getTargetTriple().str() + ") beside '" + interface.candidates[0].target + "' (" +
                                whole->getTargetTriple().str() + ")");
      return nullptr;
    }
    dropModuleMetadata(module);
    if (!localise(module, interface, i, diagnostics))
      return nullptr;
    if (linker.linkInModule(std::move(*parsed))) {
      diagnostics.internal({}, "the bitcode of target '" + target + "' cannot be linked");
      return nullptr;
    }
  }
  for (auto [from, to] : hooks)
    if (llvm::Function *function = whole->getFunction(from))
      function->setName(to);
  return whole;
}

/// Aliasing metadata names Funcs, some with counters ("f$1"): the same tree again, with its nodes numbered as they appear.
static void renameAliasTree(llvm::Module &module) {
  llvm::DenseMap<llvm::Metadata *, llvm::Metadata *> done;
  auto rename = [&](auto &self, llvm::Metadata *old) -> llvm::Metadata * {
    if (!old)
      return nullptr;
    auto known = done.find(old);
    if (known != done.end())
      return known->second;
    llvm::Metadata *result = old;
    if (llvm::isa<llvm::MDString>(old)) {
      result = llvm::MDString::get(module.getContext(), "t" + std::to_string(done.size()));
    } else if (auto *node = llvm::dyn_cast<llvm::MDNode>(old); node && !node->isDistinct()) {
      llvm::SmallVector<llvm::Metadata *> operands;
      for (const llvm::MDOperand &operand : node->operands())
        operands.push_back(self(self, operand.get()));
      result = llvm::MDNode::get(module.getContext(), operands);
    }
    done[old] = result;
    return result;
  };
  for (llvm::Function &function : module)
    for (llvm::Instruction &instruction : llvm::instructions(function))
      if (llvm::MDNode *tag = instruction.getMetadata(llvm::LLVMContext::MD_tbaa))
        instruction.setMetadata(llvm::LLVMContext::MD_tbaa, llvm::cast<llvm::MDNode>(rename(rename, tag)));
}

static void dropInstructionNames(llvm::Module &module) {
  unsigned kept[] = {llvm::LLVMContext::MD_tbaa, llvm::LLVMContext::MD_prof, llvm::LLVMContext::MD_range, llvm::LLVMContext::MD_fpmath};
  for (llvm::Function &function : module) {
    for (llvm::Argument &argument : function.args())
      argument.setName("");
    for (llvm::BasicBlock &block : function) {
      block.setName("");
      for (llvm::Instruction &instruction : block) {
        instruction.setName("");
        instruction.dropUnknownNonDebugMetadata(kept);
      }
    }
  }
}

/// Halide marks its arithmetic as free of NaN and infinity. Data may hold both, and what IEEE arithmetic makes of them must arrive.
static void allowSpecialValues(llvm::Module &module) {
  for (llvm::Function &function : module)
    for (llvm::Instruction &instruction : llvm::instructions(function))
      if (llvm::isa<llvm::FPMathOperator>(instruction)) {
        instruction.setHasNoNaNs(false);
        instruction.setHasNoInfs(false);
      }
}

/// Halide's prefetches ask for a line that is not kept (`prefetchnta`); weights are used again by the next block of tokens.
static void keepPrefetchedLines(llvm::Module &module) {
  for (llvm::Function &function : module)
    for (llvm::Instruction &instruction : llvm::instructions(function))
      if (auto *call = llvm::dyn_cast<llvm::IntrinsicInst>(&instruction); call && call->getIntrinsicID() == llvm::Intrinsic::prefetch) {
        llvm::Type *word = call->getArgOperand(1)->getType();
        call->setArgOperand(1, llvm::ConstantInt::get(word, 0)); // to read
        call->setArgOperand(2, llvm::ConstantInt::get(word, 2)); // into L2
      }
}

static void removeUnused(llvm::Module &module) {
  llvm::PassBuilder builder;
  llvm::LoopAnalysisManager loops;
  llvm::FunctionAnalysisManager functions;
  llvm::CGSCCAnalysisManager components;
  llvm::ModuleAnalysisManager modules;
  builder.registerModuleAnalyses(modules);
  builder.registerCGSCCAnalyses(components);
  builder.registerFunctionAnalyses(functions);
  builder.registerLoopAnalyses(loops);
  builder.crossRegisterProxies(loops, functions, components, modules);
  llvm::GlobalDCEPass().run(module, modules);
}

bool finishModule(llvm::Module &module, const KernelInterface &interface, Diagnostics &diagnostics) {
  for (llvm::Function &function : module)
    if (!function.isDeclaration() && function.getName() != interface.name && function.getName() != interface.name + "_workspace_bytes" &&
        function.getName() != interface.name + "_prepare" && function.getName() != interface.name + "_prepared_bytes" &&
        function.getName() != interface.name + "_info")
      function.setLinkage(llvm::GlobalValue::InternalLinkage);
  removeUnused(module);
  dropInstructionNames(module);
  allowSpecialValues(module);
  keepPrefetchedLines(module);
  scaleByPowers(module);
  expandRounding(module);
  storeSingleLanes(module);
  renameAliasTree(module);
  unsigned constants = 0;
  bool ok = true;
  for (llvm::GlobalVariable &variable : module.globals()) {
    if (variable.isDeclaration() || variable.getName() == featureCacheName(interface))
      continue;
    if (!variable.isConstant()) { // kernels must be re-entrant
      diagnostics.internal({}, ("the kernels of '" + interface.name + "' have a mutable global '" + variable.getName() + "'").str());
      ok = false;
    }
    variable.setName("c" + std::to_string(constants++));
  }
  if (!module.getTargetTriple().isWasm())
    module.addModuleFlag(llvm::Module::Max, "PIC Level", 2);

  std::string problem;
  llvm::raw_string_ostream stream(problem);
  if (llvm::verifyModule(module, &stream)) {
    diagnostics.internal({}, "the linked module is not valid: " + problem);
    return false;
  }
  for (llvm::GlobalValue &value : module.global_values()) {
    auto *function = llvm::dyn_cast<llvm::Function>(&value);
    if (value.isDeclaration() && !(function && function->isIntrinsic()) && !isAllowedUndefined(value.getName())) {
      diagnostics.internal({}, ("the kernels of '" + interface.name + "' need the symbol '" + value.getName() +
                                "'; wanted only mhac_* and memcpy, memmove, memset")
                                   .str());
      ok = false;
    }
  }
  return ok;
}

} // namespace mhac
