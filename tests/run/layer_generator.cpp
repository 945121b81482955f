// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "layer_generator.h"

#include <algorithm>
#include <random>

namespace mhac::grid {

namespace {

/// A random layer: every property is drawn in the order of the constructor, then written as YAML with only the keys that apply.
class Draft {
public:
  explicit Draft(std::mt19937_64 &random) : random(random) {
    source = pick({"self", "cross"});
    input = pick({"packed", "separate", "none"});
    output = pick({"true", "false"});
    drawWidths();
    drawProjections();
    mask = pick({"none", "causal", "right", "left", "both", "causal+right", "causal+left", "causal+both"});
    offset = mask.find("causal") == std::string::npos ? "bottom_right" : pick({"bottom_right", "top_left", "row_end"});
    sizes = pick({"dynamic", "dynamic", "fixed", "bounded", "fixed_batch"});
    layout = input == "none" || output == "false" ? pick({"bshd", "bhsd"}) : "";
    scale = pick({"default", "0.1"});
    outputs = pick({"y", "y, lse"});
    position = headDim == 1 ? "none" : pick({"none", "half", "interleaved", "partial"});
    norm = pick({"none", "none", "rms", "all_after"});
    dtype = pick({"f32", "f32", "bf16", "f16"});
    weights = input != "none" || output == "true" ? pick({"same", "same", "f32", "bf16", "f16"}) : "";
  }

  std::vector<std::string> facets() const {
    std::vector<std::string> list;
    for (const auto &[name, value] : {std::pair<const char *, std::string>{"source", source}, {"input", input}, {"packing", packing},
                                      {"weight_layout", weightLayout}, {"output", output}, {"bias_input", biasInput}, {"bias_output", biasOutput},
                                      {"heads", std::to_string(heads) + "/" + std::to_string(kvHeads)}, {"head_dim", std::to_string(headDim)},
                                      {"v_head_dim", std::to_string(vHeadDim)}, {"mask", mask}, {"offset", offset}, {"sizes", sizes},
                                      {"layout", layout}, {"scale", scale}, {"outputs", outputs}, {"position", position}, {"norm", norm},
                                      {"dtype", dtype}, {"weights", weights}})
      if (!value.empty())
        list.push_back(std::string(name) + "=" + value);
    return list;
  }

  std::string yaml(const std::string &name) const;

private:
  std::string pick(std::initializer_list<const char *> words) { return words.begin()[random() % words.size()]; }
  int64_t pick(std::initializer_list<int64_t> numbers) { return numbers.begin()[random() % numbers.size()]; }

  void drawWidths() {
    headDim = pick({1, 8, 40, 64, 80, 128, 256});
    vHeadDim = pick({0, 1}) ? headDim : pick({1, 8, 40, 64, 80, 128, 256});
    kvHeads = pick({1, 2, 3});
    heads = kvHeads * pick({1, 1, 2, 4});
    while (heads * std::max(headDim, vHeadDim) > 512) // keeps the reference affordable
      heads = kvHeads = kvHeads > 1 ? kvHeads - 1 : 1;
    dModel = pick({7, 16, 33, 48, 64});
    kvDModel = source == "cross" ? pick({5, 16, 40}) : dModel;
  }
  void drawProjections() {
    bool any = input != "none" || output == "true";
    weightLayout = any ? pick({"out_in", "in_out"}) : "";
    biasInput = input != "none" ? pick({"true", "false"}) : "";
    biasOutput = output == "true" ? pick({"true", "false"}) : "";
    if (input != "packed")
      return;
    kvDModel = dModel;
    packing = heads == kvHeads ? pick({"qkv", "per_head", "per_group"}) : pick({"qkv", "per_group"});
  }

