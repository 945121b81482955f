// The table of spec fields (SpecFields.def) and its look-ups; read by the reader, the printer of the field table and the JSON schema.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringRef.h"

#include <cstdint>
#include <string>

namespace mhac {

enum class FieldKind { Map, Integer, Integers, HeadWidth, Boolean, Word, Format, Name, Size, Variants, Variant, WordList, Parameters, Any };
enum class FieldPresence { Required, Optional };
enum class FieldStatus { Supported, Planned };
enum class PlannedShape { None, Scalar, List, Map };

struct SpecField {
  llvm::StringRef path; // "layer.d_model"
  FieldKind kind;
  llvm::StringRef words;
  int64_t minimum, maximum;
  llvm::StringRef defaultText; // empty: none
  FieldPresence presence;
  FieldStatus status;
  PlannedShape planned;
  llvm::StringRef doc;

  /// The key as the user writes it, "d_model"; its map, "layer" ("" at the top).
  llvm::StringRef key() const;
  llvm::StringRef parent() const;
  bool isRequired() const { return presence == FieldPresence::Required; }
};

struct ShorthandInfo {
  llvm::StringRef path;
  llvm::StringRef targets; // paths, separated by blanks
  llvm::StringRef doc;
};

/// A word of a Word, Format or WordList field.
struct FieldWord {
  llvm::StringRef text;
  bool supported;
};

llvm::ArrayRef<SpecField> specFields();
/// The field of that path, null when there is none.
const SpecField *findSpecField(llvm::StringRef path);
/// The fields directly inside a map, in table order; "" is the top.
llvm::SmallVector<const SpecField *> specFieldsOf(llvm::StringRef parent);
/// The shorthand of a map, null when it has none.
const ShorthandInfo *findShorthand(llvm::StringRef path);
llvm::SmallVector<FieldWord> fieldWords(const SpecField &field);
llvm::ArrayRef<llvm::StringRef> reservedWords();

/// The table as Markdown, for specs/README.md.
std::string fieldTableMarkdown();

} // namespace mhac
