// The machines that mhac compiles for: named ones (Targets.def), `host`, and Halide's own strings.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace mhac {

struct ScheduleRule;

/// What an object is made for; the choice at run time is among targets of one.
struct Architecture {
  llvm::StringLiteral name;   // as CMake and `uname -m` call it
  llvm::StringLiteral halide; // Halide's strings begin with it
  llvm::ArrayRef<ScheduleRule> (*rules)();
};

struct Target {
  std::string name;         // as in IR, manifest and --target
  std::string halide;       // Halide's string, without the features that concern its runtime
  const Architecture *architecture = nullptr; // one of the table's, never null
  uint64_t features = 0;    // bits that the CPU must have, MHAC_CPU_* of the runtime
  int vectorRegisters = 16; // architectural vector registers
  int vectorLanes = 4;      // f32 values in one
  int64_t l1Bytes = 0, l2Bytes = 0;
  std::string sentence;
};

/// Targets.def, best first.
llvm::ArrayRef<Target> namedTargets();

/// The architectures that there are targets of.
llvm::ArrayRef<Architecture> architectures();

/// The one of this machine; null when no target is for it.
const Architecture *hostArchitecture();

/// A named target, `host` (the best named target that this machine runs), or a string of Halide's for one of the architectures. Empty when it is none of
/// these; `reason` then says what is wrong with it.
std::optional<Target> findTarget(llvm::StringRef text, std::string &reason);

/// Whether a CPU that runs `other` runs everything of `target`, too.
bool includes(const Target &other, const Target &target);

} // namespace mhac
