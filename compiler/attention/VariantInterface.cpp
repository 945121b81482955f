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

static bool isNumeric(FieldType type) { return type == FieldType::Integer || type == FieldType::Number || type == FieldType::NumberList; }

/// What a field takes, for messages: "'default' or a number above 0".
static std::string wantedBy(const FieldInfo &field) {
  SmallVector<StringRef> words(field.words.begin(), field.words.end());
  std::string wanted = listWords(words);
  switch (field.type) {
  case FieldType::Word:
    return wanted;
  case FieldType::WordList:
    return "a list of " + wanted;
  case FieldType::Text:
    return "a text";
  case FieldType::Variants:
    return "a list";
  case FieldType::Map:
    return wanted + (wanted.empty() ? "a map" : " or a map");
  default:
    break;
  }
  if (!wanted.empty())
    wanted += " or ";
  wanted += field.type == FieldType::Integer ? "an integer " : field.type == FieldType::Number ? "a number " : "a list of numbers ";
  return wanted + (field.exclusiveMinimum ? "above " : "of at least ") + textOf(field.minimum);
}

void VariantReader::reportWrong(const VariantInfo &info, const FieldInfo &field, const Tree &tree) {
  StringRef name = field.name.empty() ? info.word : StringRef(field.name).substr(field.name.rfind('.') + 1);
  std::string remedy;
  if (tree.kind == Tree::Kind::Scalar) {
    SmallVector<StringRef> words(field.words.begin(), field.words.end());
    remedy = didYouMean(tree.scalar, words);
  }
  bool isNull = tree.kind == Tree::Kind::Null;
  diagnostics.error(isNull ? element.word.loc : tree.loc, "'" + name.str() + "' must be " + wantedBy(field) + ", found " + describeTree(tree) + remedy)
      .length = isNull ? info.word.size() : writtenLength(tree);
}

/// Whether an unquoted number lies in the field's range. One that f32 turns into infinity, or into a bound that it may not reach, does not: f32 is what the
/// kernels compute with.
static bool isInRange(const FieldInfo &field, const Tree &tree) {
  std::optional<double> value;
  if (tree.kind == Tree::Kind::Scalar && !tree.quoted)
    value = parseNumber(tree.scalar, field.type == FieldType::Integer);
  return value && std::isfinite(static_cast<float>(*value)) &&
         (field.exclusiveMinimum ? static_cast<float>(*value) > field.minimum : *value >= field.minimum);
}

bool VariantReader::readScalar(const VariantInfo &info, const FieldInfo &field, const Tree &tree) {
  bool isScalar = tree.kind == Tree::Kind::Scalar;
  if (isScalar && (field.type == FieldType::Text || llvm::is_contained(field.words, StringRef(tree.scalar)) || (isNumeric(field.type) && isInRange(field, tree))))
    return true;
  reportWrong(info, field, tree);
  return false;
}

bool VariantReader::readList(const VariantInfo &info, const FieldInfo &field, const Tree &tree) {
  if (tree.kind != Tree::Kind::List) {
    bool isWord = field.type == FieldType::NumberList && tree.kind == Tree::Kind::Scalar && llvm::is_contained(field.words, StringRef(tree.scalar));
    if (!isWord)
      reportWrong(info, field, tree);
    return isWord;
  }
  StringRef name = field.name.empty() ? info.word : StringRef(field.name);
  for (auto [i, item] : llvm::enumerate(tree.items)) {
    bool good = field.type == FieldType::NumberList ? isInRange(field, item)
                                                    : item.kind == Tree::Kind::Scalar && llvm::is_contained(field.words, StringRef(item.scalar));
    bool isDuplicate = good && field.type == FieldType::WordList &&
                       llvm::any_of(ArrayRef(tree.items).take_front(i), [&](const Tree &other) { return other.scalar == item.scalar; });
    if (good && !isDuplicate)
      continue;
    std::string message = isDuplicate ? "duplicate element '" + item.scalar + "' in '" + name.str() + "'"
                                      : "'" + name.str() + "' must be " + wantedBy(field) + ", found " + describeTree(item) + " in it";
    diagnostics.error(item.loc, message).length = writtenLength(item);
    return false;
  }
  return true;
}

bool VariantReader::readVariants(const VariantInfo &info, const FieldInfo &field, const Tree &tree) {
  if (tree.kind != Tree::Kind::List) {
    reportWrong(info, field, tree);
    return false;
  }
  StringRef name = field.name.empty() ? info.word : StringRef(field.name);
  if (tree.items.size() > maxListLength) {
    diagnostics.error(tree.loc, "'" + name.str() + "' must have at most " + std::to_string(maxListLength) + " elements, found " + std::to_string(tree.items.size()));
    return false;
  }
  bool good = true;
  for (const Tree &item : tree.items) {
    std::vector<VariantSpec> elements;
    for (const Tree &inner : item.kind == Tree::Kind::List ? ArrayRef(item.items) : ArrayRef(item))
      good &= readVariantElement(inner, "an element of '" + name.str() + "'", diagnostics, elements);
    reportDuplicates(kind, elements, diagnostics);
    SmallVector<Attribute> attributes;
    for (auto [i, inner] : llvm::enumerate(elements)) {
      attributes.push_back(variantFromSpec(kind, inner, i, spec, context, diagnostics));
      good &= attributes.back() != nullptr;
    }
    nested[field.name.str()].push_back(attributes);
  }
  return good;
}

