// Runs a mask or blocks region of attn.attention on given numbers, one op at a time: the judge of the passes, which shares nothing with
// them.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "mlir/IR/Block.h"

#include <cstdint>
#include <map>
#include <string>
#include <vector>

/// What an argument of a region stands for: a number, or the elements of a dense tensor, without a shape of one dimension. A float is the bits of
/// a double.
struct region_argument {
  int64_t number = 0;
  std::vector<int64_t> elements = {};
  std::vector<int64_t> shape = {};
};

/// The yielded numbers; conditions are 0 or 1. Throws nothing: an op it does not know fails the running test and yields 0.
std::vector<int64_t> run_region(mlir::Block &block, const std::vector<region_argument> &arguments);
