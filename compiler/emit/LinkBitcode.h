// Joins the bitcode that Halide made for the candidates into one module in which nothing is visible but the kernels, each under the name
// that kernelName gives. Candidates are for different instruction sets: no function of one is merged with, or inlined into, another's.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "attention/KernelInterface.h"
#include "support/Diagnostics.h"

#include "llvm/ADT/ArrayRef.h"

#include <memory>
#include <string>

namespace llvm {
class LLVMContext;
class Module;
} // namespace llvm

namespace mhac {

/// The name of kernel `kernel` of candidate `candidate` in the linked module (Halide's argv wrapper of it).
std::string kernelName(const KernelInterface &interface, size_t candidate, size_t kernel);

/// The linked module; null after an error. Every local symbol is named after entry, target and kernel, in module order, so that names do
/// not depend on Halide's counters and a profiler shows which kernel runs. Code of one module is emitted for the processor that Halide
/// chose.
std::unique_ptr<llvm::Module> linkBitcode(const KernelInterface &interface, llvm::ArrayRef<std::string> bitcode, llvm::LLVMContext &context,
                                          Diagnostics &diagnostics);

/// Last step before code generation, when the entry shims are there: everything but the public symbols of the interface becomes local,
/// what is unused goes, names and metadata that depend on Halide's counters are dropped. False when the module is not valid or needs a
/// symbol that is neither of our runtime nor one of the mem* functions.
bool finishModule(llvm::Module &module, const KernelInterface &interface, Diagnostics &diagnostics);

/// Symbols that an object may leave to others: our runtime's, memcpy, memmove and memset.
bool isAllowedUndefined(llvm::StringRef symbol);

} // namespace mhac
