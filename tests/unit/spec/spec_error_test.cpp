// One line of YAML that is wrong, the message it gets, and that nothing else is said: an error must not bring others with it.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "read.h"

#include <gtest/gtest.h>

using namespace mhac;
using namespace mhac::test;

struct ErrorCase {
  std::string text, message;
};

static int check(const std::vector<ErrorCase> &cases, int exitCode) {
  int count = 0;
  for (const ErrorCase &each : cases) {
    ReadResult result = read(each.text);
    EXPECT_EQ(result.messages.size(), 1u) << each.text;
    EXPECT_EQ(result.messages.empty() ? "" : result.messages[0], each.message) << each.text;
    EXPECT_EQ(result.diagnostics.exitCode(), exitCode) << each.text;
    EXPECT_TRUE(result.spec) << "import could not go on: " << each.text;
    ++count;
  }
  return count;
}

static std::string layer(const std::string &fields) { return "mhac: 1\nname: f\nlayer: {" + fields + "}\n"; }
static std::string named(const std::string &name) { return "mhac: 1\nname: " + name + "\nlayer: {d_model: 64, heads: 4}\n"; }

TEST(SpecReader, RejectsWrongKeys) {
  EXPECT_EQ(check({{minimal + "maks: []\n", "4:1: unknown key 'maks'; did you mean 'mask'?"},
                   {minimal + "heads: 4\n", "4:1: unknown key 'heads'; it belongs in 'layer'"},
                   {layer("d_model: 64, heads: 4, mask: []"), "3:32: unknown key 'mask' in 'layer'; it belongs at the top of the spec"},
                   {minimal + "layer.heads: 4\n",
                    "4:1: unknown key 'layer.heads'; known keys are 'mhac', 'name', 'layer', 'projections', 'shape', 'query_offset', 'mask', "
                    "'position', 'score', 'dtype', 'outputs', 'cache', 'parameters', 'deterministic' and 'merge_states'"},
                   {"name: f\nlayer: {d_model: 64, heads: 4}\n", "1:1: missing key 'mhac' (version of this language)"},
                   {layer("d_model: 64"), "3:1: missing key 'heads' in 'layer' (number of query heads)"},
                   {"mhac: 1\nname: f\nlayer:\n", "3:1: 'layer' must be a map of 'd_model', 'heads', 'kv_heads', 'head_dim', 'v_head_dim', "
                                                  "'source', 'kv_d_model', 'pruned_heads' and 'qk_norm', found nothing"},
                   {minimal + "projections: packed\n", "4:14: 'projections' must be a map of 'input', 'packing', 'weight_layout', 'output' and "
                                                       "'bias', found 'packed'"}},
                  1),
            8);
}

TEST(SpecReader, RejectsWrongNumbers) {
  auto model = [](const std::string &found) {
    return ErrorCase{layer("d_model: " + found + ", heads: 4, head_dim: 4"),
                     "3:18: 'd_model' must be an integer from 1 to 1048576, found " + (found[0] == '"' ? "the string '64'" : "'" + found + "'")};
  };
  EXPECT_EQ(check({model("0"), model("-4"), model("1048577"), model("99999999999999999999999"), model("012"), model("0x40"), model("6e1"),
                   model("64.0"), model("1_000"), model("+64"), model("\"64\""), model("many"),
                   {"mhac: 2\nname: f\nlayer: {d_model: 64, heads: 4}\n", "1:7: 'mhac' must be 1, found '2'"},
                   {layer("d_model: 64, heads: 4, head_dim:"), "3:32: 'head_dim' must be an integer from 1 to 65536, found nothing"},
                   {minimal + "shape: {batch: 0}\n", "4:16: 'batch' must be an integer from 1 to 2147352576, found '0'"},
                   {minimal + "shape: {batch: {max: -1}}\n", "4:22: 'max' of 'batch' must be an integer from 1 to 2147352576, found '-1'"},
                   {minimal + "shape: {batch: {}}\n", "4:16: 'batch' as a map must be {max: n}"},
                   {minimal + "shape: {batch: {max: 4, min: 1}}\n", "4:25: unknown key 'min' in 'batch'; the only known key is 'max'"},
                   {minimal + "shape: {batch: dynamik}\n",
                    "4:16: 'batch' must be 'dynamic', an integer or {max: n}, found 'dynamik'; did you mean 'dynamic'?"}},
                  1),
            19);
}

