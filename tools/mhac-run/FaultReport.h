// Says which argument a call ran out of when it touches a guard page: without it the program would only say "segmentation fault".
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "Operands.h"

#include <string>

namespace mhac::artefact {

/// While it lives, a segmentation fault ends the program with exit code 1 and "<label>: touched memory beside 'x'". One at a time.
class FaultReport {
public:
  FaultReport(const Operands &operands, const std::string &label);
  ~FaultReport();
  FaultReport(const FaultReport &) = delete;
  FaultReport &operator=(const FaultReport &) = delete;
};

} // namespace mhac::artefact
