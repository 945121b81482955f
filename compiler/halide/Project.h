// attn.project as Halide Funcs: lane-major tokens times weights that are read as scalars where they lie.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "halide/HeadNumbers.h"
#include "halide/Lanes.h"

namespace mhac::halide {

/// Tile sizes of a projection (names in #attn.schedule in quotes).
struct ProjectTiles {
  int features = 8;  // "features": output features of a register tile
  int vectors = 2;   // "vectors": blocks of 16 tokens of a register tile; 1 or 2; 0: one token, see ProjectToken.h
  int tokens = 128;  // "tokens": tokens of a task, a multiple of 32; they stay in L2 while the task's weights pass
  int slab = 128;    // "slab": output features of a task when the result is rows, a multiple of 16
  int inputs = 1024; // "inputs": input features that are summed in registers; longer sums are made of several, which also bounds their error
};

/// Row of the weight matrix for feature j of head h: see #attn.part.
struct RowMap {
  int64_t first = 0, group = 1, groupStride = 0, headStride = 0;
  std::vector<int64_t> firstRows = {}; // of the heads, where some are left out
  Halide::Expr operator()(const Halide::Expr &h, const Halide::Expr &j) const;
};

/// Features of a token that are multiplied in one instruction where they are integers.
inline constexpr int kNumbersOfGroup = 4;

/// Tokens rounded to integers of 8 bits: what quantizeTokens makes.
struct TokenNumbers {
  Halide::ImageParam numbers, scales;
};

/// Whether a weight is a number times a scale, and what has one: the inputs of a row together, or groups of them.
enum class Scaling { None, Row, Group };

/// One result of a projection.
struct ProjectPart {
  std::string name;
  NumberParam weight; // (inputs, outputs) for out_in, (outputs, inputs) for in_out
  bool outIn = true;
  Scaling scaling = Scaling::None;
  NumberParam scales;  // (groups, outputs)
  int groupInputs = 0; // that share a scale
  bool hasBias = false;
  NumberParam bias;
  RowMap row;
  int heads = 1, width = 0;
  float scale = 1.f;
  std::optional<TokenNumbers> tokens = std::nullopt; // multiplied instead of the inputs, which say how many features there are and where in a row
};

/// An input of a projection: lane-major (lane, feature, block, head, batch), `features` of each of `heads` heads.
struct ProjectInput {
  Halide::ImageParam lanes;
  int features = 0, heads = 1;
  Halide::Expr tokens;
  std::vector<int64_t> columns = {}; // where the features of each head begin in the weight; empty: head after head from the first
};

/// Each input with the number of features of those before.
std::vector<std::pair<const ProjectInput *, int>> withFirstFeatures(const std::vector<ProjectInput> &inputs);
int featuresOf(const std::vector<ProjectInput> &inputs);

/// Result in lane-major layout.
Halide::Func projectToLanes(const ProjectInput &input, const ProjectPart &part, const ProjectTiles &tiles);

/// The sum over several inputs of as many tokens, as rows [b, s, width] of one head.
Halide::Func projectToRows(const std::vector<ProjectInput> &inputs, const ProjectPart &part, NumberFormat format, const ProjectTiles &tiles);

} // namespace mhac::halide
