// One kernel an op (and one per transposition at the edge of the layer), called in order by the entry; the tensors between them are workspace buffers.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "halide/BuildPipeline.h"

#include "halide/CandidateBuilder.h"
#include "halide/QuantizeTokens.h"
#include "halide/Rotate.h"

#include "llvm/ADT/TypeSwitch.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

#include <limits>

using namespace mlir;

namespace mhac {

using halide::RowOrder;
using Operand = OperandInfo::Kind;

//===-- schedules --------------------------------------------------------------------------------------------------------------------------===//

/// Schedules may be written by hand, so each tile must be there, and only these, with values that the kernels can have.
bool CandidateBuilder::readTiles(Operation *op, std::optional<attn::ScheduleAttr> schedule, std::initializer_list<Tile> tiles) {
  if (!schedule)
    return fail(op, "'" + op->getName().getStringRef().str() + "' has no schedule");
  std::string problem, known;
  for (const Tile &tile : tiles) {
    known += (known.empty() ? "'" : ", '") + tile.name.str() + "'";
    auto number = schedule->getTiles().getAs<IntegerAttr>(tile.name);
    const int64_t value = number ? number.getInt() : 0;
    if (!number && tile.isOptional && !schedule->getTiles().contains(tile.name))
      continue;
    if (!number)
      problem = "missing tile '" + tile.name.str() + "'";
    else if ((value < tile.step && !(tile.orNone && value == 0)) || value > tile.maximum || value % tile.step)
      problem = "'" + tile.name.str() + "' must be " + (tile.orNone ? "0 or " : "") + "a multiple of " + std::to_string(tile.step) + " from " +
                std::to_string(tile.step) + " to " + std::to_string(tile.maximum) + ", got " + std::to_string(value);
    else
      tile.value = static_cast<int>(value);
  }
  for (NamedAttribute attribute : schedule->getTiles())
    if (llvm::none_of(tiles, [&](const Tile &tile) { return tile.name == attribute.getName().getValue(); }))
      problem = "unknown tile '" + attribute.getName().str() + "'; known: " + known;
  if (!problem.empty())
    diagnostics.usage(sourceLocation(op->getLoc()), "schedule '" + schedule->getRule().str() + "' of '" + op->getName().getStringRef().str() + "': " + problem);
  return problem.empty();
}

//===-- arguments of kernels ---------------------------------------------------------------------------------------------------------------===//

Halide::ImageParam CandidateBuilder::buffer(Scope &scope, OperandInfo operand, const std::function<Halide::ImageParam(const std::string &)> &make) {
  auto key = std::make_pair(static_cast<int>(operand.kind), operand.index);
  auto found = scope.buffers.find(key);
  if (found != scope.buffers.end())
    return found->second;
  const std::string name = operand.kind == Operand::Argument   ? interface.arguments[operand.index].name
                           : operand.kind == Operand::Prepared ? interface.prepared[operand.index].name
                                                               : candidate.workspace[operand.index].name;
  Halide::ImageParam param = make(name);
  scope.buffers.emplace(key, param);
  scope.arguments.push_back(param);
  scope.operands.push_back(operand);
  return param;
}

Halide::ImageParam CandidateBuilder::lanes(Scope &scope, const Place &place) {
  return buffer(scope, {Operand::Workspace, place.index}, [&](const std::string &name) { return halide::lanesParam(name, place.rows); });
}

halide::NumberFormat CandidateBuilder::formatOf(int argument) const {
  return halide::NumberFormat(interface.arguments[argument].dtype, Halide::Target(candidate.machine));
}

/// An element of a tensor, wherever it lies.
halide::Accessor CandidateBuilder::accessor(Scope &scope, const Place &place) {
  if (!place.isArgument)
    return halide::lanesAccessor(lanes(scope, place));
  const halide::RowLayout layout = layoutOf(place.index, place.order);
  halide::Accessor at = halide::rowsAccessor(
      buffer(scope, {Operand::Argument, place.index}, [&](const std::string &name) { return halide::rowsParam(name, layout); }), layout);
  if (place.headNumbers.empty())
    return at;
  return [at, numbers = place.headNumbers](Halide::Expr feature, Halide::Expr token, Halide::Expr head, Halide::Expr batch) {
    return at(feature, token, halide::numberOf(numbers, head), batch);
  };
}

/// An argument that is no activation: weights, biases, parameters.
Halide::ImageParam CandidateBuilder::tensor(Scope &scope, int argument) {
  return buffer(scope, {Operand::Argument, argument}, [&](const std::string &name) {
    const ArgumentInfo &info = interface.arguments[argument];
    Halide::ImageParam param(formatOf(argument).stored(), static_cast<int>(info.dims.size()), name);
    int64_t stride = 1; // known as long as all inner extents are and the caller gives no others
    for (int i = 0, n = param.dimensions(); i < n; ++i) {
      const ExtentInfo &extent = info.dims[n - 1 - i];
      param.dim(i).set_min(0);
      if (stride > 0)
        param.dim(i).set_stride(static_cast<int>(stride));
      if (extent.size < 0)
        param.dim(i).set_extent(static_cast<int>(extent.factor));
      stride = extent.size < 0 && info.stridesOffset < 0 ? stride * extent.factor : 0;
    }
    return param;
  });
}

Halide::Expr CandidateBuilder::size(Scope &scope, const ExtentInfo &extent) {
  if (extent.size < 0)
    return static_cast<int>(extent.factor);
  const SizeInfo &info = interface.sizes[extent.size];
  if (info.isFixed())
    return static_cast<int>(info.minimum);
  auto [param, isNew] = scope.sizes.try_emplace(extent.size, info.name);
  if (isNew) {
    scope.arguments.push_back(param->second);
    scope.operands.push_back({Operand::Size, extent.size});
  }
  return param->second;
}

int CandidateBuilder::addWorkspace(const std::string &name, const ExtentInfo &tokens, int heads, int rows, const SourceLocation &loc) {
  WorkspaceBufferInfo info;
  info.name = name;
  auto constant = [](int64_t n) { return ExtentInfo{-1, 1, n}; };
  // A multiple of what the widest register tile takes, so that no kernel has a tail along tokens.
  const int vectors = vectorsOf(tokens), tile = vectors * halide::kLanes;
  ExtentInfo blocks{tokens.size, tile, vectors};
  if (tokens.size < 0 || interface.sizes[tokens.size].isFixed()) {
    int64_t n = tokens.size < 0 ? tokens.factor : interface.sizes[tokens.size].minimum;
    blocks = constant((n + tile - 1) / tile * vectors);
  }
  const int batch = interface.sizeIndex("batch");
  info.dims = {constant(halide::kLanes), constant(rows), blocks, constant(heads), ExtentInfo{batch, 1, 1}};
  return addWorkspace(std::move(info), loc);
}

int CandidateBuilder::addWorkspace(WorkspaceBufferInfo info, const SourceLocation &loc) {
  int64_t elements = 1; // those that are known; runtime sizes are checked by the call
  for (const ExtentInfo &extent : info.dims)
    if (extent.size < 0 || interface.sizes[extent.size].isFixed())
      elements *= extent.size < 0 ? extent.factor : interface.sizes[extent.size].minimum;
  if (elements > std::numeric_limits<int32_t>::max())
    diagnostics.unsupported(loc, "an intermediate of this layer has " + std::to_string(elements) + " elements, at most 2147483647 are possible");
  candidate.workspace.push_back(info);
  return static_cast<int>(candidate.workspace.size()) - 1;
}

void CandidateBuilder::addKernel(const std::string &name, Location loc, Scope &scope, const std::vector<Halide::Func> &outputs,
                                 const std::vector<OperandInfo> &outputOperands, ArrayRef<Operation *> ops, std::set<std::string> streamed) {
  KernelInfo kernel;
  kernel.name = name;
  kernel.symbol = prefix + "_" + std::to_string(candidate.kernels.size()) + "_" + name;
  kernel.operands = scope.operands;
  kernel.operands.insert(kernel.operands.end(), outputOperands.begin(), outputOperands.end());
  jobs.push_back({kernel.symbol, identityOf(kernel, ops), Halide::Pipeline(outputs), scope.arguments, sourceLocation(loc), std::move(streamed)});
  candidate.kernels.push_back(std::move(kernel));
}

/// What the code of a kernel follows from: its ops with their tiles, whatever the reason for them, what it reads and writes, and the widest tiles of
/// its sequences. Candidates share kernels of equal identity.
std::string CandidateBuilder::identityOf(const KernelInfo &kernel, ArrayRef<Operation *> ops) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  for (Operation *op : ops) {
    Operation *copy = op->clone();
    if (auto schedule = copy->getAttrOfType<attn::ScheduleAttr>("schedule")) {
      auto none = StringAttr::get(op->getContext());
      copy->setAttr("schedule", attn::ScheduleAttr::get(op->getContext(), none, none, schedule.getTiles()));
    }
    copy->print(stream, OpPrintingFlags().printGenericOpForm().useLocalScope());
    copy->destroy();
  }
  stream << candidate.machine << ' ' << kernel.name;
  for (const OperandInfo &operand : kernel.operands) {
    stream << ' ' << static_cast<int>(operand.kind) << ':' << operand.index;
    if (operand.kind == Operand::Workspace)
      for (const ExtentInfo &extent : candidate.workspace[operand.index].dims)
        stream << ',' << extent.size << '/' << extent.divisor << '*' << extent.factor;
  }
  for (auto [size, most] : vectors)
    stream << ' ' << size << '=' << most;
  return text;
}

