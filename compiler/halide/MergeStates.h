// attn.merge_states as Halide Funcs: parts (output, lse) of rows over disjoint keys become the output over all of them.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "halide/Lanes.h"

namespace mhac::halide {

struct MergeProblem {
  int heads = 1, width = 1;
  std::function<Halide::Expr(Halide::Expr e, Halide::Expr q, Halide::Expr h, Halide::Expr b, Halide::Expr part)> output, lse; // lse: without e
  std::function<Halide::Expr(Halide::Expr h)> sink; // none: nothing joins
  Halide::Expr parts, queries;
};

/// The parts' outputs: [p, b, q, h, e], or [p, b, h, q, e] with `headsFirst`; features dense, other strides known at run time only.
Halide::ImageParam partsParam(const std::string &name, Halide::Type type);

/// Merged rows in the given layout.
Halide::Func mergeToRows(const std::string &name, const MergeProblem &problem, const RowLayout &layout);
/// Merged rows in lanes, for buffers of a multiple of `vectors` blocks.
Halide::Func mergeToLanes(const std::string &name, const MergeProblem &problem, int vectors);
/// The lse of all parts together, as heads `firstHead` and behind of a tensor [b, h, q]: without the sink.
Halide::Func mergedLse(const std::string &name, const MergeProblem &problem, int firstHead);

} // namespace mhac::halide