TEST(SpecReader, RejectsWrongWords) {
  EXPECT_EQ(check({{minimal + "projections: {input: seperate}\n",
                    "4:22: 'input' must be 'packed', 'separate' or 'none', found 'seperate'; did you mean 'separate'?"},
                   {minimal + "projections: {output: yes}\n", "4:23: 'output' must be true or false, found 'yes'"},
                   {minimal + "projections: {bias: 1}\n", "4:21: 'bias' must be true or false, found '1'"},
                   {minimal + "dtype: f31\n", "4:8: 'dtype' must be 'f32', 'bf16' or 'f16', found 'f31'; did you mean 'f32'?"},
                   {minimal + "query_offset: [1]\n", "4:15: 'query_offset' must be 'bottom_right', 'top_left' or 'row_end', found a list"},
                   {minimal + "mask: causal\n", "4:7: 'mask' must be a list, found 'causal'; write [causal]"},
                   {minimal + "mask: [[causal]]\n", "4:8: an element of 'mask' must be a word or one `word: arguments`, found a list"},
                   {minimal + "mask:\n  - causal:\n    padding: {}\n",
                    "5:5: an element of 'mask' must be a word or one `word: arguments`, found a map with 2 keys"},
                   {minimal + "outputs: [lse]\n", "4:10: 'outputs' must contain 'y'"},
                   {minimal + "outputs: [y, y]\n", "4:14: duplicate element 'y' in 'outputs'"},
                   {minimal + "outputs: [y, lsee]\n",
                    "4:14: an element of 'outputs' must be 'y', 'lse', 'attention_map', 'map_statistics', 'key_mass' or 'head_norms', found 'lsee'; did you mean 'lse'?"},
                   {minimal + "outputs: [y: {}]\n", "4:11: 'y' takes no arguments"}},
                  1),
            12);
}

TEST(SpecReader, RejectsWrongNames) {
  EXPECT_EQ(check({{named("1f"), "2:7: 'name' must be a C identifier, found '1f'"},
                   {named("\"a b\""), "2:7: 'name' must be a C identifier, found the string 'a b'"},
                   {named("na\xc3\xafve"), "2:7: 'name' must be a C identifier, found 'na\xc3\xafve'"},
                   {named("[f]"), "2:7: 'name' must be a C identifier, found a list"},
                   {named("class"), "2:7: 'name' must not be a word that C or C++ keeps for itself, found 'class'"},
                   {named("mhac_f"), "2:7: 'name' must not be 'mhac' or start with 'mhac_', as the runtime's own symbols do, found 'mhac_f'"},
                   {named("mhac"), "2:7: 'name' must not be 'mhac' or start with 'mhac_', as the runtime's own symbols do, found 'mhac'"},
                   {named("__f"), "2:7: 'name' must not start with two underscores or an underscore and a capital, which C reserves, found '__f'"},
                   {named("_F"), "2:7: 'name' must not start with two underscores or an underscore and a capital, which C reserves, found '_F'"},
                   {named(std::string(129, 'f')), "2:7: 'name' must have at most 128 characters, found '" + std::string(57, 'f') + "...'"}},
                  1),
            10);
}

