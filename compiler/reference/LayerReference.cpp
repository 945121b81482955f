// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "reference/LayerReference.h"

#include "reference/expressions.h"
#include "reference/masks.h"
#include "reference/positions.h"
#include "reference/scores.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace mhac::reference {

std::vector<Row> allRows(const Sizes &sizes) {
  std::vector<Row> rows;
  for (int64_t b = 0; b < sizes.batch; ++b)
    for (int64_t q = 0; q < sizes.query; ++q)
      rows.push_back({b, q});
  return rows;
}

namespace {

/// The three results of the input projections.
enum class Part { Query, Key, Value };

/// An output feature of an input projection: a row of a weight matrix and of its bias.
struct FeatureRow {
  const char *weight, *bias;
  int64_t row;
};

/// The layer's numbers under the letters of the semantics.
struct Letters {
  int64_t m, kvM, H, G, d, e;
  explicit Letters(const LayerSpec &layer)
      : m(*layer.dModel), kvM(*layer.kvDModel), H(*layer.heads), G(*layer.kvHeads), d(*layer.headDim), e(*layer.vHeadDim) {}
};

/// Where element `i` of head `h` (query heads for Q, key/value heads for K and V) is made. Semantics section 2, step 1.
FeatureRow featureRow(const Spec &spec, Part part, int64_t h, int64_t i) {
  Letters n(spec.layer);
  if (*spec.projections.input == InputProjection::Separate) {
    switch (part) {
    case Part::Query:
      return {"wq", "bq", h * n.d + i};
    case Part::Key:
      return {"wk", "bk", h * n.d + i};
    case Part::Value:
      return {"wv", "bv", h * n.e + i};
    }
  }
  int64_t row = 0;
  switch (*spec.projections.packing) {
  case Packing::Qkv: // all Q rows, all K rows, all V rows
    row = part == Part::Query ? h * n.d + i : part == Part::Key ? n.H * n.d + h * n.d + i : n.H * n.d + n.G * n.d + h * n.e + i;
    break;
  case Packing::PerHead: // q, k, v of head 0, then of head 1
    row = h * (n.d + n.d + n.e) + (part == Part::Query ? 0 : part == Part::Key ? n.d : n.d + n.d) + i;
    break;
  case Packing::PerGroup: { // the queries, the key and the value of group 0, then of group 1
    int64_t queries = n.H / n.G, group = queries * n.d + n.d + n.e;
    row = part == Part::Query ? h / queries * group + h % queries * n.d + i
          : part == Part::Key ? h * group + queries * n.d + i
                              : h * group + queries * n.d + n.d + i;
    break;
  }
  }
  return {"wqkv", "bqkv", row};
}

/// Row `r` of a weight matrix as it lies: out_in has rows of inputs, in_out has columns.
struct WeightRow {
  const float *data;
  int64_t stride;
  WeightRow(const Spec &spec, const Tensor &weight, int64_t r) {
    bool outIn = *spec.projections.weightLayout == WeightLayout::OutIn;
    data = static_cast<const float *>(weight.data) + r * weight.strides[outIn ? 0 : 1];
    stride = weight.strides[outIn ? 1 : 0];
  }
};

/// The computation with every number of type T.
template <typename T> class Layer {
public:
  Layer(const Spec &spec, const Sizes &sizes, const Tensors &inputs)
      : spec(spec), sizes(sizes), inputs(inputs), n(spec.layer), positions(spec, sizes, inputs) {}

  LayerResult compute(const std::vector<Row> &rows) {
    LayerResult result;
    result.heads = n.H;
    result.width = *spec.projections.output ? n.m : n.H * n.e;
    std::vector<T> keys, values; // of batch row `current`: [G, keys, d] and [G, keys, e]
    int64_t current = -1;
    for (Row row : rows) {
      if (row.b != current) {
        keys = heads(Part::Key, row.b);
        values = heads(Part::Value, row.b);
        current = row.b;
      }
      std::vector<T> concatenated = attend(row, keys, values, result.lse);
      for (T value : *spec.projections.output ? projectOutput(concatenated) : concatenated)
        result.y.push_back(value);
    }
    return result;
  }

private:
  /// K or V of one batch row: [G, keys, width].
  std::vector<T> heads(Part part, int64_t b) {
    int64_t width = part == Part::Value ? n.e : n.d;
    RowMask mask(spec, sizes, inputs, b);
    std::vector<T> all(n.G * sizes.key * width);
    for (int64_t k = 0; k < sizes.key; ++k) {
      std::vector<T> ofToken = headsOfToken(part, b, k, n.G, width);
      if (part == Part::Key)
        positions.encode(/*isKey=*/true, b, k, mask.keyPosition(k), ofToken);
      for (int64_t g = 0; g < n.G; ++g)
        for (int64_t i = 0; i < width; ++i)
          all[(g * sizes.key + k) * width + i] = ofToken[g * width + i];
    }
    return all;
  }

  /// Q, K or V of one token: [count, width].
  std::vector<T> headsOfToken(Part part, int64_t b, int64_t s, int64_t count, int64_t width) {
    std::vector<T> features = token(part, b, s), all(count * width);
    for (int64_t h = 0; h < count; ++h)
      for (int64_t i = 0; i < width; ++i)
        all[h * width + i] = element(part, features, b, s, h, i);
    return all;
  }

  /// The features that a token is projected from; nothing without input projections.
  std::vector<T> token(Part part, int64_t b, int64_t s) {
    if (*spec.projections.input == InputProjection::None)
      return {};
    bool fromMemory = part != Part::Query && *spec.layer.source == Source::Cross;
    const Tensor &input = inputs.find(fromMemory ? "memory" : "x")->second;
    std::vector<T> features(fromMemory ? n.kvM : n.m);
    for (size_t f = 0; f < features.size(); ++f)
      features[f] = input.number({b, s, int64_t(f)});
    return features;
  }

  /// Element `i` of head `h` of Q, K or V at position `s`: projected from the token's features, or read.
  T element(Part part, const std::vector<T> &features, int64_t b, int64_t s, int64_t h, int64_t i) {
    if (*spec.projections.input == InputProjection::None) {
      const Tensor &input = inputs.find(part == Part::Query ? "q" : part == Part::Key ? "k" : "v")->second;
      return *spec.shape.layout == ActivationLayout::Bshd ? input.number({b, s, h, i}) : input.number({b, h, s, i});
    }
    FeatureRow feature = featureRow(spec, part, h, i);
    WeightRow weight(spec, inputs.find(feature.weight)->second, feature.row);
    T sum = 0;
    for (size_t f = 0; f < features.size(); ++f)
      sum += features[f] * T(weight.data[f * weight.stride]);
    return *spec.projections.biasInput ? sum + T(inputs.find(feature.bias)->second.number({feature.row})) : sum;
  }

  /// The heads of one row, concatenated; appends the row's lse.
  std::vector<T> attend(Row row, const std::vector<T> &keys, const std::vector<T> &values, std::vector<double> &lse) {
    RowMask mask(spec, sizes, inputs, row.b);
    const RowScores scores(spec, sizes, inputs, row.b, mask);
    const T scale = T(scoreScale(spec));
    std::vector<T> queries = headsOfToken(Part::Query, row.b, row.q, n.H, n.d);
    positions.encode(/*isKey=*/false, row.b, row.q, mask.queryPosition(row.q), queries);
    std::vector<T> output(n.H * n.e, T(0)), weights;
    std::vector<int64_t> visible;
    for (int64_t h = 0; h < n.H; ++h) {
      if (h == 0 || mask.dependsOnHead()) {
        visible.clear();
        for (int64_t k = 0; k < sizes.key; ++k)
          if (mask.isVisible(h, row.q, k))
            visible.push_back(k);
      }
      if (visible.empty()) { // output 0, whatever the query is
        lse.push_back(-std::numeric_limits<double>::infinity());
        continue;
      }
      const int64_t g = h / (n.H / n.G);
      const T *query = &queries[h * n.d];

      T maximum = -std::numeric_limits<T>::infinity(), sum = 0;
      weights.resize(visible.size());
      for (size_t j = 0; j < visible.size(); ++j) {
        const T *key = &keys[(g * sizes.key + visible[j]) * n.d];
        T dot = 0;
        for (int64_t i = 0; i < n.d; ++i)
          dot += query[i] * key[i];
        weights[j] = scores.score(h, row.q, visible[j], scale * dot) + T(mask.addition(h, row.q, visible[j]));
        if (weights[j] < T(hidingScore))
          weights[j] = -std::numeric_limits<T>::infinity();
        maximum = std::max(maximum, weights[j]);
      }
      if (std::all_of(weights.begin(), weights.end(), [](T weight) { return weight == -std::numeric_limits<T>::infinity(); })) {
        lse.push_back(-std::numeric_limits<double>::infinity()); // as if no key were visible
        continue;
      }
      for (T &weight : weights) {
        weight = std::exp(weight - maximum);
        sum += weight;
      }
      std::optional<double> sink = scores.sink(h);
      const T denominator = sink ? sum + std::exp(T(*sink) - maximum) : sum;
      for (size_t j = 0; j < visible.size(); ++j) {
        const T *value = &values[(g * sizes.key + visible[j]) * n.e];
        for (int64_t i = 0; i < n.e; ++i)
          output[h * n.e + i] += weights[j] * value[i];
      }
      for (int64_t i = 0; i < n.e; ++i)
        output[h * n.e + i] /= denominator;
      lse.push_back(maximum + std::log(sum));
    }
    return output;
  }

  /// Y = O·Woᵀ + bo for one row.
  std::vector<T> projectOutput(const std::vector<T> &concatenated) {
    const Tensor &wo = inputs.find("wo")->second;
    std::vector<T> y(n.m);
    for (int64_t r = 0; r < n.m; ++r) {
      WeightRow weight(spec, wo, r);
      T sum = 0;
      for (size_t f = 0; f < concatenated.size(); ++f)
        sum += concatenated[f] * T(weight.data[f * weight.stride]);
      y[r] = *spec.projections.biasOutput ? sum + T(inputs.find("bo")->second.number({r})) : sum;
    }
    return y;
  }

  const Spec &spec;
  const Sizes &sizes;
  const Tensors &inputs;
  const Letters n;
  const Positions positions;
};

/// The inputs that the spec asks for, with their shapes.
std::vector<std::pair<std::string, std::vector<int64_t>>> expectedInputs(const Spec &spec, const Sizes &sizes) {
  Letters n(spec.layer);
  const ProjectionSpec &projections = spec.projections;
  std::vector<std::pair<std::string, std::vector<int64_t>>> list;
  auto matrix = [&](const char *name, int64_t outputs, int64_t features) {
    if (*projections.weightLayout == WeightLayout::OutIn)
      list.push_back({name, {outputs, features}});
    else
      list.push_back({name, {features, outputs}});
  };
  auto heads = [&](const char *name, int64_t s, int64_t count, int64_t width) {
    if (*spec.shape.layout == ActivationLayout::Bshd)
      list.push_back({name, {sizes.batch, s, count, width}});
    else
      list.push_back({name, {sizes.batch, count, s, width}});
  };
  const int64_t q = n.H * n.d, k = n.G * n.d, v = n.G * n.e;
  if (*projections.input == InputProjection::None) {
    heads("q", sizes.query, n.H, n.d);
    heads("k", sizes.key, n.G, n.d);
    heads("v", sizes.key, n.G, n.e);
  } else {
    list.push_back({"x", {sizes.batch, sizes.query, n.m}});
    if (*spec.layer.source == Source::Cross)
      list.push_back({"memory", {sizes.batch, sizes.key, n.kvM}});
  }
  if (*projections.input == InputProjection::Packed) {
    matrix("wqkv", q + k + v, n.m);
    if (*projections.biasInput)
      list.push_back({"bqkv", {q + k + v}});
  }
  if (*projections.input == InputProjection::Separate) {
    matrix("wq", q, n.m);
    matrix("wk", k, n.kvM);
    matrix("wv", v, n.kvM);
    if (*projections.biasInput) {
      list.push_back({"bq", {q}});
      list.push_back({"bk", {k}});
      list.push_back({"bv", {v}});
    }
  }
  if (*projections.output) {
    matrix("wo", n.m, n.H * n.e);
    if (*projections.biasOutput)
      list.push_back({"bo", {n.m}});
  }
  for (auto &input : maskInputs(spec, sizes))
    list.push_back(std::move(input));
  for (auto &input : scoreInputs(spec, sizes))
    list.push_back(std::move(input));
  for (auto &input : positionInputs(spec, sizes))
    list.push_back(std::move(input));
  for (const ExpressionParameter &parameter : spec.parameters)
    list.push_back({parameter.name, parameterShape(parameter, sizes, n.H)});
  return list;
}

std::string describe(const std::vector<int64_t> &shape) {
  std::string text = "[";
  for (int64_t extent : shape)
    text += (text.size() > 1 ? ", " : "") + (extent < 0 ? "any" : std::to_string(extent));
  return text + "]";
}

/// -1 stands for any extent.
bool fits(const std::vector<int64_t> &shape, const std::vector<int64_t> &wanted) {
  return std::equal(shape.begin(), shape.end(), wanted.begin(), wanted.end(), [](int64_t a, int64_t b) { return b == -1 || a == b; });
}

std::string checkInputs(const Spec &spec, const Sizes &sizes, const Tensors &inputs) {
  if (std::string mask = unknownMask(spec); !mask.empty())
    return "the reference does not know the mask '" + mask + "'";
  if (const VariantSpec *score = unknownScore(spec))
    return "the reference does not know the score change '" + *score->word + "'";
  if (const VariantSpec *position = unknownPosition(spec))
    return "the reference does not know the position encoding '" + *position->word + "'";
  bool keysAreQueries = *spec.layer.source == Source::Self && *spec.projections.input != InputProjection::None;
  if (keysAreQueries && sizes.key != sizes.query)
    return "self-attention has as many keys as queries, found " + std::to_string(sizes.key) + " and " + std::to_string(sizes.query);
  for (const auto &[name, shape] : expectedInputs(spec, sizes)) {
    auto found = inputs.find(name);
    if (found == inputs.end())
      return "the input '" + name + "' is missing";
    if (!fits(found->second.shape, shape) || found->second.strides.size() != shape.size())
      return "the input '" + name + "' has shape " + describe(found->second.shape) + ", wanted " + describe(shape);
  }
  return "";
}

} // namespace