//===-- values -----------------------------------------------------------------------------------------------------------------------------===//

int CandidateBuilder::argumentOf(Value value) const {
  auto argument = dyn_cast<BlockArgument>(value);
  if (!argument)
    return -1;
  auto function = cast<func::FuncOp>(argument.getOwner()->getParentOp());
  auto attribute = function.getArgAttrOfType<attn::ArgumentAttr>(argument.getArgNumber(), attn::kArgumentAttr);
  return attribute ? interface.argumentIndex(attribute.getName()) : -1;
}

/// The output argument that `value`, returned from the entry, is.
int CandidateBuilder::outputOf(Value value, Operation *user) {
  for (OpOperand &use : value.getUses())
    if (use.getOwner() == user) {
      auto function = user->getParentOfType<func::FuncOp>();
      auto attribute = function.getResultAttrOfType<attn::ArgumentAttr>(use.getOperandNumber(), attn::kArgumentAttr);
      return interface.argumentIndex(attribute.getName());
    }
  return -1;
}

/// `value` in lane-major layout, times `scale` when it has to be transposed anyway.
const Place &CandidateBuilder::lanesOf(Value value, float scale, Location loc) {
  const Place source = places.at(value);
  if (!source.isArgument)
    return places[value];
  auto [entry, isNew] = packed.try_emplace({value.getAsOpaquePointer(), scale}, source);
  Place &place = entry->second;
  if (!isNew)
    return place;
  const std::string name = interface.arguments[source.index].name + "_lanes";
  place.isArgument = false;
  place.headNumbers.clear();
  place.rows = place.features;
  place.index = addWorkspace(name, place.tokens, place.heads, place.rows, sourceLocation(loc));
  Scope scope;
  halide::Accessor rowsAt = accessor(scope, source);
  Halide::Func out = halide::packLanes(name, rowsAt, place.features, size(scope, place.tokens), scale, vectorsOf(place.tokens));
  addKernel("pack_" + interface.arguments[source.index].name, loc, scope, {out}, {{Operand::Workspace, place.index}});
  return place;
}

