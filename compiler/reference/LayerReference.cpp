// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "reference/LayerReference.h"

#include "reference/expressions.h"
#include "reference/masks.h"
#include "reference/merge.h"
#include "reference/outputs.h"
#include "reference/positions.h"
#include "reference/scores.h"

#include <algorithm>
#include <cmath>
#include <deque>
#include <limits>
#include <numeric>
#include <type_traits>

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

/// The layer's numbers under the letters of the semantics. Where heads have several widths, d and e are the largest, and every head has one
/// key/value head of its own.
struct Letters {
  int64_t m, kvM, H, G, d, e;
  std::vector<int64_t> widths; // of every head; empty: all have d and e
  std::vector<bool> pruned;    // by query head
  explicit Letters(const LayerSpec &layer)
      : m(*layer.dModel), kvM(*layer.kvDModel), H(*layer.heads), G(*layer.kvHeads), d(*layer.headDim), e(*layer.vHeadDim), pruned(H, false) {
    for (const HeadGroup &group : layer.headGroups)
      widths.insert(widths.end(), group.heads, group.width);
    for (int64_t h : layer.prunedHeads)
      pruned[h] = true;
  }

  int64_t headWidth(Part part, int64_t h) const { return !widths.empty() ? widths[h] : part == Part::Value ? e : d; }
  /// Features of the heads before `h`.
  int64_t firstFeature(Part part, int64_t h) const {
    return widths.empty() ? h * (part == Part::Value ? e : d) : std::accumulate(widths.begin(), widths.begin() + h, int64_t(0));
  }
  int64_t keptHeads() const { return std::count(pruned.begin(), pruned.end(), false); }
};

/// Where element `i` of head `h` (query heads for Q, key/value heads for K and V) is made. Semantics section 2, step 1.
FeatureRow featureRow(const Spec &spec, Part part, int64_t h, int64_t i) {
  Letters n(spec.layer);
  if (*spec.projections.input == InputProjection::Separate) {
    switch (part) {
    case Part::Query:
      return {"wq", "bq", n.firstFeature(part, h) + i};
    case Part::Key:
      return {"wk", "bk", n.firstFeature(part, h) + i};
    case Part::Value:
      return {"wv", "bv", n.firstFeature(part, h) + i};
    }
  }
  int64_t row = 0;
  // Rows of Q of `queries` heads, of K and of V, of all key/value heads before g.
  auto before = [&](int64_t queries, int64_t g) { return (queries + 1) * n.firstFeature(Part::Key, g) + n.firstFeature(Part::Value, g); };
  switch (*spec.projections.packing) {
  case Packing::Qkv: // all Q rows, all K rows, all V rows
    row = n.firstFeature(part, h) + i + (part == Part::Query ? 0 : n.firstFeature(Part::Query, n.H)) +
          (part == Part::Value ? n.firstFeature(Part::Key, n.G) : 0);
    break;
  case Packing::PerHead: // q, k, v of head 0, then of head 1
    row = before(1, h) + (part == Part::Query ? 0 : part == Part::Key ? 1 : 2) * n.headWidth(Part::Query, h) + i;
    break;
  case Packing::PerGroup: { // the queries, the key and the value of group 0, then of group 1
    const int64_t queries = n.H / n.G, g = part == Part::Query ? h / queries : h, width = n.headWidth(Part::Key, g);
    row = before(queries, g) + (part == Part::Query ? h % queries : part == Part::Key ? queries : queries + 1) * width + i;
    break;
  }
  }
  return {"wqkv", "bqkv", row};
}

