// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "reference/hashing.h"

#include "reference/trees.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <string>

namespace mhac::reference {

/// Of the product of the lengths of a vector and a column: far above what f32 loses on the way to the product.
constexpr double kNearlyEqual = 3e-5;

static uint64_t number(const VariantSpec &mask, std::string_view key, uint64_t fallback) {
  const Tree *value = find(mask.arguments, key);
  return value ? std::strtoull(value->scalar.c_str(), nullptr, 10) : fallback;
}

HashKind::HashKind(const VariantSpec &mask)
    : buckets(int64_t(number(mask, "buckets", 2))), rounds(int64_t(number(mask, "rounds", 1))), seed(uint32_t(number(mask, "seed", 0))) {}

static uint32_t mixed(uint32_t x) {
  x = (x ^ (x >> 16)) * 0x7feb352du;
  x = (x ^ (x >> 15)) * 0x846ca68bu;
  return x ^ (x >> 16);
}

const std::vector<double> &Hasher::rotation(const HashKind &kind, int64_t kvHead, int64_t round, int64_t width) {
  auto [entry, isNew] = rotations.try_emplace({kind, kvHead, round, width});
  for (int64_t f = 0; isNew && f < width; ++f)
    for (int64_t c = 0; c < kind.buckets / 2; ++c) {
      uint32_t x = mixed(kind.seed);
      for (int64_t n : {kvHead, round, c, f})
        x = mixed(x ^ uint32_t(uint64_t(n) * 0x9e3779b9u));
      double sum = 0;
      for (int byte = 0; byte < 4; ++byte)
        sum += double(x >> (8 * byte) & 0xff) - 127.5;
      entry->second.push_back(sum);
    }
  return entry->second;
}

Candidates Hasher::candidates(const HashKind &kind, int64_t kvHead, const std::vector<double> &vector) {
  const int64_t columns = kind.buckets / 2, width = int64_t(vector.size());
  Candidates all;
  for (int64_t round = 0; round < kind.rounds; ++round) {
    const std::vector<double> &matrix = rotation(kind, kvHead, round, width);
    std::vector<double> products(kind.buckets, 0), lengths(columns, 0);
    double length = 0;
    for (int64_t f = 0; f < width; ++f) {
      length += vector[f] * vector[f];
      for (int64_t c = 0; c < columns; ++c) {
        products[c] += vector[f] * matrix[f * columns + c];
        lengths[c] += matrix[f * columns + c] * matrix[f * columns + c];
      }
    }
    for (int64_t c = 0; c < columns; ++c)
      products[columns + c] = -products[c];
    int64_t first = std::max_element(products.begin(), products.end()) - products.begin();
    all.push_back({first});
    for (int64_t i = 0; i < kind.buckets && length > 0; ++i) // all products with 0 are 0 everywhere
      if (i != first && products[i] > products[first] - kNearlyEqual * std::sqrt(length * std::max(lengths[i % columns], lengths[first % columns])))
        all.back().push_back(i);
  }
  return all;
}

bool meet(const Candidates &a, const Candidates &b, Certainty certainty) {
  for (size_t round = 0; round < a.size(); ++round) {
    const auto &x = a[round], &y = b[round];
    bool same = x[0] == y[0] && (certainty == Certainty::AsComputed || (x.size() == 1 && y.size() == 1));
    if (certainty == Certainty::Possible)
      same = std::any_of(x.begin(), x.end(), [&](int64_t i) { return std::find(y.begin(), y.end(), i) != y.end(); });
    if (same)
      return true;
  }
  return false;
}

} // namespace mhac::reference
