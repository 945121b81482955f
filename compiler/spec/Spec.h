// The value of stage 1: what a YAML spec says, as plain structs, every field with its place in the file. Defaults are filled in and fields are
// consistent with each other; masks, positions and score changes stay located trees, because only their own attribute knows their keys
// (compiler/attention/VariantInterface).
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "spec/Expression.h"
#include "support/DTypes.h"
#include "support/Located.h"

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace mhac {

/// A YAML node with places: what is left of the file where the reader does not know the keys.
struct Tree {
  enum class Kind { Null, Scalar, List, Map };
  Kind kind = Kind::Null;
  SourceLocation loc;
  std::string scalar;
  bool quoted = false; // a scalar in quotes or a block scalar: never a number, a truth value or null
  /// Where the characters from `offset` on stand, for a scalar that is not in the file as it is (escapes, several lines); see placeIn.
  struct Piece {
    size_t offset;
    unsigned line, column;
  };
  std::vector<Piece> pieces = {};
  std::vector<Tree> items;                                   // List
  std::vector<std::pair<Located<std::string>, Tree>> fields; // Map, in file order, no duplicates
};

/// One element of `mask`, `position` or `score`: `causal` or `padding: {side: right}`.
struct VariantSpec {
  Located<std::string> word;
  Tree arguments; // Null when the word stands alone
};

/// A size of the call: a number fixes it, {max: n} bounds it, `dynamic` leaves it open.
struct SizeSpec {
  enum class Kind { Fixed, Bounded, Dynamic };
  Kind kind = Kind::Dynamic;
  int64_t value = 0; // Fixed: the size; Bounded: the largest
};

enum class Source { Self, Cross };
enum class InputProjection { Packed, Separate, None };
enum class Packing { Qkv, PerHead, PerGroup };
enum class WeightLayout { OutIn, InOut };
enum class ActivationLayout { Bshd, Bhsd };
enum class QueryOffset { BottomRight, TopLeft, RowEnd };
enum class OutputKind { Y, Lse, AttentionMap, MapStatistics, KeyMass, HeadNorms };
/// Which map `attention_map` is: scaled scores, after the score list, with the mask, after softmax.
enum class MapStage { Scores, Modified, Masked, Probabilities };

/// Consecutive heads of one width.
struct HeadGroup {
  int64_t heads = 0;
  int64_t width = 0; // of Q, K and V
};

struct LayerSpec {
  SourceLocation loc;
  Located<int64_t> dModel;   // features of x, and of y with output projection
  Located<int64_t> heads;    // query heads
  Located<int64_t> kvHeads;  // divides heads
  Located<int64_t> headDim;  // width of a head of Q and K
  Located<int64_t> vHeadDim; // width of a head of V
  Located<Source> source;
  std::vector<HeadGroup> headGroups; // heads of several widths, of which headDim and vHeadDim are the largest; empty when all are the same
  std::vector<int64_t> prunedHeads;  // query heads left out, increasing; at least one head stays
  Located<int64_t> kvDModel; // features of `memory`; dModel for self-attention
  std::optional<VariantSpec> qkNorm; // normalisation of Q and K
};

struct ProjectionSpec {
  SourceLocation loc;
  Located<InputProjection> input;
  Located<Packing> packing;
  Located<WeightLayout> weightLayout;
  Located<bool> output;
  Located<bool> biasInput;
  Located<bool> biasOutput;
};

struct ShapeSpec {
  SourceLocation loc;
  Located<SizeSpec> batch, query, key; // key equals query for self-attention with input projections
  Located<ActivationLayout> layout;
};

/// How products with weights that have scales are made.
enum class WeightCompute { WeightOnly, W8A8 };

struct DTypeSpec {
  SourceLocation loc;
  Located<DType> activations, weights, accumulate;
  Located<int64_t> weightGroup;        // inputs of a row that share a scale; 0: all of them
  Located<WeightCompute> weightCompute;

  bool hasScales() const { return dtypeInfo(*weights).isScaled(); }
  /// Of biases and the weights of norms.
  DType vectors() const { return hasScales() ? DType::F32 : *weights; }
  /// Scales of a row of a weight.
  int64_t groupsOf(int64_t inputs) const { return *weightGroup == 0 ? 1 : inputs / *weightGroup; }
};

struct Spec {
  std::string file; // as given on the command line, its last component only
  SourceLocation loc;
  Located<std::string> name;
  LayerSpec layer;
  ProjectionSpec projections;
  ShapeSpec shape;
  Located<QueryOffset> queryOffset;
  std::vector<VariantSpec> mask, position, score;
  DTypeSpec dtype;
  std::vector<ExpressionParameter> parameters; // of expressions; in file order
  std::optional<Located<SizeSpec>> mergeParts; // the entry joins that many parts (merge_states) instead of computing attention
  std::vector<Located<OutputKind>> outputs; // without duplicates; y is always among them
  Located<MapStage> mapStage;               // of attention_map
  Located<int64_t> diagonalWindow;          // of map_statistics: positions on each side of the diagonal that belong to it

  bool hasOutput(OutputKind kind) const {
    for (const Located<OutputKind> &output : outputs)
      if (*output == kind)
        return true;
    return false;
  }
};

} // namespace mhac