/// Row `r` of a weight matrix as it lies: out_in has rows of inputs, in_out has columns. A weight with scales is a number times the one of its group.
struct WeightRow {
  const float *data, *scales = nullptr;
  int64_t stride, group = 1;
  WeightRow(const Spec &spec, const Tensors &inputs, const std::string &name, int64_t r) {
    const Tensor &weight = inputs.find(name)->second;
    bool outIn = *spec.projections.weightLayout == WeightLayout::OutIn;
    data = static_cast<const float *>(weight.data) + r * weight.strides[outIn ? 0 : 1];
    stride = weight.strides[outIn ? 1 : 0];
    if (!spec.dtype.hasScales())
      return;
    const Tensor &ofGroups = inputs.find(name + "_scales")->second;
    scales = static_cast<const float *>(ofGroups.data) + r * ofGroups.strides[0];
    group = weight.shape[outIn ? 1 : 0] / ofGroups.shape[1];
  }
  float number(int64_t f) const { return data[f * stride]; }
  template <typename T> T at(int64_t f) const { return scales ? T(number(f)) * T(scales[f / group]) : T(number(f)); }
};

/// What a projection multiplies with its weights: the features of a token, or, where the spec has them rounded to 8 bits, their integers and a scale.
template <typename T> struct Multiplied {
  std::vector<T> features;
  std::vector<int32_t> integers; // empty: the features count
  float scale = 0;
};