//===-- ops --------------------------------------------------------------------------------------------------------------------------------===//

bool CandidateBuilder::run(func::FuncOp function) {
  for (BlockArgument argument : function.getArguments()) {
    const int index = argumentOf(argument);
    auto type = dyn_cast<RankedTensorType>(argument.getType());
    if (index < 0 || !type)
      return fail(function, "an argument of '" + function.getSymName().str() + "' has no attn.argument");
    const ArgumentInfo &info = interface.arguments[index];
    if (info.role != ArgumentRole::Input)
      continue;
    Place place;
    place.isArgument = true, place.index = index;
    place.order = info.dims.size() == 3 ? RowOrder::Tokens : RowOrder::Bhsd; // swap_heads says when it is the other way round
    place.tokens = info.dims[info.dims.size() == 3 ? 1 : 2];
    place.heads = info.dims.size() == 3 ? 1 : static_cast<int>(info.dims[1].factor);
    place.features = static_cast<int>(info.dims.back().factor);
    places[argument] = place;
  }
  findBlocks(function);
  for (Operation &op : function.front())
    if (!build(&op) || diagnostics.hasErrors())
      return false;
  prepare(function);
  return !diagnostics.hasErrors();
}

/// Buffers are made before all of their users are seen, so the tiles are looked through first. What is wrong with them is said later.
void CandidateBuilder::findBlocks(func::FuncOp function) {
  function.walk([&](Operation *op) {
    auto schedule = op->getAttrOfType<attn::ScheduleAttr>("schedule");
    if (!schedule)
      return;
    auto tile = schedule.getTiles().getAs<IntegerAttr>(isa<attn::ProjectOp>(op) ? "vectors" : "query_vectors");
    int &most = vectors[interface.sizeIndex(attn::sequenceOf(op->getOperand(0)))];
    most = std::max({most, tile ? static_cast<int>(tile.getInt()) : 1, 1});
  });
}

