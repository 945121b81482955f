// What the fields mean to each other: defaults that depend on other fields, sizes that must divide, keys that contradict. A key that has no
// effect is accepted while it says what the default says, so that a spec may be written out in full.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "spec/SpecReader.h"

#include "spec/FieldReader.h"
#include "spec/SpecWords.h"
#include "spec/YamlTree.h"

using llvm::StringRef;

namespace mhac {

namespace {

// Rows and columns of a weight; their product then fits int64_t with room for strides and bytes.
constexpr int64_t maxFeatures = 2147483647;

// Products of an unsigned and a signed byte whose sum fits int32.
constexpr int64_t maxIntegers = 65536;

class Reader {
public:
  Reader(StringRef file, Diagnostics &diagnostics) : fields(file, diagnostics), diagnostics(diagnostics) {
    spec.file = file.rsplit('/').second.empty() ? file.str() : file.rsplit('/').second.str();
  }

  std::optional<Spec> read(const Tree &root);

private:
  template <typename T> Located<T> locate(StringRef path, T value) const {
    const GivenField *given = fields.find(path);
    return {std::move(value), given ? given->loc : fields.mapLocation(findSpecField(path)->parent()), given != nullptr};
  }
  Located<int64_t> integer(StringRef path, int64_t otherwise) const {
    const GivenField *given = fields.find(path);
    return locate(path, given ? given->number : otherwise);
  }
  Located<bool> boolean(StringRef path) const {
    const GivenField *given = fields.find(path);
    return locate(path, given ? given->number != 0 : findSpecField(path)->defaultText == "true");
  }
  Located<SizeSpec> size(StringRef path) const {
    const GivenField *given = fields.find(path);
    return locate(path, given ? given->size : SizeSpec{});
  }
  template <typename Enum> Located<Enum> word(StringRef path) const {
    const GivenField *given = fields.find(path);
    return locate(path, *enumFromWord<Enum>(given ? StringRef(given->word) : findSpecField(path)->defaultText));
  }
  Located<DType> dtype(StringRef path) const {
    const GivenField *given = fields.find(path);
    return locate(path, *dtypeFromWord(given ? std::string_view(given->word) : std::string_view(findSpecField(path)->defaultText)));
  }

  Diagnostic &error(StringRef path, std::string message);
  void unsupported(StringRef path, std::string message);
  /// Reports a key that was written but has no effect, unless it says the default.
  template <typename T> void refuseWithoutEffect(StringRef path, Located<T> &field, const T &defaultValue, const std::string &reason);

  void readLayer();
  void checkFeatures();
  void readHeadGroups();
  void readPrunedHeads();
  void readProjections();
  void readShape();
  void readRest();
  void readWeightScales();
  void readMergeStates();

