// What the reference's readings of masks, positions and scores look up in the spec's trees.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "spec/Spec.h"

#include <algorithm>
#include <string_view>

namespace mhac::reference {

/// The value under `key` of a map, nullptr when it is not there.
inline const Tree *find(const Tree &map, std::string_view key) {
  for (const auto &[name, value] : map.fields)
    if (*name == key)
      return &value;
  return nullptr;
}

/// The scalar under `key`, `fallback` when it is not there.
inline std::string_view word(const Tree &map, std::string_view key, std::string_view fallback) {
  const Tree *value = find(map, key);
  return value ? std::string_view(value->scalar) : fallback;
}

/// Whether the list under `key` has the element.
inline bool lists(const Tree &map, std::string_view key, std::string_view wanted) {
  const Tree *value = find(map, key);
  return value && std::any_of(value->items.begin(), value->items.end(), [&](const Tree &item) { return item.scalar == wanted; });
}

} // namespace mhac::reference
