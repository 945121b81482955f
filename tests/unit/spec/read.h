// What the reader's tests share: a minimal spec, and diagnostics as text.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "spec/SpecReader.h"

#include <optional>
#include <string>
#include <vector>

namespace mhac::test {

inline const std::string minimal = "mhac: 1\nname: f\nlayer: {d_model: 64, heads: 4}\n";

struct ReadResult {
  std::optional<Spec> spec;
  Diagnostics diagnostics;
  /// "line:column: message", in the order found.
  std::vector<std::string> messages;
};

inline ReadResult read(const std::string &text) {
  ReadResult result;
  result.spec = readSpec(text, "test.yaml", result.diagnostics);
  for (const Diagnostic &diagnostic : result.diagnostics.all())
    result.messages.push_back(std::to_string(diagnostic.loc.line) + ":" + std::to_string(diagnostic.loc.column) + ": " + diagnostic.message);
  return result;
}

} // namespace mhac::test
