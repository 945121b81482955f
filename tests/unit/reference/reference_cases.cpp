// Prints random layers, their inputs and what the reference computes for them, one JSON object a line; numpy_check.py computes them again.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "layer_builder.h"

#include "reference/scores.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <random>

using namespace mhac;
using namespace mhac::reference;

namespace {

std::mt19937 random_engine(20);

int64_t pick(std::initializer_list<int64_t> choices) { return choices.begin()[random_engine() % choices.size()]; }

std::vector<float> normals(int64_t count) {
  std::normal_distribution<float> normal;
  std::vector<float> values(count);
  for (float &value : values)
    value = normal(random_engine);
  return values;
}

template <typename Range> void printNumbers(const char *name, const Range &values) {
  std::printf(", \"%s\": [", name);
  const char *separator = "";
  for (auto value : values) {
    if (std::isinf(double(value)))
      std::printf("%s\"-inf\"", separator);
    else
      std::printf("%s%.17g", separator, double(value));
    separator = ", ";
  }
  std::printf("]");
}

/// A random score list in a random order, nothing twice. Prints "score": [word, ...] and the numbers of each as fields of the case.
std::vector<VariantSpec> randomScores() {
  std::string broadcast = std::to_string(random_engine() % 8), oneSided = std::to_string(random_engine() % 2); // bits: b, h, q
  std::vector<std::string> dims;
  for (int i = 0; i < 3; ++i)
    if ((broadcast[0] - '0') >> i & 1)
      dims.push_back(std::string(1, "bhq"[i]));
  bool bidirectional = pick({0, 1});
  std::vector<VariantSpec> all = {variant("bias", {{"broadcast", listTree(dims)}}),
                                  variant("alibi", "form", oneSided == "1" ? "one_sided" : "symmetric"),
                                  variant("relative_bias", {{"buckets", scalarTree("6")},
                                                            {"max_distance", scalarTree("5")},
                                                            {"bidirectional", scalarTree(bidirectional ? "true" : "false")}}),
                                  variant("softcap", "1.5"), variant("sink")};
  std::shuffle(all.begin(), all.end(), random_engine);
  all.resize(random_engine() % (all.size() + 1));
  std::printf(", \"broadcast\": %s, \"one_sided\": %s, \"bidirectional\": %d, \"score\": [", broadcast.c_str(), oneSided.c_str(), bidirectional);
  for (const VariantSpec &score : all)
    std::printf("%s\"%s\"", &score == all.data() ? "" : ", ", score.word.value.c_str());
  std::printf("]");
  return all;
}

/// A random self-attention (cross with separate projections) and what NumPy needs to know about it.
void printCase(int number) {
  int64_t d = pick({1, 4, 8}), e = pick({1, 3, 8}), G = pick({1, 2}), H = G * pick({1, 3}), m = pick({4, 5}), kvM = pick({3, 6});
  Spec spec = plainSpec(H, G, d, e);
  spec.layer.dModel.value = m;
  spec.layer.kvDModel.value = kvM;
  spec.layer.source.value = Source::Cross;
  spec.projections.input.value = InputProjection::Separate;
  spec.projections.output.value = spec.projections.biasInput.value = spec.projections.biasOutput.value = true;
  bool inOut = pick({0, 1}), causal = pick({0, 1});
  spec.projections.weightLayout.value = inOut ? WeightLayout::InOut : WeightLayout::OutIn;
  spec.mask = {variant("padding", "side", "right")};
  if (causal)
    spec.mask.push_back(variant("causal"));
  Sizes sizes{pick({1, 3}), pick({1, 5}), pick({2, 7})};

  Inputs inputs;
  std::printf("{\"case\": %d, \"batch\": %lld, \"query\": %lld, \"key\": %lld, \"heads\": %lld, \"kv_heads\": %lld, \"in_out\": %d, \"causal\": %d",
              number, (long long)sizes.batch, (long long)sizes.query, (long long)sizes.key, (long long)H, (long long)G, inOut, causal);
  spec.score = randomScores();
  auto add = [&](const std::string &name, std::vector<int64_t> shape) {
    int64_t count = 1;
    for (int64_t extent : shape)
      count *= extent;
    std::vector<float> values = normals(count);
    printNumbers(name.c_str(), values);
    printNumbers((name + "_shape").c_str(), shape);
    inputs.add(name, shape, values);
  };
  auto matrix = [&](const char *name, int64_t outputs, int64_t features) {
    add(name, inOut ? std::vector<int64_t>{features, outputs} : std::vector<int64_t>{outputs, features});
  };
  add("x", {sizes.batch, sizes.query, m});
  add("memory", {sizes.batch, sizes.key, kvM});
  matrix("wq", H * d, m);
  matrix("wk", G * d, kvM);
  matrix("wv", G * e, kvM);
  matrix("wo", m, H * e);
  add("bq", {H * d});
  add("bk", {G * d});
  add("bv", {G * e});
  add("bo", {m});
  for (const auto &[name, shape] : scoreInputs(spec, sizes))
    add(name, shape);
  std::vector<int64_t> lengths;
  for (int64_t b = 0; b < sizes.batch; ++b)
    lengths.push_back(int64_t(random_engine() % (sizes.key + 1)));
  printNumbers("key_lengths", lengths);
  inputs.add("key_lengths", lengths);

  std::string error;
  auto result = computeLayer(spec, sizes, inputs.tensors, allRows(sizes), Arithmetic::Double, error);
  printNumbers("y", result.value_or(LayerResult()).y);
  printNumbers("lse", result.value_or(LayerResult()).lse);
  std::printf("}\n");
}

} // namespace

int main() {
  for (int number = 0; number < 120; ++number)
    printCase(number);
}
