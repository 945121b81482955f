// The JSON schema of specs (draft 2020-12), generated from the reader's table of fields and from what the variants say about themselves, so that
// an editor completes and checks what the compiler accepts. `mhac --print-schema` prints it.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <string>

namespace mhac {

/// The schema as text. It describes structure only: what fields mean to each other (divisibility, contradictions) is the reader's.
std::string specSchema();

} // namespace mhac
