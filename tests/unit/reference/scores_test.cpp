// The reference's score list against numbers worked out by hand.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "layer_builder.h"

#include "reference/masks.h"
#include "reference/scores.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

using namespace mhac;
using namespace mhac::reference;

static const double infinity = std::numeric_limits<double>::infinity();

/// Scores after the list for one batch row, in double; every Q·K is `scaled`.
static std::vector<double> scoresOf(const Spec &spec, const Sizes &sizes, const Tensors &inputs, double scaled, int64_t h = 0) {
  RowMask mask(spec, sizes, inputs, 0);
  RowScores scores(spec, sizes, inputs, 0, mask);
  std::vector<double> values;
  for (int64_t q = 0; q < sizes.query; ++q)
    for (int64_t k = 0; k < sizes.key; ++k)
      values.push_back(scores.score(h, q, k, scaled));
  return values;
}

static LayerResult run(const Spec &spec, Sizes sizes, const Inputs &inputs) {
  std::string error;
  auto result = computeLayer(spec, sizes, inputs.tensors, allRows(sizes), Arithmetic::Double, error);
  EXPECT_TRUE(result) << error;
  return result.value_or(LayerResult());
}

TEST(RowScores, AppliesTheListInTheOrderWritten) {
  Spec spec = plainSpec(1, 1, 1, 1);
  Inputs inputs = std::move(Inputs().add("score_bias", {1, 1, 1, 2}, {1, -3}));
  spec.score = {variant("softcap", "2.0"), variant("bias")};
  std::vector<double> capped = scoresOf(spec, {1, 1, 2}, inputs.tensors, 4);
  EXPECT_DOUBLE_EQ(capped[0], 2 * std::tanh(2.) + 1);
  EXPECT_DOUBLE_EQ(capped[1], 2 * std::tanh(2.) - 3);
  spec.score = {variant("bias"), variant("softcap", "2.0")};
  std::vector<double> biased = scoresOf(spec, {1, 1, 2}, inputs.tensors, 4);
  EXPECT_DOUBLE_EQ(biased[0], 2 * std::tanh(2.5));
  EXPECT_DOUBLE_EQ(biased[1], 2 * std::tanh(0.5));
}

TEST(RowScores, BiasIsBroadcastOverTheDimensionsListed) {
  Spec spec = plainSpec(2, 2, 1, 1);
  Inputs inputs = std::move(Inputs().add("score_bias", {1, 2, 1, 2}, {1, 2, 3, 4}));
  spec.score = {variant("bias", {{"broadcast", listTree(std::vector<std::string>{"b", "q"})}})};
  EXPECT_EQ(scoreInputs(spec, {5, 7, 2}), (std::vector<std::pair<std::string, std::vector<int64_t>>>{{"score_bias", {1, 2, 1, 2}}}));
  EXPECT_EQ(scoresOf(spec, {5, 2, 2}, inputs.tensors, 0, 0), (std::vector<double>{1, 2, 1, 2}));
  EXPECT_EQ(scoresOf(spec, {5, 2, 2}, inputs.tensors, 0, 1), (std::vector<double>{3, 4, 3, 4}));
}

TEST(RowScores, AlibiHasTheSlopesOfThePaper) {
  EXPECT_EQ(alibiSlopes(1), (std::vector<double>{1. / 256}));
  EXPECT_EQ(alibiSlopes(8), (std::vector<double>{1. / 2, 1. / 4, 1. / 8, 1. / 16, 1. / 32, 1. / 64, 1. / 128, 1. / 256}));
  std::vector<double> twelve = alibiSlopes(12); // eight as above, then the 1st, 3rd, 5th and 7th of sixteen
  ASSERT_EQ(twelve.size(), 12u);
  EXPECT_EQ(twelve[7], 1. / 256);
  for (int i = 0; i < 4; ++i)
    EXPECT_DOUBLE_EQ(twelve[8 + i], std::pow(2., -0.5 - i));
}

TEST(RowScores, AlibiIsSymmetricOrOneSided) {
  Spec spec = plainSpec(2, 2, 1, 1);
  spec.queryOffset.value = QueryOffset::TopLeft;
  const Tree slopes = listTree(std::vector<std::string>{"0.5", "2"});
  spec.score = {variant("alibi", {{"slopes", slopes}})};
  EXPECT_EQ(scoresOf(spec, {1, 2, 3}, {}, 10, 1), (std::vector<double>{10, 8, 6, 8, 10, 8}));
  spec.score = {variant("alibi", {{"slopes", slopes}, {"form", scalarTree("one_sided")}})};
  EXPECT_EQ(scoresOf(spec, {1, 2, 3}, {}, 10, 1), (std::vector<double>{10, 12, 14, 8, 10, 12}));
  EXPECT_EQ(scoresOf(spec, {1, 2, 3}, {}, 10, 0), (std::vector<double>{10, 10.5, 11, 9.5, 10, 10.5}));
}

