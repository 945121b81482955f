// The masks of the reference as pictures drawn by hand: one line a query, # visible, . hidden.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "layer_builder.h"

#include "reference/masks.h"

#include <gtest/gtest.h>

#include <limits>

using namespace mhac;
using namespace mhac::reference;

namespace {

using Fields = std::vector<std::pair<std::string, Tree>>;

std::string picture(const Spec &spec, Sizes sizes, const Inputs &inputs = {}, int64_t h = 0, int64_t b = 0) {
  EXPECT_EQ(unknownMask(spec), "");
  RowMask mask(spec, sizes, inputs.tensors, b);
  std::string text;
  for (int64_t q = 0; q < sizes.query; ++q, text += '/')
    for (int64_t k = 0; k < sizes.key; ++k)
      text += mask.isVisible(h, q, k) ? '#' : '.';
  return text;
}

/// A spec of one head with these masks.
Spec masked(std::vector<VariantSpec> masks, QueryOffset offset = QueryOffset::BottomRight) {
  Spec spec = plainSpec(1, 1, 1, 1);
  spec.mask = std::move(masks);
  spec.queryOffset.value = offset;
  return spec;
}

/// The same with queries and keys that are the same tokens.
Spec selfProjected(std::vector<VariantSpec> masks) {
  Spec spec = masked(std::move(masks));
  spec.projections.input.value = InputProjection::Separate;
  return spec;
}

Fields numbers(std::initializer_list<std::pair<const char *, int>> list) {
  Fields fields;
  for (auto [key, value] : list)
    fields.emplace_back(key, scalarTree(std::to_string(value)));
  return fields;
}

VariantSpec padding(const char *side) { return variant("padding", "side", side); }
VariantSpec window(int left, int right) { return variant("sliding_window", numbers({{"left", left}, {"right", right}})); }

TEST(RowMask, PaddingHidesOneSideOrBoth) {
  Inputs inputs = std::move(Inputs().add("key_lengths", {3, 2}).add("key_starts", {3, 1}));
  EXPECT_EQ(picture(masked({padding("right")}), {2, 1, 4}, inputs), "###./");
  EXPECT_EQ(picture(masked({padding("left")}), {2, 1, 4}, inputs), "...#/");
  EXPECT_EQ(picture(masked({padding("both")}), {2, 1, 4}, inputs, 0, /*b=*/1), ".##./");
}

TEST(RowMask, CausalFollowsTheQueryOffset) {
  EXPECT_EQ(picture(masked({variant("causal")}), {1, 2, 4}), "###./####/");
  EXPECT_EQ(picture(masked({variant("causal")}), {1, 3, 2}), "../#./##/");
  EXPECT_EQ(picture(masked({variant("causal")}, QueryOffset::TopLeft), {1, 2, 4}), "#.../##../");
}

TEST(RowMask, RowEndCountsTheValidKeysOfTheRow) {
  Inputs inputs = std::move(Inputs().add("key_lengths", {3, 1, 2}).add("key_starts", {1, 0, 1}));
  auto rowEnd = [](const char *side) { return masked({variant("causal"), padding(side)}, QueryOffset::RowEnd); };
  EXPECT_EQ(picture(rowEnd("right"), {3, 2, 4}, inputs, 0, 0), "##../###./");
  EXPECT_EQ(picture(rowEnd("right"), {3, 2, 4}, inputs, 0, 1), "..../#.../"); // a negative offset hides everything from query 0
  EXPECT_EQ(picture(rowEnd("left"), {3, 2, 4}, inputs), ".##./.###/");        // positions count from the first valid key
  EXPECT_EQ(picture(rowEnd("both"), {3, 2, 4}, inputs, 0, 2), ".#../.##./");
}

TEST(RowMask, SlidingWindowCountsBesideTheOwnPosition) {
  EXPECT_EQ(picture(masked({window(1, 0)}), {1, 3, 3}), "#../##./.##/");
  EXPECT_EQ(picture(masked({window(-1, 1)}), {1, 3, 3}), "##./###/###/");
  EXPECT_EQ(picture(masked({window(0, -1)}), {1, 3, 3}), "###/.##/..#/");
  EXPECT_EQ(picture(masked({variant("sliding_window", "left", "0")}), {1, 2, 3}), ".##/..#/"); // bottom right
}

TEST(RowMask, GlobalTokensSeeAndAreSeen) {
  EXPECT_EQ(picture(masked({variant("global", "tokens", "1")}), {1, 3, 3}), "###/#../#../");
  // Query 0 stands at -1, before the first key.
  EXPECT_EQ(picture(masked({variant("global", "tokens", "1")}), {1, 3, 2}), "#./##/#./");
  Inputs inputs = std::move(Inputs().add("key_starts", {1}));
  EXPECT_EQ(picture(masked({variant("global", "tokens", "1"), padding("left")}, QueryOffset::RowEnd), {1, 2, 3}, inputs), ".##/.#./");
}

TEST(RowMask, GlobalInputMarksTokens) {
  Spec spec = masked({variant("global", "tokens", "input")});
  Inputs inputs = std::move(Inputs().addFlags("global_queries", {1, 3}, {0, 1, 0}).addFlags("global_keys", {1, 2}, {0, 7}));
  EXPECT_EQ(picture(spec, {1, 3, 2}, inputs), ".#/##/.#/");
  Inputs shared = std::move(Inputs().addFlags("global_tokens", {1, 3}, {0, 1, 0}));
  EXPECT_EQ(picture(selfProjected({variant("global", "tokens", "input")}), {1, 3, 3}, shared), ".#./###/.#./");
}

TEST(RowMask, PrefixIsSeenByAll) {
  EXPECT_EQ(picture(masked({variant("prefix", "2")}), {1, 2, 4}), "##../##../");
  EXPECT_EQ(picture(masked({variant("prefix", "0")}), {1, 1, 2}), "../");
  Inputs inputs = std::move(Inputs().add("prefix_lengths", {1, 2}));
  EXPECT_EQ(picture(masked({anyOf({{variant("causal")}, {variant("prefix", "input")}})}), {2, 3, 3}, inputs, 0, 1), "##./##./###/");
}

TEST(RowMask, DocumentsSeeThemselves) {
  Inputs inputs = std::move(Inputs().addIntegers("documents", {2, 4}, {9, 9, 9, 9, 5, 5, -1, 5}));
  EXPECT_EQ(picture(selfProjected({variant("document")}), {2, 4, 4}, inputs, 0, 1), "##.#/##.#/..#./##.#/");
  EXPECT_EQ(picture(selfProjected({variant("document"), variant("causal")}), {2, 4, 4}, inputs, 0, 1), "#.../##../..#./##.#/");
  Inputs separate = std::move(Inputs().addIntegers("query_documents", {1, 2}, {1, int64_t(1) << 32}));
  separate.addIntegers("key_documents", {1, 3}, {0, 1, int64_t(1) << 32});
  EXPECT_EQ(picture(masked({variant("document")}), {1, 2, 3}, separate), ".#./..#/");
}

TEST(RowMask, ChunksAreCutByPosition) {
  EXPECT_EQ(picture(masked({variant("chunked", "2")}), {1, 4, 4}), "##../##../..##/..##/");
  // Queries from -1 on: rounded down, -1 lies in a chunk of its own kind, not in that of 0 and 1.
  EXPECT_EQ(picture(masked({variant("chunked", "2")}), {1, 4, 3}), ".../##./##./..#/");
}

TEST(RowMask, DilatedSeesEveryStepOfAWindow) {
  EXPECT_EQ(picture(masked({variant("dilated", numbers({{"window", 1}, {"step", 2}}))}), {1, 5, 5}), "#.#../.#.#./#.#.#/.#.#./..#.#/");
  EXPECT_EQ(picture(masked({variant("dilated", numbers({{"window", 0}, {"step", 3}}))}), {1, 2, 2}), "#./.#/");
  EXPECT_EQ(picture(masked({variant("dilated", numbers({{"window", 1}, {"step", 3}}))}), {1, 1, 4}), "#..#/");
}

TEST(RowMask, BlockSparseSeesNeighboursAndTheFirstBlocks) {
  auto blocks = [](int block, int local, int global) {
    return masked({variant("block_sparse", numbers({{"block", block}, {"local", local}, {"global", global}, {"random", 0}}))});
  };
  EXPECT_EQ(picture(blocks(2, 0, 0), {1, 4, 5}), "##.../..##./..##./....#/"); // positions from 1 on
  EXPECT_EQ(picture(blocks(1, 1, 0), {1, 4, 4}), "##../###./.###/..##/");
  EXPECT_EQ(picture(blocks(2, 0, 1), {1, 6, 6}), "######/######/####../####../##..##/##..##/");
}

TEST(RowMask, BlockSparseDrawsBlocksFromSeedHeadAndBlock) {
  Spec spec = masked({variant("block_sparse", numbers({{"block", 1}, {"local", 0}, {"global", 0}, {"random", 1}, {"seed", 5}}))});
  spec.layer.heads.value = 2;
  // Query block 1 of head 0: x = 36 + 5 * 17 = 121; y = 122, x = 123^2 + 17 * 122 = 17203; y = 17203, x = 17204^2 mod P + 17 * 17203 mod P
  // = 37626 mod P; of 4 blocks that is number 2.
  EXPECT_EQ(picture(spec, {1, 4, 4}, {}, 0), "##../.##./#.#./#..#/");
  EXPECT_EQ(picture(spec, {1, 4, 4}, {}, 1), "#..#/.##./#.#./.#.#/");
  EXPECT_TRUE(RowMask(spec, {1, 4, 4}, {}, 0).dependsOnHead());
}

TEST(RowMask, LshWantsABucketInCommonInOneRound) {
  VariantSpec lsh = variant("lsh", {{"buckets", scalarTree("4")}, {"rounds", scalarTree("2")}});
  const HashKind kind(lsh);
  Buckets keys = {{kind, {{{0}, {3}}, {{1}, {2}}, {{1, 0}, {1}}, {{2}, {2}}}}}, query = {{kind, {{{0}, {2}}}}};
  Spec spec = masked({lsh});
  RowMask mask(spec, {1, 1, 4}, {}, 0);
  auto seen = [&](Certainty certainty) {
    mask.useBuckets(keys, query, certainty);
    std::string text;
    for (int64_t k = 0; k < 4; ++k)
      text += mask.isVisible(0, 0, k) ? '#' : '.';
    return text;
  };
  EXPECT_TRUE(mask.isVisible(0, 0, 0)); // nothing is hashed yet
  EXPECT_EQ(seen(Certainty::AsComputed), "##.#");
  EXPECT_EQ(seen(Certainty::Possible), "####");
  EXPECT_EQ(seen(Certainty::Certain), "##.#");
}

/// Numbers from a computation by hand of the formula in specs/README.md: rotation (seed 7, head 1, round 0) is (12 -67 40; -82 191 7), that of round 1
/// (152 176 55; 314 63 -41).
TEST(Hashing, TakesTheFirstLargestProductWithARotation) {
  Hasher hasher;
  const HashKind kind(variant("lsh", {{"buckets", scalarTree("6")}, {"rounds", scalarTree("2")}, {"seed", scalarTree("4294967303")}}));
  EXPECT_EQ(hasher.candidates(kind, 1, {1, 0}), (Candidates{{4}, {1}}));
  EXPECT_EQ(hasher.candidates(kind, 1, {-1, 0}), (Candidates{{1}, {4}}));
  EXPECT_EQ(hasher.candidates(kind, 1, {1, 2}), (Candidates{{1}, {0}}));
  EXPECT_EQ(hasher.candidates(kind, 1, {0, 0}), (Candidates{{0}, {0}}));
  // Columns 1 and 2 give 16218 and -16218: either may be the largest for f32, also a little beside.
  EXPECT_EQ(hasher.candidates(kind, 1, {-396, -54}), (Candidates{{1, 5}, {3}}));
  EXPECT_EQ(hasher.candidates(kind, 1, {-396, -54.001}), (Candidates{{5, 1}, {3}}));
  EXPECT_EQ(hasher.candidates(kind, 1, {-396, -53.5}), (Candidates{{1}, {3}}));
}

TEST(RowMask, TensorMasksBroadcastAndEndBeforeTheKeys) {
  auto tensor = [](const char *dtype, std::vector<Tree> broadcast) {
    Spec spec = masked({variant("tensor", {{"dtype", scalarTree(dtype)}, {"broadcast", listTree(std::move(broadcast))}})});
    spec.layer.heads.value = 2;
    return spec;
  };
  Spec perHead = tensor("bool", {scalarTree("b"), scalarTree("q")});
  Inputs heads = std::move(Inputs().addFlags("mask", {1, 2, 1, 3}, {1, 0, 2, 0, 1, 0}));
  EXPECT_EQ(picture(perHead, {3, 2, 4}, heads, 0, 2), "#.#./#.#./");
  EXPECT_EQ(picture(perHead, {3, 2, 4}, heads, 1, 2), ".#../.#../");
  EXPECT_TRUE(RowMask(perHead, {3, 2, 4}, heads.tensors, 0).dependsOnHead());

  const float hidden = -std::numeric_limits<float>::infinity();
  Spec shared = tensor("float", {scalarTree("h")});
  Inputs added = std::move(Inputs().add("mask", {1, 1, 2, 2}, {0.5f, hidden, hidden, -3}));
  EXPECT_EQ(picture(shared, {1, 2, 3}, added, 1), "#../.#./");
  RowMask mask(shared, {1, 2, 3}, added.tensors, 0);
  EXPECT_FALSE(mask.dependsOnHead());
  EXPECT_EQ(mask.addition(1, 0, 0), 0.5);
  EXPECT_EQ(mask.addition(0, 1, 1), -3);
}

TEST(RowMask, AnyWantsOneAlternativeAndAllOfAList) {
  Spec spec = masked({anyOf({{variant("prefix", "1")}, {variant("causal"), window(1, -1)}})});
  EXPECT_EQ(picture(spec, {1, 4, 4}), "#.../##../###./#.##/");
  spec.mask.push_back(variant("chunked", "2"));
  EXPECT_EQ(picture(spec, {1, 4, 4}), "#.../##../..#./..##/");
  EXPECT_EQ(picture(masked({anyOf({{anyOf({{variant("causal")}, {variant("prefix", "3")}})}, {window(0, 0)}})}), {1, 2, 4}), "###./####/");
}

TEST(RowMask, NamesTheInputsItReads) {
  Spec spec = masked({anyOf({{variant("document")}, {variant("global", "tokens", "input"), padding("both")}}), variant("prefix", "input"),
                      variant("tensor", {{"dtype", scalarTree("bool")}, {"broadcast", listTree({scalarTree("b"), scalarTree("h")})}})});
  spec.layer.heads.value = 8;
  auto names = [&](const Spec &spec) {
    std::string text;
    for (const auto &[name, shape] : maskInputs(spec, {2, 3, 5})) {
      text += name;
      for (int64_t extent : shape)
        text += " " + std::to_string(extent);
      text += "; ";
    }
    return text;
  };
  EXPECT_EQ(names(spec), "query_documents 2 3; key_documents 2 5; global_queries 2 3; global_keys 2 5; key_lengths 2; key_starts 2; "
                         "prefix_lengths 2; mask 1 1 3 -1; ");
  EXPECT_EQ(names(selfProjected({variant("document"), variant("global", "tokens", "input")})), "documents 2 3; global_tokens 2 3; ");
}

} // namespace
