// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "support/Diagnostics.h"

#include <algorithm>

namespace mhac {

int Diagnostics::exitCode() const {
  auto has = [&](Severity severity) {
    return std::any_of(list.begin(), list.end(), [&](const Diagnostic &d) { return d.severity == severity; });
  };
  return has(Severity::Internal) ? 70 : has(Severity::Error) ? 1 : has(Severity::Unsupported) ? 3 : 0;
}

} // namespace mhac