int CandidateBuilder::vectorsOf(const ExtentInfo &tokens) const {
  auto found = vectors.find(tokens.size);
  return found == vectors.end() ? 1 : found->second;
}

bool CandidateBuilder::build(Operation *op) {
  return llvm::TypeSwitch<Operation *, bool>(op)
      .Case([&](attn::ProjectOp o) { return project(o); })
      .Case([&](attn::AttentionOp o) { return attention(o); })
      .Case<attn::NormalizeOp, attn::RotateOp>([&](Operation *o) { return encode(o); })
      .Case([&](attn::SwapHeadsOp o) { return swapHeads(o); })
      .Case([&](attn::HeadNormsOp o) { return headNorms(o); })
      .Case([&](attn::MergeStatesOp o) { return mergeStates(o); })
      .Case([&](attn::HashOp o) { return hash(o); })
      .Case([&](attn::SortBucketsOp o) { return sortBuckets(o); })
      .Case([&](attn::BucketRangesOp o) { return bucketRanges(o); })
      .Case([&](attn::GatherTokensOp o) { return gatherTokens(o); })
      .Case([&](attn::MergeRoundsOp o) { return mergeRounds(o); })
      .Case([&](attn::SelectHeadsOp o) { return selectHeads(o); })
      .Case([&](func::ReturnOp o) { return returned(o); })
      .Case<tensor::DimOp, arith::ConstantOp, attn::ConcatHeadsOp>([](auto) { return true; }) // read where they are used
      .Default([&](Operation *o) { return fail(o, "'" + o->getName().getStringRef().str() + "' has no kernel"); });
}

bool CandidateBuilder::swapHeads(attn::SwapHeadsOp op) {
  auto found = places.find(op.getInput());
  if (found == places.end())
    return fail(op, "'attn.swap_heads' of a value that has no place");
  Place place = found->second;
  if (place.isArgument && interface.arguments[place.index].role == ArgumentRole::Input) {
    // [b, s, h, d] seen as [b, h, s, d].
    const ArgumentInfo &info = interface.arguments[place.index];
    place.order = RowOrder::Bshd;
    place.tokens = info.dims[1];
    place.heads = static_cast<int>(info.dims[2].factor);
  }
  places[op.getResult()] = place; // a lane-major value is only looked at differently when it is stored
  return true;
}

bool CandidateBuilder::selectHeads(attn::SelectHeadsOp op) {
  auto found = places.find(op.getInput());
  if (found == places.end() || !found->second.isArgument)
    return fail(op, "'attn.select_heads' of a value that is no argument");
  Place place = found->second;
  place.heads = static_cast<int>(op.getNumbers().size());
  place.headNumbers.assign(op.getNumbers().begin(), op.getNumbers().end());
  places[op.getResult()] = place;
  return true;
}

/// Whether calls of the candidate have at most one of these tokens in an element of the batch.
bool CandidateBuilder::hasOneToken(const ExtentInfo &tokens) const {
  if (tokens.size < 0 || interface.sizes[tokens.size].maximum <= 1)
    return tokens.size >= 0 || tokens.factor <= 1;
  return llvm::any_of(candidate.guards, [&](const GuardInfo &guard) { return guard.size == tokens.size && !guard.perWorker && guard.maximum <= 1; });
}

/// The kernel that puts the features of the one token in a row, once for all projections of it.
bool CandidateBuilder::gatherToken(attn::ProjectOp op, const halide::ProjectInput &in, const Place &input, const halide::TokenVector &layout, Scope &scope,
                                   Halide::ImageParam &token) {
  if (!hasOneToken(input.tokens) || op.getInputs().size() != 1 || !op.getColumns().empty() || op.getLayout() != attn::Layout::OutIn || op.getQuantizedTokens()) {
    diagnostics.usage(sourceLocation(op->getLoc()), "schedule '" + op.getSchedule()->getRule().str() + "' of 'attn.project': 'vectors = 0' is for calls of one token, one "
                                                    "input without columns, and weights [outputs, inputs] that are not multiplied as integers");
    return false;
  }
  auto [known, isNew] = gathered.try_emplace({input.index, layout.places()}, static_cast<int>(candidate.workspace.size()));
  const int index = known->second;
  if (isNew) {
    auto constant = [](int64_t n) { return ExtentInfo{-1, 1, n}; };
    const std::string name = "token" + std::to_string(index);
    candidate.workspace.push_back({name, DType::F32, {constant(halide::kLanes), constant(layout.places()), constant(layout.storedVectors()), ExtentInfo{interface.sizeIndex("batch"), 1, 1}}});
    Scope own;
    halide::ProjectInput read = in;
    read.lanes = lanes(own, input);
    Halide::Func out;
    if (!halide::guarded(sourceLocation(op->getLoc()), diagnostics, [&] { out = halide::gatherToken(name, read, layout); }))
      return false;
    addKernel("gather_token", op->getLoc(), own, {out}, {{Operand::Workspace, index}}, {op.getOperation()});
  }
  token = buffer(scope, {Operand::Workspace, index}, [&](const std::string &name) { return halide::tokenVectorParam(name, layout); });
  return true;
}

