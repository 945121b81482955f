// The reference against numbers worked out by hand.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "layer_builder.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

using namespace mhac;
using namespace mhac::reference;

static const float quiet_nan = std::numeric_limits<float>::quiet_NaN();
static const double infinity = std::numeric_limits<double>::infinity();

static LayerResult run(const Spec &spec, Sizes sizes, const Inputs &inputs, Arithmetic arithmetic = Arithmetic::Double) {
  std::string error;
  auto result = computeLayer(spec, sizes, inputs.tensors, allRows(sizes), arithmetic, error);
  EXPECT_TRUE(result) << error;
  return result.value_or(LayerResult());
}

static std::string failure(const Spec &spec, Sizes sizes, const Inputs &inputs) {
  std::string error;
  EXPECT_FALSE(computeLayer(spec, sizes, inputs.tensors, allRows(sizes), Arithmetic::Double, error));
  return error;
}

/// One head of width 1 with keys 0 and ln 3: the weights are 1/4 and 3/4.
static Inputs twoKeys() {
  return std::move(Inputs().add("q", {1, 1, 1, 1}, {1}).add("k", {1, 2, 1, 1}, {0, std::log(3.f)}).add("v", {1, 2, 1, 1}, {0, 4}));
}

TEST(LayerReference, ComputesSoftmaxOfTwoKeys) {
  for (Arithmetic arithmetic : {Arithmetic::Double, Arithmetic::Float}) {
    LayerResult result = run(plainSpec(1, 1, 1, 1), {1, 1, 2}, twoKeys(), arithmetic);
    EXPECT_NEAR(result.y.at(0), 3, 1e-6);
    EXPECT_NEAR(result.lse.at(0), std::log(4), 1e-6);
  }
}

TEST(LayerReference, DoubleIsMoreExactThanFloat) {
  LayerResult exact = run(plainSpec(1, 1, 1, 1), {1, 1, 2}, twoKeys());
  double lnThree = std::log(3.f), wanted = std::log(1 + std::exp(lnThree));
  EXPECT_NEAR(exact.lse.at(0), wanted, 1e-15);
  LayerResult naive = run(plainSpec(1, 1, 1, 1), {1, 1, 2}, twoKeys(), Arithmetic::Float);
  EXPECT_EQ(naive.lse.at(0), double(float(naive.lse.at(0))));
}

TEST(LayerReference, ScaleDefaultsToOneOverRootHeadDim) {
  Spec spec = plainSpec(1, 1, 4, 1);
  Inputs inputs = std::move(Inputs().add("q", {1, 1, 1, 4}, {1, 1, 1, 1}).add("k", {1, 1, 1, 4}, {1, 2, 3, 4}).add("v", {1, 1, 1, 1}, {7}));
  EXPECT_DOUBLE_EQ(run(spec, {1, 1, 1}, inputs).lse.at(0), 10);
  spec.score = {variant("scale", "default")};
  EXPECT_DOUBLE_EQ(run(spec, {1, 1, 1}, inputs).lse.at(0), 5);
  spec.score = {};
  EXPECT_DOUBLE_EQ(run(spec, {1, 1, 1}, inputs).lse.at(0), 5);
}

TEST(LayerReference, CausalHidesLaterKeysEvenNaN) {
  Spec spec = plainSpec(1, 1, 1, 1);
  spec.mask = {variant("causal")};
  spec.queryOffset.value = QueryOffset::TopLeft;
  Inputs inputs = std::move(Inputs().add("q", {1, 2, 1, 1}, {0, 0}).add("k", {1, 3, 1, 1}, {5, 5, quiet_nan}));
  inputs.add("v", {1, 3, 1, 1}, {2, 4, quiet_nan});
  EXPECT_EQ(run(spec, {1, 2, 3}, inputs).y, (std::vector<double>{2, 3}));
}

TEST(LayerReference, FullyMaskedRowIsZeroWhateverItsQuery) {
  Spec spec = plainSpec(1, 1, 1, 1);
  spec.mask = {variant("causal")}; // two queries, one key: query 0 has position -1
  Inputs inputs = std::move(Inputs().add("q", {1, 2, 1, 1}, {quiet_nan, 0}).add("k", {1, 1, 1, 1}, {5}).add("v", {1, 1, 1, 1}, {9}));
  LayerResult result = run(spec, {1, 2, 1}, inputs);
  EXPECT_EQ(result.y, (std::vector<double>{0, 9}));
  EXPECT_EQ(result.lse.at(0), -infinity);
}

TEST(LayerReference, ZeroKeysGiveTheOutputBias) {
  Spec spec = plainSpec(1, 1, 1, 1);
  spec.projections.output.value = spec.projections.biasOutput.value = true;
  Inputs inputs = std::move(Inputs().add("q", {1, 1, 1, 1}, {3}).add("k", {1, 0, 1, 1}, {}).add("v", {1, 0, 1, 1}, {}));
  inputs.add("wo", {1, 1}, {2}).add("bo", {1}, {0.5f});
  LayerResult result = run(spec, {1, 1, 0}, inputs);
  EXPECT_EQ(result.y.at(0), 0.5);
  EXPECT_EQ(result.lse.at(0), -infinity);
}

