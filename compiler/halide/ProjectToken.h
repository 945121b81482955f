// attn.project for calls of one token: a matrix times a vector, which takes as long as reading the matrix. Input features are in the lanes, so that a row
// of weights is read in its order, once, in full vectors, and nothing is computed for tokens that are not there.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "halide/Project.h"

namespace mhac::halide {

/// The one token's features as the kernel multiplies them: (lane, place, vector, batch). A lane of a vector holds the numbers that a byte of the weight
/// has, one a place, which are multiplied with features divided by powerOf(place); what is left behind the last whole vector follows, number by number.
struct TokenVector {
  int features = 0;
  NumberFormat weights = NumberFormat();
  int places() const { return weights.numbersPerByte(); }
  int vectorFeatures() const { return kLanes * places(); }
  int vectors() const { return features / vectorFeatures(); }
  int rest() const { return features % vectorFeatures(); }
  int storedVectors() const { return vectors() + (rest() > 0 ? 1 : 0); }
};
Halide::ImageParam tokenVectorParam(const std::string &name, const TokenVector &layout);
Halide::Func gatherToken(const std::string &name, const ProjectInput &input, const TokenVector &layout);

/// Results as those of projectToLanes, with the token in every lane, and projectToRows.
Halide::Func projectTokenToLanes(const Halide::ImageParam &token, const TokenVector &layout, const ProjectPart &part);
Halide::Func projectTokenToRows(const Halide::ImageParam &token, const TokenVector &layout, const ProjectPart &part, NumberFormat format);

} // namespace mhac::halide