  std::mt19937_64 &random;
  std::string source, input, packing, weightLayout, output, biasInput, biasOutput, mask, offset, sizes, layout, scale, outputs, position, norm, dtype,
      weights;
  int64_t heads, kvHeads, headDim, vHeadDim, dModel, kvDModel;
};

std::string Draft::yaml(const std::string &name) const {
  auto number = [](int64_t n) { return std::to_string(n); };
  std::string text = "mhac: 1\nname: " + name + "\n";
  text += "layer: {d_model: " + number(dModel) + ", heads: " + number(heads) + ", kv_heads: " + number(kvHeads) + ", head_dim: " + number(headDim) +
          ", v_head_dim: " + number(vHeadDim) + ", source: " + source;
  text += source == "cross" && input != "none" ? ", kv_d_model: " + number(kvDModel) : "";
  if (norm != "none")
    text += norm == "rms" ? ", qk_norm: {kind: rms}" : ", qk_norm: {kind: l2, scope: all, place: after_rope}";
  text += "}\n";

  text += "projections: {input: " + input + ", output: " + output;
  text += packing.empty() ? "" : ", packing: " + packing;
  text += weightLayout.empty() ? "" : ", weight_layout: " + weightLayout;
  std::string bias = biasInput.empty() ? "" : "input: " + biasInput;
  bias += biasOutput.empty() ? "" : (bias.empty() ? "" : ", ") + ("output: " + biasOutput);
  text += (bias.empty() ? "" : ", bias: {" + bias + "}") + "}\n";

  const bool hasKey = source == "cross" || input == "none";
  const std::string sizeWords[][4] = {{"dynamic", "dynamic", "dynamic", "dynamic"},
                                      {"fixed", "3", "65", "127"},
                                      {"bounded", "{max: 9}", "{max: 129}", "{max: 129}"},
                                      {"fixed_batch", "1", "dynamic", "dynamic"}};
  for (const auto &[word, batch, query, key] : sizeWords)
    if (word == sizes) {
      text += "shape: {batch: " + batch + ", query: " + query + (hasKey ? ", key: " + key : "");
      text += (layout.empty() ? "" : ", layout: " + layout) + "}\n";
    }
  if (offset != "bottom_right")
    text += "query_offset: " + offset + "\n";
  std::string masks = mask.find("causal") == std::string::npos ? "" : "causal";
  for (const char *side : {"right", "left", "both"})
    if (mask.find(side) != std::string::npos)
      masks += (masks.empty() ? "" : ", ") + std::string("{padding: {side: ") + side + "}}";
  if (position == "partial")
    text += "position: [{rope: {rotary_dim: " + number(headDim / 4 * 2) + ", base: 100}}]\n";
  else if (position != "none")
    text += "position: [{rope: {pairing: " + position + "}}]\n";
  text += "dtype: {activations: " + dtype + (weights.empty() ? "" : ", weights: " + (weights == "same" ? dtype : weights)) + "}\n";
  return text + "mask: [" + masks + "]\nscore: [{scale: " + scale + "}]\noutputs: [" + outputs + "]\n";
}

/// Pairs of facets, as text.
std::vector<std::string> pairsOf(const std::vector<std::string> &facets) {
  std::vector<std::string> pairs;
  for (size_t i = 0; i < facets.size(); ++i)
    for (size_t j = 0; j < i; ++j)
      pairs.push_back(facets[j] + " " + facets[i]);
  return pairs;
}

} // namespace

std::vector<GridLayer> generateLayers(size_t count, uint64_t seed) {
  std::mt19937_64 random(seed);
  std::set<std::string> seen;
  std::vector<GridLayer> layers;
  while (layers.size() < count) {
    GridLayer best;
    size_t bestNews = 0;
    std::string name = "grid_" + std::to_string(layers.size());
    for (int candidate = 0; candidate < 60; ++candidate) {
      Draft draft(random);
      std::vector<std::string> facets = draft.facets(), pairs = pairsOf(facets);
      size_t news = size_t(std::count_if(pairs.begin(), pairs.end(), [&](const std::string &pair) { return !seen.count(pair); }));
      if (best.name.empty() || news > bestNews)
        best = {name, draft.yaml(name), facets}, bestNews = news;
    }
    for (const std::string &pair : pairsOf(best.facets))
      seen.insert(pair);
    layers.push_back(best);
  }
  return layers;
}

std::vector<GridLayer> cornerLayers() {
  auto layer = [](const std::string &name, const std::string &rest) { return GridLayer{name, "mhac: 1\nname: " + name + "\n" + rest, {}}; };
  return {
      layer("smallest", "layer: {d_model: 1, heads: 1}\noutputs: [y, lse]\n"),
      layer("core_only", "layer: {d_model: 64, heads: 1}\nprojections: {input: none, output: false}\noutputs: [y, lse]\n"),
      layer("core_width_one", "layer: {d_model: 3, heads: 3, head_dim: 1}\nprojections: {input: none, output: false}\nmask: [causal]\n"),
      layer("multi_query_16", "layer: {d_model: 64, heads: 16, kv_heads: 1, head_dim: 4}\nmask: [causal]\noutputs: [y, lse]\n"),
      layer("prime_widths", "layer: {d_model: 37, heads: 5, head_dim: 13, v_head_dim: 11}\nprojections: {bias: {input: true, output: true}}\n"),
      layer("many_heads", "layer: {d_model: 32, heads: 48, head_dim: 3}\nprojections: {input: packed, packing: per_head}\n"),
      layer("one_feature_in", "layer: {d_model: 1, heads: 2, head_dim: 17}\nprojections: {weight_layout: in_out, input: separate}\n"),
      layer("wide_value", "layer: {d_model: 16, heads: 1, head_dim: 1, v_head_dim: 256}\nprojections: {output: false}\n"),
      layer("wide_query", "layer: {d_model: 16, heads: 1, head_dim: 256, v_head_dim: 1}\nmask: [causal]\n"),
      layer("fixed_all", "layer: {d_model: 48, heads: 3}\nshape: {batch: 1, query: 128}\nmask: [causal]\noutputs: [y, lse]\n"),
      layer("fixed_batch_8", "layer: {d_model: 48, heads: 3}\nshape: {batch: 8, query: 33}\nmask: [causal, {padding: {side: left}}]\noutputs: [y, lse]\n"),
      layer("fixed_query_9", "layer: {d_model: 48, heads: 3}\nshape: {query: 9}\noutputs: [y, lse]\n"),
      layer("fixed_decode", "layer: {d_model: 48, heads: 6, kv_heads: 2, head_dim: 16}\nprojections: {input: none, output: false}\n"
                            "shape: {batch: 3, query: 1, key: dynamic}\nquery_offset: row_end\nmask: [causal, {padding: {side: right}}]\n"),
      layer("key_at_most_17", "layer: {d_model: 48, heads: 3, source: cross, kv_d_model: 8}\nprojections: {input: separate}\n"
                              "shape: {key: {max: 17}}\noutputs: [y, lse]\n"),
  };
}

size_t countPairs(const std::vector<GridLayer> &layers) {
  std::set<std::string> seen;
  for (const GridLayer &layer : layers)
    for (const std::string &pair : pairsOf(layer.facets))
      seen.insert(pair);
  return seen.size();
}

std::set<std::string> facetsOf(const std::vector<GridLayer> &layers) {
  std::set<std::string> facets;
  for (const GridLayer &layer : layers)
    facets.insert(layer.facets.begin(), layer.facets.end());
  return facets;
}

} // namespace mhac::grid
