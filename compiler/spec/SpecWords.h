// The words of the enums in Spec.h, both ways: reading, printing and importing use one list each.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "spec/Spec.h"

#include "llvm/ADT/StringRef.h"

#include <optional>
#include <string>

namespace mhac {

llvm::StringRef wordOf(Source value);
llvm::StringRef wordOf(InputProjection value);
llvm::StringRef wordOf(Packing value);
llvm::StringRef wordOf(WeightLayout value);
llvm::StringRef wordOf(ActivationLayout value);
llvm::StringRef wordOf(QueryOffset value);
llvm::StringRef wordOf(OutputKind value);
llvm::StringRef wordOf(MapStage value);
llvm::StringRef wordOf(WeightCompute value);
/// "dynamic", "128" or "{max: 128}".
std::string wordOf(const SizeSpec &size);

/// The enumerator with that word; every enum's enumerators count from 0 without gaps.
template <typename Enum> std::optional<Enum> enumFromWord(llvm::StringRef word) {
  for (int i = 0;; ++i) {
    llvm::StringRef candidate = wordOf(static_cast<Enum>(i));
    if (candidate.empty())
      return std::nullopt;
    if (candidate == word)
      return static_cast<Enum>(i);
  }
}

} // namespace mhac