  FieldReader fields;
  Diagnostics &diagnostics;
  Spec spec;
};

} // namespace

static bool sameSize(const SizeSpec &a, const SizeSpec &b) { return a.kind == b.kind && a.value == b.value; }

Diagnostic &Reader::error(StringRef path, std::string message) {
  const GivenField *given = fields.find(path);
  Diagnostic &report = diagnostics.error(given ? given->loc : fields.mapLocation(path), std::move(message));
  if (given)
    report.length = given->length;
  return report;
}

void Reader::unsupported(StringRef path, std::string message) {
  const GivenField *given = fields.find(path);
  diagnostics.unsupported(given->loc, std::move(message)).length = given->length;
}

template <typename T>
void Reader::refuseWithoutEffect(StringRef path, Located<T> &field, const T &defaultValue, const std::string &reason) {
  if (field.given && field.value != defaultValue) {
    const GivenField *given = fields.find(path);
    // "bias.input": its last word alone would name two keys.
    std::string shown = path.contains('.') ? path.split('.').second.str() : path.str();
    Diagnostic &report = diagnostics.error(given->keyLoc, "'" + shown + "' has no effect " + reason);
    report.length = findSpecField(path)->key().size();
  }
  field.value = defaultValue;
}

void Reader::readLayer() {
  LayerSpec &layer = spec.layer;
  layer.loc = fields.mapLocation("layer");
  layer.dModel = integer("layer.d_model", 64);
  layer.heads = integer("layer.heads", 1);
  layer.kvHeads = integer("layer.kv_heads", *layer.heads);
  layer.source = word<Source>("layer.source");

  if (*layer.heads % *layer.kvHeads != 0) {
    if (!fields.isWrong("layer.heads"))
      error("layer.kv_heads", "'kv_heads' must divide 'heads' (" + std::to_string(*layer.heads) + "), found '" + std::to_string(*layer.kvHeads) + "'");
    layer.kvHeads.value = layer.heads.value;
  }

  bool divides = *layer.dModel % *layer.heads == 0;
  const GivenField *headDim = fields.find("layer.head_dim");
  if (!headDim && !divides && !fields.isWrong("layer.head_dim") && !fields.isWrong("layer.d_model") && !fields.isWrong("layer.heads")) {
    error("layer.heads", "'heads' must divide 'd_model' (" + std::to_string(*layer.dModel) + ") when 'head_dim' is not given, found '" +
                             std::to_string(*layer.heads) + "'");
  }
  layer.headDim = integer("layer.head_dim", divides ? *layer.dModel / *layer.heads : 1);
  readHeadGroups();
  layer.vHeadDim = integer("layer.v_head_dim", *layer.headDim);
  readPrunedHeads();
  layer.kvDModel = integer("layer.kv_d_model", *layer.dModel);
  if (const GivenField *norm = fields.find("layer.qk_norm"); norm && !norm->variants.empty())
    layer.qkNorm = norm->variants.front();
  if (*layer.source == Source::Self && !fields.isWrong("layer.source"))
    refuseWithoutEffect("layer.kv_d_model", layer.kvDModel, *layer.dModel, "without 'source: cross'");
  checkFeatures();
}

/// Heads of several widths.
void Reader::readHeadGroups() {
  LayerSpec &layer = spec.layer;
  const GivenField *given = fields.find("layer.head_dim");
  if (!given || given->groups.empty())
    return;
  layer.headGroups = given->groups;
  int64_t heads = 0;
  layer.headDim.value = 1;
  for (const HeadGroup &group : layer.headGroups) {
    heads += group.heads;
    layer.headDim.value = std::max(*layer.headDim, group.width);
  }
  if (heads != *layer.heads && !fields.isWrong("layer.heads")) {
    error("layer.head_dim", "the groups of 'head_dim' must have 'heads' (" + std::to_string(*layer.heads) + ") heads together, found " + std::to_string(heads));
    layer.headGroups.clear();
  }
  if (fields.find("layer.v_head_dim"))
    error("layer.v_head_dim", "'v_head_dim' has no place beside a list in 'head_dim', which has the widths of V too");
  if (*layer.kvHeads != *layer.heads && !fields.isWrong("layer.kv_heads"))
    error("layer.kv_heads", "'kv_heads' must equal 'heads' (" + std::to_string(*layer.heads) + ") when 'head_dim' is a list, found '" +
                                std::to_string(*layer.kvHeads) + "'");
}

void Reader::readPrunedHeads() {
  const GivenField *given = fields.find("layer.pruned_heads");
  if (!given)
    return;
  for (const Located<int64_t> &head : given->numbers) {
    if (*head < *spec.layer.heads || fields.isWrong("layer.heads")) {
      spec.layer.prunedHeads.push_back(*head);
      continue;
    }
    diagnostics.error(head.loc, "an element of 'pruned_heads' must be a head from 0 to " + std::to_string(*spec.layer.heads - 1) + ", found '" +
                                    std::to_string(*head) + "'")
        .length = std::to_string(*head).size();
  }
  llvm::sort(spec.layer.prunedHeads);
  if (static_cast<int64_t>(spec.layer.prunedHeads.size()) < *spec.layer.heads)
    return;
  spec.layer.prunedHeads.clear();
  if (!fields.isWrong("layer.heads"))
    error("layer.pruned_heads", "'pruned_heads' must leave at least one of the " + std::to_string(*spec.layer.heads) + " heads");
}

void Reader::checkFeatures() {
  LayerSpec &layer = spec.layer;
  // All factors are below 2^21, so these sums cannot overflow.
  int64_t rows = *layer.heads * *layer.headDim + *layer.kvHeads * (*layer.headDim + *layer.vHeadDim);
  int64_t outputs = *layer.heads * *layer.vHeadDim;
  if (!layer.headGroups.empty()) {
    outputs = 0;
    for (const HeadGroup &group : layer.headGroups)
      outputs += group.heads * group.width;
    rows = 3 * outputs;
  }
  if (std::max(rows, outputs) <= maxFeatures)
    return;
  StringRef path = fields.find("layer.head_dim") ? "layer.head_dim" : fields.find("layer.v_head_dim") ? "layer.v_head_dim" : "layer.heads";
  error(path, "the heads have " + std::to_string(std::max(rows, outputs)) + " features together, at most " + std::to_string(maxFeatures) +
                  " are possible");
  layer.headDim.value = layer.vHeadDim.value = 1;
  layer.headGroups.clear();
}

void Reader::readProjections() {
  ProjectionSpec &projections = spec.projections;
  LayerSpec &layer = spec.layer;
  projections.loc = fields.mapLocation("projections");
  projections.input = word<InputProjection>("projections.input");
  if (fields.hasMap("merge_states")) {
    if (projections.input.given && *projections.input != InputProjection::None)
      error("projections.input", "'input' must be 'none' with 'merge_states', found '" + wordOf(*projections.input).str() + "'");
    projections.input.value = InputProjection::None;
  }
  projections.packing = word<Packing>("projections.packing");
  projections.weightLayout = word<WeightLayout>("projections.weight_layout");
  projections.output = boolean("projections.output");
  projections.biasInput = boolean("projections.bias.input");
  projections.biasOutput = boolean("projections.bias.output");

  // With a wrong `input` or `output` nothing is known about the keys that depend on it.
  bool knowsInput = !fields.isWrong("projections.input");
  bool knowsOutput = !fields.isWrong("projections.output");
  bool packed = *projections.input == InputProjection::Packed;
  bool none = *projections.input == InputProjection::None;
  if (knowsInput && !packed)
    refuseWithoutEffect("projections.packing", projections.packing, Packing::Qkv, "without 'input: packed'");
  if (knowsInput && none) {
    refuseWithoutEffect("projections.bias.input", projections.biasInput, false, "with 'input: none'");
    if (*layer.source == Source::Cross)
      refuseWithoutEffect("layer.kv_d_model", layer.kvDModel, *layer.dModel, "with 'input: none'");
  }
  if (knowsOutput && !*projections.output)
    refuseWithoutEffect("projections.bias.output", projections.biasOutput, false, "with 'output: false'");
  if (knowsInput && none && knowsOutput && !*projections.output)
    refuseWithoutEffect("projections.weight_layout", projections.weightLayout, WeightLayout::OutIn, "without projections");

  if (!layer.headGroups.empty() && knowsInput && none)
    error("projections.input", "'input: none' needs heads of one width, 'head_dim' is a list");
  if (!layer.headGroups.empty() && knowsOutput && !*projections.output)
    error("projections.output", "'output: false' needs heads of one width, 'head_dim' is a list");
  if (packed && *projections.packing == Packing::PerHead && *layer.kvHeads != *layer.heads) {
    error("projections.packing", "'packing: per_head' needs as many key/value heads as query heads, found 'heads: " +
                                     std::to_string(*layer.heads) + "' and 'kv_heads: " + std::to_string(*layer.kvHeads) + "'"
                                     "; did you mean 'per_group'?");
    projections.packing.value = Packing::Qkv;
  }
  if (packed && *layer.source == Source::Cross && *layer.kvDModel != *layer.dModel) {
    error("projections.input", "'input: packed' needs 'kv_d_model' equal to 'd_model' (" + std::to_string(*layer.dModel) + "), found '" +
                                   std::to_string(*layer.kvDModel) + "'; use 'separate'");
    layer.kvDModel.value = *layer.dModel;
  }
}

void Reader::readShape() {
  ShapeSpec &shape = spec.shape;
  shape.loc = fields.mapLocation("shape");
  shape.batch = size("shape.batch");
  shape.query = size("shape.query");
  shape.key = size("shape.key");
  shape.layout = word<ActivationLayout>("shape.layout");

  bool none = *spec.projections.input == InputProjection::None;
  bool knowsInput = !fields.isWrong("projections.input");
  if (*spec.layer.source == Source::Self && !none) {
    if (shape.key.given && !sameSize(*shape.key, *shape.query) && knowsInput && !fields.isWrong("shape.query") &&
        !fields.isWrong("layer.source"))
      error("shape.key", "'key' must equal 'query' (" + wordOf(*shape.query) + ") in self-attention with input projections, found '" +
                             wordOf(*shape.key) + "'");
    shape.key.value = *shape.query;
  }
  if (!none && *spec.projections.output && knowsInput && !fields.isWrong("projections.output"))
    refuseWithoutEffect("shape.layout", shape.layout, ActivationLayout::Bshd, "with input and output projections");
}

void Reader::readRest() {
  const GivenField *name = fields.find("name");
  spec.name = {name ? name->word : "attention", name ? name->loc : spec.loc, name != nullptr};
  spec.queryOffset = word<QueryOffset>("query_offset");
  for (auto [path, list] : {std::pair{"mask", &spec.mask}, {"position", &spec.position}, {"score", &spec.score}})
    if (const GivenField *given = fields.find(path))
      *list = given->variants;

  if (const GivenField *given = fields.find("parameters"))
    spec.parameters = given->parameters;

  spec.dtype.loc = fields.mapLocation("dtype");
  spec.dtype.activations = dtype("dtype.activations");
  spec.dtype.weights = dtype("dtype.weights.type");
  spec.dtype.accumulate = dtype("dtype.accumulate");
  readWeightScales();

  spec.mapStage = word<MapStage>("outputs.attention_map.stage");
  spec.diagonalWindow = integer("outputs.map_statistics.window", 0);
  bool hasY = false;
  if (const GivenField *given = fields.find("outputs")) {
    for (const Located<std::string> &output : given->words) {
      spec.outputs.push_back({*enumFromWord<OutputKind>(output.value), output.loc, true});
      hasY |= *spec.outputs.back() == OutputKind::Y;
    }
    if (!hasY)
      error("outputs", "'outputs' must contain 'y'");
  }
  if (!hasY)
    spec.outputs.insert(spec.outputs.begin(), {OutputKind::Y, spec.loc, false});
}

/// The keys of weights that have scales. A group must divide the inputs of every projection.
void Reader::readWeightScales() {
  DTypeSpec &dtype = spec.dtype;
  const GivenField *group = fields.find("dtype.weights.group");
  int64_t inputs = 0; // of a group
  if (group && StringRef(group->word).getAsInteger(10, inputs))
    inputs = 0; // "row"
  dtype.weightGroup = locate("dtype.weights.group", inputs);
  dtype.weightCompute = word<WeightCompute>("dtype.weights.compute");
  Located<bool> zeroPoint = boolean("dtype.weights.zero_point");
  if (fields.isWrong("dtype.weights.type"))
    return;
  const std::string type(dtypeInfo(*dtype.weights).word);
  if (!dtype.hasScales()) {
    const std::string reason = "without scales, and weights of '" + type + "' have none";
    refuseWithoutEffect("dtype.weights.group", dtype.weightGroup, int64_t(0), reason);
    refuseWithoutEffect("dtype.weights.zero_point", zeroPoint, false, reason);
    refuseWithoutEffect("dtype.weights.compute", dtype.weightCompute, WeightCompute::WeightOnly, reason);
    return;
  }
  if (*zeroPoint)
    unsupported("dtype.weights.zero_point", "'zero_point: true' is not supported: weights are symmetric, a number times its scale");
  const bool isW8A8 = *dtype.weightCompute == WeightCompute::W8A8;
  if (isW8A8 && *dtype.weights != DType::I8)
    error("dtype.weights.compute", "'compute: w8a8' needs 'type: int8', found '" + type + "'");
  else if (isW8A8 && *dtype.weightGroup != 0)
    error("dtype.weights.compute", "'compute: w8a8' needs 'group: row', found '" + std::to_string(*dtype.weightGroup) + "': integers of a row are summed as a whole");
  const ProjectionSpec &projections = spec.projections;
  const LayerSpec &layer = spec.layer;
  std::vector<std::pair<std::string, int64_t>> inputsOf;
  if (*projections.input != InputProjection::None)
    inputsOf.push_back({"d_model", *layer.dModel});
  if (*projections.input == InputProjection::Separate)
    inputsOf.push_back({*layer.source == Source::Cross ? "kv_d_model" : "d_model", *layer.kvDModel});
  int64_t heads = *layer.heads * *layer.vHeadDim;
  for (const HeadGroup &headGroup : layer.headGroups)
    heads = (&headGroup == &layer.headGroups.front() ? 0 : heads) + headGroup.heads * headGroup.width;
  if (*projections.output)
    inputsOf.push_back({"the heads together", heads});
  for (const auto &[what, count] : inputsOf) {
    if (isW8A8 && count > maxIntegers) {
      error("dtype.weights.compute", "'compute: w8a8' adds up at most " + std::to_string(maxIntegers) + " products in 32 bits, found " + what + " with " + std::to_string(count));
      return;
    }
    if (*dtype.weightGroup && count % *dtype.weightGroup) {
      error("dtype.weights.group", "'group' must divide the inputs of every projection, found '" + std::to_string(*dtype.weightGroup) + "' and " + what + " with " + std::to_string(count));
      dtype.weightGroup.value = 0;
      return;
    }
  }
}

/// Parts are all that is merged: what concerns keys and scores has no effect.
void Reader::readMergeStates() {
  if (!fields.hasMap("merge_states"))
    return;
  spec.mergeParts = size("merge_states.parts");
  const std::string reason = "with 'merge_states'";
  refuseWithoutEffect("layer.kv_heads", spec.layer.kvHeads, *spec.layer.heads, reason);
  refuseWithoutEffect("layer.source", spec.layer.source, Source::Self, reason);
  refuseWithoutEffect("query_offset", spec.queryOffset, QueryOffset::BottomRight, reason);
  for (auto [path, isGiven] : {std::pair("layer.pruned_heads", !spec.layer.prunedHeads.empty()), {"layer.qk_norm", spec.layer.qkNorm.has_value()}})
    if (const GivenField *given = isGiven ? fields.find(path) : nullptr)
      diagnostics.error(given->keyLoc, "'" + findSpecField(path)->key().str() + "' has no effect " + reason).length = findSpecField(path)->key().size();
  if (!spec.layer.headGroups.empty())
    error("layer.head_dim", "'head_dim' must be an integer " + reason + ": parts have heads of one width");
  if (const GivenField *key = fields.find("shape.key"); key && key->size.kind != SizeSpec::Kind::Dynamic)
    error("shape.key", "'key' has no effect " + reason);
  auto refuse = [&](const Located<std::string> &word, const std::string &what) {
    diagnostics.error(word.loc, what + " '" + *word + "' has no effect " + reason).length = word->size();
  };
  for (const VariantSpec &mask : spec.mask)
    refuse(mask.word, "mask");
  for (const VariantSpec &position : spec.position)
    refuse(position.word, "position");
  for (const VariantSpec &score : spec.score)
    if (*score.word != "sink")
      refuse(score.word, "score");
  for (const Located<OutputKind> &output : spec.outputs)
    if (*output != OutputKind::Y && *output != OutputKind::Lse && *output != OutputKind::HeadNorms)
      diagnostics.error(output.loc, "output '" + wordOf(*output).str() + "' needs the scores, which " + "'merge_states' does not have").length = wordOf(*output).size();
}

std::optional<Spec> Reader::read(const Tree &root) {
  if (!fields.read(root))
    return std::nullopt;
  spec.loc = root.loc;
  readLayer();
  readProjections();
  readShape();
  readRest();
  readMergeStates();
  return std::move(spec);
}

std::optional<Spec> readSpec(StringRef text, StringRef file, Diagnostics &diagnostics) {
  std::optional<Tree> root = readYaml(text, file, diagnostics);
  return root ? Reader(file, diagnostics).read(*root) : std::nullopt;
}

} // namespace mhac
