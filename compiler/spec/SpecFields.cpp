// Look-ups in the table of spec fields, and the table as Markdown.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "spec/SpecFields.h"

#include "support/DTypes.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

using llvm::StringRef;

namespace mhac {

static const SpecField fields[] = {
#define MHAC_FIELD(path, kind, words, minimum, maximum, default_, presence, status, planned, doc)                                          \
  {path, FieldKind::kind, words, minimum, maximum, default_, FieldPresence::presence, FieldStatus::status, PlannedShape::planned, doc},
#include "spec/SpecFields.def"
};

static const ShorthandInfo shorthands[] = {
#define MHAC_SHORTHAND(path, targets, doc) {path, targets, doc},
#include "spec/SpecFields.def"
};

static const StringRef reserved[] = {
#define MHAC_RESERVED(word) word,
#include "spec/SpecFields.def"
};

StringRef SpecField::key() const { return path.contains('.') ? path.rsplit('.').second : path; }
StringRef SpecField::parent() const { return path.contains('.') ? path.rsplit('.').first : StringRef(); }

llvm::ArrayRef<SpecField> specFields() { return fields; }
llvm::ArrayRef<StringRef> reservedWords() { return reserved; }

const SpecField *findSpecField(StringRef path) {
  const SpecField *found = llvm::find_if(fields, [&](const SpecField &field) { return field.path == path; });
  return found == std::end(fields) ? nullptr : found;
}

llvm::SmallVector<const SpecField *> specFieldsOf(StringRef parent) {
  llvm::SmallVector<const SpecField *> result;
  for (const SpecField &field : fields)
    if (field.parent() == parent)
      result.push_back(&field);
  return result;
}

const ShorthandInfo *findShorthand(StringRef path) {
  const ShorthandInfo *found = llvm::find_if(shorthands, [&](const ShorthandInfo &row) { return row.path == path; });
  return found == std::end(shorthands) ? nullptr : found;
}

llvm::SmallVector<FieldWord> fieldWords(const SpecField &field) {
  llvm::SmallVector<StringRef> parts;
  field.words.split(parts, ' ', -1, /*KeepEmpty=*/false);
  llvm::SmallVector<FieldWord> result;
  if (field.kind == FieldKind::Format) {
    for (const DTypeInfo &info : allDTypes())
      if (info.use == FormatUse::Anything || (field.words == "weights" && info.isScaled()))
        result.push_back({info.word, true});
    return result;
  }
  for (StringRef part : parts) {
    bool supported = !part.consume_back("?");
    result.push_back({part, supported});
  }
  return result;
}

static std::string valueText(const SpecField &field) {
  auto range = [&] { return std::to_string(field.minimum) + " to " + std::to_string(field.maximum); };
  switch (field.kind) {
  case FieldKind::Map:
    return "map";
  case FieldKind::Integer:
    return field.minimum == field.maximum ? std::to_string(field.minimum) : "integer, " + range();
  case FieldKind::Integers:
    return "list of integers, " + range();
  case FieldKind::HeadWidth:
    return "integer, or list of `{heads: n, head_dim: d}`; " + range();
  case FieldKind::Boolean:
    return "`true`, `false`";
  case FieldKind::Name:
    return "C identifier";
  case FieldKind::Size:
    return "`dynamic`, integer, `{max: n}`; " + range();
  case FieldKind::Variants:
    return "list of " + field.words.str() + " words";
  case FieldKind::Variant:
    return "map, `null`";
  case FieldKind::Parameters:
    return "map of names to `{dtype: f32 or i64 or bool, dims: [b, h, q, k]}`";
  case FieldKind::Any:
    return "";
  case FieldKind::Word:
  case FieldKind::Format:
  case FieldKind::WordList:
    break;
  }
  std::string text = field.kind == FieldKind::WordList ? "list of " : "";
  llvm::ListSeparator comma;
  for (const FieldWord &word : fieldWords(field))
    text += (llvm::StringRef(comma) + "`" + word.text + "`" + (word.supported ? "" : " (not yet)")).str();
  return text;
}

std::string fieldTableMarkdown() {
  std::string text = "| Field | Value | Default | Meaning |\n|---|---|---|---|\n";
  for (const SpecField &field : fields) {
    std::string defaultText = field.isRequired() ? "required" : field.defaultText.empty() ? "" : "`" + field.defaultText.str() + "`";
    std::string doc = field.doc.str();
    if (field.status == FieldStatus::Planned)
      doc += " (not supported yet)";
    if (const ShorthandInfo *shorthand = findShorthand(field.path))
      doc += "; a single value is short for " + shorthand->doc.str();
    text += "| `" + field.path.str() + "` | " + valueText(field) + " | " + defaultText + " | " + doc + " |\n";
  }
  text += "\nReserved words, not supported yet: ";
  llvm::ListSeparator comma;
  for (StringRef word : reserved)
    text += (llvm::StringRef(comma) + "`" + word + "`").str();
  return text + ".\n";
}

} // namespace mhac
