// The regions of attn.attention as formulas, for people: `min(keys, q_last + keys - queries + 1)`.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "attention/AttentionDialect.h"

#include <string>
#include <vector>

namespace mhac {

/// The name of an argument of the entry; empty for other values.
std::string argumentName(mlir::Value value);

struct RegionFormulas {
  std::vector<std::string> results;                             // one a value that the region yields
  std::vector<std::pair<std::string, std::string>> definitions; // of what several of them use: name, formula
};

/// `names` are those of the region's first arguments; the others have the names of the op's params, the last two of which are the numbers
/// of queries and keys. Empty for an empty region.
RegionFormulas regionFormulas(attn::AttentionOp op, mlir::Region &region, llvm::ArrayRef<llvm::StringRef> names);
/// The same for another op with `params`; numbers of queries and keys are known by where they come from.
RegionFormulas regionFormulas(mlir::OperandRange params, mlir::Region &region, llvm::ArrayRef<llvm::StringRef> names);

} // namespace mhac
