// Regimes: kinds of calls that want kernels or an order of their own. Every function is copied once a target and regime.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "attention/AttentionDialect.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

#include <cstdint>

namespace mhac {

struct Regime {
  llvm::StringLiteral name; // ends the symbol of the copy; "" for the ordinary one
  // What calls it is for: minimum <= size <= maximum, or size / workers with `perWorker`; "": all calls.
  llvm::StringLiteral size; // "key" means "query" where queries and keys are the same tokens
  bool perWorker;
  int64_t minimum, maximum;
  bool batchMajor; // runs all kernels for one element of the batch, then for the next
  bool onlyLayers; // is for functions with projections
  bool onlyScales; // is for functions whose weights have scales and are multiplied as floats
  int64_t fewestQueries = 0; // a second condition, beside the size
  bool packsKeys = false;    // is for functions whose keys or values are worth a copy, and makes it

  /// An upper bound of the tokens (queries of attn.attention) that a scheduled op has in this regime.
  int64_t mostTokens(mlir::Operation *op) const;
  /// A lower bound of the keys of attn.attention.
  int64_t fewestKeys() const { return size == "key" ? minimum : 0; }
};

struct RegimeOfFunction {
  const Regime *regime;
  llvm::SmallVector<mlir::Attribute> guards; // attn::GuardAttr, those that the bounds of the sizes do not imply
};

/// Those that calls of the function can be in, in the order in which they are tried; the last takes everything.
llvm::SmallVector<RegimeOfFunction> regimesOf(mlir::func::FuncOp function);

} // namespace mhac