std::optional<LayerResult> computeLayer(const Spec &spec, const Sizes &sizes, const Tensors &inputs, const std::vector<Row> &rows,
                                        Arithmetic arithmetic, std::string &error) {
  error = checkInputs(spec, sizes, inputs);
  if (!error.empty())
    return std::nullopt;
  if (arithmetic == Arithmetic::Double)
    return Layer<double>(spec, sizes, inputs).compute(rows);
  return Layer<float>(spec, sizes, inputs).compute(rows);
}

int64_t yOffset(const Spec &spec, const Tensor &y, Row row, int64_t i) {
  if (*spec.projections.output)
    return y.offset({row.b, row.q, i});
  int64_t h = i / *spec.layer.vHeadDim, j = i % *spec.layer.vHeadDim;
  return *spec.shape.layout == ActivationLayout::Bshd ? y.offset({row.b, row.q, h, j}) : y.offset({row.b, h, row.q, j});
}

double usefulFlops(const Spec &spec, const Sizes &sizes, const Tensors &inputs) {
  Letters n(spec.layer);
  double pairs = 0; // of all heads
  for (int64_t b = 0; b < sizes.batch; ++b) {
    RowMask mask(spec, sizes, inputs, b);
    const int64_t heads = mask.dependsOnHead() ? n.H : 1;
    for (int64_t h = 0; h < heads; ++h)
      for (int64_t q = 0; q < sizes.query; ++q)
        for (int64_t k = 0; k < sizes.key; ++k)
          pairs += mask.isVisible(h, q, k) ? double(n.H / heads) : 0;
  }
  double queries = double(sizes.batch) * double(sizes.query), keys = double(sizes.batch) * double(sizes.key);
  double flops = 2 * pairs * double(n.d + n.e);
  if (*spec.projections.input != InputProjection::None)
    flops += 2 * queries * double(n.m) * double(n.H * n.d) + 2 * keys * double(n.kvM) * double(n.G * (n.d + n.e));
  if (*spec.projections.output)
    flops += 2 * queries * double(n.H * n.e) * double(n.m);
  return flops;
}

} // namespace mhac::reference
