// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Judge.h"

#include "reference/Tolerance.h"

#include <algorithm>
#include <cmath>

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
  naive = compute(reference::Arithmetic::Float);
}

/// Rows that are not compared still must not hold NaN: a cheap look at all of them.
std::string Judge::findNotFinite() const {
  const reference::Tensor &y = operands.tensors().find("y")->second;
  for (Row row : reference::allRows(operands.sizes()))
    for (int64_t i = 0; i < exact.width && !operands.isExcluded(row); ++i) {
      float value = static_cast<const float *>(y.data)[reference::yOffset(spec, y, row, i)];
      if (!std::isfinite(value))
        return place("y", row, "i", i) + " is not finite, seed " + std::to_string(seed);
    }
  return "";
}

Verdict Judge::judge() const {
  Verdict verdict;
  verdict.rows = rows.size();
  verdict.message = error.empty() ? operands.findStrayWrite() : error;
  if (!verdict.message.empty())
    return verdict;

  auto check = [&](const char *output, const char *last, int64_t width, const std::vector<float> &out, const std::vector<double> &ref,
                   const std::vector<double> &plain) {
    reference::Comparison comparison = reference::compare(out, ref, plain, DType::F32);
    verdict.maxError = std::max(verdict.maxError, comparison.maxError);
    verdict.allowed = std::max(verdict.allowed, comparison.allowed);
    verdict.naiveError = std::max(verdict.naiveError, comparison.naiveError);
    if (comparison.accepted || !verdict.message.empty())
      return;
    int64_t worst = int64_t(comparison.worst);
    verdict.message = place(output, rows[size_t(worst / width)], last, worst % width) + ": " + comparison.describe() + ", seed " +
                      std::to_string(seed);
  };
  const reference::Tensor &y = operands.tensors().find("y")->second;
  std::vector<float> values;
  for (Row row : rows)
    for (int64_t i = 0; i < exact.width; ++i)
      values.push_back(static_cast<const float *>(y.data)[reference::yOffset(spec, y, row, i)]);
  check("y", "i", exact.width, values, exact.y, naive.y);

  auto lse = operands.tensors().find("lse");
  if (lse != operands.tensors().end()) {
    values.clear();
    for (Row row : rows)
      for (int64_t h = 0; h < exact.heads; ++h)
        values.push_back(lse->second.number({row.b, h, row.q}));
    check("lse", "h", exact.heads, values, exact.lse, naive.lse);
  }
  if (verdict.message.empty() && isSample)
    verdict.message = findNotFinite();
  verdict.accepted = verdict.message.empty();
  return verdict;
}

} // namespace mhac::artefact
