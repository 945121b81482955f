// Runs a region of attn.attention on given numbers, one op after the other: for pictures of masks. Kernels get their regions from the Halide stage.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "mlir/IR/Block.h"

#include <cstdint>
#include <optional>

namespace mhac::attn {

/// An integer, index or truth value in `integer`, a float in `real`.
struct RegionNumber {
  int64_t integer = 0;
  double real = 0;
};

/// What stands for the elements of tensors: `element` gives any of an argument's, `extent` its size along a dimension.
struct RegionTensors {
  llvm::function_ref<RegionNumber(mlir::BlockArgument tensor, llvm::ArrayRef<int64_t> index)> element;
  llvm::function_ref<int64_t(mlir::BlockArgument tensor, int64_t dim)> extent;
};

/// The yielded numbers for the block's arguments (those that are tensors have no number). Nothing when there is an op that is not known.
std::optional<llvm::SmallVector<RegionNumber>> evaluateRegion(mlir::Block &block, llvm::ArrayRef<RegionNumber> arguments, const RegionTensors &tensors);

} // namespace mhac::attn
