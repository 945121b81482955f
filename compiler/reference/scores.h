// What happens to a score before the mask: the reference's own reading of the spec's `score` list (semantics section 2, step 5).
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "spec/Spec.h"

namespace mhac::reference {

/// The factor of Q·K: what `scale` says, 1/sqrt(head_dim) for `default` and where the list has no scale.
double scoreScale(const Spec &spec);

/// The first element of the spec's score list that this file does not know, or nullptr.
const VariantSpec *unknownScore(const Spec &spec);

} // namespace mhac::reference
