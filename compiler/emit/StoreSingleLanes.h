// A masked store of one lane is a scalar store. LLVM 22 makes one by itself, but where the value was truncated to 16 bits it stores all 32 of the lane, over
// the neighbour of the last feature.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "llvm/IR/Module.h"

namespace mhac {

/// For masks that are constants; others become mask registers. Runs after LLVM's own passes, which find out what is constant. Returns the number of
/// stores replaced.
unsigned storeSingleLanes(llvm::Module &module);

} // namespace mhac
