// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "reference/scores.h"

#include "reference/expressions.h"
#include "reference/masks.h"
#include "reference/trees.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <string_view>

namespace mhac::reference {

static double number(const Tree &tree) { return std::strtod(tree.scalar.c_str(), nullptr); }

double scoreScale(const Spec &spec, int64_t headDim) {
  for (const VariantSpec &score : spec.score)
    if (*score.word == "scale" && score.arguments.kind == Tree::Kind::Scalar && score.arguments.scalar != "default")
      return number(score.arguments);
  return 1 / std::sqrt(double(headDim));
}

const VariantSpec *unknownScore(const Spec &spec) {
  for (const VariantSpec &score : spec.score) {
    static constexpr std::string_view known[] = {"alibi", "bias", "expr", "relative_bias", "scale", "sink", "softcap"};
    if (std::find(std::begin(known), std::end(known), *score.word) == std::end(known))
      return &score;
  }
  return nullptr;
}

std::vector<std::pair<std::string, std::vector<int64_t>>> scoreInputs(const Spec &spec, const Sizes &sizes) {
  const int64_t heads = *spec.layer.heads;
  std::vector<std::pair<std::string, std::vector<int64_t>>> list;
  for (const VariantSpec &score : spec.score) {
    auto extent = [&](const char *dim, int64_t size) { return lists(score.arguments, "broadcast", dim) ? 1 : size; };
    if (*score.word == "bias")
      list.push_back({"score_bias", {extent("b", sizes.batch), extent("h", heads), extent("q", sizes.query), sizes.key}});
    if (*score.word == "relative_bias")
      list.push_back({"relative_bias", {int64_t(number(*find(score.arguments, "buckets"))), heads}});
    if (*score.word == "sink")
      list.push_back({"sinks", {heads}});
  }
  return list;
}

std::vector<double> alibiSlopes(int64_t heads) {
  // Press et al.: for a power of two the geometric sequence that starts at 2^(-8/heads) with that ratio; otherwise the sequence of the next lower
  // power of two, then every other element of that of twice as many heads.
  int64_t power = 1;
  while (power * 2 <= heads)
    power *= 2;
  std::vector<double> slopes;
  for (int64_t i = 1; i <= power; ++i)
    slopes.push_back(std::pow(2., -8. * double(i) / double(power)));
  for (int64_t i = 1; int64_t(slopes.size()) < heads; i += 2)
    slopes.push_back(std::pow(2., -8. * double(i) / double(2 * power)));
  return slopes;
}

int64_t relativeBucket(int64_t distance, int64_t buckets, int64_t maxDistance, bool bidirectional) {
  // Raffel et al.: bidirectional, the upper half of the buckets is for keys behind the query; otherwise those share bucket 0.
  int64_t first = 0, ago = -distance;
  if (bidirectional) {
    buckets /= 2;
    if (distance > 0)
      first = buckets, ago = distance;
  }
  ago = std::max<int64_t>(ago, 0);
  // Half of the buckets is for one distance each, the other half grows with the logarithm up to maxDistance; the last one takes all beyond it.
  const int64_t exact = buckets / 2;
  if (ago < exact)
    return first + ago;
  if (exact == 0)
    return first;
  double place = std::log(double(ago) / double(exact)) / std::log(double(maxDistance) / double(exact)) * double(buckets - exact);
  // Where the quotient is a whole number it must not be rounded to below it.
  return first + std::min(exact + int64_t(std::floor(place + 1e-9)), buckets - 1);
}

RowScores::RowScores(const Spec &spec, const Sizes &sizes, const Tensors &inputs, int64_t b, const RowMask &mask) {
  // `change` works on both types.
  auto add = [&](auto change) { steps.push_back({change, change}); };
  for (const VariantSpec &score : spec.score) {
    if (*score.word == "bias") {
      const Tensor *bias = &inputs.find("score_bias")->second;
      auto at = [=](int dim, int64_t i) { return bias->shape[dim] == 1 ? 0 : i; };
      add([=](int64_t h, int64_t q, int64_t k, auto s) -> decltype(s) { return s + bias->number({at(0, b), at(1, h), at(2, q), k}); });
    } else if (*score.word == "alibi") {
      std::vector<double> slopes = alibiSlopes(*spec.layer.heads);
      const Tree *own = find(score.arguments, "slopes"), *form = find(score.arguments, "form");
      if (own && own->kind == Tree::Kind::List)
        std::transform(own->items.begin(), own->items.end(), slopes.begin(), number);
      const bool symmetric = !form || form->scalar == "symmetric";
      add([=, &mask](int64_t h, int64_t q, int64_t k, auto s) -> decltype(s) {
        int64_t distance = mask.keyPosition(k) - mask.queryPosition(q);
        return s + decltype(s)(slopes[size_t(h)]) * decltype(s)(symmetric ? -std::abs(distance) : distance);
      });
    } else if (*score.word == "relative_bias") {
      const Tensor *table = &inputs.find("relative_bias")->second;
      int64_t buckets = table->shape[0], maxDistance = int64_t(number(*find(score.arguments, "max_distance")));
      const bool bidirectional = find(score.arguments, "bidirectional")->scalar == "true";
      add([=, &mask](int64_t h, int64_t q, int64_t k, auto s) -> decltype(s) {
        int64_t bucket = relativeBucket(mask.keyPosition(k) - mask.queryPosition(q), buckets, maxDistance, bidirectional);
        return s + table->number({bucket, h});
      });
    } else if (*score.word == "softcap") {
      const double cap = number(score.arguments);
      add([=](int64_t, int64_t, int64_t, auto s) -> decltype(s) { return decltype(s)(cap) * std::tanh(s / decltype(s)(cap)); });
    } else if (*score.word == "expr") {
      ExpressionError error;
      std::optional<Expression> tree = parseExpression(score.arguments.scalar, ExpressionUse::Score, spec.parameters, error);
      if (tree) // otherwise an import has reported it
        add([=, &spec, &inputs, &mask](int64_t h, int64_t q, int64_t k, auto s) -> decltype(s) {
          ExpressionPoint point{b, h, q, k, mask.queryPosition(q), mask.keyPosition(k), sizes.query, sizes.key};
          return evaluateScore(*tree, spec.parameters, inputs, point, s);
        });
    } else if (*score.word == "sink") {
      sinkInput = &inputs.find("sinks")->second;
    }
  }
}

template <> double RowScores::score(int64_t h, int64_t q, int64_t k, double scaled) const {
  for (const Step &step : steps)
    scaled = step.inDouble(h, q, k, scaled);
  return scaled;
}

template <> float RowScores::score(int64_t h, int64_t q, int64_t k, float scaled) const {
  for (const Step &step : steps)
    scaled = step.inFloat(h, q, k, scaled);
  return scaled;
}

std::optional<double> RowScores::sink(int64_t h) const { return sinkInput ? std::optional<double>(sinkInput->number({h})) : std::nullopt; }

} // namespace mhac::reference
