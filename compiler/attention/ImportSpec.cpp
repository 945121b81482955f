// Stage 2: Spec -> module. Arguments stand in the order inputs, weights, parameters; results in the order y, lse.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "attention/ImportSpec.h"

#include "attention/AttentionDialect.h"
#include "attention/SourceLocations.h"

#include "mlir/AsmParser/AsmParser.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Verifier.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringMap.h"

#include <cmath>

using namespace mlir;
using namespace mhac::attn;

namespace mhac {
namespace {

/// Kernels count keys and queries in int32, up to a chunk beyond the last one.
constexpr int64_t kLargestSize = 2147352576;
/// Elements of a tensor that kernels can address.
constexpr int64_t kLargestTensor = 2147483647;

class Importer {
public:
  Importer(const Spec &spec, MLIRContext &context, Diagnostics &diagnostics)
      : spec(spec), layer(spec.layer), diagnostics(diagnostics), builder(&context) {}

  OwningOpRef<ModuleOp> import();

private:
  /// An argument or result of the entry: what the C interface says, and its type.
  struct Argument {
    ArgumentAttr attribute;
    Type type;
    Location loc;
  };
  /// The operands of a projection: its weight and bias among the entry's arguments, and where their rows lie.
  struct Projection {
    StringRef weight, bias; // names; bias is empty without one
    int64_t heads, width, first, group, groupStride, headStride;
    SmallVector<int64_t> numbers = {}; // of the heads, where some are left out
    SmallVector<int64_t> columns = {}; // of the weight, where the input's heads are not all
  };
  /// Heads of one width: what one attn.attention computes.
  struct Heads {
    int64_t first = 0, count = 0, kvCount = 0; // with those that are left out; `first`: number of the first head
    int64_t features = 0;                      // of the heads before: where those of this group begin in weights
    int64_t d = 0, e = 0;
    SmallVector<int64_t> kept, kvKept; // counted from the group's first
    SmallVector<int64_t> kvHeadOf;     // of each kept head, among the kept ones; empty: h / (heads / kv heads)
    SmallVector<Attribute> masks, scores, positions;
    bool isWhole() const { return int64_t(kept.size()) == count; }
    ArrayRef<int64_t> keptOf(bool isQuery) const { return isQuery ? kept : kvKept; }
  };

  Location at(const SourceLocation &loc) { return FileLineColLoc::get(builder.getContext(), loc.file, loc.line, loc.column); }
  bool projectsInput() const { return *spec.projections.input != InputProjection::None; }
  bool hasKeySize() const { return !spec.mergeParts && (*layer.source == Source::Cross || !projectsInput()); }
  bool isBshd() const { return *spec.shape.layout == ActivationLayout::Bshd; }

  void addGroups();
  void addGroup(int64_t first, int64_t count, int64_t kvCount, int64_t features, int64_t d, int64_t e);
  void importVariants(const Spec &spec, const std::vector<VariantSpec> &list, VariantKind kind, SmallVectorImpl<Attribute> &attributes);
  /// Features of that many heads, also of those that are left out: rows of their weight.
  int64_t featuresOf(int64_t heads, int64_t width) const;
  int64_t keptHeads() const { return *layer.heads - int64_t(layer.prunedHeads.size()); }
  SmallVector<VariantInterface> variants() const;
  SourceLocation placeOf(VariantInterface variant) const;
  void checkSameInput(VariantInterface variant, const VariantParameter &first, const VariantParameter &second);
  void importPositions(const Spec &spec, SmallVectorImpl<Attribute> &positions);
  void reportUnusedParameters();
  void warnAboutPositions();
  void addSizes();
  std::string sizeName(StringRef name) const { return name == "key" && !hasKeySize() ? "query" : name.str(); }
  /// Adds an argument (or result) whose dimensions are names of sizes or numbers.
  Argument makeArgument(StringRef name, Role role, ArrayRef<std::string> dims, Type element, Location loc, bool strided = false,
                        ValueCheck check = ValueCheck::None, StringRef checkSize = {}, StringRef checkWith = {});
  void addArgument(Argument argument) { arguments.push_back(argument); }
  Type elementType(DType dtype) {
    std::string_view text = dtypeInfo(dtype).mlirType;
    return parseType(StringRef(text.data(), text.size()), builder.getContext());
  }
  void addWeight(StringRef name, int64_t outputs, int64_t inputs);
  void addBias(StringRef name, int64_t outputs);
  SmallVector<std::string> headDims(StringRef length, int64_t heads, int64_t width) const;
  void addArguments();
  void addOutputs();
  Projection inputProjection(StringRef which, const Heads &heads) const;
  Projection outputProjection() const;
  Value argument(StringRef name);
  Value project(ValueRange inputs, const Projection &projection, Location loc);
  Value headsOf(StringRef which, StringRef input, const Heads &heads);
  Operation *attend(const Heads &heads);
  Operation *mergeStates();
  void buildBody(func::FuncOp function);