bool VariantReader::readField(const VariantInfo &info, const FieldInfo &field, const Tree &tree) {
  values[field.name.str()] = tree;
  switch (field.type) {
  case FieldType::NumberList:
  case FieldType::WordList:
    return readList(info, field, tree);
  case FieldType::Variants:
    return readVariants(info, field, tree);
  case FieldType::Map:
    if (tree.kind == Tree::Kind::Map)
      return readFields(info, field.name, tree);
    return readScalar(info, field, tree);
  default:
    return readScalar(info, field, tree);
  }
}

bool VariantReader::read(const VariantInfo &info) {
  const Tree &arguments = element.arguments;
  if (info.fields.size() == 1 && info.fields[0].name.empty() && arguments.kind != Tree::Kind::Null)
    return readField(info, info.fields[0], arguments);
  return readFields(info, "", arguments);
}

/// Reads the keys of the variant, or of its field `map`.
bool VariantReader::readFields(const VariantInfo &info, StringRef map, const Tree &arguments) {
  // A field's key in this map; empty for those of others.
  auto keyOf = [&](const FieldInfo &field) {
    StringRef name = field.name;
    bool isHere = map.empty() || (name.consume_front(map) && name.consume_front("."));
    return isHere && !name.contains('.') ? name : StringRef();
  };
  const std::string shown = map.empty() ? info.word.str() : map.str();
  const SourceLocation loc = map.empty() ? element.word.loc : arguments.loc;
  bool good = true;
  SmallVector<StringRef> known;
  for (const FieldInfo &field : info.fields)
    if (!keyOf(field).empty())
      known.push_back(keyOf(field));
  if (arguments.kind == Tree::Kind::Map) {
    for (const auto &[key, value] : arguments.fields) {
      const FieldInfo *field = llvm::find_if(info.fields, [&](const FieldInfo &field) { return keyOf(field) == key.value; });
      if (field != info.fields.end()) {
        good &= readField(info, *field, value);
        continue;
      }
      std::string remedy = didYouMean(key.value, known);
      if (remedy.empty())
        remedy = known.empty() ? "; it takes none" : "; known keys are " + listWords(known, "and");
      diagnostics.error(key.loc, "unknown key '" + shownText(key.value) + "' in '" + shown + "'" + remedy).length =
          key.value.size();
      good = false;
    }
  } else if (arguments.kind != Tree::Kind::Null) {
    std::string wanted = known.empty() ? "' takes no arguments" : "' must be a map of " + listWords(known, "and");
    diagnostics.error(arguments.loc, "'" + shown + wanted + ", found " + describeTree(arguments)).length =
        writtenLength(arguments);
    return false;
  }
  for (const FieldInfo &field : info.fields) {
    StringRef name = keyOf(field);
    bool isOnly = map.empty() && field.name.empty();
    bool isWritten = llvm::any_of(arguments.fields, [&](const auto &entry) { return entry.first.value == name; });
    if (isWritten || (name.empty() && !isOnly))
      continue;
    if (field.fallback.empty()) {
      std::string what = isOnly ? std::string("missing argument of '") : "missing key '" + name.str() + "' in '";
      diagnostics.error(loc, what + shown + "' (" + field.doc.str() + ")").length = map.empty() ? info.word.size() : 1;
      good = false;
    }
    Tree fallback;
    fallback.kind = field.fallback == "[]" ? Tree::Kind::List : Tree::Kind::Scalar;
    fallback.scalar = field.fallback.str();
    fallback.loc = loc;
    values[field.name.str()] = fallback;
  }
  return good;
}

StringRef VariantReader::word(StringRef field) const { return values.at(field.str()).scalar; }

std::optional<double> VariantReader::number(StringRef field) const { return parseNumber(word(field), /*isInteger=*/false); }

std::optional<int64_t> VariantReader::integer(StringRef field) const {
  int64_t value;
  return word(field).getAsInteger(10, value) ? std::nullopt : std::optional(value);
}

std::optional<SmallVector<double>> VariantReader::numbers(StringRef field) const {
  const Tree &tree = values.at(field.str());
  if (tree.kind != Tree::Kind::List)
    return std::nullopt;
  return llvm::map_to_vector(tree.items, [](const Tree &item) { return parseNumber(item.scalar, /*isInteger=*/false).value_or(0); });
}

SmallVector<StringRef> VariantReader::words(StringRef field) const {
  return llvm::map_to_vector(values.at(field.str()).items, [](const Tree &item) { return StringRef(item.scalar); });
}

LocatedText VariantReader::text(StringRef field) const {
  const Tree &tree = values.at(field.str());
  return {tree.scalar, tree.loc, tree.quoted};
}

ArrayRef<SmallVector<Attribute>> VariantReader::variants(StringRef field) const {
  auto found = nested.find(field.str());
  return found == nested.end() ? ArrayRef<SmallVector<Attribute>>() : ArrayRef(found->second);
}

