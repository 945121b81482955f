// Heads that are left out and heads of several widths, by hand.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "layer_builder.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

using namespace mhac;
using namespace mhac::reference;

static const float quiet_nan = std::numeric_limits<float>::quiet_NaN();

static LayerResult run(const Spec &spec, const Inputs &inputs, Sizes sizes) {
  std::string error;
  auto result = computeLayer(spec, sizes, inputs.tensors, allRows(sizes), Arithmetic::Double, error);
  EXPECT_TRUE(result) << error;
  return result.value_or(LayerResult());
}

/// One token of one feature 1, so that rows of weights are features of heads, and every head's output is its V.
static Spec oneFeature(int64_t heads, int64_t kvHeads, int64_t width) {
  Spec spec = plainSpec(heads, kvHeads, width, width);
  spec.layer.dModel.value = spec.layer.kvDModel.value = 1;
  spec.projections.input.value = InputProjection::Separate;
  spec.projections.output.value = true;
  return spec;
}

TEST(LayerReference, SkipsPrunedHeads) {
  Spec spec = oneFeature(4, 2, 1);
  spec.layer.prunedHeads = {1, 2, 3}; // of the second key/value head nothing is read
  Inputs inputs;
  inputs.add("x", {1, 1, 1}, {1}).add("wq", {4, 1}, {2, quiet_nan, quiet_nan, quiet_nan}).add("wk", {2, 1}, {5, quiet_nan});
  inputs.add("wv", {2, 1}, {7, quiet_nan}).add("wo", {1, 4}, {11, quiet_nan, quiet_nan, quiet_nan});
  LayerResult result = run(spec, inputs, {1, 1, 1});
  EXPECT_EQ(result.heads, 1);
  EXPECT_EQ(result.lse, std::vector<double>{10});
  EXPECT_EQ(result.y, std::vector<double>{77});
  EXPECT_EQ(usedParts(spec, "wq"), std::vector<bool>{true});
  spec.projections.output.value = false;
  EXPECT_EQ(run(spec, inputs, {1, 1, 1}).y, std::vector<double>{7});
}

TEST(LayerReference, KeepsTheOrderOfHeadsThatStay) {
  Spec spec = plainSpec(3, 3, 1, 1);
  spec.layer.prunedHeads = {1};
  Inputs inputs;
  inputs.add("q", {1, 1, 3, 1}, {2, quiet_nan, 3}).add("k", {1, 1, 3, 1}, {5, quiet_nan, 7}).add("v", {1, 1, 3, 1}, {11, quiet_nan, 13});
  LayerResult result = run(spec, inputs, {1, 1, 1});
  EXPECT_EQ(result.width, 2);
  EXPECT_EQ(result.y, (std::vector<double>{11, 13}));
  EXPECT_EQ(result.lse, (std::vector<double>{10, 21}));
  EXPECT_EQ(usedParts(spec, "v"), (std::vector<bool>{true, false, true}));
}

/// Heads of width 1 and 2.
static Spec twoWidths() {
  Spec spec = oneFeature(2, 2, 2);
  spec.layer.headGroups = {{1, 1}, {1, 2}};
  spec.score = {};
  return spec;
}

TEST(LayerReference, HeadsHaveTheirOwnWidthAndScale) {
  Inputs inputs;
  inputs.add("x", {1, 1, 1}, {1}).add("wq", {3, 1}, {2, 3, 4}).add("wk", {3, 1}, {5, 6, 7}).add("wv", {3, 1}, {1, 10, 100}).add("wo", {1, 3}, {1, 2, 3});
  LayerResult result = run(twoWidths(), inputs, {1, 1, 1});
  EXPECT_DOUBLE_EQ(result.lse.at(0), 10);
  EXPECT_DOUBLE_EQ(result.lse.at(1), (3 * 6 + 4 * 7) / std::sqrt(2));
  EXPECT_EQ(result.y, std::vector<double>{321});
}

TEST(LayerReference, PacksHeadsOfSeveralWidths) {
  for (auto [packing, rows] : {std::pair(Packing::Qkv, std::vector<float>{2, 3, 4, 5, 6, 7, 1, 10, 100}),
                               {Packing::PerHead, {2, 5, 1, 3, 4, 6, 7, 10, 100}}, {Packing::PerGroup, {2, 5, 1, 3, 4, 6, 7, 10, 100}}}) {
    Spec spec = twoWidths();
    spec.projections.input.value = InputProjection::Packed;
    spec.projections.packing.value = packing;
    Inputs inputs;
    inputs.add("x", {1, 1, 1}, {1}).add("wqkv", {9, 1}, rows).add("wo", {1, 3}, {1, 2, 3});
    LayerResult result = run(spec, inputs, {1, 1, 1});
    EXPECT_DOUBLE_EQ(result.lse.at(0), 10);
    EXPECT_DOUBLE_EQ(result.lse.at(1), (3 * 6 + 4 * 7) / std::sqrt(2));
    EXPECT_EQ(result.y, std::vector<double>{321});
    spec.layer.prunedHeads = {0};
    EXPECT_EQ(run(spec, inputs, {1, 1, 1}).y, std::vector<double>{320});
  }
}