  const Spec &spec;
  const LayerSpec &layer;
  Diagnostics &diagnostics;
  OpBuilder builder;
  Type activation, weight, vector; // elements; vector: of biases and weights of norms
  llvm::StringMap<SizeAttr> sizes;
  SmallVector<Heads, 1> groups;
  SmallVector<Attribute> sizeList, maps;
  SmallVector<Argument> arguments, results;
  func::FuncOp entry;
};

} // namespace

//===-- heads -------------------------------------------------------------------------------------------------------------------------===//

void Importer::addGroup(int64_t first, int64_t count, int64_t kvCount, int64_t features, int64_t d, int64_t e) {
  Heads heads;
  heads.first = first, heads.count = count, heads.kvCount = kvCount, heads.features = features, heads.d = d, heads.e = e;
  SmallVector<int64_t> kvHeads; // of the kept heads
  for (int64_t h = 0; h < count; ++h)
    if (!llvm::is_contained(layer.prunedHeads, first + h)) {
      heads.kept.push_back(h);
      kvHeads.push_back(h / (count / kvCount));
    }
  if (heads.kept.empty())
    return;
  heads.kvKept = kvHeads; // increasing
  heads.kvKept.erase(std::unique(heads.kvKept.begin(), heads.kvKept.end()), heads.kvKept.end());
  int64_t ratio = heads.kept.size() / heads.kvKept.size();
  bool isRegular = heads.kept.size() % heads.kvKept.size() == 0;
  for (auto [h, g] : llvm::enumerate(kvHeads)) {
    heads.kvHeadOf.push_back(llvm::find(heads.kvKept, g) - heads.kvKept.begin());
    isRegular &= heads.kvHeadOf.back() == int64_t(h) / ratio;
  }
  if (isRegular)
    heads.kvHeadOf.clear();
  groups.push_back(heads);
}

int64_t Importer::featuresOf(int64_t heads, int64_t width) const {
  if (layer.headGroups.empty())
    return heads * width;
  int64_t sum = 0;
  for (const HeadGroup &group : layer.headGroups)
    sum += group.heads * group.width;
  return sum;
}

void Importer::addGroups() {
  if (layer.headGroups.empty()) {
    addGroup(0, *layer.heads, *layer.kvHeads, 0, *layer.headDim, *layer.vHeadDim);
    return;
  }
  int64_t first = 0, features = 0;
  for (const HeadGroup &group : layer.headGroups) {
    addGroup(first, group.heads, group.heads, features, group.width, group.width);
    first += group.heads, features += group.heads * group.width;
  }
}

//===-- variants ----------------------------------------------------------------------------------------------------------------------===//

/// `spec`: as its heads see it.
void Importer::importVariants(const Spec &spec, const std::vector<VariantSpec> &list, VariantKind kind, SmallVectorImpl<Attribute> &attributes) {
  reportDuplicates(kind, list, diagnostics);
  for (auto [place, element] : llvm::enumerate(list))
    if (Attribute attribute = variantFromSpec(kind, element, place, spec, builder.getContext(), diagnostics))
      attributes.push_back(attribute);
}

/// The encodings of Q and K in the order in which they are applied.
void Importer::importPositions(const Spec &spec, SmallVectorImpl<Attribute> &positions) {
  importVariants(spec, spec.position, VariantKind::Position, positions);
  if (!layer.qkNorm)
    return;
  auto norm = variantFromSpec(VariantKind::Position, *layer.qkNorm, kUnlistedPlace, spec, builder.getContext(), diagnostics);
  bool isBehind = llvm::any_of(layer.qkNorm->arguments.fields,
                               [](const auto &field) { return *field.first == "place" && field.second.scalar == "after_rope"; });
  if (norm)
    positions.insert(isBehind ? positions.end() : positions.begin(), norm);
}

/// The variants of attn.attention: masks, scores, positions. Those of all groups of heads have the same parameters.
SmallVector<VariantInterface> Importer::variants() const {
  SmallVector<VariantInterface> list;
  const Heads &heads = groups.front();
  for (ArrayRef<Attribute> attributes : {ArrayRef(heads.masks), ArrayRef(heads.scores), ArrayRef(heads.positions)})
    for (Attribute attribute : attributes)
      list.push_back(cast<VariantInterface>(attribute));
  return list;
}

/// Where the first element of the spec with the variant's word stands.
SourceLocation Importer::placeOf(VariantInterface variant) const {
  for (const std::vector<VariantSpec> *list : {&spec.mask, &spec.position, &spec.score})
    for (const VariantSpec &element : *list)
      if (*element.word == variant.info().word)
        return element.word.loc;
  return layer.qkNorm && *layer.qkNorm->word == variant.info().word ? layer.qkNorm->word.loc : spec.loc;
}

/// Only when every expression could be read: a wrong one may be the one that reads the parameter.
void Importer::reportUnusedParameters() {
  if (diagnostics.hasErrors())
    return;
  SmallVector<VariantParameter> used = parametersOf(variants());
  for (const ExpressionParameter &parameter : spec.parameters)
    if (llvm::none_of(used, [&](const VariantParameter &each) { return each.name == parameter.name; }))
      diagnostics.error(parameter.loc, "parameter '" + parameter.name + "' is not used; no expression of 'mask' or 'score' reads it").length =
          parameter.name.size();
}

void Importer::warnAboutPositions() {
  if (*spec.queryOffset == QueryOffset::RowEnd)
    return;
  auto find = [&](auto predicate) -> const VariantSpec * {
    for (Attribute attribute : groups.front().masks)
      if (auto variant = cast<VariantInterface>(attribute); predicate(variant))
        for (const VariantSpec &element : spec.mask)
          if (*element.word == variant.info().word)
            return &element;
    return nullptr;
  };
  const VariantSpec *shifting = find([](VariantInterface variant) { return variant.shiftsKeys(); });
  const VariantSpec *comparing = find([](VariantInterface variant) { return variant.comparesPositions(); });
  if (!shifting || !comparing)
    return;
  std::string offset = *spec.queryOffset == QueryOffset::TopLeft ? "top_left" : "bottom_right";
  Diagnostic &report = diagnostics.warning(
      comparing->word.loc, "'" + *comparing->word + "' with 'query_offset: " + offset +
                               "' shows later keys to padded rows: positions of keys are counted from key_starts, those of queries are "
                               "not; did you mean 'query_offset: row_end'?");
  report.length = comparing->word->size();
  report.notes.push_back({Severity::Note, shifting->word.loc, unsigned(shifting->word->size()), "the padding that shifts the keys", {}});
}

//===-- arguments ---------------------------------------------------------------------------------------------------------------------===//

void Importer::addSizes() {
  int64_t largest = kLargestSize; // of queries and keys
  for (VariantInterface variant : variants())
    if (int64_t own = variant.largestSize())
      largest = std::min(largest, own);
  auto add = [&](StringRef name, const SizeSpec &size) {
    int64_t minimum = size.kind == SizeSpec::Kind::Fixed ? size.value : 0;
    int64_t maximum = size.kind != SizeSpec::Kind::Dynamic ? size.value : name == "batch" ? kLargestSize : largest;
    auto attribute = SizeAttr::get(builder.getContext(), name, minimum, maximum);
    sizes[name] = attribute;
    sizeList.push_back(attribute);
  };
  for (auto [name, size] : {std::pair("query", &spec.shape.query), {"key", &spec.shape.key}})
    if (size->given && size->value.value > largest)
      diagnostics.error(size->loc, ("'" + Twine(name) + "' must be at most " + Twine(largest) + " with 'expr', found '" + Twine(size->value.value) + "'").str());
  add("batch", *spec.shape.batch);
  add("query", *spec.shape.query);
  if (hasKeySize())
    add("key", *spec.shape.key);
  if (spec.mergeParts)
    add("parts", **spec.mergeParts);
  for (VariantInterface variant : variants())
    for (StringRef name : variant.sizes())
      if (!sizes.contains(name))
        add(name, SizeSpec());
}

Importer::Argument Importer::makeArgument(StringRef name, Role role, ArrayRef<std::string> dims, Type element, Location loc, bool strided,
                                          ValueCheck check, StringRef checkSize, StringRef checkWith) {
  SmallVector<int64_t> shape;
  SmallVector<StringAttr> names;
  int64_t elements = 1;
  for (const std::string &dim : dims) {
    int64_t extent;
    if (StringRef(dim).getAsInteger(10, extent)) {
      SizeAttr size = sizes.lookup(dim);
      extent = size.getMinimum() == size.getMaximum() ? size.getMinimum() : ShapedType::kDynamic;
    }
    shape.push_back(extent);
    names.push_back(builder.getStringAttr(dim));
    // Each known extent is below 2^31, so the product of two fits.
    if (!ShapedType::isDynamic(extent) && elements <= kLargestTensor)
      elements *= extent;
  }
  if (elements > kLargestTensor)
    diagnostics.unsupported(sourceLocation(loc),
                            ("'" + name + "' has more than " + Twine(kLargestTensor) + " elements, which kernels cannot address").str());
  auto optional = [&](StringRef text) { return text.empty() ? StringAttr() : builder.getStringAttr(text); };
  return {ArgumentAttr::get(builder.getContext(), name, role, names, strided, check, optional(checkSize), optional(checkWith)),
          RankedTensorType::get(shape, element), loc};
}

void Importer::addWeight(StringRef name, int64_t outputs, int64_t inputs) {
  const bool scales = spec.dtype.hasScales();
  const int64_t rows = outputs, groups = scales ? spec.dtype.groupsOf(inputs) : 0;
  if (*spec.projections.weightLayout == WeightLayout::InOut)
    std::swap(outputs, inputs);
  addArgument(makeArgument(name, Role::Weight, {std::to_string(outputs), std::to_string(inputs)}, weight, at(spec.projections.input.loc)));
  if (scales)
    addArgument(makeArgument((name + "_scales").str(), Role::Weight, {std::to_string(rows), std::to_string(groups)}, builder.getF32Type(), at(spec.dtype.weights.loc)));
}

void Importer::addBias(StringRef name, int64_t outputs) {
  addArgument(makeArgument(name, Role::Weight, {std::to_string(outputs)}, vector, at(spec.projections.biasInput.loc)));
}

/// Variants that read an input of one name must mean the same by it.
void Importer::checkSameInput(VariantInterface variant, const VariantParameter &first, const VariantParameter &second) {
  auto describe = [](const VariantParameter &parameter) { return (parameter.dtype + " [" + llvm::join(parameter.dims, ", ") + "]").str(); };
  bool isSame = first.dtype == second.dtype && first.dims == second.dims && first.strided == second.strided && first.check == second.check &&
                first.checkSize == second.checkSize && first.checkWith == second.checkWith;
  if (isSame)
    return;
  std::string message = "'" + variant.info().word.str() + "' reads the input '" + second.name.str() + "' in another way than what stands before it: " +
                        describe(second) + ", before " + describe(first) + (describe(first) == describe(second) ? " with other limits" : "");
  diagnostics.error(placeOf(variant), message).length = variant.info().word.size();
}

/// The dimensions of heads as inputs or y.
SmallVector<std::string> Importer::headDims(StringRef length, int64_t heads, int64_t width) const {
  SmallVector<std::string> dims = {"batch", length.str(), std::to_string(heads), std::to_string(width)};
  if (!isBshd())
    std::swap(dims[1], dims[2]);
  return dims;
}

void Importer::addArguments() {
  std::string key = sizeName("key");
  int64_t heads = *layer.heads, kvHeads = *layer.kvHeads, d = *layer.headDim, e = *layer.vHeadDim;
  auto add = [&](StringRef name, Role role, ArrayRef<std::string> dims, const SourceLocation &loc) {
    addArgument(makeArgument(name, role, dims, activation, at(loc), /*strided=*/true));
  };
  if (spec.mergeParts) {
    SmallVector<std::string> dims = headDims("query", heads, e);
    dims.insert(dims.begin(), "parts");
    add("outputs", Role::Input, dims, spec.mergeParts->loc);
    addArgument(makeArgument("lses", Role::Input, {"parts", "batch", std::to_string(heads), "query"}, builder.getF32Type(), at(spec.mergeParts->loc), true));
  } else if (projectsInput()) {
    add("x", Role::Input, {"batch", "query", std::to_string(*layer.dModel)}, layer.dModel.loc);
    if (*layer.source == Source::Cross)
      add("memory", Role::Input, {"batch", "key", std::to_string(*layer.kvDModel)}, layer.source.loc);
  } else {
    add("q", Role::Input, headDims("query", heads, d), spec.projections.input.loc);
    add("k", Role::Input, headDims("key", kvHeads, d), spec.projections.input.loc);
    add("v", Role::Input, headDims("key", kvHeads, e), spec.projections.input.loc);
  }
  int64_t queryRows = featuresOf(heads, d), keyRows = featuresOf(kvHeads, d), valueRows = featuresOf(kvHeads, e);
  bool biasInput = *spec.projections.biasInput;
  if (*spec.projections.input == InputProjection::Packed) {
    int64_t rows = queryRows + keyRows + valueRows;
    addWeight("wqkv", rows, *layer.dModel);
    if (biasInput)
      addBias("bqkv", rows);
  } else if (projectsInput()) {
    addWeight("wq", queryRows, *layer.dModel);
    addWeight("wk", keyRows, *layer.kvDModel);
    addWeight("wv", valueRows, *layer.kvDModel);
    if (biasInput) {
      addBias("bq", queryRows);
      addBias("bk", keyRows);
      addBias("bv", valueRows);
    }
  }
  if (*spec.projections.output) {
    addWeight("wo", *layer.dModel, featuresOf(heads, e));
    if (*spec.projections.biasOutput)
      addBias("bo", *layer.dModel);
  }
  // What variants ask for in the order of the variants, then what the user declared in the order of the declarations.
  auto addParameter = [&](const VariantParameter &parameter, const SourceLocation &loc) {
    SmallVector<std::string> dims;
    for (StringRef dim : parameter.dims)
      dims.push_back(sizeName(dim));
    const Role role = parameter.isWeight ? Role::Weight : Role::Parameter;
    Type element = parameter.isWeight ? vector : elementType(*dtypeFromWord(parameter.dtype));
    addArgument(makeArgument(parameter.name, role, dims, element, at(loc), parameter.strided, parameter.check,
                             parameter.checkSize.empty() ? "" : sizeName(parameter.checkSize), parameter.checkWith));
  };
  llvm::StringMap<VariantParameter> declared, known;
  for (const ExpressionParameter &parameter : spec.parameters)
    declared[parameter.name];
  for (VariantInterface variant : variants())
    for (const VariantParameter &parameter : variant.parameters()) {
      if (auto user = declared.find(parameter.name); user != declared.end()) {
        user->second = parameter;
        continue;
      }
      auto [first, isNew] = known.try_emplace(parameter.name, parameter);
      if (isNew)
        addParameter(parameter, placeOf(variant));
      else
        checkSameInput(variant, first->second, parameter);
    }
  for (const ExpressionParameter &parameter : spec.parameters)
    addParameter(declared[parameter.name], parameter.loc);
  addOutputs();
}

/// Results in the order of the C interface, whatever the order in the spec.
void Importer::addOutputs() {
  std::string key = sizeName("key"), heads = std::to_string(keptHeads());
  Type f32 = builder.getF32Type();
  auto add = [&](StringRef name, ArrayRef<std::string> dims, Type element, SourceLocation loc, bool strided = false) {
    results.push_back(makeArgument(name, Role::Output, dims, element, at(loc), strided));
  };
  auto addMap = [&](MapKind kind, StringRef name, ArrayRef<std::string> dims, SourceLocation loc, bool strided = false, int64_t window = 0) {
    maps.push_back(MapAttr::get(builder.getContext(), kind, window));
    add(name, dims, kind == MapKind::PeakPosition ? Type(builder.getI64Type()) : f32, loc, strided);
  };
  std::vector<Located<OutputKind>> outputs = spec.outputs;
  llvm::stable_sort(outputs, [](const Located<OutputKind> &a, const Located<OutputKind> &b) { return *a < *b; });
  for (const Located<OutputKind> &output : outputs)
    switch (*output) {
    case OutputKind::Y:
      if (*spec.projections.output)
        add("y", {"batch", "query", std::to_string(*layer.dModel)}, activation, output.loc, true);
      else
        add("y", headDims("query", keptHeads(), *layer.vHeadDim), activation, output.loc, true);
      break;
    case OutputKind::Lse:
      add("lse", {"batch", heads, "query"}, f32, output.loc);
      break;
    case OutputKind::AttentionMap:
      addMap(*symbolizeMapKind(static_cast<uint32_t>(*spec.mapStage)), "attention_map", {"batch", heads, "query", key}, output.loc, true);
      break;
    case OutputKind::MapStatistics:
      for (auto [kind, name] : {std::pair(MapKind::Entropy, "map_entropy"), {MapKind::Peak, "map_peak"}, {MapKind::PeakPosition, "map_peak_position"}})
        addMap(kind, name, {"batch", heads, "query"}, output.loc);
      addMap(MapKind::DiagonalMass, "map_diagonal_mass", {"batch", heads, "query"}, output.loc, false, *spec.diagonalWindow);
      break;
    case OutputKind::KeyMass:
      addMap(MapKind::KeyMass, "key_mass", {"batch", heads, key}, output.loc);
      break;
    case OutputKind::HeadNorms:
      add("head_norms", {"batch", heads}, f32, output.loc);
      break;
    }
}

//===-- body --------------------------------------------------------------------------------------------------------------------------===//

Value Importer::argument(StringRef name) {
  for (auto [i, argument] : llvm::enumerate(arguments))
    if (argument.attribute.getName() == name)
      return entry.getArgument(i);
  return {};
}

/// Which rows of which weight make Q ("q"), K ("k") or V ("v") of a group of heads.
Importer::Projection Importer::inputProjection(StringRef which, const Heads &heads) const {
  bool isQuery = which == "q";
  int64_t count = isQuery ? heads.count : heads.kvCount, width = which == "v" ? heads.e : heads.d, perGroup = heads.count / heads.kvCount;
  Projection projection{"wqkv", "bqkv", int64_t(heads.keptOf(isQuery).size()), width, heads.features, count, 0, width};
  if (projection.heads < count)
    projection.numbers = SmallVector<int64_t>(heads.keptOf(isQuery));
  if (*spec.projections.input == InputProjection::Separate) {
    projection.weight = isQuery ? "wq" : which == "k" ? "wk" : "wv", projection.bias = isQuery ? "bq" : which == "k" ? "bk" : "bv";
    return projection;
  }
  if (*spec.projections.packing == Packing::Qkv) {
    int64_t queries = featuresOf(*layer.heads, *layer.headDim), keys = featuresOf(*layer.kvHeads, *layer.headDim);
    projection.first += isQuery ? 0 : which == "k" ? queries : queries + keys;
    return projection;
  }
  // A block of rows per group of heads that share K and V: its queries, its key, its value. With per_head it is one head.
  projection.groupStride = perGroup * heads.d + heads.d + heads.e;
  projection.first = 3 * heads.features + (isQuery ? 0 : perGroup * heads.d + (which == "k" ? 0 : heads.d));
  projection.group = isQuery ? perGroup : 1;
  return projection;
}

/// The heads' features lie in order; the columns of those that are left out are skipped.
Importer::Projection Importer::outputProjection() const {
  Projection projection{"wo", "bo", 1, *layer.dModel, 0, 1, 0, 0};
  if (!layer.prunedHeads.empty())
    for (const Heads &heads : groups)
      for (int64_t h : heads.kept)
        projection.columns.push_back(heads.features + h * heads.e);
  return projection;
}

Value Importer::project(ValueRange inputs, const Projection &projection, Location loc) {
  auto type = cast<RankedTensorType>(inputs.front().getType());
  bool fromHeads = type.getRank() == 4;
  Value bias = projection.bias.empty() ? Value() : argument(projection.bias);
  Value scales = spec.dtype.hasScales() ? argument((projection.weight + "_scales").str()) : Value();
  SmallVector<int64_t> shape = {type.getDimSize(0)};
  if (!fromHeads)
    shape.push_back(projection.heads);
  shape.append({type.getDimSize(fromHeads ? 2 : 1), projection.width});
  auto part = PartAttr::get(builder.getContext(), 0, bias ? 0 : -1, projection.heads, projection.width, projection.first, projection.group,
                            projection.groupStride, projection.headStride, FloatAttr(),
                            projection.numbers.empty() ? DenseI64ArrayAttr() : builder.getDenseI64ArrayAttr(projection.numbers));
  Layout layout = *spec.projections.weightLayout == WeightLayout::InOut ? Layout::InOut : Layout::OutIn;
  return ProjectOp::create(builder, loc, TypeRange(RankedTensorType::get(shape, activation)), inputs, argument(projection.weight),
                           scales ? ValueRange(scales) : ValueRange(), bias ? ValueRange(bias) : ValueRange(), builder.getArrayAttr(part), layout, ScheduleAttr(),
                           projection.columns, *spec.dtype.weightCompute == WeightCompute::W8A8)
      .getResults()[0];
}

/// Exchanges positions and heads where the interface has them the other way round than the ops.
static Value swapHeads(OpBuilder &builder, Location loc, Value value) {
  auto type = cast<RankedTensorType>(value.getType());
  SmallVector<int64_t> shape(type.getShape());
  std::swap(shape[1], shape[2]);
  return SwapHeadsOp::create(builder, loc, RankedTensorType::get(shape, type.getElementType()), value, ScheduleAttr());
}

/// Q, K or V of a group as [b, heads, s, width].
Value Importer::headsOf(StringRef which, StringRef input, const Heads &heads) {
  if (projectsInput())
    return project(argument(input), inputProjection(which, heads), at(spec.projections.input.loc));
  Value value = isBshd() ? swapHeads(builder, at(spec.shape.layout.loc), argument(which)) : argument(which);
  ArrayRef<int64_t> kept = heads.keptOf(which == "q");
  auto type = cast<RankedTensorType>(value.getType());
  if (int64_t(kept.size()) == type.getDimSize(1))
    return value;
  SmallVector<int64_t> shape(type.getShape());
  shape[1] = kept.size();
  return SelectHeadsOp::create(builder, at(spec.projections.input.loc), RankedTensorType::get(shape, activation), value, kept);
}

/// attn.attention on the heads of a group: its results are the output, the lse if it is wanted, and what is made from the map.
Operation *Importer::attend(const Heads &heads) {
  StringRef source = *layer.source == Source::Cross ? "memory" : "x";
  Value q = headsOf("q", "x", heads), k = headsOf("k", source, heads), v = headsOf("v", source, heads);
  SmallVector<Value> params;
  for (const VariantParameter &parameter : parametersOf(variants()))
    params.push_back(argument(parameter.name));

  auto queryType = cast<RankedTensorType>(q.getType()), keyType = cast<RankedTensorType>(k.getType());
  SmallVector<int64_t> shape = {queryType.getDimSize(0), queryType.getDimSize(1), queryType.getDimSize(2), heads.e};
  Type lse = spec.hasOutput(OutputKind::Lse) ? RankedTensorType::get(ArrayRef(shape).drop_back(), builder.getF32Type()) : Type();
  SmallVector<Type> mapTypes;
  for (Attribute map : maps)
    mapTypes.push_back(mapResultType(queryType, keyType, cast<MapAttr>(map).getKind()));
  // A list without a scale has the default; a written one stands in `scores` and joins the op's scale when it is expanded.
  bool hasScale = llvm::any_of(heads.scores, [](Attribute attribute) { return cast<VariantInterface>(attribute).constantFactor().has_value(); });
  double scale = hasScale ? 1.0 : 1.0 / std::sqrt(static_cast<double>(heads.d));
  Offset offset = *symbolizeOffset(static_cast<uint32_t>(*spec.queryOffset));
  SmallVector<int64_t> numbers;
  for (int64_t h : heads.kept)
    numbers.push_back(heads.first + h);
  if (numbers.back() + 1 == int64_t(numbers.size()))
    numbers.clear(); // they are 0, 1, ...
  return AttentionOp::create(builder, at(layer.loc), RankedTensorType::get(shape, activation), lse, mapTypes, q, k, v, params, llvm::APFloat(scale), offset,
                             builder.getArrayAttr(heads.masks), builder.getArrayAttr(heads.scores), builder.getArrayAttr(heads.positions),
                             /*base2=*/false, builder.getArrayAttr(maps), ScheduleAttr(), numbers, heads.kvHeadOf);
}

/// attn.merge_states on the parts: its results are the output and the lse if it is wanted.
Operation *Importer::mergeStates() {
  Value outputs = argument("outputs"), lses = argument("lses"), sinks = argument("sinks");
  auto parts = cast<RankedTensorType>(lses.getType());
  SmallVector<int64_t> shape(parts.getShape().drop_front());
  Type lse = spec.hasOutput(OutputKind::Lse) ? RankedTensorType::get(shape, builder.getF32Type()) : Type();
  shape.push_back(*layer.vHeadDim);
  return MergeStatesOp::create(builder, at(spec.mergeParts->loc), RankedTensorType::get(shape, activation), lse, outputs, lses, sinks, !isBshd());
}

void Importer::buildBody(func::FuncOp function) {
  entry = function;
  builder.setInsertionPointToStart(function.addEntryBlock());
  SmallVector<Operation *> cores; // one a group of heads
  for (const Heads &heads : groups)
    cores.push_back(spec.mergeParts ? mergeStates() : attend(heads));

  auto of = [&](auto get) { return llvm::map_to_vector(cores, get); };
  SmallVector<Value> outputs = of([](Operation *core) -> Value { return core->getResult(0); });
  Value y = outputs[0];
  if (*spec.projections.output)
    y = project(outputs, outputProjection(), at(spec.projections.output.loc));
  else if (isBshd())
    y = swapHeads(builder, at(spec.shape.layout.loc), y);
  SmallVector<Value> values = {y};
  // Heads of several groups are one after the other.
  auto append = [&](ArrayRef<Value> parts) {
    values.push_back(parts.size() == 1 ? parts[0] : Value(ConcatHeadsOp::create(builder, at(layer.loc), results[values.size()].type, parts)));
  };
  for (unsigned i = 1; i < cores[0]->getNumResults(); ++i)
    append(of([&](Operation *core) -> Value { return core->getResult(i); }));
  if (spec.hasOutput(OutputKind::HeadNorms))
    append(llvm::map_to_vector(outputs, [&](Value output) -> Value {
      auto type = RankedTensorType::get(cast<RankedTensorType>(output.getType()).getShape().take_front(2), builder.getF32Type());
      return HeadNormsOp::create(builder, at(layer.loc), type, output, ScheduleAttr());
    }));
  func::ReturnOp::create(builder, at(spec.name.loc), values);
}

OwningOpRef<ModuleOp> Importer::import() {
  addGroups();
  for (Heads &heads : groups) {
    Spec seen = spec;
    seen.layer.headDim.value = heads.d, seen.layer.vHeadDim.value = heads.e;
    importVariants(seen, spec.mask, VariantKind::Mask, heads.masks);
    importPositions(seen, heads.positions);
    importVariants(seen, spec.score, VariantKind::Score, heads.scores);
    if (diagnostics.hasErrors()) // once is enough
      return {};
  }
  reportUnusedParameters();
  if (diagnostics.hasErrors())
    return {};
  warnAboutPositions();

  activation = elementType(*spec.dtype.activations);
  weight = elementType(*spec.dtype.weights);
  vector = elementType(spec.dtype.vectors());
  addSizes();
  addArguments();
  if (diagnostics.hasErrors())
    return {};

  OwningOpRef<ModuleOp> module = ModuleOp::create(at(spec.loc));
  (*module)->setAttr(kStageAttr, builder.getStringAttr("attn"));
  (*module)->setAttr(kSpecFileAttr, builder.getStringAttr(spec.file));
  builder.setInsertionPointToEnd(module->getBody());
  auto types = [](ArrayRef<Argument> list) { return llvm::map_to_vector(list, [](const Argument &argument) { return argument.type; }); };
  auto function = func::FuncOp::create(builder, at(spec.name.loc), *spec.name, builder.getFunctionType(types(arguments), types(results)));
  function->setAttr(kEntryAttr, builder.getUnitAttr());
  function->setAttr(kSizesAttr, builder.getArrayAttr(sizeList));
  for (auto [i, argument] : llvm::enumerate(arguments))
    function.setArgAttr(i, kArgumentAttr, argument.attribute);
  for (auto [i, result] : llvm::enumerate(results))
    function.setResultAttr(i, kArgumentAttr, result.attribute);
  buildBody(function);
  for (auto [i, argument] : llvm::enumerate(arguments))
    function.getArgument(i).setLoc(argument.loc);

  std::string message;
  ScopedDiagnosticHandler handler(builder.getContext(), [&](mlir::Diagnostic &diagnostic) {
    if (message.empty())
      message = diagnostic.str();
    return success();
  });
  if (failed(verify(*module))) {
    diagnostics.internal(spec.name.loc, "the imported layer is malformed: " + message);
    return {};
  }
  return module;
}

OwningOpRef<ModuleOp> importSpec(const Spec &spec, MLIRContext &context, Diagnostics &diagnostics) {
  DialectRegistry registry;
  registerAttentionDialects(registry);
  context.appendDialectRegistry(registry);
  context.loadAllAvailableDialects();
  return Importer(spec, context, diagnostics).import();
}

} // namespace mhac