bool VariantReader::isMap(StringRef field) const { return values.at(field.str()).kind == Tree::Kind::Map; }

SourceLocation VariantReader::location(StringRef field) const { return values.at(field.str()).loc; }

void reportDuplicates(VariantKind kind, ArrayRef<VariantSpec> list, Diagnostics &diagnostics) {
  for (auto [i, element] : llvm::enumerate(list)) {
    const VariantSpec *first = llvm::find_if(list.take_front(i), [&](const VariantSpec &other) { return *other.word == *element.word; });
    bool isRepeatable = llvm::any_of(allVariants(), [&](const VariantInfo &info) { return info.kind == kind && info.word == *element.word && info.repeatable; });
    if (first == list.begin() + i || isRepeatable)
      continue;
    Diagnostic &report = diagnostics.error(element.word.loc, ("duplicate " + kindName(kind) + " '" + *element.word + "'").str());
    report.length = element.word->size();
    report.notes.push_back({Severity::Note, first->word.loc, report.length, "it stands here first", {}});
  }
}

SmallVector<VariantParameter> parametersOf(ArrayRef<VariantInterface> variants) {
  SmallVector<VariantParameter> parameters;
  for (VariantInterface variant : variants)
    for (VariantParameter &parameter : variant.parameters())
      if (llvm::none_of(parameters, [&](const VariantParameter &known) { return known.name == parameter.name; }))
        parameters.push_back(std::move(parameter));
  return parameters;
}

/// The language's word for what the field also calls otherwise; empty for all others.
static StringRef usualWord(StringRef word) {
  static constexpr std::pair<StringLiteral, StringLiteral> names[] = {
      {"rotary", "rope"},           {"rotary_embedding", "rope"}, {"window", "sliding_window"}, {"sliding", "sliding_window"},
      {"local", "sliding_window"}, {"logit_softcap", "softcap"}, {"attn_bias", "bias"},        {"attn_mask", "tensor"}};
  auto found = llvm::find_if(names, [&](const auto &name) { return word.equals_insensitive(name.first); });
  return found == std::end(names) ? StringRef() : StringRef(found->second);
}

/// An element whose word no variant of the kind has.
static void reportUnknown(VariantKind kind, const VariantSpec &element, Diagnostics &diagnostics) {
  StringRef word = *element.word;
  auto report = [&](const std::string &message) {
    diagnostics.error(element.word.loc, message).length = std::max<size_t>(1, word.size());
  };
  for (const VariantInfo &info : allVariants())
    if (info.word == word && info.listed)
      return report("unknown " + kindName(kind).str() + " '" + word.str() + "'; it belongs in '" + kindName(info.kind).str() + "'");
  SmallVector<StringRef> known;
  for (const VariantInfo &info : allVariants())
    if (info.kind == kind && info.listed)
      known.push_back(info.word);
  StringRef usual = usualWord(word);
  std::string remedy = llvm::is_contained(known, usual) ? "; did you mean '" + usual.str() + "'?" : didYouMean(word, known);
  report("unknown " + kindName(kind).str() + " '" + shownText(word) + "'" + remedy + "; known: " + listWords(known, "and"));
}

Attribute variantFromSpec(VariantKind kind, const VariantSpec &element, size_t place, const Spec &spec, MLIRContext *context,
                          Diagnostics &diagnostics) {
  for (const Entry &entry : registry()) {
    if (entry.info.kind != kind || entry.info.word != StringRef(*element.word))
      continue;
    if (!entry.info.listed && place != kUnlistedPlace)
      break;
    VariantReader reader(element, kind, place, spec, context, diagnostics);
    return reader.read(entry.info) ? entry.fromSpec(reader) : Attribute();
  }
  reportUnknown(kind, element, diagnostics);
  return {};
}

//===-- emission ----------------------------------------------------------------------------------------------------------------------===//

Value RegionBuilder::constant(int64_t value) { return arith::ConstantIndexOp::create(builder, loc, value); }

Value RegionBuilder::constantF32(double value) {
  return arith::ConstantOp::create(builder, loc, builder.getF32FloatAttr(static_cast<float>(value)));
}

Value RegionBuilder::floorDiv(Value a, Value b) { return FloorDivOp::create(builder, loc, a, b); }

Value RegionBuilder::floorMod(Value a, Value b) { return FloorModOp::create(builder, loc, a, b); }

Value RegionBuilder::table(ArrayRef<double> numbers, Value index) {
  SmallVector<float> elements(numbers.begin(), numbers.end());
  auto type = RankedTensorType::get(int64_t(elements.size()), builder.getF32Type());
  return TableOp::create(builder, loc, builder.getF32Type(), DenseElementsAttr::get(type, ArrayRef(elements)), index);
}

Value RegionBuilder::table(ArrayRef<int64_t> integers, Value index) {
  auto type = RankedTensorType::get(int64_t(integers.size()), builder.getIndexType());
  return TableOp::create(builder, loc, builder.getIndexType(), DenseElementsAttr::get(type, integers), index);
}

} // namespace mhac::attn
