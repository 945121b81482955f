// The registry of variants and the reading of their YAML. Nothing here knows a variant by name: the list comes from the generated
// attributes that implement VariantInterface, the fields from each variant's own table.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "attention/VariantInterface.h"

#include "attention/AttentionDialect.h"
#include "spec/DidYouMean.h"
#include "spec/FieldReader.h"
#include "spec/Spec.h"
#include "spec/YamlTree.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/Regex.h"

#include <cmath>
#include <tuple>

using namespace mlir;

namespace mhac::attn {

//===-- registry ----------------------------------------------------------------------------------------------------------------------===//

namespace {
struct Entry {
  VariantInfo info;
  Attribute (*fromSpec)(VariantReader &);
};

template <typename T> void addVariant(SmallVectorImpl<Entry> &entries) {
  if constexpr (std::is_base_of_v<VariantInterface::Trait<T>, T>)
    entries.push_back({T::info(), &T::fromSpec});
}

template <typename... Attributes> SmallVector<Entry> collectVariants() {
  SmallVector<Entry> entries;
  (addVariant<Attributes>(entries), ...);
  llvm::sort(entries, [](const Entry &a, const Entry &b) {
    return std::tie(a.info.kind, a.info.word) < std::tie(b.info.kind, b.info.word);
  });
  return entries;
}

const SmallVector<Entry> &registry() {
  static const SmallVector<Entry> entries = collectVariants<
#define GET_ATTRDEF_LIST
#include "attention/AttentionAttrs.cpp.inc"
      >();
  return entries;
}
} // namespace

StringRef kindName(VariantKind kind) {
  static constexpr StringLiteral names[] = {"mask", "position", "score", "layout"};
  return names[static_cast<int>(kind)];
}

ArrayRef<VariantInfo> allVariants() {
  static const SmallVector<VariantInfo> infos = llvm::map_to_vector(registry(), [](const Entry &entry) { return entry.info; });
  return infos;
}

ArrayRef<StringLiteral> reservedVariantWords(VariantKind kind) {
  static constexpr StringLiteral masks[] = {"any",  "block_sparse", "chunked", "dilated",        "document", "expr",
                                            "global", "lsh",        "prefix",  "sliding_window", "tensor"};
  static constexpr StringLiteral positions[] = {"rope"};
  static constexpr StringLiteral scores[] = {"alibi", "bias", "expr", "relative_bias", "sink", "softcap"};
  switch (kind) {
  case VariantKind::Mask:
    return masks;
  case VariantKind::Position:
    return positions;
  case VariantKind::Score:
    return scores;
  case VariantKind::Layout:
    return {};
  }
  return {};
}

std::optional<VariantKind> variantKind(Attribute attribute) {
  auto variant = dyn_cast_or_null<VariantInterface>(attribute);
  return variant ? std::optional(variant.info().kind) : std::nullopt;
}

//===-- reading -----------------------------------------------------------------------------------------------------------------------===//

/// The shortest text of a bound: "0", "0.5".
static std::string textOf(double value) {
  std::string text;
  llvm::raw_string_ostream(text) << llvm::format("%g", value);
  return text;
}

static std::optional<double> parseNumber(StringRef text, bool isInteger) {
  static const llvm::Regex integer("^-?(0|[1-9][0-9]*)$"), number("^[-+]?(\\.[0-9]+|[0-9]+(\\.[0-9]*)?)([eE][-+]?[0-9]+)?$");
  double value;
  if (!(isInteger ? integer : number).match(text) || text.getAsDouble(value))
    return std::nullopt;
  return value;
}

/// What a field takes, for messages: "'default' or a number above 0".
static std::string wantedBy(const FieldInfo &field) {
  SmallVector<StringRef> words(field.words.begin(), field.words.end());
  std::string wanted = listWords(words);
  if (field.type == FieldType::Word)
    return wanted;
  if (!wanted.empty())
    wanted += " or ";
  wanted += field.type == FieldType::Integer ? "an integer " : "a number ";
  return wanted + (field.exclusiveMinimum ? "above " : "of at least ") + textOf(field.minimum);
}

bool VariantReader::readField(const VariantInfo &info, const FieldInfo &field, const Tree &tree) {
  StringRef name = field.name.empty() ? info.word : StringRef(field.name);
  bool isScalar = tree.kind == Tree::Kind::Scalar;
  bool good = isScalar && llvm::is_contained(field.words, StringRef(tree.scalar));
  if (isScalar && !good && !tree.quoted && field.type != FieldType::Word)
    // A number that f32 turns into 0 or infinity is out of range too: it is what the kernels compute with.
    if (std::optional<double> value = parseNumber(tree.scalar, field.type == FieldType::Integer))
      good = std::isfinite(static_cast<float>(*value)) &&
             (field.exclusiveMinimum ? static_cast<float>(*value) > field.minimum : *value >= field.minimum);
  if (good) {
    values[field.name.str()] = tree.scalar;
    return true;
  }
  std::string remedy;
  if (isScalar) {
    SmallVector<StringRef> words(field.words.begin(), field.words.end());
    remedy = didYouMean(tree.scalar, words);
  }
  Diagnostic &report = diagnostics.error(tree.kind == Tree::Kind::Null ? spec.word.loc : tree.loc,
                                         "'" + name.str() + "' must be " + wantedBy(field) + ", found " + describeTree(tree) + remedy);
  report.length = tree.kind == Tree::Kind::Null ? info.word.size() : writtenLength(tree);
  return false;
}

bool VariantReader::read(const VariantInfo &info) {
  const Tree &arguments = spec.arguments;
  bool isScalarField = info.fields.size() == 1 && info.fields[0].name.empty();
  bool good = true;
  if (isScalarField && arguments.kind != Tree::Kind::Null)
    return readField(info, info.fields[0], arguments);
  if (arguments.kind == Tree::Kind::Map) {
    SmallVector<StringRef> known;
    for (const FieldInfo &field : info.fields)
      known.push_back(field.name);
    for (const auto &[key, value] : arguments.fields) {
      const FieldInfo *field = llvm::find_if(info.fields, [&](const FieldInfo &field) { return field.name == key.value; });
      if (field != info.fields.end()) {
        good &= readField(info, *field, value);
        continue;
      }
      std::string remedy = didYouMean(key.value, known);
      if (remedy.empty())
        remedy = known.empty() ? "; it takes none" : "; known keys are " + listWords(known, "and");
      diagnostics.error(key.loc, "unknown key '" + shownText(key.value) + "' in '" + info.word.str() + "'" + remedy).length =
          key.value.size();
      good = false;
    }
  } else if (arguments.kind != Tree::Kind::Null) {
    SmallVector<StringRef> known;
    for (const FieldInfo &field : info.fields)
      known.push_back(field.name);
    std::string wanted = known.empty() ? "' takes no arguments" : "' must be a map of " + listWords(known, "and");
    diagnostics.error(arguments.loc, "'" + info.word.str() + wanted + ", found " + describeTree(arguments)).length =
        writtenLength(arguments);
    return false;
  }
  for (const FieldInfo &field : info.fields) {
    bool isWritten = llvm::any_of(arguments.fields, [&](const auto &entry) { return entry.first.value == field.name; });
    if (isWritten)
      continue;
    if (field.fallback.empty()) {
      std::string what = field.name.empty() ? std::string("missing argument of '") : "missing key '" + field.name.str() + "' in '";
      diagnostics.error(spec.word.loc, what + info.word.str() + "' (" + field.doc.str() + ")").length = info.word.size();
      good = false;
    }
    values[field.name.str()] = field.fallback.str();
  }
  return good;
}

StringRef VariantReader::word(StringRef field) const { return values.at(field.str()); }

std::optional<double> VariantReader::number(StringRef field) const { return parseNumber(word(field), /*isInteger=*/false); }

std::optional<int64_t> VariantReader::integer(StringRef field) const {
  int64_t value;
  return word(field).getAsInteger(10, value) ? std::nullopt : std::optional(value);
}

/// The language's word for what the field also calls otherwise, among the reserved words; empty for all others.
static StringRef usualWord(StringRef word) {
  static constexpr std::pair<StringLiteral, StringLiteral> names[] = {
      {"rotary", "rope"},           {"rotary_embedding", "rope"}, {"window", "sliding_window"}, {"sliding", "sliding_window"},
      {"local", "sliding_window"}, {"logit_softcap", "softcap"}, {"attn_bias", "bias"},        {"attn_mask", "tensor"}};
  auto found = llvm::find_if(names, [&](const auto &name) { return word.equals_insensitive(name.first); });
  return found == std::end(names) ? StringRef() : StringRef(found->second);
}

/// An element whose word no variant of the kind has.
static void reportUnknown(VariantKind kind, const VariantSpec &spec, Diagnostics &diagnostics) {
  StringRef word = *spec.word;
  auto report = [&](Severity severity, const std::string &message) {
    diagnostics.add(severity, spec.word.loc, message).length = std::max<size_t>(1, word.size());
  };
  if (llvm::is_contained(reservedVariantWords(kind), word))
    return report(Severity::Unsupported, (kindName(kind) + " '" + word + "' is not supported yet").str());

  for (VariantKind other : {VariantKind::Mask, VariantKind::Position, VariantKind::Score}) {
    bool belongs = llvm::is_contained(reservedVariantWords(other), word) ||
                   llvm::any_of(allVariants(), [&](const VariantInfo &info) { return info.kind == other && info.word == word; });
    if (belongs)
      return report(Severity::Error, ("unknown " + kindName(kind) + " '" + word + "'; it belongs in '" + kindName(other) + "'").str());
  }
  SmallVector<StringRef> known;
  for (const VariantInfo &info : allVariants())
    if (info.kind == kind)
      known.push_back(info.word);
  ArrayRef<StringLiteral> reserved = reservedVariantWords(kind);
  SmallVector<StringRef> words = known, planned(reserved.begin(), reserved.end());
  llvm::append_range(words, planned);
  StringRef usual = usualWord(word);
  std::string remedy = llvm::is_contained(planned, usual) ? "; did you mean '" + usual.str() + "'?" : didYouMean(word, words);
  if (!known.empty())
    remedy += "; known: " + listWords(known, "and");
  if (!planned.empty())
    remedy += "; not supported yet: " + listWords(planned, "and");
  report(Severity::Error, ("unknown " + kindName(kind) + " '" + shownText(word) + "'" + remedy).str());
}

Attribute variantFromSpec(VariantKind kind, const VariantSpec &spec, size_t place, const LayerSpec &layer, MLIRContext *context,
                          Diagnostics &diagnostics) {
  for (const Entry &entry : registry()) {
    if (entry.info.kind != kind || entry.info.word != StringRef(*spec.word))
      continue;
    VariantReader reader(spec, place, layer, context, diagnostics);
    return reader.read(entry.info) ? entry.fromSpec(reader) : Attribute();
  }
  reportUnknown(kind, spec, diagnostics);
  return {};
}

//===-- emission ----------------------------------------------------------------------------------------------------------------------===//

Value RegionBuilder::constant(int64_t value) { return arith::ConstantIndexOp::create(builder, loc, value); }

Value RegionBuilder::constantF32(double value) {
  return arith::ConstantOp::create(builder, loc, builder.getF32FloatAttr(static_cast<float>(value)));
}

} // namespace mhac::attn
