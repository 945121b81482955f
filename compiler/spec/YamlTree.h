// YAML text -> located tree: the only place that knows yaml-cpp. Everything that needs no knowledge of fields is checked here: encoding, syntax,
// duplicate keys, and the parts of YAML that specs do not use (anchors, tags, several documents, keys that are not words).
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "spec/Spec.h"
#include "support/Diagnostics.h"

#include "llvm/ADT/StringRef.h"

#include <optional>
#include <string>

namespace mhac {

/// Larger files and deeper nesting are refused: specs are a page long, and both keep hostile input cheap.
constexpr size_t maxSpecBytes = 256 * 1024;
constexpr int maxSpecDepth = 32;

/// The one document in `text`. Empty when it cannot be read at all; otherwise duplicate keys and the like are reported and left out.
std::optional<Tree> readYaml(llvm::StringRef text, llvm::StringRef file, Diagnostics &diagnostics);

/// Where the character at `offset` of a scalar stands in the file.
SourceLocation placeIn(const Tree &scalar, size_t offset);

/// What the user wrote, fit for a message: one line, no control characters, not longer than 60 columns.
std::string shownText(llvm::StringRef text);

/// Columns that the node takes in its line: quotes included, 1 for lists and maps.
unsigned writtenLength(const Tree &tree);

} // namespace mhac
