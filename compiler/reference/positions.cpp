// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "reference/positions.h"

#include "reference/trees.h"

#include <cmath>
#include <cstdlib>
#include <string_view>

namespace mhac::reference {

/// The number under `key`; `fallback` when it is not there, or a word.
static double number(const Tree &map, std::string_view key, double fallback) {
  const Tree *value = find(map, key);
  char *end = nullptr;
  double parsed = value ? std::strtod(value->scalar.c_str(), &end) : 0;
  return value && end != value->scalar.c_str() ? parsed : fallback;
}

static const VariantSpec *findRope(const Spec &spec) {
  for (const VariantSpec &position : spec.position)
    if (*position.word == "rope")
      return &position;
  return nullptr;
}

static bool keysAreQueries(const Spec &spec) {
  return *spec.layer.source == Source::Self && *spec.projections.input != InputProjection::None;
}

const VariantSpec *unknownPosition(const Spec &spec) {
  for (const VariantSpec &position : spec.position)
    if (*position.word != "rope")
      return &position;
  return nullptr;
}

std::vector<std::pair<std::string, std::vector<int64_t>>> positionInputs(const Spec &spec, const Sizes &sizes) {
  std::vector<std::pair<std::string, std::vector<int64_t>>> list;
  if (const VariantSpec *rope = findRope(spec); rope && word(rope->arguments, "positions", "absolute") == "input") {
    if (keysAreQueries(spec)) {
      list.push_back({"position_ids", {sizes.batch, sizes.query}});
    } else {
      list.push_back({"query_position_ids", {sizes.batch, sizes.query}});
      list.push_back({"key_position_ids", {sizes.batch, sizes.key}});
    }
  }
  if (spec.layer.qkNorm && word(spec.layer.qkNorm->arguments, "weight", "true") == "true") {
    bool all = word(spec.layer.qkNorm->arguments, "scope", "head") == "all";
    list.push_back({"q_norm_weight", {*spec.layer.headDim * (all ? *spec.layer.heads : 1)}});
    list.push_back({"k_norm_weight", {*spec.layer.headDim * (all ? *spec.layer.kvHeads : 1)}});
  }
  return list;
}

Positions::Positions(const Spec &spec, const Sizes &, const Tensors &inputs) : spec(spec), inputs(inputs), rope(findRope(spec)) {
  if (!rope)
    return;
  const double pi = std::acos(-1.), D = number(rope->arguments, "rotary_dim", double(*spec.layer.headDim));
  const Tree *scaling = find(rope->arguments, "scaling");
  const bool scales = scaling && scaling->kind == Tree::Kind::Map;
  const std::string_view kind = scales ? word(*scaling, "kind", "") : "";
  const double factor = scales ? number(*scaling, "factor", 1) : 1, original = scales ? number(*scaling, "original_max_position", 0) : 0;
  double base = number(rope->arguments, "base", 10000);
  if (kind == "ntk")
    base = base * std::pow(factor, D / (D - 2));
  for (int64_t j = 0; j < int64_t(D) / 2; ++j) {
    double f = 1 / std::pow(base, 2 * double(j) / D);
    if (kind == "linear")
      f = f / factor;
    if (kind == "yarn") {
      // The pair, as a real number, that makes n turns in the original context: original * base^(-2 j / D) = 2 pi n.
      auto pairOfTurns = [&](double n) { return D / 2 * std::log(original / (2 * pi * n)) / std::log(base); };
      double low = std::max(std::floor(pairOfTurns(number(*scaling, "beta_fast", 32))), 0.);
      double high = std::min(std::ceil(pairOfTurns(number(*scaling, "beta_slow", 1))), D - 1);
      double ramp = (double(j) - low) / (high == low ? 0.001 : high - low);
      ramp = ramp < 0 ? 0 : ramp > 1 ? 1 : ramp;
      f = ramp * (f / factor) + (1 - ramp) * f;
    }
    if (kind == "llama3") {
      double low = number(*scaling, "low_freq_factor", 1), high = number(*scaling, "high_freq_factor", 4), wavelength = 2 * pi / f;
      if (wavelength > original / low) {
        f = f / factor;
      } else if (wavelength >= original / high) {
        double smooth = (original / wavelength - low) / (high - low);
        f = (1 - smooth) * f / factor + smooth * f;
      }
    }
    frequencies.push_back(f);
  }
  if (kind == "yarn")
    magnitude = number(*scaling, "attention_factor", factor <= 1 ? 1 : 0.1 * std::log(factor) + 1);
}

template <typename T> void Positions::normalize(bool isKey, std::vector<T> &heads) const {
  const Tree &norm = spec.layer.qkNorm->arguments;
  const int64_t d = *spec.layer.headDim;
  const bool all = word(norm, "scope", "head") == "all", l2 = word(norm, "kind", "") == "l2";
  const T epsilon = T(number(norm, "epsilon", 1e-6));
  const Tensor *weight = word(norm, "weight", "true") == "true" ? &inputs.find(isKey ? "k_norm_weight" : "q_norm_weight")->second : nullptr;
  const size_t group = all ? heads.size() : size_t(d);
  for (size_t first = 0; first < heads.size(); first += group) {
    T sum = 0;
    for (size_t i = first; i < first + group; ++i)
      sum += heads[i] * heads[i];
    const T length = l2 ? std::max(std::sqrt(sum), epsilon) : std::sqrt(sum / T(group) + epsilon);
    for (size_t i = first; i < first + group; ++i)
      heads[i] = heads[i] / length * (weight ? T(weight->number({int64_t(i - first)})) : T(1));
  }
}

template <typename T> void Positions::rotate(int64_t position, std::vector<T> &heads) const {
  const size_t d = size_t(*spec.layer.headDim), pairs = frequencies.size();
  const bool interleaved = word(rope->arguments, "pairing", "half") == "interleaved";
  for (size_t first = 0; first < heads.size(); first += d)
    for (size_t j = 0; j < pairs; ++j) {
      // Cosine and sine are numbers of the model, the same in every arithmetic.
      const double angle = double(position) * frequencies[j];
      const T cos = T(magnitude * std::cos(angle)), sin = T(magnitude * std::sin(angle));
      T &x = heads[first + (interleaved ? 2 * j : j)], &y = heads[first + (interleaved ? 2 * j + 1 : j + pairs)];
      const T turned = x * cos - y * sin;
      y = y * cos + x * sin;
      x = turned;
    }
}

template <typename T> void Positions::encode(bool isKey, int64_t b, int64_t s, int64_t position, std::vector<T> &heads) const {
  const std::optional<VariantSpec> &norm = spec.layer.qkNorm;
  const bool isBehind = norm && word(norm->arguments, "place", "before_rope") == "after_rope";
  if (norm && !isBehind)
    normalize(isKey, heads);
  if (rope) {
    if (word(rope->arguments, "positions", "absolute") == "input")
      position = inputs.find(keysAreQueries(spec) ? "position_ids" : isKey ? "key_position_ids" : "query_position_ids")->second.integer({b, s});
    rotate(position, heads);
  }
  if (isBehind)
    normalize(isKey, heads);
}

template void Positions::encode(bool, int64_t, int64_t, int64_t, std::vector<float> &) const;
template void Positions::encode(bool, int64_t, int64_t, int64_t, std::vector<double> &) const;

} // namespace mhac::reference