TEST(LayerReference, QueryHeadsShareKeyValueHeads) {
  Inputs inputs = std::move(Inputs().add("q", {1, 1, 4, 1}, {1, 1, 1, 1}).add("k", {1, 1, 2, 1}, {1, 2}).add("v", {1, 1, 2, 1}, {10, 20}));
  LayerResult result = run(plainSpec(4, 2, 1, 1), {1, 1, 1}, inputs);
  EXPECT_EQ(result.y, (std::vector<double>{10, 10, 20, 20}));
  EXPECT_EQ(result.lse, (std::vector<double>{1, 1, 2, 2}));
}

TEST(LayerReference, ReadsHeadsBeforePositionsInBhsd) {
  Spec spec = plainSpec(2, 2, 1, 1);
  spec.shape.layout.value = ActivationLayout::Bhsd;
  spec.mask = {variant("causal")}; // query 0 sees key 0 only
  Inputs inputs = std::move(Inputs().add("q", {1, 2, 2, 1}, {0, 0, 0, 0}).add("k", {1, 2, 2, 1}, {0, 0, 0, 0}));
  inputs.add("v", {1, 2, 2, 1}, {1, 3, 10, 30});
  EXPECT_EQ(run(spec, {1, 2, 2}, inputs).y, (std::vector<double>{1, 10, 2, 20}));
}

/// Two heads with d = 1, e = 1 and d_model 1 on the token 1: weight row r holds r + 1, so that values name the row they came from.
static LayerResult runPacked(Packing packing, int64_t kvHeads, WeightLayout layout) {
  Spec spec = plainSpec(2, kvHeads, 1, 1);
  spec.layer.dModel.value = spec.layer.kvDModel.value = 1;
  spec.projections.input.value = InputProjection::Packed;
  spec.projections.packing.value = packing;
  spec.projections.weightLayout.value = layout;
  int64_t rows = 2 + 2 * kvHeads;
  std::vector<float> weights;
  for (int64_t r = 0; r < rows; ++r)
    weights.push_back(float(r + 1));
  std::vector<int64_t> shape = layout == WeightLayout::OutIn ? std::vector<int64_t>{rows, 1} : std::vector<int64_t>{1, rows};
  return run(spec, {1, 1, 1}, std::move(Inputs().add("x", {1, 1, 1}, {1}).add("wqkv", shape, weights)));
}

TEST(LayerReference, UnderstandsEveryPacking) {
  for (WeightLayout layout : {WeightLayout::OutIn, WeightLayout::InOut}) {
    LayerResult qkv = runPacked(Packing::Qkv, 2, layout); // q0 q1 k0 k1 v0 v1
    EXPECT_EQ(qkv.y, (std::vector<double>{5, 6}));
    EXPECT_EQ(qkv.lse, (std::vector<double>{1 * 3, 2 * 4}));
    LayerResult perHead = runPacked(Packing::PerHead, 2, layout); // q0 k0 v0 q1 k1 v1
    EXPECT_EQ(perHead.y, (std::vector<double>{3, 6}));
    EXPECT_EQ(perHead.lse, (std::vector<double>{1 * 2, 4 * 5}));
    LayerResult perGroup = runPacked(Packing::PerGroup, 1, layout); // q0 q1 k0 v0
    EXPECT_EQ(perGroup.y, (std::vector<double>{4, 4}));
    EXPECT_EQ(perGroup.lse, (std::vector<double>{1 * 3, 2 * 3}));
  }
}

TEST(LayerReference, CrossAttentionProjectsMemoryOfItsOwnWidth) {
  Spec spec = plainSpec(1, 1, 1, 1);
  spec.layer.source.value = Source::Cross;
  spec.layer.dModel.value = 2;
  spec.layer.kvDModel.value = 3;
  spec.projections.input.value = InputProjection::Separate;
  spec.projections.biasInput.value = spec.projections.output.value = spec.projections.biasOutput.value = true;
  Inputs inputs = std::move(Inputs().add("x", {1, 1, 2}, {1, 2}).add("memory", {1, 1, 3}, {1, 2, 3}));
  inputs.add("wq", {1, 2}, {1, 1}).add("wk", {1, 3}, {1, 0, 1}).add("wv", {1, 3}, {0, 0, 2}); // q = 3, k = 4, v = 6, without biases
  inputs.add("bq", {1}, {0.5f}).add("bk", {1}, {1}).add("bv", {1}, {-1});
  inputs.add("wo", {2, 1}, {1, 2}).add("bo", {2}, {100, 200});
  LayerResult result = run(spec, {1, 1, 1}, inputs);
  EXPECT_EQ(result.y, (std::vector<double>{105, 210}));
  EXPECT_EQ(result.lse.at(0), 3.5 * 5);
}

