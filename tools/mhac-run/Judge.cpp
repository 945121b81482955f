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

/// One output's values in the rows, beside those of the reference.
struct Columns {
  const char *output, *last;
  int64_t width;
  std::vector<float> out;
  reference::Comparison compare(const std::vector<double> &exact, const std::vector<double> &naive) const {
    return reference::compare(out, exact, naive, DType::F32);
  }
};

/// Rows that are not compared still must not hold NaN: a cheap look at all of them.
std::string findNotFinite(const Spec &spec, const Operands &operands, int64_t width) {
  const reference::Tensor &y = operands.tensors().find("y")->second;
  for (Row row : reference::allRows(operands.sizes()))
    for (int64_t i = 0; i < width && !operands.isExcluded(row); ++i) {
      float value = static_cast<const float *>(y.data)[reference::yOffset(spec, y, row, i)];
      if (!std::isfinite(value))
        return place("y", row, "i", i) + " is " + std::to_string(value);
    }
  return "";
}

} // namespace

Verdict judge(const Spec &spec, const Operands &operands, const std::vector<Row> &candidates, uint64_t seed) {
  Verdict verdict;
  verdict.message = operands.findStrayWrite();
  if (!verdict.message.empty())
    return verdict;
  std::vector<Row> rows;
  std::copy_if(candidates.begin(), candidates.end(), std::back_inserter(rows), [&](Row row) { return !operands.isExcluded(row); });
  verdict.rows = rows.size();

  const reference::Tensors &tensors = operands.tensors();
  auto exact = reference::computeLayer(spec, operands.sizes(), tensors, rows, reference::Arithmetic::Double, verdict.message);
  auto naive = reference::computeLayer(spec, operands.sizes(), tensors, rows, reference::Arithmetic::Float, verdict.message);
  if (!exact || !naive)
    return verdict;

  const reference::Tensor &yView = tensors.find("y")->second;
  auto lseView = tensors.find("lse");
  Columns y{"y", "i", exact->width, {}}, lse{"lse", "h", exact->heads, {}};
  for (Row row : rows) {
    for (int64_t i = 0; i < exact->width; ++i)
      y.out.push_back(static_cast<const float *>(yView.data)[reference::yOffset(spec, yView, row, i)]);
    for (int64_t h = 0; h < exact->heads && lseView != tensors.end(); ++h)
      lse.out.push_back(lseView->second.number({row.b, h, row.q}));
  }
  auto check = [&](const Columns &columns, const std::vector<double> &exactValues, const std::vector<double> &naiveValues) {
    reference::Comparison comparison = columns.compare(exactValues, naiveValues);
    verdict.maxError = std::max(verdict.maxError, comparison.maxError);
    verdict.allowed = std::max(verdict.allowed, comparison.allowed);
    if (comparison.accepted || !verdict.message.empty())
      return;
    int64_t worst = int64_t(comparison.worst);
    verdict.message = place(columns.output, rows[size_t(worst / columns.width)], columns.last, worst % columns.width) + ": " +
                      comparison.describe() + ", seed " + std::to_string(seed);
  };
  check(y, exact->y, naive->y);
  if (lseView != tensors.end())
    check(lse, exact->lse, naive->lse);
  if (verdict.message.empty() && candidates.size() < reference::allRows(operands.sizes()).size())
    verdict.message = findNotFinite(spec, operands, exact->width);
  verdict.accepted = verdict.message.empty();
  return verdict;
}

} // namespace mhac::artefact
