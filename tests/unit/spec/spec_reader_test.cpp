// What a valid spec means: defaults, shorthands, places, and that the printed form reads back.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "read.h"

#include "spec/SpecPrinter.h"

#include <gtest/gtest.h>

using namespace mhac;
using namespace mhac::test;

TEST(SpecReader, FillsInDefaults) {
  ReadResult result = read(minimal);
  ASSERT_TRUE(result.messages.empty()) << result.messages[0];
  const Spec &spec = *result.spec;
  EXPECT_EQ(*spec.name, "f");
  EXPECT_EQ(*spec.layer.kvHeads, 4);
  EXPECT_EQ(*spec.layer.headDim, 16);
  EXPECT_EQ(*spec.layer.vHeadDim, 16);
  EXPECT_EQ(*spec.layer.kvDModel, 64);
  EXPECT_EQ(*spec.layer.source, Source::Self);
  EXPECT_EQ(*spec.projections.input, InputProjection::Separate);
  EXPECT_EQ(*spec.projections.weightLayout, WeightLayout::OutIn);
  EXPECT_TRUE(*spec.projections.output);
  EXPECT_FALSE(*spec.projections.biasInput);
  EXPECT_FALSE(*spec.projections.biasOutput);
  EXPECT_EQ(spec.shape.batch->kind, SizeSpec::Kind::Dynamic);
  EXPECT_EQ(*spec.queryOffset, QueryOffset::BottomRight);
  EXPECT_EQ(*spec.dtype.activations, DType::F32);
  ASSERT_EQ(spec.outputs.size(), 1u);
  EXPECT_EQ(*spec.outputs[0], OutputKind::Y);
  EXPECT_FALSE(spec.layer.headDim.given);
  EXPECT_EQ(spec.layer.headDim.loc.line, 3u); // a default stands where its map does
}

TEST(SpecReader, RemembersPlaces) {
  ReadResult result = read("mhac: 1\nname: f\nlayer:\n  d_model: 64\n  heads:   4\nmask:\n  - causal\n  - padding: {side: right}\n");
  const Spec &spec = *result.spec;
  EXPECT_EQ(spec.layer.heads.loc.line, 5u);
  EXPECT_EQ(spec.layer.heads.loc.column, 12u);
  EXPECT_EQ(spec.layer.heads.loc.file, "test.yaml");
  ASSERT_EQ(spec.mask.size(), 2u);
  EXPECT_EQ(spec.mask[0].arguments.kind, Tree::Kind::Null);
  EXPECT_EQ(*spec.mask[1].word, "padding");
  EXPECT_EQ(spec.mask[1].word.loc.line, 8u);
  EXPECT_EQ(spec.mask[1].word.loc.column, 5u);
  ASSERT_EQ(spec.mask[1].arguments.fields.size(), 1u);
  EXPECT_EQ(spec.mask[1].arguments.fields[0].second.loc.column, 21u);
}

TEST(SpecReader, ReadsSizes) {
  const Spec spec = *read(minimal + "projections: {input: none}\nshape: {batch: 3, query: {max: 128}, key: dynamic}\n").spec;
  EXPECT_EQ(spec.shape.batch->kind, SizeSpec::Kind::Fixed);
  EXPECT_EQ(spec.shape.batch->value, 3);
  EXPECT_EQ(spec.shape.query->kind, SizeSpec::Kind::Bounded);
  EXPECT_EQ(spec.shape.query->value, 128);
  EXPECT_EQ(spec.shape.key->kind, SizeSpec::Kind::Dynamic);
}

TEST(SpecReader, KeysAreQueriesInSelfAttention) {
  const Spec spec = *read(minimal + "shape: {query: 128}\n").spec;
  EXPECT_EQ(spec.shape.key->kind, SizeSpec::Kind::Fixed);
  EXPECT_EQ(spec.shape.key->value, 128);
}

TEST(SpecReader, TakesShorthands) {
  const Spec spec = *read(minimal + "projections: {bias: true}\ndtype: f32\n").spec;
  EXPECT_TRUE(*spec.projections.biasInput);
  EXPECT_TRUE(*spec.projections.biasOutput);
  EXPECT_TRUE(spec.dtype.weights.given);
}

TEST(SpecReader, AcceptsKeysWithoutEffectThatSayTheDefault) {
  ReadResult result = read("mhac: 1\nname: f\nlayer: {d_model: 64, heads: 4, source: self, kv_d_model: 64, pruned_heads: []}\n"
                           "projections: {input: separate, packing: qkv}\nshape: {layout: bshd}\nposition: []\nparameters: {}\n");
  EXPECT_TRUE(result.messages.empty()) << result.messages[0];
}

TEST(SpecReader, NameIsTheLastComponentOfTheFile) {
  Diagnostics diagnostics;
  EXPECT_EQ(readSpec(minimal, "some/folder/bert.yaml", diagnostics)->file, "bert.yaml");
  EXPECT_EQ(readSpec(minimal, "bert.yaml", diagnostics)->file, "bert.yaml");
}

TEST(SpecPrinter, PrintedFormReadsBack) {
  const std::vector<std::string> specs = {
      minimal,
      minimal + "mask: [causal, padding: {side: both}]\nscore: [scale: 0.125]\noutputs: [lse, y]\n",
      minimal + "projections: {input: none, output: false}\nshape: {batch: 1, query: {max: 7}, key: 9, layout: bhsd}\n",
      "mhac: 1\nname: g\nlayer: {d_model: 60, heads: 8, kv_heads: 2, head_dim: 5, v_head_dim: 3, source: cross, kv_d_model: 9}\n"
      "projections: {weight_layout: in_out, bias: true}\nquery_offset: row_end\n",
      minimal + "score: [\"x y\": {text: \"a\\\"b\\\\\", n: -1, list: [1, '2', null]}]\n"};
  for (const std::string &text : specs) {
    ReadResult first = read(text);
    ASSERT_TRUE(first.messages.empty()) << first.messages[0];
    std::string printed = printSpec(*first.spec);
    ReadResult second = read(printed);
    ASSERT_TRUE(second.messages.empty()) << printed << second.messages[0];
    EXPECT_EQ(printSpec(*second.spec), printed);
  }
}