/// The kernel that rounds the tokens of a projection, once for all projections of the same inputs.
bool CandidateBuilder::quantizeTokens(attn::ProjectOp op, const std::vector<halide::ProjectInput> &in, ArrayRef<Place> inputs, Scope &scope,
                                      std::optional<halide::TokenNumbers> &tokens) {
  const int features = halide::featuresOf(in);
  std::vector<int> key;
  for (const Place &input : inputs)
    key.push_back(input.index);
  auto [known, isNew] = rounded.try_emplace(key, 0);
  if (isNew) {
    const std::string name = "tokens" + std::to_string(candidate.workspace.size());
    const int scales = addWorkspace(name + "_scales", inputs.front().tokens, 1, 2, sourceLocation(op->getLoc()));
    WorkspaceBufferInfo numbers = candidate.workspace[scales]; // the same blocks and batch
    auto constant = [](int64_t n) { return ExtentInfo{-1, 1, n}; };
    numbers.name = name, numbers.dtype = DType::U8;
    numbers.dims = {constant(halide::kNumbersOfGroup), constant(halide::kLanes), constant(llvm::divideCeil(features, halide::kNumbersOfGroup)), numbers.dims[2], numbers.dims[4]};
    candidate.workspace.push_back(numbers);
    known->second = scales;
    Scope own;
    std::vector<halide::ProjectInput> read = in;
    for (auto [input, place] : llvm::zip(read, inputs))
      input.lanes = lanes(own, place);
    std::vector<Halide::Func> outputs;
    if (!halide::guarded(sourceLocation(op->getLoc()), diagnostics, [&] { outputs = halide::quantizeTokens(name, read); }))
      return false;
    addKernel("quantize_tokens", op->getLoc(), own, outputs, {{Operand::Workspace, scales + 1}, {Operand::Workspace, scales}}, {op.getOperation()});
  }
  const int scales = known->second;
  tokens = {buffer(scope, {Operand::Workspace, scales + 1}, [&](const std::string &name) { return halide::tokenNumbersParam(name, features); }),
            buffer(scope, {Operand::Workspace, scales}, [&](const std::string &name) { return halide::lanesParam(name, 2); })};
  return true;
}

