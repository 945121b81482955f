// SSE2 has no instruction that rounds to an integer, and LLVM would call the C library's floorf, which objects do not have. Arithmetic does it: adding and
// subtracting 2^23 rounds to the nearest integer.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "llvm/IR/Module.h"

namespace mhac {

/// In functions for x86 without SSE4.1: floor, ceil, trunc and roundeven of f32 and vectors of them. Returns the number of calls replaced.
unsigned expandRounding(llvm::Module &module);

} // namespace mhac
