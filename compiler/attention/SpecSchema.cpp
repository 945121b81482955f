// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "attention/SpecSchema.h"

#include "attention/VariantInterface.h"
#include "spec/SpecFields.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/raw_ostream.h"

using llvm::StringRef;
using llvm::json::Array;
using llvm::json::Object;
using llvm::json::Value;

namespace mhac {

/// A default as a JSON value: only those that are written as YAML, not the formulas for readers.
static std::optional<Value> defaultValue(const SpecField &field) {
  StringRef text = field.defaultText;
  if (text.empty())
    return std::nullopt;
  if (field.kind == FieldKind::Integer || field.kind == FieldKind::HeadWidth)
    return std::nullopt;
  if (field.kind == FieldKind::WordList)
    return Array{text.trim("[]")};
  if (field.kind == FieldKind::Variants && text != "[]")
    return std::nullopt;
  llvm::Expected<Value> parsed = llvm::json::parse(text);
  if (parsed)
    return *parsed;
  llvm::consumeError(parsed.takeError());
  return text;
}

static Object integerSchema(const SpecField &field) {
  if (field.minimum == field.maximum)
    return Object{{"const", field.minimum}};
  return Object{{"type", "integer"}, {"minimum", field.minimum}, {"maximum", field.maximum}};
}

static Object mapSchema(Object properties, Array required) {
  Object schema{{"type", "object"}, {"additionalProperties", false}, {"properties", std::move(properties)}};
  if (!required.empty())
    schema["required"] = std::move(required);
  return schema;
}

//===-- variants --------------------------------------------------------------------------------------------------------------------------===//

static Object variantFieldsSchema(const attn::VariantInfo &variant, StringRef map);

static Object variantFieldSchema(const attn::VariantInfo &variant, const attn::FieldInfo &field) {
  using attn::FieldType;
  Array words;
  for (StringRef word : field.words) {
    if (word == "true" || word == "false") // YAML's truth values
      words.push_back(word == "true");
    else
      words.push_back(word);
  }
  Object number{{"type", field.type == FieldType::Integer ? "integer" : "number"}, {field.exclusiveMinimum ? "exclusiveMinimum" : "minimum", field.minimum}};
  Array choices;
  if (!words.empty() && field.type != FieldType::WordList)
    choices.push_back(Object{{"enum", Array(words)}});
  if (field.type == FieldType::Integer || field.type == FieldType::Number)
    choices.push_back(std::move(number));
  else if (field.type == FieldType::NumberList)
    choices.push_back(Object{{"type", "array"}, {"items", std::move(number)}});
  else if (field.type == FieldType::WordList)
    choices.push_back(Object{{"type", "array"}, {"items", Object{{"enum", std::move(words)}}}, {"uniqueItems", true}});
  else if (field.type == FieldType::Text)
    choices.push_back(Object{{"type", Array{"string", "number", "boolean"}}});
  else if (field.type == FieldType::Variants)
    choices.push_back(Object{{"type", "array"}, {"items", Object{{"type", Array{"string", "object", "array"}}}}});
  else if (field.type == FieldType::Map)
    choices.push_back(variantFieldsSchema(variant, field.name));
  Object schema{{"description", field.doc}, {"anyOf", std::move(choices)}};
  if (field.fallback == "[]")
    schema["default"] = Array{};
  else if (!field.fallback.empty())
    schema["default"] = field.fallback;
  return schema;
}

/// The keys of the variant, or of its field `map`.
static Object variantFieldsSchema(const attn::VariantInfo &variant, StringRef map) {
  Object properties;
  Array required;
  for (const attn::FieldInfo &field : variant.fields) {
    StringRef name = field.name;
    bool isHere = map.empty() || (name.consume_front(map) && name.consume_front("."));
    if (!isHere || name.contains('.') || name.empty())
      continue;
    properties[name] = variantFieldSchema(variant, field);
    if (field.fallback.empty())
      required.push_back(name);
  }
  return mapSchema(std::move(properties), std::move(required));
}

/// What may follow `word:`.
static Value variantArguments(const attn::VariantInfo &variant) {
  if (variant.fields.size() == 1 && variant.fields[0].name.empty())
    return variantFieldSchema(variant, variant.fields[0]);
  Object map = variantFieldsSchema(variant, "");
  map["type"] = Array{"object", "null"};
  return map;
}

static Object variantsSchema(StringRef kind) {
  Array elements;
  for (const attn::VariantInfo &variant : attn::allVariants()) {
    if (attn::kindName(variant.kind) != kind || !variant.listed)
      continue;
    bool needsArguments = llvm::any_of(variant.fields, [](const attn::FieldInfo &field) { return field.fallback.empty() && !field.name.contains('.'); });
    if (!needsArguments)
      elements.push_back(Object{{"const", variant.word}, {"description", variant.doc}});
    Object map = mapSchema(Object{{variant.word, variantArguments(variant)}}, Array{variant.word});
    map["description"] = variant.doc;
    elements.push_back(std::move(map));
  }
  if (elements.empty())
    return Object{{"type", "array"}, {"maxItems", 0}};
  return Object{{"type", "array"}, {"items", Object{{"anyOf", std::move(elements)}}}};
}

//===-- fields ----------------------------------------------------------------------------------------------------------------------------===//

static Array wordsOf(const SpecField &field) {
  Array words;
  for (const FieldWord &word : fieldWords(field))
    if (int64_t number; word.supported && !word.text.getAsInteger(10, number))
      words.push_back(number); // as YAML reads it
    else if (word.supported)
      words.push_back(word.text);
  return words;
}

static Object fieldsSchema(StringRef parent);
static Object describedSchema(const SpecField &field);

static Object fieldSchema(const SpecField &field) {
  switch (field.kind) {
  case FieldKind::Map:
    return fieldsSchema(field.path);
  case FieldKind::Integer:
    return integerSchema(field);
  case FieldKind::Integers:
    return Object{{"type", "array"}, {"items", integerSchema(field)}, {"uniqueItems", true}};
  case FieldKind::HeadWidth: {
    Object group = mapSchema(Object{{"heads", integerSchema(field)}, {"head_dim", integerSchema(field)}}, Array{"heads", "head_dim"});
    return Object{{"anyOf", Array{integerSchema(field), Object{{"type", "array"}, {"items", std::move(group)}, {"minItems", 1}}}}};
  }
  case FieldKind::Boolean:
    return Object{{"type", "boolean"}};
  case FieldKind::Word:
  case FieldKind::Format:
    return Object{{"enum", wordsOf(field)}};
  case FieldKind::Name:
    return Object{{"type", "string"}, {"pattern", "^(?!mhac_|__|_[A-Z])[A-Za-z_][A-Za-z0-9_]*$"}, {"maxLength", 128}};
  case FieldKind::Size:
    return Object{{"anyOf", Array{Object{{"const", "dynamic"}}, integerSchema(field),
                                  mapSchema(Object{{"max", integerSchema(field)}}, Array{"max"})}}};
  case FieldKind::Variants:
    return variantsSchema(field.words);
  case FieldKind::Variant:
    for (const attn::VariantInfo &variant : attn::allVariants())
      if (variant.word == field.words)
        return *variantArguments(variant).getAsObject();
    break;
  case FieldKind::WordList: {
    Array elements{Object{{"enum", wordsOf(field)}}};
    for (const SpecField *word : specFieldsOf(field.path)) // those that take arguments
      elements.push_back(mapSchema(Object{{word->key(), describedSchema(*word)}}, Array{word->key()}));
    return Object{{"type", "array"}, {"items", Object{{"anyOf", std::move(elements)}}}, {"uniqueItems", true},
                  {"contains", Object{{"const", field.defaultText.trim("[]")}}}};
  }
  case FieldKind::Parameters: {
    Object dims{{"type", "array"}, {"items", Object{{"enum", Array{"b", "h", "q", "k"}}}}, {"uniqueItems", true}};
    Object parameter = mapSchema(Object{{"dtype", Object{{"enum", Array{"f32", "i64", "bool"}}}}, {"dims", std::move(dims)}}, Array{"dtype"});
    return Object{{"type", "object"}, {"additionalProperties", std::move(parameter)}};
  }
  case FieldKind::Any:
    break;
  }
  return Object{};
}

static Object describedSchema(const SpecField &field) {
  Object schema;
  if (field.status == FieldStatus::Planned) {
    // Only what asks for nothing.
    Array values{nullptr};
    if (std::optional<Value> value = defaultValue(field); value && *value != Value(nullptr))
      values.push_back(*value);
    schema["enum"] = std::move(values);
    schema["description"] = (field.doc + " (not supported yet)").str();
    return schema;
  }
  schema = fieldSchema(field);
  if (const ShorthandInfo *shorthand = findShorthand(field.path)) {
    const SpecField *target = findSpecField(shorthand->targets.split(' ').first);
    schema = Object{{"anyOf", Array{std::move(schema), fieldSchema(*target)}}};
  }
  std::optional<Value> value = defaultValue(field);
  bool isFormula = !value && !field.defaultText.empty();
  schema["description"] = isFormula ? (field.doc + "; default: " + field.defaultText).str() : field.doc.str();
  if (value)
    schema["default"] = *value;
  return schema;
}

static Object fieldsSchema(StringRef parent) {
  Object properties;
  Array required;
  for (const SpecField *field : specFieldsOf(parent)) {
    properties[field->key()] = describedSchema(*field);
    if (field->isRequired())
      required.push_back(field->key());
  }
  return mapSchema(std::move(properties), std::move(required));
}

std::string specSchema() {
  Object schema = fieldsSchema("");
  schema["$schema"] = "https://json-schema.org/draft/2020-12/schema";
  schema["title"] = "attention layer for mhac " MHAC_VERSION;
  std::string text;
  llvm::raw_string_ostream os(text);
  llvm::json::OStream json(os, /*IndentSize=*/2);
  json.value(std::move(schema));
  os << '\n';
  return text;
}

} // namespace mhac