bool CandidateBuilder::project(attn::ProjectOp op) {
  halide::ProjectTiles tiles;
  if (!readTiles(op, op.getSchedule(),
                 {{"features", tiles.features, 1, 16}, {"vectors", tiles.vectors, 1, 2, true}, {"tokens", tiles.tokens, 32, 65536}, {"slab", tiles.slab, 16, 4096},
                  {"inputs", tiles.inputs, 1, 1 << 20}}))
    return false;

  const bool isOneToken = tiles.vectors == 0;
  SmallVector<Place> inputs;
  for (Value value : op.getInputs())
    inputs.push_back(lanesOf(value, 1.f, op.getLoc()));
  const Place &input = inputs.front();
  Scope scope;
  std::vector<halide::ProjectInput> in;
  ArrayRef<int64_t> columns = op.getColumns();
  int64_t nextColumn = 0;
  for (const Place &each : inputs) {
    Halide::ImageParam heads = op.getQuantizedTokens() || isOneToken ? Halide::ImageParam() : lanes(scope, each); // it is another buffer that is read
    in.push_back({heads, each.features, each.heads, size(scope, each.tokens)});
    // Without columns, those of the second input and later ones begin behind the features of the ones before.
    for (int h = 0; h < each.heads && (!columns.empty() || inputs.size() > 1); ++h)
      in.back().columns.push_back(columns.empty() ? nextColumn + int64_t(h) * each.features : columns[h]);
    columns = columns.empty() ? columns : columns.drop_front(each.heads);
    nextColumn += int64_t(each.heads) * each.features;
  }
  std::optional<halide::TokenNumbers> tokens;
  if (op.getQuantizedTokens() && !quantizeTokens(op, in, inputs, scope, tokens))
    return false;
  halide::TokenVector layout;
  Halide::ImageParam token;
  if (isOneToken) {
    layout = {halide::featuresOf(in), formatOf(argumentOf(op.getWeights()[0]))};
    if (!gatherToken(op, in[0], inputs.front(), layout, scope, token))
      return false;
  }
  std::vector<Halide::Func> outputs;
  std::vector<OperandInfo> outputOperands;
  std::set<std::string> streamed;
  std::string name = "project";
  bool ok = true;
  for (auto [i, result] : llvm::enumerate(op.getResults())) {
    auto map = cast<attn::PartAttr>(op.getParts()[i]);
    halide::ProjectPart part;
    const int weight = argumentOf(op.getWeights()[map.getWeight()]);
    part.weight = numbers(scope, weight);
    if (!isOneToken)
      streamed.insert(part.weight.param.name());
    part.outIn = op.getLayout() == attn::Layout::OutIn;
    if (!op.getScales().empty()) {
      Value scales = op.getScales()[map.getWeight()];
      part.scales = numbers(scope, argumentOf(scales));
      const int64_t groups = cast<RankedTensorType>(scales.getType()).getDimSize(1);
      part.scaling = groups == 1 ? halide::Scaling::Row : halide::Scaling::Group;
      part.groupInputs = static_cast<int>(cast<RankedTensorType>(op.getWeights()[map.getWeight()].getType()).getDimSize(part.outIn ? 1 : 0) / groups);
    }
    part.tokens = tokens;
    part.hasBias = map.getBias() >= 0;
    if (part.hasBias)
      part.bias = numbers(scope, argumentOf(op.getBiases()[map.getBias()]));
    part.row = {map.getFirst(), map.getGroup(), map.getGroupStride(), map.getHeadStride()};
    for (int64_t h = 0; map.getNumbers() && h < map.getHeads(); ++h)
      part.row.firstRows.push_back(map.getFirstRow(h));
    part.heads = static_cast<int>(map.getHeads());
    part.width = static_cast<int>(map.getWidth());
    part.scale = map.getScale() ? static_cast<float>(map.getScale().getValueAsDouble()) : 1.f;
    if (cast<RankedTensorType>(result.getType()).getRank() == 3) {
      func::ReturnOp user;
      for (Operation *use : result.getUsers())
        user = dyn_cast<func::ReturnOp>(use);
      if (!user || !result.hasOneUse())
        return fail(op, "tokens made by 'attn.project' must be an output of the entry");
      const int output = outputOf(result, user);
      part.name = interface.arguments[output].name;
      name += "_" + part.name;
      ok = ok && halide::guarded(sourceLocation(op.getLoc()), diagnostics,
                                 [&] {
                                   outputs.push_back(isOneToken ? halide::projectTokenToRows(token, layout, part, formatOf(output))
                                                                : halide::projectToRows(in, part, formatOf(output), tiles));
                                 });
      outputOperands.push_back({Operand::Argument, output});
      continue;
    }
    part.name = "heads" + std::to_string(candidate.workspace.size());
    Place place;
    place.tokens = input.tokens;
    place.heads = part.heads;
    place.features = place.rows = part.width;
    place.index = addWorkspace(part.name, place.tokens, place.heads, place.rows, sourceLocation(op.getLoc()));
    places[result] = place;
    ok = ok && halide::guarded(sourceLocation(op.getLoc()), diagnostics, [&] {
      outputs.push_back(isOneToken ? halide::projectTokenToLanes(token, layout, part) : halide::projectToLanes(in[0], part, tiles));
    });
    outputOperands.push_back({Operand::Workspace, place.index});
  }
  if (ok)
    addKernel(name, op.getLoc(), scope, outputs, outputOperands, {op.getOperation()}, std::move(streamed));
  return ok;
}

/// The one user of a value, apart from questions for its size.
static Operation *onlyUser(Value value) {
  Operation *only = nullptr;
  for (Operation *user : value.getUsers()) {
    if (isa<tensor::DimOp>(user))
      continue;
    if (only)
      return nullptr;
    only = user;
  }
  return only;
}

