// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ScoreValues.h"

#include <algorithm>
#include <limits>
#include <random>

namespace mhac::artefact {

using reference::Tensor;

/// Normal numbers; with every third seed also -inf and numbers that lie as far below all others, as additive masks have them.
static void fillBias(const Tensor &tensor, float *values, uint64_t seed, const CallShape &call,
                     const std::function<bool(int64_t b, int64_t h, int64_t q, int64_t k)> &matters) {
  std::mt19937_64 random(seed * 0x9e3779b97f4a7c15u + 11);
  std::normal_distribution<float> normal;
  // A broadcast element belongs to all of the dimension.
  auto reach = [&](size_t dim, int64_t i, int64_t size) { return tensor.shape[dim] < size ? std::pair(int64_t(0), size) : std::pair(i, i + 1); };
  for (int64_t b = 0; b < tensor.shape[0]; ++b)
    for (int64_t h = 0; h < tensor.shape[1]; ++h)
      for (int64_t q = 0; q < tensor.shape[2]; ++q)
        for (int64_t k = 0; k < tensor.shape[3]; ++k) {
          float value = normal(random);
          uint64_t kind = seed % 3 == 1 && !call.isExpressed ? random() % 64 : 2;
          bool needed = false;
          auto [firstB, lastB] = reach(0, b, call.batch);
          auto [firstH, lastH] = reach(1, h, call.heads);
          auto [firstQ, lastQ] = reach(2, q, call.queries);
          for (int64_t bb = firstB; bb < lastB && !needed; ++bb)
            for (int64_t hh = firstH; hh < lastH && !needed; ++hh)
              for (int64_t qq = firstQ; qq < lastQ && !needed; ++qq)
                needed = matters(bb, hh, qq, k);
          if (needed)
            values[tensor.offset({b, h, q, k})] = kind == 0 ? -std::numeric_limits<float>::infinity() : kind == 1 ? -3e38f : value;
        }
}

bool fillScoreInput(const std::string &name, const Tensor &tensor, void *memory, uint64_t seed, const CallShape &call,
                    const std::function<bool(int64_t b, int64_t h, int64_t q, int64_t k)> &matters) {
  float *values = static_cast<float *>(memory);
  std::mt19937_64 random(seed * 0x9e3779b97f4a7c15u + name.size());
  std::normal_distribution<float> normal;
  if (name == "score_bias") {
    fillBias(tensor, values, seed, call, matters);
  } else if (name == "relative_bias") {
    for (int64_t bucket = 0; bucket < tensor.shape[0]; ++bucket)
      for (int64_t h = 0; h < tensor.shape[1]; ++h)
        values[tensor.offset({bucket, h})] = normal(random);
  } else if (name == "sinks") {
    // One that takes almost everything and one that takes nothing are among any three heads.
    for (int64_t h = 0; h < tensor.shape[0]; ++h) {
      uint64_t kind = (uint64_t(h) + seed) % 3;
      values[tensor.offset({h})] = kind == 0 ? normal(random) : kind == 1 ? 20 : -200;
    }
  } else {
    return false;
  }
  return true;
}

} // namespace mhac::artefact
