// The regions of attn.attention as formulas, for people: `min(keys, q_last + keys - queries + 1)`.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "attention/AttentionDialect.h"

#include <string>
#include <vector>

namespace mhac {

/// The name of an argument of the entry; empty for other values.
std::string argumentName(mlir::Value value);

/// One formula a value that the region yields. `names` are those of the region's first arguments; the others have the names of the op's params, the
/// last two of which are the numbers of queries and keys. Empty for an empty region.
std::vector<std::string> regionFormulas(attn::AttentionOp op, mlir::Region &region, llvm::ArrayRef<llvm::StringRef> names);

} // namespace mhac
