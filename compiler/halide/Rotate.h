// attn.rotate and attn.normalize as Halide Funcs: a chain of them on Q or K is one kernel from lanes or rows to lanes.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "halide/Lanes.h"

#include <variant>

namespace mhac::halide {

/// Rotates the pairs (j, j + P), or (2 j, 2 j + 1) if interleaved, of the P = frequencies.size() first pairs of features.
struct RotateStep {
  std::vector<double> frequencies; // radians a position
  double magnitude = 1;            // multiplies what is rotated
  float scale = 1.f;               // multiplies everything
  bool interleaved = false;
  std::function<Halide::Expr(Halide::Expr b, Halide::Expr s)> position; // int32
  std::optional<Halide::ImageParam> table; // prepared cosines and sines, see rotaryTable; read where it has an extent
};

/// x / sqrt(mean x^2 + epsilon), or with `l2` x / max(sqrt(sum x^2), epsilon), of a head or across all heads; times `weight` when there is one.
struct NormalizeStep {
  bool l2 = false, acrossHeads = false;
  float epsilon = 0.f, scale = 1.f;
  std::function<Halide::Expr(Halide::Expr h, Halide::Expr f)> weight;
};

using EncodeStep = std::variant<NormalizeStep, RotateStep>;

struct EncodeProblem {
  std::string name;
  Halide::ImageParam lanes; // the heads in lane-major layout,
  Accessor rows;            // or as rows
  Halide::Expr tokens;
  int heads = 1, features = 1;
  int vectors = 1; // buffers have a multiple of so many blocks
  std::vector<EncodeStep> steps;
};

/// The heads after all steps, lane-major.
Halide::Func encodeHeads(const EncodeProblem &problem);

/// Cosine and sine by position: (position, row) with the cosines of all pairs, then the sines, times `magnitude`. One task without scratch.
Halide::Func rotaryTable(const std::string &name, const std::vector<double> &frequencies, double magnitude);
/// Such a table as an argument.
Halide::ImageParam rotaryTableParam(const std::string &name);

/// A frequency in radians a position as 2^-64 of a turn: its product with a position, modulo 2^64, is the phase, exact for positions of any size.
uint64_t turnsOfFrequency(double radians);

} // namespace mhac::halide
