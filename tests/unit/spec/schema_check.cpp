// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "schema_check.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

#include <regex>

using llvm::json::Array;
using llvm::json::Object;
using llvm::json::Value;

namespace mhac::test {

Value toJson(const Tree &tree) {
  if (tree.kind == Tree::Kind::Null)
    return nullptr;
  if (tree.kind == Tree::Kind::List) {
    Array list;
    for (const Tree &item : tree.items)
      list.push_back(toJson(item));
    return list;
  }
  if (tree.kind == Tree::Kind::Map) {
    Object map;
    for (const auto &[key, value] : tree.fields)
      map[llvm::json::fixUTF8(key.value)] = toJson(value);
    return map;
  }
  llvm::StringRef text = tree.scalar;
  if (tree.quoted)
    return llvm::json::fixUTF8(text);
  if (text == "true" || text == "false")
    return text == "true";
  llvm::StringRef digits = text;
  digits.consume_front("-");
  bool isDecimal = !digits.empty() && llvm::all_of(digits, llvm::isDigit) && (digits == "0" || digits[0] != '0');
  int64_t integer;
  if (isDecimal && !text.getAsInteger(10, integer))
    return integer;
  double number;
  if (std::regex_match(tree.scalar, std::regex("[-+]?(\\.[0-9]+|[0-9]+(\\.[0-9]*)?)([eE][-+]?[0-9]+)?")) && !text.getAsDouble(number))
    return number;
  return llvm::json::fixUTF8(text);
}

static bool hasType(const Value &value, llvm::StringRef type) {
  if (type == "integer")
    return value.kind() == Value::Number && value.getAsInteger().has_value();
  return (type == "object" && value.kind() == Value::Object) || (type == "array" && value.kind() == Value::Array) ||
         (type == "null" && value.kind() == Value::Null) || (type == "boolean" && value.kind() == Value::Boolean) ||
         (type == "number" && value.kind() == Value::Number) || (type == "string" && value.kind() == Value::String);
}

/// One keyword; `schema` for keywords that look at their neighbours.
static std::string checkKeyword(llvm::StringRef keyword, const Value &wanted, const Object &schema, const Value &value, const std::string &path) {
  auto failIf = [&](bool fails) { return fails ? path + ": " + keyword.str() : std::string(); };
  const Object *object = value.getAsObject();
  const Array *array = value.getAsArray();
  if (llvm::is_contained({"$schema", "title", "description", "default"}, keyword))
    return "";
  if (keyword == "type") {
    if (const Array *types = wanted.getAsArray())
      return failIf(llvm::none_of(*types, [&](const Value &type) { return hasType(value, *type.getAsString()); }));
    return failIf(!hasType(value, *wanted.getAsString()));
  }
  if (keyword == "const")
    return failIf(value != wanted);
  if (keyword == "enum")
    return failIf(!llvm::is_contained(*wanted.getAsArray(), value));
  if (keyword == "anyOf")
    return failIf(llvm::none_of(*wanted.getAsArray(), [&](const Value &each) { return checkSchema(*each.getAsObject(), value, path).empty(); }));
  if (keyword == "minimum")
    return failIf(value.getAsNumber() && *value.getAsNumber() < *wanted.getAsNumber());
  if (keyword == "exclusiveMinimum")
    return failIf(value.getAsNumber() && *value.getAsNumber() <= *wanted.getAsNumber());
  if (keyword == "maximum")
    return failIf(value.getAsNumber() && *value.getAsNumber() > *wanted.getAsNumber());
  if (keyword == "maxLength")
    return failIf(value.getAsString() && int64_t(value.getAsString()->size()) > *wanted.getAsInteger());
  if (keyword == "pattern")
    return failIf(value.getAsString() && !std::regex_search(value.getAsString()->str(), std::regex(wanted.getAsString()->str())));
  if (keyword == "minItems")
    return failIf(array && int64_t(array->size()) < *wanted.getAsInteger());
  if (keyword == "maxItems")
    return failIf(array && int64_t(array->size()) > *wanted.getAsInteger());
  if (keyword == "contains")
    return failIf(array && llvm::none_of(*array, [&](const Value &each) { return checkSchema(*wanted.getAsObject(), each).empty(); }));
  if (keyword == "uniqueItems") {
    bool repeats = false;
    for (size_t i = 0; array && i < array->size(); ++i)
      repeats |= std::count(array->begin() + i + 1, array->end(), (*array)[i]) > 0;
    return failIf(repeats);
  }
  if (keyword == "items") {
    for (size_t i = 0; array && i < array->size(); ++i)
      if (std::string error = checkSchema(*wanted.getAsObject(), (*array)[i], path + "/" + std::to_string(i)); !error.empty())
        return error;
    return "";
  }
  if (keyword == "required")
    return failIf(object && llvm::any_of(*wanted.getAsArray(), [&](const Value &key) { return !object->get(*key.getAsString()); }));
  if (keyword == "properties") {
    for (const auto &[key, property] : *wanted.getAsObject())
      if (const Value *found = object ? object->get(key) : nullptr)
        if (std::string error = checkSchema(*property.getAsObject(), *found, path + "/" + key.str()); !error.empty())
          return error;
    return "";
  }
  if (keyword == "additionalProperties" && wanted == Value(false)) {
    const Object *known = schema.getObject("properties");
    return failIf(object && llvm::any_of(*object, [&](const auto &entry) { return !known->get(entry.first); }));
  }
  if (keyword == "additionalProperties" && wanted.getAsObject() && !schema.getObject("properties")) {
    std::string first;
    for (const auto &[key, each] : object ? *object : Object{})
      if (std::string error = checkSchema(*wanted.getAsObject(), each, path + "/" + key.str()); !error.empty() && (first.empty() || error < first))
        first = error;
    return first;
  }
  return path + ": unknown keyword " + keyword.str();
}

std::string checkSchema(const Object &schema, const Value &value, const std::string &path) {
  std::string first; // objects have no order of their own
  for (const auto &[keyword, wanted] : schema) {
    std::string error = checkKeyword(keyword, wanted, schema, value, path);
    if (!error.empty() && (first.empty() || error < first))
      first = error;
  }
  return first;
}

} // namespace mhac::test
