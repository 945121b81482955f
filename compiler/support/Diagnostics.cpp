// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "support/Diagnostics.h"

#include <algorithm>
#include <utility>

namespace mhac {

int Diagnostics::exitCode() const {
  auto has = [&](Severity severity) {
    return std::any_of(list.begin(), list.end(), [&](const Diagnostic &d) { return d.severity == severity; });
  };
  for (auto [severity, code] : {std::pair(Severity::Internal, 70), {Severity::Error, 1}, {Severity::Usage, 2}, {Severity::Unsupported, 3}})
    if (has(severity))
      return code;
  return 0;
}

} // namespace mhac
