// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "spec/FieldReader.h"

#include "spec/DidYouMean.h"
#include "spec/TakenNames.h"
#include "spec/YamlTree.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

#include <set>

using llvm::StringRef;

namespace mhac {

// Names that a generated header could not use, in C99, C11, C23 or C++20, and `main`.
static const StringRef keywords[] = {
    "alignas",     "alignof",  "and",          "and_eq",        "asm",       "auto",         "bitand",       "bitor",
    "bool",        "break",    "case",         "catch",         "char",      "char16_t",     "char32_t",     "char8_t",
    "class",       "co_await", "co_return",    "co_yield",      "compl",     "concept",      "const",        "const_cast",
    "consteval",   "constexpr", "constinit",   "continue",      "decltype",  "default",      "delete",       "do",
    "double",      "dynamic_cast", "else",     "enum",          "explicit",  "export",       "extern",       "false",
    "float",       "for",      "friend",       "goto",          "if",        "inline",       "int",          "long",
    "main",        "mutable",  "namespace",    "new",           "noexcept",  "not",          "not_eq",       "nullptr",
    "operator",    "or",       "or_eq",        "private",       "protected", "public",       "register",     "reinterpret_cast",
    "requires",    "restrict", "return",       "short",         "signed",    "sizeof",       "static",       "static_assert",
    "static_cast", "struct",   "switch",       "template",      "this",      "thread_local", "throw",        "true",
    "try",         "typedef",  "typeid",       "typename",      "typeof",    "union",        "unsigned",     "using",
    "virtual",     "void",     "volatile",     "wchar_t",       "while",     "xor",          "xor_eq"};
constexpr size_t maxNameLength = 128;

std::string describeTree(const Tree &tree) {
  switch (tree.kind) {
  case Tree::Kind::Null:
    return "nothing";
  case Tree::Kind::List:
    return "a list";
  case Tree::Kind::Map:
    return "a map";
  case Tree::Kind::Scalar:
    break;
  }
  std::string text = shownText(tree.scalar);
  return tree.quoted ? "the string '" + text + "'" : "'" + text + "'";
}

/// Whether the node says the same as the default text of a planned field, so that it asks for nothing.
static bool saysDefault(const Tree &value, StringRef text) {
  if (value.kind == Tree::Kind::Null)
    return true;
  if (value.kind == Tree::Kind::List)
    return text == "[]" && value.items.empty();
  if (value.kind == Tree::Kind::Map)
    return text == "{}" && value.fields.empty();
  return !value.quoted && value.scalar == text;
}

/// A key without a value has no place of its own: that of the key.
static Tree located(const Tree &value, const SourceLocation &loc) {
  Tree tree = value;
  tree.loc = loc;
  return tree;
}

/// For a single element that was written without the list around it.
static std::string listRemedy(const Tree &value) {
  if (value.kind == Tree::Kind::Scalar && !value.quoted && !value.scalar.empty())
    return "; write [" + shownText(value.scalar) + "]";
  if (value.kind == Tree::Kind::Map && value.fields.size() == 1)
    return "; write [" + shownText(value.fields[0].first.value) + ": ...]";
  return "";
}

void FieldReader::error(const Tree &at, std::string message) {
  diagnostics.error(at.loc, std::move(message)).length = writtenLength(at);
}

void FieldReader::unsupported(const SourceLocation &loc, unsigned length, std::string message) {
  diagnostics.unsupported(loc, std::move(message)).length = length;
}

bool FieldReader::read(const Tree &root) {
  maps[""] = {file, 1, 1};
  if (root.kind != Tree::Kind::Map) {
    error(root, "a spec is a map of keys such as 'mhac', 'name' and 'layer', found " + describeTree(root));
    return false;
  }
  maps[""] = root.loc;
  readMap(root, "");
  return true;
}

const GivenField *FieldReader::find(StringRef path) const {
  auto found = given.find(path.str());
  return found == given.end() ? nullptr : &found->second;
}

SourceLocation FieldReader::mapLocation(StringRef path) const {
  auto found = maps.find(path.str());
  if (found != maps.end())
    return found->second;
  return path.contains('.') ? mapLocation(path.rsplit('.').first) : maps.at("");
}

void FieldReader::readMap(const Tree &map, StringRef path) {
  for (const auto &[key, value] : map.fields) {
    std::string full = path.empty() ? key.value : path.str() + "." + key.value;
    if (llvm::is_contained(reservedWords(), StringRef(key.value)))
      unsupported(key.loc, key.value.size(), "'" + key.value + "' is a reserved word and not supported yet");
    else if (const SpecField *field = key.value.find('.') == std::string::npos ? findSpecField(full) : nullptr)
      readField(*field, key, value);
    else
      reportUnknownKey(path, key);
  }
  for (const SpecField *field : specFieldsOf(path)) {
    bool written = llvm::any_of(map.fields, [&](const auto &entry) { return entry.first.value == field->key(); });
    if (!field->isRequired() || written)
      continue;
    wrong[field->path.str()] = true;
    SourceLocation at = mapLocation(path);
    if (path.empty())
      diagnostics.error(at, "missing key '" + field->key().str() + "' (" + field->doc.str() + ")");
    else
      diagnostics.error(at, "missing key '" + field->key().str() + "' in '" + path.str() + "' (" + field->doc.str() + ")").length = path.size();
  }
}

void FieldReader::reportUnknownKey(StringRef map, const Located<std::string> &key) {
  llvm::SmallVector<StringRef> known;
  for (const SpecField *field : specFieldsOf(map))
    known.push_back(field->key());
  std::string where = map.empty() ? "" : " in '" + map.str() + "'";
  std::string remedy;
  for (const SpecField &field : specFields())
    if (field.key() == key.value && remedy.empty())
      remedy = field.parent().empty() ? "; it belongs at the top of the spec" : "; it belongs in '" + field.parent().str() + "'";
  if (remedy.empty())
    remedy = didYouMean(key.value, known);
  if (remedy.empty())
    remedy = "; known keys are " + listWords(known, "and");
  Tree shown;
  shown.kind = Tree::Kind::Scalar;
  shown.scalar = key.value;
  diagnostics.error(key.loc, "unknown key " + describeTree(shown) + where + remedy).length = writtenLength(shown);
}

void FieldReader::readField(const SpecField &field, const Located<std::string> &key, const Tree &value) {
  std::string path = field.path.str();
  if (field.status == FieldStatus::Planned) {
    if (!saysDefault(value, field.defaultText))
      unsupported(key.loc, key.value.size(), "'" + key.value + "' is not supported yet");
    return;
  }
  PlannedShape shape = value.kind == Tree::Kind::List  ? PlannedShape::List
                       : value.kind == Tree::Kind::Map ? PlannedShape::Map
                                                       : PlannedShape::Scalar;
  if (field.planned != PlannedShape::None && field.planned == shape) {
    wrong[path] = true;
    unsupported(value.loc, 1, "'" + key.value + "' as " + (shape == PlannedShape::List ? "a list" : "a map") + " is not supported yet");
    return;
  }
  if (field.kind == FieldKind::Map) {
    maps[path] = key.loc;
    const ShorthandInfo *shorthand = findShorthand(field.path);
    if (value.kind == Tree::Kind::Map) {
      readMap(value, field.path);
    } else if (value.kind == Tree::Kind::Scalar && shorthand) {
      readShorthand(*shorthand, key, value);
    } else {
      wrong[path] = true;
      llvm::SmallVector<StringRef> known;
      for (const SpecField *child : specFieldsOf(field.path))
        known.push_back(child->key());
      Diagnostic &report =
          diagnostics.error(value.kind == Tree::Kind::Null ? key.loc : value.loc,
                            "'" + key.value + "' must be a map of " + listWords(known, "and") + ", found " + describeTree(value));
      report.length = value.kind == Tree::Kind::Null ? key.value.size() : writtenLength(value);
      for (const SpecField *child : specFieldsOf(field.path))
        wrong[child->path.str()] = true;
    }
    return;
  }
  GivenField result;
  result.keyLoc = key.loc;
  result.loc = value.loc;
  result.length = writtenLength(value);
  // A key without a value has no place of its own: point at the key.
  Tree located = value;
  if (value.kind == Tree::Kind::Null) {
    located.loc = key.loc;
    result.loc = key.loc;
  }
  if (readValue(field, located, result))
    given[path] = std::move(result);
  else
    wrong[path] = true;
}

void FieldReader::readShorthand(const ShorthandInfo &shorthand, const Located<std::string> &key, const Tree &value) {
  llvm::SmallVector<StringRef> targets;
  shorthand.targets.split(targets, ' ');
  bool good = true;
  for (StringRef target : targets) {
    // The message of the first target is enough, and names the key that the user wrote.
    SpecField field = *findSpecField(target);
    GivenField result;
    result.keyLoc = key.loc;
    result.loc = value.loc;
    result.length = writtenLength(value);
    field.path = shorthand.path;
    good = good && readValue(field, value, result);
    if (good)
      given[target.str()] = std::move(result);
    else
      wrong[target.str()] = true;
  }
}

bool FieldReader::readValue(const SpecField &field, const Tree &value, GivenField &result) {
  std::string subject = "'" + field.key().str() + "'";
  switch (field.kind) {
  case FieldKind::Integer:
    return readInteger(subject, field, value, result.number);
  case FieldKind::Integers:
    return readIntegers(field, value, result.numbers);
  case FieldKind::HeadWidth:
    return value.kind == Tree::Kind::List ? readHeadGroups(field, value, result.groups) : readInteger(subject, field, value, result.number);
  case FieldKind::Boolean: {
    bool isBoolean = value.kind == Tree::Kind::Scalar && !value.quoted && (value.scalar == "true" || value.scalar == "false");
    if (!isBoolean)
      error(value, subject + " must be true or false, found " + describeTree(value));
    result.number = value.scalar == "true";
    return isBoolean;
  }
  case FieldKind::Word:
  case FieldKind::Format:
    return readWord(field, subject, value, result.word);
  case FieldKind::Name:
    return readName(value, result.word);
  case FieldKind::Size:
    return readSize(field, value, result.size);
  case FieldKind::Variants:
    return readVariants(field, value, result.variants);
  case FieldKind::WordList:
    return readWordList(field, value, result.words);
  case FieldKind::Variant: // its keys are those of the attribute, which stage 2 reads
    if (value.kind != Tree::Kind::Null)
      result.variants.push_back({{field.words.str(), result.keyLoc, true}, value});
    return true;
  case FieldKind::Parameters:
    return readParameters(value, result.parameters);
  case FieldKind::Map:
  case FieldKind::Any:
    break;
  }
  return true;
}

bool FieldReader::readInteger(StringRef subject, const SpecField &field, const Tree &value, int64_t &number) {
  StringRef text = value.scalar;
  StringRef digits = text;
  digits.consume_front("-");
  // Decimal only: YAML 1.1 would read 010 as eight, and 1_000 and 0x10 as numbers.
  bool isInteger = value.kind == Tree::Kind::Scalar && !value.quoted && !digits.empty() && llvm::all_of(digits, llvm::isDigit) &&
                   (digits == "0" || digits[0] != '0');
  std::string wanted = std::to_string(field.minimum);
  if (field.minimum != field.maximum)
    wanted = "an integer from " + wanted + " to " + std::to_string(field.maximum);
  // More digits than int64_t holds make getAsInteger fail: out of range like any other number.
  if (isInteger && !text.getAsInteger(10, number) && number >= field.minimum && number <= field.maximum)
    return true;
  error(value, (subject + " must be " + wanted + ", found " + describeTree(value)).str());
  return false;
}

bool FieldReader::readIntegers(const SpecField &field, const Tree &value, std::vector<Located<int64_t>> &numbers) {
  std::string subject = "'" + field.key().str() + "'";
  if (value.kind != Tree::Kind::List) {
    error(value, subject + " must be a list of integers, found " + describeTree(value) + listRemedy(value));
    return false;
  }
  bool good = true;
  std::set<int64_t> known;
  for (const Tree &item : value.items) {
    Located<int64_t> number{0, item.loc, true};
    if (!readInteger("an element of " + subject, field, item, number.value)) {
      good = false;
    } else if (!known.insert(number.value).second) {
      error(item, "duplicate element '" + std::to_string(number.value) + "' in " + subject);
      good = false;
    } else {
      numbers.push_back(number);
    }
  }
  return good;
}

bool FieldReader::readHeadGroups(const SpecField &field, const Tree &value, std::vector<HeadGroup> &groups) {
  std::string subject = "'" + field.key().str() + "'";
  if (value.items.empty() || value.items.size() > maxListLength) {
    error(value, subject + " as a list must have from 1 to " + std::to_string(maxListLength) + " elements, found " + std::to_string(value.items.size()));
    return false;
  }
  bool good = true;
  for (const Tree &item : value.items) {
    HeadGroup group;
    const std::string shape = "an element of " + subject + " must be {heads: n, head_dim: d}";
    if (item.kind != Tree::Kind::Map) {
      error(item, shape + ", found " + describeTree(item));
      good = false;
      continue;
    }
    for (const auto &[key, number] : item.fields) {
      Tree located = number;
      located.loc = number.kind == Tree::Kind::Null ? key.loc : number.loc;
      if (key.value == "heads" || key.value == "head_dim") {
        good &= readInteger("'" + key.value + "' in " + subject, field, located, key.value == "heads" ? group.heads : group.width);
        continue;
      }
      diagnostics.error(key.loc, "unknown key '" + shownText(key.value) + "' in an element of " + subject + "; known keys are 'heads' and 'head_dim'").length =
          key.value.size();
      good = false;
    }
    for (StringRef missing : {"heads", "head_dim"})
      if (llvm::none_of(item.fields, [&](const auto &entry) { return entry.first.value == missing; })) {
        error(item, shape + ", found no '" + missing.str() + "'");
        good = false;
      }
    groups.push_back(group);
  }
  return good;
}

bool FieldReader::readWord(const SpecField &field, StringRef subject, const Tree &value, std::string &word) {
  llvm::SmallVector<StringRef> supported, known;
  for (const FieldWord &row : fieldWords(field)) {
    known.push_back(row.text);
    if (row.supported)
      supported.push_back(row.text);
    if (value.kind != Tree::Kind::Scalar || value.scalar != row.text)
      continue;
    word = row.text.str();
    if (!row.supported)
      unsupported(value.loc, writtenLength(value), (subject + ": '" + row.text + "' is not supported yet").str());
    return row.supported;
  }
  std::string remedy = value.kind == Tree::Kind::Scalar ? didYouMean(value.scalar, known) : "";
  error(value, (subject + " must be " + listWords(supported) + ", found " + describeTree(value)).str() + remedy);
  return false;
}

std::string whyNotName(StringRef text) {
  auto isLetter = [](char c) { return llvm::isAlpha(c) || c == '_'; };
  if (text.empty() || !isLetter(text[0]) || !llvm::all_of(text, [&](char c) { return isLetter(c) || llvm::isDigit(c); }))
    return "must be a C identifier";
  if (text.size() > maxNameLength)
    return "must have at most " + std::to_string(maxNameLength) + " characters";
  if (llvm::is_contained(keywords, text))
    return "must not be a word that C or C++ keeps for itself";
  if (isLibraryName(text))
    return "must not be a name that the C library or a C compiler already uses";
  if (text == "mhac" || text.starts_with("mhac_"))
    return "must not be 'mhac' or start with 'mhac_', as the runtime's own symbols do";
  if (text[0] == '_' && text.size() > 1 && (text[1] == '_' || llvm::isUpper(text[1])))
    return "must not start with two underscores or an underscore and a capital, which C reserves";
  return "";
}

bool FieldReader::readName(const Tree &value, std::string &name) {
  std::string reason = whyNotName(value.kind == Tree::Kind::Scalar ? value.scalar : "");
  if (!reason.empty()) {
    error(value, "'name' " + reason + ", found " + describeTree(value));
    return false;
  }
  name = value.scalar;
  return true;
}

bool FieldReader::readSize(const SpecField &field, const Tree &value, SizeSpec &size) {
  std::string subject = "'" + field.key().str() + "'";
  if (value.kind == Tree::Kind::Scalar && value.scalar == "dynamic") {
    size = {SizeSpec::Kind::Dynamic, 0};
    return true;
  }
  if (value.kind == Tree::Kind::Map) {
    bool good = true, hasMax = false;
    for (const auto &[key, maximum] : value.fields) {
      if (key.value != "max") {
        diagnostics.error(key.loc, "unknown key '" + shownText(key.value) + "' in " + subject + "; the only known key is 'max'").length =
            key.value.size();
        good = false;
        continue;
      }
      hasMax = true;
      Tree located = maximum;
      located.loc = maximum.kind == Tree::Kind::Null ? key.loc : maximum.loc;
      size.kind = SizeSpec::Kind::Bounded;
      good &= readInteger("'max' of " + subject, field, located, size.value);
    }
    if (good && !hasMax)
      error(value, subject + " as a map must be {max: n}");
    return good && hasMax;
  }
  bool looksLikeNumber = value.kind == Tree::Kind::Scalar && !value.quoted && !value.scalar.empty() &&
                         (llvm::isDigit(value.scalar[0]) || value.scalar[0] == '-' || value.scalar[0] == '+');
  size.kind = SizeSpec::Kind::Fixed;
  if (looksLikeNumber)
    return readInteger(subject, field, value, size.value);
  error(value, subject + " must be 'dynamic', an integer or {max: n}, found " + describeTree(value) +
                   (value.kind == Tree::Kind::Scalar ? didYouMean(value.scalar, {"dynamic"}) : ""));
  return false;
}

bool readVariantElement(const Tree &item, StringRef subject, Diagnostics &diagnostics, std::vector<VariantSpec> &variants) {
  if (item.kind == Tree::Kind::Scalar) {
    variants.push_back({{item.scalar, item.loc, true}, Tree{Tree::Kind::Null, item.loc, {}, false, {}, {}}});
    return true;
  }
  if (item.kind == Tree::Kind::Map && item.fields.size() == 1) {
    variants.push_back({item.fields[0].first, item.fields[0].second});
    return true;
  }
  std::string found = item.kind == Tree::Kind::Map ? "a map with " + std::to_string(item.fields.size()) + " keys" : describeTree(item);
  diagnostics.error(item.loc, (subject + " must be a word or one `word: arguments`, found " + found).str()).length = writtenLength(item);
  return false;
}

bool FieldReader::readVariants(const SpecField &field, const Tree &value, std::vector<VariantSpec> &variants) {
  std::string subject = "'" + field.key().str() + "'";
  if (value.kind != Tree::Kind::List) {
    error(value, subject + " must be a list, found " + describeTree(value) + listRemedy(value));
    return false;
  }
  if (value.items.size() > maxListLength) {
    error(value, subject + " must have at most " + std::to_string(maxListLength) + " elements, found " + std::to_string(value.items.size()));
    return false;
  }
  for (const Tree &item : value.items)
    readVariantElement(item, "an element of " + subject, diagnostics, variants);
  return true; // the other elements can still be looked at
}

bool FieldReader::readWordList(const SpecField &field, const Tree &value, std::vector<Located<std::string>> &words) {
  std::string subject = "'" + field.key().str() + "'";
  if (value.kind != Tree::Kind::List) {
    error(value, subject + " must be a list, found " + describeTree(value) + listRemedy(value));
    return false;
  }
  bool good = true;
  for (const Tree &item : value.items) {
    // Known words that take arguments are maps of one key.
    Tree word = item;
    if (item.kind == Tree::Kind::Map && item.fields.size() == 1) {
      word = Tree();
      word.kind = Tree::Kind::Scalar;
      word.scalar = item.fields[0].first.value;
      word.loc = item.fields[0].first.loc;
    }
    Located<std::string> read{"", word.loc, true};
    if (!readWord(field, "an element of " + subject, word, read.value)) {
      good = false;
      continue;
    }
    const SpecField *arguments = findSpecField(field.path.str() + "." + read.value);
    if (item.kind == Tree::Kind::Map && !arguments) {
      error(word, "'" + read.value + "' takes no arguments");
      good = false;
    } else if (llvm::any_of(words, [&](const Located<std::string> &other) { return other.value == read.value; })) {
      error(word, "duplicate element '" + read.value + "' in " + subject);
      good = false;
    } else {
      if (item.kind == Tree::Kind::Map)
        readField(*arguments, item.fields[0].first, item.fields[0].second);
      words.push_back(std::move(read));
    }
  }
  return good;
}

//===-- parameters of expressions ---------------------------------------------------------------------------------------------------------===//

bool FieldReader::readParameters(const Tree &value, std::vector<ExpressionParameter> &parameters) {
  if (value.kind != Tree::Kind::Map) {
    error(value, "'parameters' must be a map of names, found " + describeTree(value));
    return false;
  }
  if (value.fields.size() > maxListLength) {
    error(value, "'parameters' must have at most " + std::to_string(maxListLength) + " names, found " + std::to_string(value.fields.size()));
    return false;
  }
  // A wrong one stays in the list: what reads it need not be reported too.
  for (const auto &[name, declaration] : value.fields) {
    ExpressionParameter parameter{name.value, ExpressionType::Float, "", name.loc};
    readParameter(name, declaration, parameter);
    parameters.push_back(std::move(parameter));
  }
  return true;
}

void FieldReader::readParameter(const Located<std::string> &name, const Tree &value, ExpressionParameter &parameter) {
  auto report = [&](const std::string &message) {
    diagnostics.error(name.loc, message).length = std::max<size_t>(1, name.value.size());
  };
  std::string shown = "parameter '" + shownText(name.value) + "'";
  if (isExpressionWord(name.value))
    return report(shown + " has the name of something that expressions know already; choose another");
  if (isInterfaceName(name.value))
    return report(shown + " has the name of a size or tensor of the C interface; choose another");
  if (std::string reason = whyNotName(name.value); !reason.empty())
    return report("the name of " + shown + " " + reason);
  if (value.kind != Tree::Kind::Map)
    return report(shown + " must be a map of 'dtype' and 'dims', found " + describeTree(value));
  bool hasDType = false;
  for (const auto &[key, given] : value.fields) {
    if (key.value == "dtype") {
      hasDType = true;
      auto types = {ExpressionType::Float, ExpressionType::Integer, ExpressionType::Boolean};
      auto found = llvm::find_if(types, [&](ExpressionType type) { return given.kind == Tree::Kind::Scalar && parameterDType(type) == given.scalar; });
      if (found != types.end())
        parameter.type = *found;
      else
        error(given.kind == Tree::Kind::Null ? located(given, key.loc) : given,
              "'dtype' of " + shown + " must be 'f32', 'i64' or 'bool', found " + describeTree(given));
    } else if (key.value == "dims") {
      readDims(shown, given.kind == Tree::Kind::Null ? located(given, key.loc) : given, parameter.dims);
    } else {
      diagnostics.error(key.loc, "unknown key '" + shownText(key.value) + "' in " + shown + "; known keys are 'dtype' and 'dims'").length =
          std::max<size_t>(1, key.value.size());
    }
  }
  if (!hasDType)
    report("missing key 'dtype' in " + shown + " ('f32', 'i64' or 'bool')");
}

void FieldReader::readDims(const std::string &subject, const Tree &value, std::string &dims) {
  static constexpr StringRef order = "bhqk";
  std::string wanted = "'dims' of " + subject + " must be a list of 'b', 'h', 'q' and 'k' in this order";
  if (value.kind != Tree::Kind::List) {
    error(value, wanted + ", found " + describeTree(value) + listRemedy(value));
    return;
  }
  for (const Tree &item : value.items) {
    bool isDim = item.kind == Tree::Kind::Scalar && item.scalar.size() == 1 && order.contains(item.scalar[0]);
    if (!isDim || (!dims.empty() && order.find(item.scalar[0]) <= order.find(dims.back()))) {
      error(item, wanted + ", found " + describeTree(item) + (isDim ? " behind '" + dims.substr(dims.size() - 1) + "'" : ""));
      return;
    }
    dims += item.scalar;
  }
}

} // namespace mhac