TEST(LayerReference, InOutOutputWeightsAreReadByColumns) {
  Spec spec = plainSpec(2, 2, 1, 1);
  spec.projections.output.value = true;
  spec.projections.weightLayout.value = WeightLayout::InOut;
  Inputs inputs = std::move(Inputs().add("q", {1, 1, 2, 1}, {0, 0}).add("k", {1, 1, 2, 1}, {0, 0}).add("v", {1, 1, 2, 1}, {1, 10}));
  inputs.add("wo", {2, 2}, {1, 2, 3, 4}); // y = [1, 10] · [[1, 2], [3, 4]]
  EXPECT_EQ(run(spec, {1, 1, 1}, inputs).y, (std::vector<double>{31, 42}));
}

TEST(LayerReference, FollowsStridesAndComputesOnlyTheRowsAskedFor) {
  Spec spec = plainSpec(1, 1, 1, 1);
  std::vector<float> memory{1, quiet_nan, 2, quiet_nan, 3};
  Inputs inputs = std::move(Inputs().add("q", {1, 3, 1, 1}, {quiet_nan, quiet_nan, 0}).add("k", {1, 3, 1, 1}, {0, 0, 0}));
  inputs.tensors["v"] = {DType::F32, memory.data(), {1, 3, 1, 1}, {0, 2, 0, 0}};
  std::string error;
  auto result = computeLayer(spec, {1, 3, 3}, inputs.tensors, {{0, 2}}, Arithmetic::Double, error);
  ASSERT_TRUE(result) << error;
  EXPECT_EQ(result->y, (std::vector<double>{2}));
}

TEST(LayerReference, CountsTheVisiblePairsOnly) {
  Spec spec = plainSpec(2, 2, 3, 5);
  spec.mask = {variant("causal")};
  EXPECT_EQ(usefulFlops(spec, {1, 4, 4}, {}), 2. * 10 * 2 * (3 + 5));
}

TEST(LayerReference, CountsPairsOfEveryHeadThatSeesThem) {
  Spec spec = plainSpec(2, 2, 3, 5);
  spec.mask = {variant("tensor", {{"dtype", scalarTree("bool")}, {"broadcast", listTree({scalarTree("q")})}})};
  Inputs inputs = std::move(Inputs().addFlags("mask", {1, 2, 1, 3}, {1, 1, 1, 0, 1, 0}));
  EXPECT_EQ(usefulFlops(spec, {1, 2, 4}, inputs.tensors), 2. * 2 * (3 + 1) * (3 + 5));
}

TEST(LayerReference, HeadsSeeDifferentKeysThroughATensorMask) {
  Spec spec = plainSpec(2, 1, 1, 1);
  spec.mask = {variant("tensor", "dtype", "bool")};
  Inputs inputs = std::move(Inputs().add("q", {1, 1, 2, 1}, {0, 0}).add("k", {1, 3, 1, 1}, {5, 5, 5}).add("v", {1, 3, 1, 1}, {2, 4, quiet_nan}));
  inputs.addFlags("mask", {1, 2, 1, 2}, {1, 0, 1, 255});
  EXPECT_EQ(run(spec, {1, 1, 3}, inputs).y, (std::vector<double>{2, 3}));
}

TEST(LayerReference, FloatMasksAreAddedToTheScore) {
  Spec spec = plainSpec(1, 1, 1, 1);
  spec.mask = {variant("tensor", "dtype", "float")};
  Inputs inputs = std::move(Inputs().add("q", {1, 1, 1, 1}, {1}).add("k", {1, 4, 1, 1}, {1, 1, quiet_nan, quiet_nan}));
  inputs.add("v", {1, 4, 1, 1}, {0, 4, quiet_nan, quiet_nan}).add("mask", {1, 1, 1, 3}, {0, std::log(3.f), -std::numeric_limits<float>::infinity()});
  LayerResult result = run(spec, {1, 1, 4}, inputs);
  EXPECT_NEAR(result.y.at(0), 3, 1e-6);
  EXPECT_NEAR(result.lse.at(0), 1 + std::log(4), 1e-6);
}

TEST(LayerReference, RefusesWhatItDoesNotKnow) {
  Spec spec = plainSpec(1, 1, 1, 1);
  EXPECT_EQ(failure(spec, {1, 1, 2}, Inputs()), "the input 'q' is missing");
  EXPECT_EQ(failure(spec, {1, 1, 3}, twoKeys()), "the input 'k' has shape [1, 2, 1, 1], wanted [1, 3, 1, 1]");
  spec.mask = {anyOf({{variant("causal")}, {variant("causal"), variant("blurb")}})};
  EXPECT_EQ(failure(spec, {1, 1, 2}, twoKeys()), "the reference does not know the mask 'blurb'");
  spec.mask = {};
  spec.score = {variant("warp", "50.0")};
  EXPECT_EQ(failure(spec, {1, 1, 2}, twoKeys()), "the reference does not know the score change 'warp'");
  spec.score = {variant("bias")};
  EXPECT_EQ(failure(spec, {1, 1, 2}, twoKeys()), "the input 'score_bias' is missing");
}