/// The computation with every number of type T.
template <typename T> class Layer {
public:
  Layer(const Spec &spec, const Sizes &sizes, const Tensors &inputs) : spec(spec), sizes(sizes), inputs(inputs), n(spec.layer) {
    if (spec.layer.headGroups.empty())
      positions.emplace_back(spec, sizes, inputs);
    for (const HeadGroup &group : spec.layer.headGroups) {
      ofGroups.push_back(spec);
      ofGroups.back().layer.headDim.value = group.width;
      positions.emplace_back(ofGroups.back(), sizes, inputs);
    }
  }

  LayerResult compute(const std::vector<Row> &rows) {
    LayerResult result;
    result.heads = n.keptHeads();
    result.width = *spec.projections.output ? n.m : n.keptHeads() * n.e;
    std::vector<T> keys, values; // of batch row `current`: [G, keys, d] and [G, keys, e]
    int64_t current = -1;
    for (Row row : rows) {
      if (row.b != current && !spec.mergeParts) {
        keys = heads(Part::Key, row.b);
        values = heads(Part::Value, row.b);
        keyBuckets = bucketsOf(keys, n.G, sizes.key, [](int64_t g) { return g; });
        current = row.b;
      }
      if (needsAllQueries(spec))
        sumQueries(row.b, keys, values, result);
      std::vector<T> concatenated = attend(row, keys, values, result, nullptr);
      for (T value : *spec.projections.output ? projectOutput(concatenated) : withoutPruned(concatenated))
        result.y.push_back(stored(value));
    }
    return result;
  }

private:
  /// An element of y: the textbook computation rounds it to the format of the output.
  double stored(T value) const {
    const DType dtype = *spec.dtype.activations;
    return std::is_same_v<T, float> ? valueOfBits(dtype, bitsOfValue(dtype, float(value))) : double(value);
  }

  /// Appends what all queries of a batch row give together, unless it is there already.
  void sumQueries(int64_t b, const std::vector<T> &keys, const std::vector<T> &values, LayerResult &result) {
    if (std::find(result.batches.begin(), result.batches.end(), b) != result.batches.end())
      return;
    QuerySums<T> sums{std::vector<T>(n.H * sizes.key), std::vector<T>(n.H)};
    LayerResult unused;
    for (int64_t q = 0; q < sizes.query; ++q) {
      std::vector<T> concatenated = attend({b, q}, keys, values, unused, &sums);
      for (int64_t h = 0; h < n.H; ++h)
        for (int64_t i = n.firstFeature(Part::Value, h); i < n.firstFeature(Part::Value, h + 1); ++i)
          sums.squares[h] += concatenated[i] * concatenated[i];
    }
    result.batches.push_back(b);
    result.uncertainSums.push_back(std::find(unused.uncertain.begin(), unused.uncertain.end(), true) != unused.uncertain.end());
    for (int64_t h = 0; h < n.H; ++h) {
      if (n.pruned[h])
        continue;
      if (spec.hasOutput(OutputKind::KeyMass))
        result.keyMass.insert(result.keyMass.end(), sums.mass.begin() + h * sizes.key, sums.mass.begin() + (h + 1) * sizes.key);
      if (spec.hasOutput(OutputKind::HeadNorms))
        result.headNorms.push_back(std::sqrt(sums.squares[h]));
    }
  }

  /// What a row of the map of one head gives to the outputs: to `sums`, or as a row of `result`.
  void recordMap(Row row, int64_t h, const RowMask &mask, const RowScores &scores, const T *query, const std::vector<T> &keys,
                 const std::vector<int64_t> &visible, const std::vector<T> &probabilities, LayerResult &result, QuerySums<T> *sums) {
    if (!needsMapRows(spec))
      return;
    MapRow<T> map;
    map.visible.assign(sizes.key, false);
    map.probabilities.assign(sizes.key, T(0));
    for (size_t j = 0; j < visible.size(); ++j)
      map.visible[visible[j]] = true, map.probabilities[visible[j]] = probabilities[j];
    if (sums) {
      for (int64_t k = 0; k < sizes.key; ++k)
        sums->mass[h * sizes.key + k] += map.probabilities[k];
      return;
    }
    for (int64_t k = 0; k < sizes.key; ++k)
      map.distance.push_back(std::abs(mask.keyPosition(k) - mask.queryPosition(row.q)));
    if (needsHiddenScores(spec))
      for (int64_t k = 0; k < sizes.key; ++k) {
        map.scaled.push_back(T(scoreScale(spec, n.headWidth(Part::Query, h))) * dot(query, h, k, keys));
        map.modified.push_back(scores.score(h, row.q, k, map.scaled.back()));
        map.added.push_back(map.visible[k] ? T(mask.addition(h, row.q, k)) : T(0));
      }
    appendMapRow(spec, map, result);
  }

  /// The buckets of vectors [heads, count, largest width], for each `lsh` of the spec; head h has the rotations of key/value head kvHead(h).
  template <typename F> Buckets bucketsOf(const std::vector<T> &vectors, int64_t heads, int64_t count, F kvHead) {
    Buckets buckets;
    for (const HashKind &kind : hashKinds(spec))
      for (int64_t i = 0; i < heads * count; ++i) {
        const T *vector = &vectors[i * n.d];
        const int64_t width = n.headWidth(Part::Query, i / count);
        buckets[kind].push_back(hasher.candidates(kind, kvHead(i / count), std::vector<double>(vector, vector + width)));
      }
    return buckets;
  }

  /// Whether a row sees other keys when vectors that are nearly in another bucket are in that one.
  bool isUncertain(RowMask &mask, const Buckets &queryBuckets, int64_t q) {
    std::vector<bool> possible;
    mask.useBuckets(keyBuckets, queryBuckets, Certainty::Possible);
    for (int64_t h = 0; h < n.H; ++h)
      for (int64_t k = 0; k < sizes.key && !n.pruned[h]; ++k)
        possible.push_back(mask.isVisible(h, q, k));
    mask.useBuckets(keyBuckets, queryBuckets, Certainty::Certain);
    size_t next = 0;
    bool differs = false;
    for (int64_t h = 0; h < n.H; ++h)
      for (int64_t k = 0; k < sizes.key && !n.pruned[h]; ++k)
        differs |= possible[next++] != mask.isVisible(h, q, k);
    mask.useBuckets(keyBuckets, queryBuckets);
    return differs;
  }

  /// Query head h with key k of its key/value head.
  T dot(const T *query, int64_t h, int64_t k, const std::vector<T> &keys) {
    const T *key = &keys[(h / (n.H / n.G) * sizes.key + k) * n.d];
    T sum = 0;
    for (int64_t i = 0, width = n.headWidth(Part::Query, h); i < width; ++i)
      sum += query[i] * key[i];
    return sum;
  }

  /// K or V of one batch row: [G, keys, width].
  std::vector<T> heads(Part part, int64_t b) {
    int64_t width = part == Part::Value ? n.e : n.d;
    RowMask mask(spec, sizes, inputs, b);
    std::vector<T> all(n.G * sizes.key * width);
    for (int64_t k = 0; k < sizes.key; ++k) {
      std::vector<T> ofToken = headsOfToken(part, b, k, n.G, width);
      if (part == Part::Key)
        encode(/*isKey=*/true, b, k, mask.keyPosition(k), ofToken);
      for (int64_t g = 0; g < n.G; ++g)
        for (int64_t i = 0; i < n.headWidth(part, g); ++i)
          all[(g * sizes.key + k) * width + i] = ofToken[g * width + i];
    }
    return all;
  }

  /// Q, K or V of one token: [count, width].
  std::vector<T> headsOfToken(Part part, int64_t b, int64_t s, int64_t count, int64_t width) {
    const Multiplied<T> features = multiplied(token(part, b, s));
    std::vector<T> all(count * width);
    for (int64_t h = 0; h < count; ++h)
      for (int64_t i = 0; i < n.headWidth(part, h); ++i)
        all[h * width + i] = element(part, features, b, s, h, i);
    return all;
  }

  /// Encodes Q or K of a token, [heads, largest width], each width for itself.
  void encode(bool isKey, int64_t b, int64_t s, int64_t position, std::vector<T> &all) {
    if (n.widths.empty()) {
      positions.front().encode(isKey, b, s, position, all);
      return;
    }
    int64_t h = 0;
    for (size_t i = 0; i < positions.size(); ++i) {
      const HeadGroup &group = spec.layer.headGroups[i];
      std::vector<T> heads;
      for (int64_t j = 0; j < group.heads; ++j)
        heads.insert(heads.end(), &all[(h + j) * n.d], &all[(h + j) * n.d] + group.width);
      positions[i].encode(isKey, b, s, position, heads);
      for (int64_t j = 0; j < group.heads; ++j)
        std::copy_n(&heads[j * group.width], group.width, &all[(h + j) * n.d]);
      h += group.heads;
    }
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

  /// Only the textbook computation rounds tokens: with m the largest |feature|, the integers are feature * (127 / m), ties to even, times m / 127. What
  /// is below 2^-100 counts as nothing, and a token that is not finite has no integers: everything made from it is NaN.
  Multiplied<T> multiplied(std::vector<T> features) const {
    Multiplied<T> result{std::move(features), {}};
    if (!std::is_same_v<T, float> || *spec.dtype.weightCompute != WeightCompute::W8A8)
      return result;
    float largest = 0;
    for (T feature : result.features)
      largest = std::isfinite(feature) ? std::max(largest, std::fabs(float(feature))) : largest;
    const bool isFinite = std::all_of(result.features.begin(), result.features.end(), [](T feature) { return std::isfinite(feature); });
    const float inverse = largest < 0x1p-100f ? 0 : 127.f / largest;
    result.scale = isFinite ? largest / 127.f : std::numeric_limits<float>::quiet_NaN();
    for (T feature : result.features)
      result.integers.push_back(isFinite ? int32_t(std::nearbyint(float(feature) * inverse)) : 0);
    return result;
  }

  /// Of a token and a row of weights; features of heads that are left out are 0, and their weights are never read.
  T product(const Multiplied<T> &token, const WeightRow &weight, const std::vector<bool> &used = {}) const {
    T sum = 0;
    int64_t integers = 0;
    for (size_t f = 0; f < token.features.size(); ++f) {
      if (!used.empty() && !used[f])
        continue;
      if (token.integers.empty())
        sum += token.features[f] * weight.at<T>(int64_t(f));
      else
        integers += int64_t(token.integers[f]) * int64_t(weight.number(int64_t(f)));
    }
    return token.integers.empty() ? sum : T(integers) * (T(token.scale) * T(weight.scales[0]));
  }

  /// Element `i` of head `h` of Q, K or V at position `s`: projected from the token's features, or read.
  T element(Part part, const Multiplied<T> &features, int64_t b, int64_t s, int64_t h, int64_t i) {
    if (*spec.projections.input == InputProjection::None) {
      const Tensor &input = inputs.find(part == Part::Query ? "q" : part == Part::Key ? "k" : "v")->second;
      return *spec.shape.layout == ActivationLayout::Bshd ? input.number({b, s, h, i}) : input.number({b, h, s, i});
    }
    FeatureRow feature = featureRow(spec, part, h, i);
    const T sum = product(features, WeightRow(spec, inputs, feature.weight, feature.row));
    return *spec.projections.biasInput ? sum + T(inputs.find(feature.bias)->second.number({feature.row})) : sum;
  }

  /// The same for a layer that merges parts.
  std::vector<T> merge(Row row, LayerResult &result) {
    std::vector<T> concatenated;
    for (int64_t h = 0; h < n.H; ++h) {
      std::vector<T> merged = mergeRow<T>(spec, inputs, row, h);
      result.lse.push_back(merged[0]);
      concatenated.insert(concatenated.end(), merged.begin() + 1, merged.end());
    }
    return concatenated;
  }

  /// The heads of one row, concatenated; appends the row's lse and what else it gives.
  std::vector<T> attend(Row row, const std::vector<T> &keys, const std::vector<T> &values, LayerResult &result, QuerySums<T> *sums) {
    if (spec.mergeParts) {
      result.uncertain.push_back(false);
      return merge(row, result);
    }
    RowMask mask(spec, sizes, inputs, row.b);
    const RowScores scores(spec, sizes, inputs, row.b, mask);
    std::vector<T> queries = headsOfToken(Part::Query, row.b, row.q, n.H, n.d);
    encode(/*isKey=*/false, row.b, row.q, mask.queryPosition(row.q), queries);
    const Buckets queryBuckets = bucketsOf(queries, n.H, 1, [this](int64_t h) { return h / (n.H / n.G); });
    result.uncertain.push_back(!queryBuckets.empty() && isUncertain(mask, queryBuckets, row.q));
    std::vector<T> output(n.firstFeature(Part::Value, n.H), T(0)), weights;
    std::vector<int64_t> visible;
    for (int64_t h = 0; h < n.H; ++h) {
      if (h == 0 || mask.dependsOnHead()) {
        visible.clear();
        for (int64_t k = 0; k < sizes.key; ++k)
          if (mask.isVisible(h, row.q, k))
            visible.push_back(k);
      }
      if (n.pruned[h])
        continue;
      const int64_t g = h / (n.H / n.G), d = n.headWidth(Part::Query, h), e = n.headWidth(Part::Value, g);
      const T scale = T(scoreScale(spec, d)), *query = &queries[h * n.d];
      if (visible.empty()) { // output 0, whatever the query is
        result.lse.push_back(-std::numeric_limits<double>::infinity());
        recordMap(row, h, mask, scores, query, keys, visible, {}, result, sums);
        continue;
      }
      T *head = &output[n.firstFeature(Part::Value, h)];

      T maximum = -std::numeric_limits<T>::infinity(), sum = 0;
      weights.resize(visible.size());
      for (size_t j = 0; j < visible.size(); ++j) {
        weights[j] = scores.score(h, row.q, visible[j], scale * dot(query, h, visible[j], keys)) + T(mask.addition(h, row.q, visible[j]));
        if (weights[j] < T(hidingScore))
          weights[j] = -std::numeric_limits<T>::infinity();
        maximum = std::max(maximum, weights[j]);
      }
      if (std::all_of(weights.begin(), weights.end(), [](T weight) { return weight == -std::numeric_limits<T>::infinity(); })) {
        result.lse.push_back(-std::numeric_limits<double>::infinity()); // as if no key were visible
        recordMap(row, h, mask, scores, query, keys, {}, {}, result, sums);
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
        for (int64_t i = 0; i < e; ++i)
          head[i] += weights[j] * value[i];
      }
      for (int64_t i = 0; i < e; ++i)
        head[i] /= denominator;
      result.lse.push_back(maximum + std::log(sum));
      for (T &weight : weights)
        weight /= denominator;
      recordMap(row, h, mask, scores, query, keys, visible, weights, result, sums);
    }
    return output;
  }

  std::vector<T> withoutPruned(const std::vector<T> &concatenated) {
    std::vector<T> kept;
    for (int64_t h = 0; h < n.H; ++h)
      if (!n.pruned[h])
        kept.insert(kept.end(), concatenated.begin() + h * n.e, concatenated.begin() + (h + 1) * n.e);
    return kept;
  }

  /// Y = O·Woᵀ + bo for one row; columns of heads that are left out are never read.
  std::vector<T> projectOutput(const std::vector<T> &concatenated) {
    std::vector<T> y(n.m);
    std::vector<bool> used;
    for (int64_t h = 0; h < n.H; ++h)
      used.insert(used.end(), n.headWidth(Part::Value, h), !n.pruned[h]);
    const Multiplied<T> token = multiplied(concatenated);
    for (int64_t r = 0; r < n.m; ++r) {
      const T sum = product(token, WeightRow(spec, inputs, "wo", r), used);
      y[r] = *spec.projections.biasOutput ? sum + T(inputs.find("bo")->second.number({r})) : sum;
    }
    return y;
  }

  const Spec &spec;
  const Sizes &sizes;
  const Tensors &inputs;
  const Letters n;
  std::deque<Spec> ofGroups;       // what the heads of one width see of the spec
  std::deque<Positions> positions; // of these, or of all heads
  Hasher hasher;
  Buckets keyBuckets; // of the batch row whose keys were made last
};

/// The inputs that the spec asks for, with their shapes.
std::vector<std::pair<std::string, std::vector<int64_t>>> expectedInputs(const Spec &spec, const Sizes &sizes, int64_t parts) {
  Letters n(spec.layer);
  const ProjectionSpec &projections = spec.projections;
  std::vector<std::pair<std::string, std::vector<int64_t>>> list;
  auto matrix = [&](const std::string &name, int64_t outputs, int64_t features) {
    if (spec.dtype.hasScales())
      list.push_back({name + "_scales", {outputs, spec.dtype.groupsOf(features)}});
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
  const int64_t q = n.firstFeature(Part::Query, n.H), k = n.firstFeature(Part::Key, n.G), v = n.firstFeature(Part::Value, n.G);
  if (spec.mergeParts) {
    heads("outputs", sizes.query, n.H, n.e);
    list.back().second.insert(list.back().second.begin(), parts);
    list.push_back({"lses", {parts, sizes.batch, n.H, sizes.query}});
  } else if (*projections.input == InputProjection::None) {
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
    matrix("wo", n.m, n.firstFeature(Part::Value, n.H));
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
  auto lses = inputs.find("lses"); // says how many parts there are
  const int64_t parts = lses == inputs.end() || lses->second.shape.empty() ? 0 : lses->second.shape[0];
  for (const auto &[name, shape] : expectedInputs(spec, sizes, parts)) {
    auto found = inputs.find(name);
    if (found == inputs.end())
      return "the input '" + name + "' is missing";
    if (!fits(found->second.shape, shape) || found->second.strides.size() != shape.size())
      return "the input '" + name + "' has shape " + describe(found->second.shape) + ", wanted " + describe(shape);
  }
  return "";
}

/// The tensors with narrow floats and numbers of weights as f32, which holds all of their values: each is read many times.
class Widened {
public:
  explicit Widened(const Tensors &tensors) : tensors(tensors) {
    for (auto &[name, tensor] : this->tensors) {
      if (!dtypeInfo(tensor.dtype).isNarrowFloat() && !dtypeInfo(tensor.dtype).isScaled())
        continue;
      int64_t span = 1; // from the first to the last element
      for (size_t i = 0; i < tensor.shape.size(); ++i)
        span = tensor.shape[i] == 0 ? 0 : span + (span ? (tensor.shape[i] - 1) * tensor.strides[i] : 0);
      std::vector<float> &copy = copies.emplace_back(span);
      for (int64_t i = 0; i < span; ++i)
        copy[i] = tensor.numberAt(i);
      tensor.dtype = DType::F32, tensor.data = copy.data();
    }
  }
  Tensors tensors;

private:
  std::deque<std::vector<float>> copies;
};

} // namespace

std::optional<LayerResult> computeLayer(const Spec &spec, const Sizes &sizes, const Tensors &stored, const std::vector<Row> &rows,
                                        Arithmetic arithmetic, std::string &error) {
  error = checkInputs(spec, sizes, stored);
  if (!error.empty())
    return std::nullopt;
  const Widened widened(stored);
  const Tensors &inputs = widened.tensors;
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

std::vector<bool> usedParts(const Spec &spec, std::string_view name) {
  Letters n(spec.layer);
  std::vector<bool> used;
  auto mark = [&](int64_t feature) {
    used.resize(std::max<size_t>(used.size(), feature + 1));
    used[feature] = true;
  };
  for (int64_t h = 0; h < n.H; ++h) {
    if (n.pruned[h])
      continue;
    for (Part part : {Part::Query, Part::Key, Part::Value}) {
      const int64_t head = part == Part::Query ? h : h / (n.H / n.G);
      for (int64_t i = 0; i < n.headWidth(part, head); ++i)
        if (FeatureRow feature = featureRow(spec, part, head, i); name == feature.weight || name == feature.bias)
          mark(feature.row);
    }
    if (name == "q" || name == "k" || name == "v")
      mark(name == "q" ? h : h / (n.H / n.G));
    for (int64_t i = 0; name == "wo" && i < n.headWidth(Part::Value, h); ++i)
      mark(n.firstFeature(Part::Value, h) + i);
  }
  return used;
}

double usefulFlops(const Spec &spec, const Sizes &sizes, const Tensors &inputs) {
  Letters n(spec.layer);
  std::vector<double> pairs(1, 0); // by head, or once for all
  for (int64_t b = 0; b < sizes.batch; ++b) {
    RowMask mask(spec, sizes, inputs, b);
    pairs.resize(mask.dependsOnHead() ? n.H : 1, 0);
    for (size_t h = 0; h < pairs.size(); ++h)
      for (int64_t q = 0; q < sizes.query; ++q)
        for (int64_t k = 0; k < sizes.key; ++k)
          pairs[h] += mask.isVisible(int64_t(h), q, k);
  }
  double queries = double(sizes.batch) * double(sizes.query), keys = double(sizes.batch) * double(sizes.key);
  double flops = 0;
  std::vector<bool> read(n.G, false); // key/value heads
  for (int64_t h = 0; h < n.H; ++h) {
    if (n.pruned[h])
      continue;
    const int64_t g = h / (n.H / n.G), d = n.headWidth(Part::Query, h), e = n.headWidth(Part::Value, g);
    flops += 2 * pairs[size_t(h) % pairs.size()] * double(d + e);
    if (*spec.projections.input != InputProjection::None)
      flops += 2 * queries * double(n.m) * double(d) + (read[g] ? 0 : 2 * keys * double(n.kvM) * double(d + e));
    if (*spec.projections.output)
      flops += 2 * queries * double(e) * double(n.m);
    read[g] = true;
  }
  return flops;
}

} // namespace mhac::reference