TEST(RowScores, RelativeBiasHasTheBucketsOfT5) {
  // 32 buckets, 128: keys of the past in 0 to 15, of the future in 16 to 31; 8 exact ones, then 8 to 11 in bucket 8, 12 to 15 in 9, 16 to 22 in 10.
  for (auto [distance, bucket] : {std::pair{0, 0}, {-1, 1}, {-7, 7}, {-8, 8}, {-11, 8}, {-12, 9}, {-16, 10}, {-32, 12}, {-64, 14}, {-90, 14}, {-91, 15},
                                  {-128, 15}, {-100000, 15}, {1, 17}, {7, 23}, {8, 24}, {128, 31}, {100000, 31}})
    EXPECT_EQ(relativeBucket(distance, 32, 128, true), bucket) << distance;
  // One-sided: 16 exact ones, keys of the future in bucket 0.
  for (auto [distance, bucket] : {std::pair{5, 0}, {0, 0}, {-15, 15}, {-16, 16}, {-32, 21}, {-127, 31}, {-128, 31}, {-5000, 31}})
    EXPECT_EQ(relativeBucket(distance, 32, 128, false), bucket) << distance;
  EXPECT_EQ(relativeBucket(-9, 1, 4, false), 0);
  EXPECT_EQ(relativeBucket(9, 2, 4, true), 1);
}

TEST(RowScores, RelativeBiasReadsTheTableByBucketAndHead) {
  Spec spec = plainSpec(2, 2, 1, 1);
  spec.score = {variant("relative_bias", {{"buckets", scalarTree("4")}, {"max_distance", scalarTree("2")}, {"bidirectional", scalarTree("true")}})};
  Inputs inputs = std::move(Inputs().add("relative_bias", {4, 2}, {1, 10, 2, 20, 3, 30, 4, 40})); // buckets 0: at or before, 1: further, 3: behind
  EXPECT_EQ(scoresOf(spec, {1, 2, 2}, inputs.tensors, 0, 0), (std::vector<double>{1, 4, 2, 1}));
  EXPECT_EQ(scoresOf(spec, {1, 2, 2}, inputs.tensors, 0, 1), (std::vector<double>{10, 40, 20, 10}));
}

/// One head of width 1 with keys 0 and ln 3.
static Inputs twoKeys() {
  return std::move(Inputs().add("q", {1, 1, 1, 1}, {1}).add("k", {1, 2, 1, 1}, {0, std::log(3.f)}).add("v", {1, 2, 1, 1}, {0, 4}));
}

TEST(RowScores, SinkIsInTheDenominatorOnly) {
  Spec spec = plainSpec(1, 1, 1, 1);
  spec.score.push_back(variant("sink"));
  LayerResult result = run(spec, {1, 1, 2}, std::move(twoKeys().add("sinks", {1}, {std::log(4.f)})));
  EXPECT_NEAR(result.y.at(0), 3 * 4. / 8, 1e-6);
  EXPECT_NEAR(result.lse.at(0), std::log(4), 1e-6);
  EXPECT_EQ(run(spec, {1, 1, 2}, std::move(twoKeys().add("sinks", {1}, {1000}))).y.at(0), 0);
}

TEST(RowScores, ScoresFarBelowEverythingHideTheirKey) {
  Spec spec = plainSpec(1, 1, 1, 1);
  spec.score.push_back(variant("bias"));
  for (float low : {float(-infinity), -3e38f, -1.2e38f}) {
    LayerResult one = run(spec, {1, 1, 2}, std::move(twoKeys().add("score_bias", {1, 1, 1, 2}, {0, low})));
    EXPECT_EQ(one.y.at(0), 0);
    EXPECT_EQ(one.lse.at(0), 0);
    LayerResult none = run(spec, {1, 1, 2}, std::move(twoKeys().add("score_bias", {1, 1, 1, 2}, {low, low})));
    EXPECT_EQ(none.y.at(0), 0);
    EXPECT_EQ(none.lse.at(0), -infinity);
  }
  LayerResult finite = run(spec, {1, 1, 2}, std::move(twoKeys().add("score_bias", {1, 1, 1, 2}, {-1e38f, -1e38f})));
  EXPECT_EQ(finite.y.at(0), 2);
  LayerResult nan = run(spec, {1, 1, 2}, std::move(twoKeys().add("score_bias", {1, 1, 1, 2}, {NAN, float(-infinity)})));
  EXPECT_TRUE(std::isnan(nan.y.at(0)));
}
