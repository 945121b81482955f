// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "spec/SpecPrinter.h"

#include "spec/SpecWords.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/raw_ostream.h"

using llvm::StringRef;

namespace mhac {

/// A scalar so that it reads back as it is: in quotes unless it is plainly a word or number, or was written without them.
static std::string scalarText(StringRef text, bool quoted) {
  bool plain = !quoted && !text.empty() && llvm::all_of(text, [](char c) { return llvm::isAlnum(c) || StringRef("_.+-").contains(c); }) &&
               text[0] != '-' && text[0] != '+';
  bool number = !quoted && text.size() > 1 && (text[0] == '-' || text[0] == '+') &&
                llvm::all_of(text.drop_front(), [](char c) { return llvm::isAlnum(c) || c == '.' || c == '+' || c == '-'; }) &&
                llvm::isDigit(text[1]);
  if (plain || number)
    return text.str();
  std::string result = "\"";
  for (char c : text) {
    unsigned char byte = c;
    if (c == '"' || c == '\\')
      result += std::string("\\") + c;
    else if (byte < 0x20 || byte == 0x7F)
      result += "\\x" + llvm::utohexstr(byte, true, 2);
    else
      result += c;
  }
  return result + "\"";
}

static std::string flowText(const Tree &tree) {
  std::string text;
  llvm::ListSeparator comma;
  switch (tree.kind) {
  case Tree::Kind::Null:
    return "null";
  case Tree::Kind::Scalar:
    return scalarText(tree.scalar, tree.quoted);
  case Tree::Kind::List:
    for (const Tree &item : tree.items)
      text += (StringRef(comma) + flowText(item)).str();
    return "[" + text + "]";
  case Tree::Kind::Map:
    for (const auto &[key, value] : tree.fields)
      text += (StringRef(comma) + scalarText(key.value, false) + ": " + flowText(value)).str();
    return "{" + text + "}";
  }
  return text;
}

static void printVariants(llvm::raw_ostream &os, StringRef key, const std::vector<VariantSpec> &variants) {
  os << key << ":" << (variants.empty() ? " []\n" : "\n");
  for (const VariantSpec &variant : variants) {
    os << "  - " << scalarText(variant.word.value, false);
    if (variant.arguments.kind != Tree::Kind::Null)
      os << ": " << flowText(variant.arguments);
    os << "\n";
  }
}

static std::string weightsText(const DTypeSpec &dtype) {
  const std::string type(dtypeInfo(*dtype.weights).word);
  if (!dtype.hasScales())
    return type;
  return "{type: " + type + ", group: " + (*dtype.weightGroup ? std::to_string(*dtype.weightGroup) : "row") + ", compute: " + wordOf(*dtype.weightCompute).str() + "}";
}

std::string printSpec(const Spec &spec) {
  std::string text;
  llvm::raw_string_ostream os(text);
  auto truth = [](bool value) { return value ? "true" : "false"; };
  const LayerSpec &layer = spec.layer;
  const ProjectionSpec &projections = spec.projections;
  const ShapeSpec &shape = spec.shape;
  os << "mhac: 1\nname: " << *spec.name << "\n";
  os << "layer:\n"
     << "  d_model: " << *layer.dModel << "\n  heads: " << *layer.heads << "\n  kv_heads: " << *layer.kvHeads
     << "\n  head_dim: ";
  if (layer.headGroups.empty()) {
    os << *layer.headDim << "\n  v_head_dim: " << *layer.vHeadDim;
  } else {
    os << "[";
    llvm::interleaveComma(layer.headGroups, os, [&](const HeadGroup &group) { os << "{heads: " << group.heads << ", head_dim: " << group.width << "}"; });
    os << "]";
  }
  os << "\n  source: " << wordOf(*layer.source) << "\n  kv_d_model: " << *layer.kvDModel << "\n";
  if (!layer.prunedHeads.empty()) {
    os << "  pruned_heads: [";
    llvm::interleaveComma(layer.prunedHeads, os);
    os << "]\n";
  }
  if (layer.qkNorm)
    os << "  qk_norm: " << flowText(layer.qkNorm->arguments) << "\n";
  os << "projections:\n"
     << "  input: " << wordOf(*projections.input) << "\n  packing: " << wordOf(*projections.packing)
     << "\n  weight_layout: " << wordOf(*projections.weightLayout) << "\n  output: " << truth(*projections.output)
     << "\n  bias: {input: " << truth(*projections.biasInput) << ", output: " << truth(*projections.biasOutput) << "}\n";
  os << "shape:\n"
     << "  batch: " << wordOf(*shape.batch) << "\n  query: " << wordOf(*shape.query) << "\n  key: " << wordOf(*shape.key)
     << "\n  layout: " << wordOf(*shape.layout) << "\n";
  os << "query_offset: " << wordOf(*spec.queryOffset) << "\n";
  printVariants(os, "mask", spec.mask);
  printVariants(os, "position", spec.position);
  printVariants(os, "score", spec.score);
  os << "parameters:" << (spec.parameters.empty() ? " {}\n" : "\n");
  for (const ExpressionParameter &parameter : spec.parameters) {
    os << "  " << parameter.name << ": {dtype: " << parameterDType(parameter.type) << ", dims: [";
    llvm::interleaveComma(parameter.dims, os);
    os << "]}\n";
  }
  os << "dtype:\n"
     << "  activations: " << dtypeInfo(*spec.dtype.activations).word << "\n  weights: " << weightsText(spec.dtype)
     << "\n  accumulate: " << dtypeInfo(*spec.dtype.accumulate).word << "\n";
  if (spec.mergeParts)
    os << "merge_states: {parts: " << wordOf(**spec.mergeParts) << "}\n";
  os << "outputs: [";
  llvm::interleaveComma(spec.outputs, os, [&](const Located<OutputKind> &output) {
    if (*output == OutputKind::AttentionMap)
      os << "{attention_map: {stage: " << wordOf(*spec.mapStage) << "}}";
    else if (*output == OutputKind::MapStatistics)
      os << "{map_statistics: {window: " << *spec.diagonalWindow << "}}";
    else
      os << wordOf(*output);
  });
  os << "]\n";
  return text;
}

} // namespace mhac
