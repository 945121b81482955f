// What a layer computes, in a few lines for people: they stand in the generated header.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "mlir/IR/BuiltinOps.h"

#include <string>
#include <vector>

namespace mhac {

/// One statement each, about the first entry of a lowered or scheduled module; the candidates differ in nothing of it.
std::vector<std::string> describeLayer(mlir::ModuleOp module);

} // namespace mhac
