// The JSON schema and the reader are two views of one table: what the reader accepts fits the schema, and what is structurally wrong does not.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "attention/SpecSchema.h"
#include "read.h"
#include "schema_check.h"
#include "spec/YamlTree.h"

#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"

#include <gtest/gtest.h>

using namespace mhac;
using namespace mhac::test;

static llvm::json::Object schema() {
  llvm::Expected<llvm::json::Value> parsed = llvm::json::parse(specSchema());
  return parsed ? *parsed->getAsObject() : llvm::json::Object{};
}

static std::string check(const std::string &text) {
  Diagnostics diagnostics;
  std::optional<Tree> tree = readYaml(text, "test.yaml", diagnostics);
  return tree ? checkSchema(schema(), toJson(*tree)) : "not YAML";
}

TEST(SpecSchema, AcceptsTheExampleSpecs) {
  int count = 0;
  std::error_code error;
  for (llvm::sys::fs::directory_iterator file(MHAC_SPECS, error), end; file != end && !error; file.increment(error)) {
    if (!llvm::StringRef(file->path()).ends_with(".yaml"))
      continue;
    std::string text = (*llvm::MemoryBuffer::getFile(file->path()))->getBuffer().str();
    EXPECT_EQ(check(text), "") << file->path();
    EXPECT_TRUE(read(text).messages.empty()) << file->path();
    ++count;
  }
  EXPECT_EQ(count, 31);
}

TEST(SpecSchema, AcceptsEveryForm) {
  for (const char *more :
       {"", "projections: {bias: true}\n", "projections: {bias: {input: true}}\n", "dtype: f32\n", "dtype: {weights: f32}\n", "dtype: {weights: {type: int4, group: 32}}\n", "dtype: {weights: {type: int8, group: row, compute: w8a8, zero_point: false}}\n",
        "shape: {batch: 3, query: {max: 4}, key: {max: 4}}\n", "mask: [causal, padding, padding: {side: left}]\n", "mask: [causal: null]\n",
        "score: [scale: default]\n", "score: [scale: 0.125]\n", "outputs: [lse, y]\n", "outputs: [y, attention_map: {stage: scores}, map_statistics: {window: 1}]\n",
        "merge_states: {parts: 2}\n", "parameters: {}\ncache: null\ndeterministic: false\n",
        "mask: [expr: \"k < q\"]\n", "score: [expr: \"s + n[h, 0]\"]\nparameters: {n: {dtype: f32, dims: [h, k]}, m: {dtype: bool}}\n"})
    EXPECT_EQ(check(minimal + more), "") << more;
  for (const char *layer : {"{d_model: 64, heads: 4, head_dim: 8, pruned_heads: [0, 3]}", "{d_model: 64, heads: 4, head_dim: [{heads: 4, head_dim: 8}]}"})
    EXPECT_EQ(check("mhac: 1\nname: f\nlayer: " + std::string(layer) + "\n"), "") << layer;
}

struct SchemaCase {
  std::string text, error;
};

TEST(SpecSchema, RejectsWhatIsStructurallyWrong) {
  const std::vector<SchemaCase> cases = {
      {"name: f\nlayer: {d_model: 64, heads: 4}\n", ": required"},
      {minimal + "maks: []\n", ": additionalProperties"},
      {minimal + "gradient: {}\n", ": additionalProperties"},
      {minimal + "cache: {kind: paged}\n", "/cache: enum"},
      {"mhac: 2\nname: f\nlayer: {d_model: 64, heads: 4}\n", "/mhac: const"},
      {"mhac: 1\nname: 2f\nlayer: {d_model: 64, heads: 4}\n", "/name: pattern"},
      {"mhac: 1\nname: mhac_f\nlayer: {d_model: 64, heads: 4}\n", "/name: pattern"},
      {"mhac: 1\nname: f\nlayer: {d_model: 64}\n", "/layer: required"},
      {"mhac: 1\nname: f\nlayer: {d_model: 0, heads: 4}\n", "/layer/d_model: minimum"},
      {"mhac: 1\nname: f\nlayer: {d_model: 64, heads: '4'}\n", "/layer/heads: type"},
      {"mhac: 1\nname: f\nlayer: {d_model: 64, heads: 4, pruned_heads: [-1]}\n", "/layer/pruned_heads/0: minimum"},
      {"mhac: 1\nname: f\nlayer: {d_model: 64, heads: 4, head_dim: [{heads: 4}]}\n", "/layer/head_dim: anyOf"},
      {minimal + "projections: {input: merged}\n", "/projections/input: enum"},
      {minimal + "projections: {output: yes}\n", "/projections/output: type"},
      {minimal + "projections: {bias: 1}\n", "/projections/bias: anyOf"},
      {minimal + "dtype: f64\n", "/dtype: anyOf"},
      {minimal + "shape: {batch: {min: 1}}\n", "/shape/batch: anyOf"},
      {minimal + "mask: causal\n", "/mask: type"},
      {minimal + "mask: [padding: {side: up}]\n", "/mask/0: anyOf"},
      {minimal + "score: [scale: 0]\n", "/score/0: anyOf"},
      {minimal + "position: [rope: {pairing: both}]\n", "/position/0: anyOf"},
      {minimal + "mask: [expr: [k]]\n", "/mask/0: anyOf"},
      {minimal + "parameters: [n]\n", "/parameters: type"},
      {minimal + "parameters: {n: {dtype: i8}}\n", "/parameters/n/dtype: enum"},
      {minimal + "parameters: {n: {dims: [h]}}\n", "/parameters/n: required"},
      {minimal + "parameters: {n: {dtype: f32, dims: [h, h]}}\n", "/parameters/n/dims: uniqueItems"},
      {minimal + "outputs: [lse]\n", "/outputs: contains"},
      {minimal + "outputs: [y, attention_map: {stage: softmax}]\n", "/outputs/1: anyOf"},
      {minimal + "outputs: [y, y]\n", "/outputs: uniqueItems"}};
  int count = 0;
  for (const SchemaCase &each : cases) {
    EXPECT_EQ(check(each.text), each.error) << each.text;
    ++count;
  }
  EXPECT_EQ(count, 29);
}
