// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "spec/SpecWords.h"

#include "llvm/ADT/ArrayRef.h"

using llvm::StringRef;

namespace mhac {

// In the order of the enumerators; empty past the end.
template <typename Enum> static StringRef pick(Enum value, llvm::ArrayRef<StringRef> words) {
  size_t index = static_cast<size_t>(value);
  return index < words.size() ? words[index] : StringRef();
}

StringRef wordOf(Source value) { return pick(value, {"self", "cross"}); }
StringRef wordOf(InputProjection value) { return pick(value, {"packed", "separate", "none"}); }
StringRef wordOf(Packing value) { return pick(value, {"qkv", "per_head", "per_group"}); }
StringRef wordOf(WeightLayout value) { return pick(value, {"out_in", "in_out"}); }
StringRef wordOf(ActivationLayout value) { return pick(value, {"bshd", "bhsd"}); }
StringRef wordOf(QueryOffset value) { return pick(value, {"bottom_right", "top_left", "row_end"}); }
StringRef wordOf(OutputKind value) { return pick(value, {"y", "lse", "attention_map", "map_statistics", "key_mass", "head_norms"}); }
StringRef wordOf(MapStage value) { return pick(value, {"scores", "modified", "masked", "probabilities"}); }

StringRef wordOf(WeightCompute value) { return pick(value, {"weight_only", "w8a8"}); }

std::string wordOf(const SizeSpec &size) {
  switch (size.kind) {
  case SizeSpec::Kind::Dynamic:
    return "dynamic";
  case SizeSpec::Kind::Fixed:
    return std::to_string(size.value);
  case SizeSpec::Kind::Bounded:
    return "{max: " + std::to_string(size.value) + "}";
  }
  return "";
}

} // namespace mhac