/// A chain of normalisations and rotations is one kernel, built at its end.
bool CandidateBuilder::encode(Operation *op) {
  auto isStep = [](Operation *other) { return isa_and_nonnull<attn::NormalizeOp, attn::RotateOp>(other); };
  if (isStep(onlyUser(op->getResult(0))))
    return true;
  SmallVector<Operation *> chain = {op};
  for (Operation *before = op->getOperand(0).getDefiningOp(); isStep(before) && onlyUser(before->getResult(0)); before = before->getOperand(0).getDefiningOp())
    chain.insert(chain.begin(), before);

  const Place source = places.at(chain.front()->getOperand(0));
  Scope scope;
  halide::EncodeProblem problem;
  problem.name = "encoded" + std::to_string(candidate.workspace.size());
  problem.tokens = size(scope, source.tokens);
  problem.heads = source.heads, problem.features = source.features, problem.vectors = vectorsOf(source.tokens);
  if (source.isArgument)
    problem.rows = accessor(scope, source);
  else
    problem.lanes = lanes(scope, source);
  bool translated = true;
  for (Operation *step : chain) {
    if (auto normalize = dyn_cast<attn::NormalizeOp>(step)) {
      halide::NormalizeStep made;
      made.l2 = normalize.getKind() == attn::Norm::L2, made.acrossHeads = normalize.getAcrossHeads();
      made.epsilon = static_cast<float>(normalize.getEpsilon().convertToDouble()), made.scale = static_cast<float>(normalize.getScale().convertToDouble());
      if (normalize.getWeight()) {
        halide::NumberParam weight = numbers(scope, argumentOf(normalize.getWeight()));
        made.weight = [weight, width = made.acrossHeads ? problem.features : 0](Halide::Expr h, Halide::Expr f) { return weight({h * width + f}); };
      }
      problem.steps.push_back(made);
      continue;
    }
    auto rotate = cast<attn::RotateOp>(step);
    std::optional<std::vector<halide::RegionValue>> params = regionParams(rotate, rotate.getParams(), scope);
    if (!params)
      return false;
    halide::RotateStep made;
    made.frequencies.assign(rotate.getFrequencies().begin(), rotate.getFrequencies().end());
    made.magnitude = rotate.getMagnitude().convertToDouble(), made.scale = static_cast<float>(rotate.getScale().convertToDouble());
    made.interleaved = rotate.getPairing() == attn::Pairing::Interleaved;
    if (rotate.getPrepared())
      made.table = buffer(scope, {Operand::Prepared, interface.preparedIndex(rotate.getFrequencies(), made.magnitude)}, halide::rotaryTableParam);
    made.position = [&translated, rotate, params](Halide::Expr b, Halide::Expr s) mutable {
      std::vector<halide::RegionValue> at = {b, s};
      at.insert(at.end(), params->begin(), params->end());
      FailureOr<std::vector<Halide::Expr>> results = halide::translateRegion(rotate.getPosition(), at);
      translated = translated && succeeded(results);
      return succeeded(results) ? results->front() : Halide::Expr(0);
    };
    problem.steps.push_back(made);
  }
  Place place = source;
  place.isArgument = false;
  place.headNumbers.clear();
  place.rows = place.features;
  place.index = addWorkspace(problem.name, place.tokens, place.heads, place.rows, sourceLocation(op->getLoc()));
  Halide::Func out;
  if (!halide::guarded(sourceLocation(op->getLoc()), diagnostics, [&] { out = halide::encodeHeads(problem); }))
    return false;
  if (!translated)
    return fail(op, "a region could not be translated");
  addKernel(isa<attn::RotateOp>(op) ? "rotate" : "normalize", op->getLoc(), scope, {out}, {{Operand::Workspace, place.index}}, chain);
  places[op->getResult(0)] = place;
  return true;
}

/// The kernels of <name>_prepare, behind all others.
void CandidateBuilder::prepare(func::FuncOp function) {
  for (auto [i, table] : llvm::enumerate(interface.prepared)) {
    Scope scope;
    Halide::Func out;
    if (!halide::guarded(sourceLocation(function.getLoc()), diagnostics, [&] { out = halide::rotaryTable(table.name, table.frequencies, table.magnitude); }))
      return;
    addKernel("prepare_" + table.name, function.getLoc(), scope, {out}, {{Operand::Prepared, static_cast<int>(i)}});
    ++candidate.prepareCount;
  }
}

/// Where `value` goes if all that is done with it is to return it.
std::optional<CandidateBuilder::StoredOutput> CandidateBuilder::storedOutput(Value value) {
  RowOrder order = RowOrder::Bhsd;
  if (value.hasOneUse())
    if (auto swap = dyn_cast<attn::SwapHeadsOp>(*value.user_begin()))
      value = swap.getResult(), order = RowOrder::Bshd;
  auto user = value.hasOneUse() ? dyn_cast<func::ReturnOp>(*value.user_begin()) : func::ReturnOp();
  if (!user)
    return std::nullopt;
  return StoredOutput{outputOf(value, user), order};
}

