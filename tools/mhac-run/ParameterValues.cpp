// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ParameterValues.h"

#include <algorithm>
#include <limits>
#include <random>

namespace mhac::artefact {

using reference::Tensor;

/// Calls f(offset, b, i) for the elements of [batch, tokens].
template <typename F> static void forEachToken(const Tensor &tensor, F f) {
  for (int64_t b = 0; b < tensor.shape[0]; ++b)
    for (int64_t i = 0; i < tensor.shape[1]; ++i)
      f(tensor.offset({b, i}), b, i);
}

/// Packed documents of random lengths, which is the usual case; in every third row numbers of any order, the largest one among them. Queries
/// and keys of a call draw the same numbers where they are two inputs.
static void fillDocuments(const Tensor &tensor, int64_t *values, std::mt19937_64 &random, bool benign) {
  const int64_t tokens = tensor.shape[1], length = std::max<int64_t>(1, (tokens + 7) / 8);
  int64_t current = 0;
  forEachToken(tensor, [&](int64_t offset, int64_t b, int64_t i) {
    if (benign) {
      values[offset] = i / length;
      return;
    }
    current = i == 0 ? 0 : current + (random() % 19 == 0);
    int64_t scattered = int64_t(random() % 4) - 1;
    values[offset] = b % 3 != 1 ? current : scattered == 2 ? int64_t(1) << 30 : scattered;
  });
}

static void fillGlobalTokens(const Tensor &tensor, uint8_t *values, std::mt19937_64 &random, bool benign) {
  forEachToken(tensor, [&](int64_t offset, int64_t, int64_t i) {
    bool isGlobal = benign ? i == 0 : random() % 23 == 0;
    values[offset] = uint8_t(isGlobal ? 1 + random() % 255 : 0); // any byte that is not 0 is true
  });
}

/// Calls set(offset, visible) for a mask [b, h, q, mask_keys]: rows that see everything, nothing, one run of keys or scattered ones in turn.
template <typename F> static void drawMask(const Tensor &tensor, std::mt19937_64 &random, bool benign, F set) {
  const int64_t keys = tensor.shape[3];
  for (int64_t b = 0; b < tensor.shape[0]; ++b)
    for (int64_t h = 0; h < tensor.shape[1]; ++h)
      for (int64_t q = 0; q < tensor.shape[2]; ++q) {
        uint64_t kind = benign ? 0 : random() % 5;
        int64_t first = int64_t(random() % uint64_t(keys + 1)), last = int64_t(random() % uint64_t(keys + 1));
        for (int64_t k = 0; k < keys; ++k) {
          bool visible = kind == 0 || (kind == 1 ? false : kind == 2 ? first <= k && k < last : random() % 4 != 0);
          set(tensor.offset({b, h, q, k}), visible);
        }
      }
}

bool fillMaskInput(const std::string &name, const Tensor &tensor, void *memory, uint64_t seed, bool benign) {
  const bool isGlobal = name == "global_tokens" || name == "global_queries" || name == "global_keys";
  // Queries and keys draw the same documents, but not the same global tokens.
  std::mt19937_64 random(seed * 0x9e3779b97f4a7c15u + (isGlobal ? name.size() : 0));
  if (name == "documents" || name == "query_documents" || name == "key_documents")
    fillDocuments(tensor, static_cast<int64_t *>(memory), random, benign);
  else if (isGlobal)
    fillGlobalTokens(tensor, static_cast<uint8_t *>(memory), random, benign);
  else if (name == "mask" && tensor.dtype == DType::F32)
    drawMask(tensor, random, benign, [&](int64_t offset, bool visible) {
      float number = float(int64_t(random() % 2048) - 1024) / 512;
      static_cast<float *>(memory)[offset] = visible ? number : -std::numeric_limits<float>::infinity();
    });
  else if (name == "mask")
    drawMask(tensor, random, benign, [&](int64_t offset, bool visible) {
      static_cast<uint8_t *>(memory)[offset] = uint8_t(visible ? 1 + random() % 255 : 0);
    });
  else
    return false;
  return true;
}

void fillExpressionParameter(const Tensor &tensor, void *memory, uint64_t seed) {
  std::mt19937_64 random(seed * 0x9e3779b97f4a7c15u + 1);
  std::normal_distribution<float> normal; // of this program's library only: the judge reads the same numbers
  int64_t count = 1;
  for (int64_t extent : tensor.shape)
    count *= extent;
  for (int64_t i = 0; i < count; ++i) {
    if (tensor.dtype == DType::F32)
      static_cast<float *>(memory)[i] = normal(random);
    else if (tensor.dtype == DType::I64)
      static_cast<int64_t *>(memory)[i] = int64_t(random() % 12) - 2;
    else
      static_cast<uint8_t *>(memory)[i] = uint8_t(random() % 4 ? 1 + random() % 255 : 0);
  }
}

} // namespace mhac::artefact