TEST(SpecReader, RejectsNamesOfTheLibrary) {
  int refused = 0;
  for (const char *name :
       {"memset", "memcpy", "malloc", "free", "printf", "exit", "read", "exp", "expf", "sqrtl", "j0", "pthread_create", "errno", "std",
        "size_t", "uint8_t", "int64_t", "intptr_t", "uintmax_t", "\"NULL\"", "int_fast16_t", "INT32_MAX", "SIZE_MAX", "UINT8_C", "INT_MAX",
        "UINTPTR_MAX", "linux", "unix"}) {
    std::vector<std::string> messages = read(named(name)).messages;
    ASSERT_EQ(messages.size(), 1u) << name;
    EXPECT_EQ(messages[0].find("2:7: 'name' must not be a name that the C library or a C compiler already uses, found"), 0u) << messages[0];
    ++refused;
  }
  EXPECT_EQ(refused, 28);
  int taken = 0;
  for (const char *name :
       {"attn", "Memset", "memset_", "uint_t", "int7_x", "MAX", "INT_MAXIMUM", "f_max", "logs", "int64", "pthread", "strided"})
    taken += read(named(name)).messages.empty();
  EXPECT_EQ(taken, 12);
}

TEST(SpecReader, RejectsContradictions) {
  EXPECT_EQ(
      check({{layer("d_model: 65, heads: 4"), "3:29: 'heads' must divide 'd_model' (65) when 'head_dim' is not given, found '4'"},
             {layer("d_model: 64, heads: 4, kv_heads: 3"), "3:42: 'kv_heads' must divide 'heads' (4), found '3'"},
             {layer("d_model: 64, heads: 4, kv_heads: 8"), "3:42: 'kv_heads' must divide 'heads' (4), found '8'"},
             {layer("d_model: 64, heads: 4, kv_d_model: 32"), "3:32: 'kv_d_model' has no effect without 'source: cross'"},
             {layer("d_model: 64, heads: 65536, head_dim: 65536"),
              "3:46: the heads have 12884901888 features together, at most 2147483647 are possible"},
             {minimal + "projections: {packing: per_head}\n", "4:15: 'packing' has no effect without 'input: packed'"},
             {minimal + "projections: {input: none, bias: {input: true}}\n", "4:35: 'bias.input' has no effect with 'input: none'"},
             {minimal + "projections: {output: false, bias: {output: true}}\n", "4:37: 'bias.output' has no effect with 'output: false'"},
             {minimal + "projections: {input: none, output: false, weight_layout: in_out}\n",
              "4:43: 'weight_layout' has no effect without projections"},
             {layer("d_model: 64, heads: 4, kv_heads: 2") + "projections: {input: packed, packing: per_head}\n",
              "4:39: 'packing: per_head' needs as many key/value heads as query heads, found 'heads: 4' and 'kv_heads: 2'; did you mean "
              "'per_group'?"},
             {layer("d_model: 64, heads: 4, source: cross, kv_d_model: 32") + "projections: {input: packed}\n",
              "4:22: 'input: packed' needs 'kv_d_model' equal to 'd_model' (64), found '32'; use 'separate'"},
             {minimal + "shape: {query: 128, key: 64}\n",
              "4:26: 'key' must equal 'query' (128) in self-attention with input projections, found '64'"},
             {minimal + "shape: {query: 128, key: dynamic}\n",
              "4:26: 'key' must equal 'query' (128) in self-attention with input projections, found 'dynamic'"},
             {minimal + "shape: {layout: bhsd}\n", "4:9: 'layout' has no effect with input and output projections"}},
            1),
      14);
}

TEST(SpecReader, KnowsWhatIsNotSupportedYet) {
  EXPECT_EQ(check({{minimal + "cache: {kind: paged}\n", "4:1: 'cache' is not supported yet"},
                   {minimal + "deterministic: true\n", "4:1: 'deterministic' is not supported yet"},
                   {minimal + "gradient: {}\n", "4:1: 'gradient' is a reserved word and not supported yet"},
                   {layer("d_model: 64, heads: 4, dropout: 0.1"), "3:32: 'dropout' is a reserved word and not supported yet"},
                   {minimal + "dtype: {weights: {type: int8, zero_point: true}}\n", "4:43: 'zero_point: true' is not supported: weights are symmetric, a number times its scale"},
                   {minimal + "shape: {layout: thd}\n", "4:17: 'layout': 'thd' is not supported yet"}},
                  3),
            6);
}

