// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Judge.h"

#include "reference/Tolerance.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <tuple>

namespace mhac::artefact {

using reference::Row;

std::vector<Row> chooseRows(const reference::Sizes &sizes, size_t limit, uint64_t seed) {
  std::vector<Row> all = reference::allRows(sizes);
  if (all.size() <= limit)
    return all;
  std::mt19937_64 random(seed);
  std::vector<Row> rows;
  size_t perBatch = std::max<size_t>(limit / size_t(sizes.batch), 3);
  for (int64_t b = 0; b < sizes.batch; ++b) {
    rows.push_back({b, 0});
    rows.push_back({b, sizes.query - 1});
    for (size_t i = 2; i < perBatch; ++i)
      rows.push_back({b, int64_t(random() % uint64_t(sizes.query))});
  }
  return rows;
}

namespace {

std::string place(const char *output, Row row, const char *last, int64_t i) {
  return std::string(output) + "[b=" + std::to_string(row.b) + ", q=" + std::to_string(row.q) + ", " + last + "=" + std::to_string(i) + "]";
}

} // namespace

Judge::Judge(const Spec &spec, const Operands &operands, const std::vector<Row> &candidates, uint64_t seed)
    : spec(spec), operands(operands), seed(seed) {
  const reference::Sizes sizes = operands.sizes();
  isSample = candidates.size() < size_t(sizes.batch * sizes.query);
  std::copy_if(candidates.begin(), candidates.end(), std::back_inserter(rows), [&](Row row) { return !operands.isExcluded(row); });
  auto compute = [&](reference::Arithmetic arithmetic) {
    return reference::computeLayer(spec, sizes, operands.tensors(), rows, arithmetic, error).value_or(reference::LayerResult());
  };
  exact = compute(reference::Arithmetic::Double);
  // Rows that see other keys when f32 rounds otherwise are not compared.
  if (std::find(exact.uncertain.begin(), exact.uncertain.end(), true) != exact.uncertain.end()) {
    std::vector<Row> certain;
    for (size_t i = 0; i < rows.size(); ++i)
      if (!exact.uncertain[i])
        certain.push_back(rows[i]);
    rows.swap(certain);
    exact = compute(reference::Arithmetic::Double);
  }
  naive = compute(reference::Arithmetic::Float);
}

/// Rows that are not compared still must not hold NaN: a cheap look at all of them.
std::string Judge::findNotFinite() const {
  const reference::Tensor &y = operands.tensors().find("y")->second;
  for (Row row : reference::allRows(operands.sizes()))
    for (int64_t i = 0; i < exact.width && !operands.isExcluded(row); ++i) {
      float value = y.numberAt(reference::yOffset(spec, y, row, i));
      if (!std::isfinite(value))
        return place("y", row, "i", i) + " is not finite, seed " + std::to_string(seed);
    }
  return "";
}

/// Outputs that are made from the map. Scores that are NaN in the reference, because a hidden key or an unused query is, may be anything.
void Judge::judgeMaps(const Check &check, Verdict &verdict) const {
  const reference::Sizes sizes = operands.sizes();
  auto find = [&](const char *name) -> const reference::Tensor * {
    auto found = operands.tensors().find(name);
    return found == operands.tensors().end() ? nullptr : &found->second;
  };
  auto rowsOf = [&](int64_t heads, auto value) {
    std::vector<float> values;
    for (Row row : rows)
      for (int64_t h = 0; h < heads; ++h)
        value(values, row, h);
    return values;
  };
  if (const reference::Tensor *map = find("attention_map")) {
    std::vector<float> values = rowsOf(exact.heads, [&](std::vector<float> &list, Row row, int64_t h) {
      for (int64_t k = 0; k < sizes.key; ++k)
        list.push_back(map->number({row.b, h, row.q, k}));
    });
    std::vector<double> wanted = exact.attentionMap, plain = naive.attentionMap;
    for (size_t i = 0; i < wanted.size(); ++i)
      if (std::isnan(wanted[i]))
        values[i] = 0, wanted[i] = plain[i] = 0;
    check("attention_map", "h*keys+k", exact.heads * sizes.key, values, wanted, plain, nullptr);
  }
  for (auto [name, wanted, plain] : {std::tuple("map_entropy", &exact.entropy, &naive.entropy), {"map_peak", &exact.peak, &naive.peak},
                                     {"map_diagonal_mass", &exact.diagonalMass, &naive.diagonalMass}})
    if (const reference::Tensor *tensor = find(name)) {
      auto values = rowsOf(exact.heads, [&](std::vector<float> &list, Row row, int64_t h) { list.push_back(tensor->number({row.b, h, row.q})); });
      check(name, "h", exact.heads, values, *wanted, *plain, nullptr);
    }
  if (const reference::Tensor *positions = find("map_peak_position"))
    judgePositions(*positions, verdict);
  auto checkSums = [&](const char *name, int64_t width, auto value, const std::vector<double> &wanted, const std::vector<double> &plain) {
    std::vector<float> values;
    std::vector<double> certainWanted, certainPlain;
    std::vector<Row> places;
    for (size_t i = 0; i < exact.batches.size(); ++i) {
      if (exact.uncertainSums[i])
        continue;
      const int64_t first = int64_t(i) * exact.heads * width, last = first + exact.heads * width;
      for (int64_t h = 0; h < exact.heads; ++h)
        value(values, exact.batches[i], h);
      certainWanted.insert(certainWanted.end(), wanted.begin() + first, wanted.begin() + last);
      certainPlain.insert(certainPlain.end(), plain.begin() + first, plain.begin() + last);
      places.push_back({exact.batches[i], 0});
    }
    check(name, "h*keys+k", exact.heads * width, values, certainWanted, certainPlain, &places);
  };
  if (const reference::Tensor *mass = find("key_mass"))
    checkSums("key_mass", sizes.key, [&](std::vector<float> &list, int64_t b, int64_t h) {
      for (int64_t k = 0; k < sizes.key; ++k)
        list.push_back(mass->number({b, h, k}));
    }, exact.keyMass, naive.keyMass);
  if (const reference::Tensor *norms = find("head_norms"))
    checkSums("head_norms", 1, [&](std::vector<float> &list, int64_t b, int64_t h) { list.push_back(norms->number({b, h})); }, exact.headNorms, naive.headNorms);
}

/// A peak may stand at any key whose probability is the largest up to the rounding that the tolerance allows; -1 when the row sees nothing.
void Judge::judgePositions(const reference::Tensor &positions, Verdict &verdict) const {
  const int64_t keys = operands.sizes().key;
  for (size_t i = 0; i < rows.size() * size_t(exact.heads) && verdict.message.empty(); ++i) {
    Row row = rows[i / size_t(exact.heads)];
    const int64_t h = int64_t(i) % exact.heads, found = positions.integer({row.b, h, row.q});
    const double *probabilities = &exact.probabilities[i * size_t(keys)];
    const int64_t wanted = keys == 0 ? -1 : std::max_element(probabilities, probabilities + keys) - probabilities;
    const bool seesNothing = keys == 0 || probabilities[wanted] < 0;
    const bool isRight = seesNothing ? found == -1 : found >= 0 && found < keys && probabilities[found] >= probabilities[wanted] - verdict.allowed - 1e-6;
    if (!isRight)
      verdict.message = place("map_peak_position", row, "h", h) + ": found " + std::to_string(found) + ", wanted " +
                        std::to_string(seesNothing ? -1 : wanted) + ", seed " + std::to_string(seed);
  }
}

double Judge::errorOfOriginals() const {
  Spec original = spec;
  original.dtype.weights.value = DType::F32;
  original.dtype.weightCompute.value = WeightCompute::WeightOnly;
  reference::Tensors tensors = operands.tensors();
  for (const auto &[name, tensor] : operands.originalWeights())
    tensors[name] = tensor;
  std::string problem;
  const reference::LayerResult wanted =
      reference::computeLayer(original, operands.sizes(), tensors, rows, reference::Arithmetic::Double, problem).value_or(reference::LayerResult());
  const reference::Tensor &y = operands.tensors().find("y")->second;
  double largest = problem.empty() ? 0 : std::numeric_limits<double>::infinity();
  size_t next = 0;
  for (Row row : rows)
    for (int64_t i = 0; i < wanted.width; ++i)
      largest = std::max(largest, std::fabs(y.numberAt(reference::yOffset(spec, y, row, i)) - wanted.y[next++]));
  return largest;
}

Verdict Judge::judge() const {
  Verdict verdict;
  verdict.rows = rows.size();
  verdict.message = error.empty() ? operands.findStrayWrite() : error;
  if (!verdict.message.empty())
    return verdict;

  Check check = [&](const char *output, const char *last, int64_t width, const std::vector<float> &out, const std::vector<double> &ref,
                   const std::vector<double> &plain, const std::vector<Row> *places) {
    reference::Comparison comparison = reference::compare(out, ref, plain, operands.tensors().find(output)->second.dtype);
    verdict.maxError = std::max(verdict.maxError, comparison.maxError);
    verdict.allowed = std::max(verdict.allowed, comparison.allowed);
    verdict.naiveError = std::max(verdict.naiveError, comparison.naiveError);
    if (comparison.accepted || !verdict.message.empty())
      return;
    int64_t worst = int64_t(comparison.worst);
    verdict.message = place(output, (places ? *places : rows)[size_t(worst / width)], last, worst % width) + ": " + comparison.describe() + ", seed " +
                      std::to_string(seed);
  };
  const reference::Tensor &y = operands.tensors().find("y")->second;
  std::vector<float> values;
  for (Row row : rows)
    for (int64_t i = 0; i < exact.width; ++i)
      values.push_back(y.numberAt(reference::yOffset(spec, y, row, i)));
  check("y", "i", exact.width, values, exact.y, naive.y, nullptr);

  auto lse = operands.tensors().find("lse");
  if (lse != operands.tensors().end()) {
    values.clear();
    for (Row row : rows)
      for (int64_t h = 0; h < exact.heads; ++h)
        values.push_back(lse->second.number({row.b, h, row.q}));
    check("lse", "h", exact.heads, values, exact.lse, naive.lse, nullptr);
  }
  judgeMaps(check, verdict);
  if (verdict.message.empty() && isSample)
    verdict.message = findNotFinite();
  verdict.accepted = verdict.message.empty();
  return verdict;
}

} // namespace mhac::artefact
