// A schedule rule: for one op, target and regime, tile sizes and the reason why they fit, or the reason why it does not apply. Rules are tried in order.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "targets/Regimes.h"
#include "targets/Target.h"

#include "llvm/ADT/SmallVector.h"
#include "mlir/IR/Operation.h"

#include <string>
#include <utility>

namespace mhac {

struct ScheduleChoice {
  bool applies = false;
  std::string reason; // of applying, or of not applying
  llvm::SmallVector<std::pair<llvm::StringRef, int64_t>> tiles;

  /// Without a reason the rule is for another kind of ops, and nobody is told that it was passed over.
  static ScheduleChoice passOver(std::string reason = "") { return {false, std::move(reason), {}}; }
};

struct ScheduleRule {
  llvm::StringLiteral name; // <target>_<method>_<tiles>
  llvm::StringLiteral op;   // the op it is for
  ScheduleChoice (*choose)(mlir::Operation *op, const Target &target, const Regime &regime);
};

/// Rules for the targets of an architecture, best first.
llvm::ArrayRef<ScheduleRule> x86Rules();
llvm::ArrayRef<ScheduleRule> armRules();
llvm::ArrayRef<ScheduleRule> riscvRules();
llvm::ArrayRef<ScheduleRule> wasmRules();
/// Rules that take every op on every target.
llvm::ArrayRef<ScheduleRule> genericRules();

} // namespace mhac
