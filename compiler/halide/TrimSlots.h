// Loops over the slots of a list end with the list. Halide guards the stores of such a loop by the predicate of its reduction domain, but computes what
// they store for slots behind the end too: how long a list is stands in memory, where bounds inference does not look.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "Halide.h"

namespace mhac::halide {

/// Name of the reduction domains whose loops are trimmed: predicate `slot < <length of the list>`, nothing else stored in the loop.
inline constexpr const char *kSlotLoop = "slot";

/// A lowering pass: such a loop runs to the smaller of its extent and the length.
class TrimSlots : public Halide::Internal::IRMutator {
protected:
  using IRMutator::visit;
  Halide::Internal::Stmt visit(const Halide::Internal::For *op) override;
};

} // namespace mhac::halide
