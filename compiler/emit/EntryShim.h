// The public functions of an entry and the constant tables (runtime/src/kernel_descriptor.h) that they hand to the runtime, which checks
// the arguments, picks a candidate and runs its kernels. Added to the module that linkBitcode made.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "attention/KernelInterface.h"

#include "llvm/ADT/ArrayRef.h"

#include <string>
#include <utility>

namespace llvm {
class Module;
} // namespace llvm

namespace mhac {

/// Adds <name>, <name>_workspace_bytes and <name>_info, and <name>_prepare and <name>_prepared_bytes where there is prepared state, compiled for the baseline of the architecture, and their tables.
void addEntryShim(const KernelInterface &interface, llvm::Module &module);

/// The object's one mutable global: the CPU features found by the first call.
std::string featureCacheName(const KernelInterface &interface);

/// All targets of the entry, comma separated, best first, each once.
std::string targetList(const KernelInterface &interface);

/// The tables' layouts as this stage writes them, for the test that compares them with the C header: struct name and its fields in order;
/// every field has 8 bytes but `dims`, which has MHAC_MAX_RANK extents.
llvm::ArrayRef<std::pair<llvm::StringRef, std::vector<llvm::StringRef>>> descriptorLayouts();

} // namespace mhac
