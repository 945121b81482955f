// Values for the run-time inputs of score changes.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "reference/Tensors.h"

#include <cstdint>
#include <functional>
#include <string>

namespace mhac::artefact {

/// What the broadcast dimensions of an input stand for, and what else its values depend on.
struct CallShape {
  int64_t batch = 0, heads = 0, queries = 0;
  bool isExpressed = false; // an expression changes the score: what it makes of infinite ones is not specified
};

/// Fills `tensor`, which lies in `memory`, as suits the input called `name`; elements of a bias that belong to no pair with `matters` are left
/// alone. False when no score change has such an input.
bool fillScoreInput(const std::string &name, const reference::Tensor &tensor, void *memory, uint64_t seed, const CallShape &call,
                    const std::function<bool(int64_t b, int64_t h, int64_t q, int64_t k)> &matters);

} // namespace mhac::artefact