TEST(SpecReader, ChecksNumberFormats) {
  EXPECT_EQ(check({{minimal + "dtype: f64\n", "4:8: 'dtype' must be 'f32', 'bf16' or 'f16', found 'f64'"},
                   {minimal + "dtype: {activations: fp16}\n", "4:22: 'activations' must be 'f32', 'bf16' or 'f16', found 'fp16'; did you mean 'f16'?"},
                   {minimal + "dtype: {weights: int9}\n", "4:18: 'weights' must be 'f32', 'bf16', 'f16', 'int8', 'int4', 'fp8_e4m3' or 'fp8_e5m2', found 'int9'; did you mean 'int8'?"},
                   {minimal + "dtype: {accumulate: f16}\n", "4:21: 'accumulate' must be 'f32', found 'f16'"}},
                  1),
            4);
}

TEST(SpecReader, ChecksArgumentsOfOutputs) {
  EXPECT_EQ(check({{minimal + "outputs: [y, attention_map: {stage: softmax}]\n",
                    "4:37: 'stage' must be 'scores', 'modified', 'masked' or 'probabilities', found 'softmax'"},
                   {minimal + "outputs: [y, attention_map: probabilities]\n", "4:29: 'attention_map' must be a map of 'stage', found 'probabilities'"},
                   {minimal + "outputs: [y, map_statistics: {width: 3}]\n", "4:31: unknown key 'width' in 'outputs.map_statistics'; known keys are 'window'"},
                   {minimal + "outputs: [y, map_statistics: {window: -1}]\n", "4:39: 'window' must be an integer from 0 to 2147352576, found '-1'"},
                   {minimal + "outputs: [y, key_mass: {}]\n", "4:14: 'key_mass' takes no arguments"},
                   {minimal + "outputs: [y, attention_map, attention_map: {stage: scores}]\n", "4:29: duplicate element 'attention_map' in 'outputs'"}},
                  1),
            6);
}

TEST(SpecReader, RefusesWhatMergingCannotHave) {
  const std::string merge = minimal + "merge_states: {parts: 3}\n";
  EXPECT_EQ(check({{minimal + "merge_states: 3\n", "4:15: 'merge_states' must be a map of 'parts', found '3'"},
                   {minimal + "merge_states: {parts: 0}\n", "4:23: 'parts' must be an integer from 1 to 65536, found '0'"},
                   {minimal + "merge_states: {part: 2}\n", "4:16: unknown key 'part' in 'merge_states'; did you mean 'parts'?"},
                   {merge + "projections: {input: packed}\n", "5:22: 'input' must be 'none' with 'merge_states', found 'packed'"},
                   {merge + "query_offset: row_end\n", "5:1: 'query_offset' has no effect with 'merge_states'"},
                   {merge + "shape: {key: 7}\n", "5:14: 'key' has no effect with 'merge_states'"},
                   {merge + "mask: [causal]\n", "5:8: mask 'causal' has no effect with 'merge_states'"},
                   {merge + "score: [scale: 0.5]\n", "5:9: score 'scale' has no effect with 'merge_states'"},
                   {merge + "outputs: [y, key_mass]\n", "5:14: output 'key_mass' needs the scores, which 'merge_states' does not have"}},
                  1),
            9);
}

TEST(SpecReader, ReportsAllErrorsOfAFile) {
  ReadResult result = read("mhac: 1\nname: 1f\nlayer: {d_model: 65, heads: 4, colour: red}\nprojections: {packing: per_head}\nmask: 7\n");
  EXPECT_EQ(result.messages.size(), 5u);
}
