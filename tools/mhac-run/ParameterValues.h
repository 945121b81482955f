// Values for the run-time inputs of masks that have no range of their own: documents, truth values, additive masks.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "reference/Tensors.h"

#include <cstdint>
#include <string>

namespace mhac::artefact {

/// Fills `tensor`, which lies in `memory`, as suits the input called `name`, so that every kind of row appears: some see all, some nothing.
/// With `benign` no row is hidden and documents are of one length. False when no mask has such an input.
bool fillMaskInput(const std::string &name, const reference::Tensor &tensor, void *memory, uint64_t seed, bool benign);

/// Fills a parameter of expressions: small integers, normals, truth values.
void fillExpressionParameter(const reference::Tensor &tensor, void *memory, uint64_t seed);

} // namespace mhac::artefact
