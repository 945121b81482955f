// Spec -> YAML in one fixed form, every default filled in: `--emit=spec`, and the spec inside the manifest.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "spec/Spec.h"

#include <string>

namespace mhac {

/// Reads back as the same Spec, places apart.
std::string printSpec(const Spec &spec);

} // namespace mhac