/// The size of a dimension of a tensor whose place is known.
ExtentInfo CandidateBuilder::tokenExtent(Value value, unsigned dim) {
  const int argument = argumentOf(value);
  if (argument >= 0)
    return interface.arguments[argument].dims[dim];
  return dim == 0 ? ExtentInfo{interface.sizeIndex("batch"), 1, 1} : places.at(value).tokens;
}

/// Stores what is still in lanes.
bool CandidateBuilder::returned(func::ReturnOp op) {
  for (auto [i, value] : llvm::enumerate(op.getOperands())) {
    auto attribute = op->getParentOfType<func::FuncOp>().getResultAttrOfType<attn::ArgumentAttr>(i, attn::kArgumentAttr);
    const int output = interface.argumentIndex(attribute.getName());
    auto concat = value.getDefiningOp<attn::ConcatHeadsOp>();
    int firstHead = 0;
    for (Value part : concat ? SmallVector<Value>(concat.getInputs()) : SmallVector<Value>{value}) {
      if (!store(op, part, output, firstHead))
        return false;
      firstHead += static_cast<int>(cast<RankedTensorType>(part.getType()).getDimSize(1));
    }
  }
  return true;
}

/// Stores `value` as the heads of an output from `firstHead` on, unless its kernel did.
bool CandidateBuilder::store(func::ReturnOp op, Value value, int output, int firstHead) {
  auto found = places.find(value);
  if (found == places.end() || found->second.isArgument)
    return true;
  const Place place = found->second;
  const std::string name = interface.arguments[output].name;
  Scope scope;
  Halide::Func out;
  const bool isLse = cast<RankedTensorType>(value.getType()).getRank() == 3;
  const bool done = halide::guarded(sourceLocation(op.getLoc()), diagnostics, [&] {
    Halide::ImageParam source = lanes(scope, place);
    if (isLse) {
      out = halide::storeRow(name, source, place.features, place.heads, firstHead);
      return;
    }
    Halide::Var lane("lane"), f("f"), block("block"), h("h"), b("b");
    Halide::Func view(name + "_lanes");
    view(lane, f, block, h, b) = source(lane, Halide::min(f, place.features - 1), block, h, b);
    const RowOrder order = value.getDefiningOp<attn::SwapHeadsOp>() ? RowOrder::Bshd : RowOrder::Bhsd;
    const int padded = (place.features + halide::kLanes - 1) / halide::kLanes * halide::kLanes;
    out = halide::unpackRows(name, view, place.features, place.heads, size(scope, place.tokens), layoutOf(output, order), padded, 2 * halide::kLanes, [](Halide::LoopLevel) {});
  });
  if (done)
    addKernel((isLse ? "store_" : "unpack_") + name, op.getLoc(), scope, {out}, {{Operand::Argument, output}});
  return done;
}

FailureOr<BuiltKernels> buildKernels(ModuleOp scheduled, bool wantStmt, Diagnostics &diagnostics) {
  BuiltKernels built{makeKernelInterface(scheduled), {}, {}};
  std::vector<CandidateInfo> &candidates = built.interface.candidates;
  built.bitcode.resize(candidates.size());
  struct Known {
    std::string symbol;
    int64_t arenaBytes;
  };
  std::map<std::string, Known> known; // by identity
  for (size_t i = candidates.size(); i-- > 0;) { // the ordinary candidate of a target is its last, and gives its name to what it shares
    CandidateInfo &candidate = candidates[i];
    CandidateBuilder builder(built.interface, candidate, i, diagnostics);
    if (!builder.run(scheduled.lookupSymbol<func::FuncOp>(candidate.function)))
      return failure();
    std::vector<halide::PipelineJob> jobs;
    std::vector<std::string> identities;
    for (halide::PipelineJob &job : builder.jobs) {
      identities.push_back(job.identity);
      if (known.try_emplace(job.identity, Known{job.symbol, 0}).second)
        jobs.push_back(std::move(job));
    }
    halide::CompiledJobs compiled;
    if (!jobs.empty() && !halide::compileJobs(jobs, candidate.machine, wantStmt, compiled, diagnostics))
      return failure();
    for (auto [job, bytes] : llvm::zip(jobs, compiled.arenaBytes))
      known[job.identity].arenaBytes = bytes;
    for (auto [kernel, identity] : llvm::zip(candidate.kernels, identities)) {
      kernel.symbol = known[identity].symbol;
      candidate.arenaBytes = std::max(candidate.arenaBytes, known[identity].arenaBytes);
    }
    built.bitcode[i] = std::move(compiled.bitcode);
    built.stmt = compiled.stmt + built.stmt;
  }
  return built;
}

} // namespace mhac
