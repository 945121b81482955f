// Kernels of outputs beside y and lse: what is made from the map of attn.attention, attn.head_norms; and attn.merge_states.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "halide/CandidateBuilder.h"
#include "halide/MapOutputs.h"

using namespace mlir;

namespace mhac {

using Operand = OperandInfo::Kind;

/// A kernel for each result that is made from the map; the statistics of rows share one.
bool CandidateBuilder::maps(attn::AttentionOp op, const Place &output, const halide::AttentionTiles &tiles) {
  SmallVector<unsigned> statistics;
  for (auto [i, attribute] : llvm::enumerate(op.getMaps())) {
    const attn::MapKind kind = cast<attn::MapAttr>(attribute).getKind();
    if (!attn::isWholeMap(kind) && kind != attn::MapKind::KeyMass)
      statistics.push_back(i);
    else if (!map(op, attn::stringifyMapKind(kind).str(), static_cast<unsigned>(i), output, tiles))
      return false;
  }
  return statistics.empty() || map(op, "statistics", statistics, output, tiles);
}

/// The kernel of the maps of these numbers.
bool CandidateBuilder::map(attn::AttentionOp op, const std::string &name, ArrayRef<unsigned> numbers, const Place &output, const halide::AttentionTiles &tiles) {
  const bool scales = places.at(op.getQuery()).isArgument;
  const Place query = lanesOf(op.getQuery(), scales ? scaleOf(op) : 1.f, op.getLoc()), key = lanesOf(op.getKey(), 1.f, op.getLoc());
  Scope scope;
  auto kindOf = [&](unsigned number) { return cast<attn::MapAttr>(op.getMaps()[number]).getKind(); };
  Regions regions{{tiles.queryVectors * halide::kLanes, tiles.scoreKeys, {}, {}}};
  // The map itself and the sums of its columns have tiles of their own; statistics of rows have those of the scores.
  if (const halide::KeyTile tile(tiles); kindOf(numbers[0]) == attn::MapKind::KeyMass || kindOf(numbers[0]) < attn::MapKind::Entropy)
    regions.tile = {tile.rows, tile.vectors * halide::kLanes, {}, {}};
  halide::MapProblem problem;
  problem.attention.queryLanes = lanes(scope, query), problem.attention.scale = scales ? 1.f : scaleOf(op);
  problem.keyLanes = lanes(scope, key);
  problem.output = lanes(scope, output);
  if (!describe(op, scope, regions, problem.attention))
    return false;
  if (!op.getModified().empty())
    problem.changeBeforeMask = [&](Halide::Expr b, Halide::Expr h, Halide::Expr q, Halide::Expr k, Halide::Expr score) {
      return regions(op.getModified(), {b, h, q, k, score})[0];
    };
  if (!op.getDiagonal().empty())
    problem.isNearDiagonal = [&](Halide::Expr b, Halide::Expr h, Halide::Expr q, Halide::Expr k) {
      return Halide::cast<bool>(regions(op.getDiagonal(), {b, h, q, k})[0]);
    };
  std::vector<OperandInfo> operands;
  std::vector<halide::MapStatistic> statistics;
  int firstHead = 0; // the same for all
  for (unsigned number : numbers) {
    const std::optional<StoredHeads> stored = storedHeads(op.getMapResults()[number]);
    if (!stored)
      return fail(op, "a map made by 'attn.attention' must be an output of the entry");
    operands.push_back({Operand::Argument, stored->argument});
    firstHead = stored->firstHead;
    if (numbers.size() > 1 || name == "statistics")
      statistics.push_back(static_cast<halide::MapStatistic>(static_cast<int>(kindOf(number)) - static_cast<int>(attn::MapKind::Entropy)));
  }
  Halide::Func out;
  const bool built = halide::guarded(sourceLocation(op.getLoc()), diagnostics, [&] {
    const std::string output = interface.arguments[operands[0].index].name;
    if (!statistics.empty())
      out = halide::mapStatistics(output, problem, statistics, tiles, firstHead);
    else if (kindOf(numbers[0]) == attn::MapKind::KeyMass)
      out = halide::keyMass(output, problem, tiles, firstHead);
    else
      out = halide::storeMap(output, problem, static_cast<halide::MapStage>(kindOf(numbers[0])), tiles, firstHead);
  });
  if (!built || !regions.translated)
    return built ? fail(op, "a region could not be translated") : false;
  addKernel("map_" + name, op.getLoc(), scope, {out}, operands, {op.getOperation()});
  return true;
}

bool CandidateBuilder::headNorms(attn::HeadNormsOp op) {
  const Place input = lanesOf(op.getInput(), 1.f, op.getLoc());
  const std::optional<StoredHeads> stored = storedHeads(op.getResult());
  if (!stored)
    return fail(op, "norms made by 'attn.head_norms' must be an output of the entry");
  Scope scope;
  Halide::Func out;
  const bool built = halide::guarded(sourceLocation(op.getLoc()), diagnostics, [&] {
    out = halide::headNorms(interface.arguments[stored->argument].name, lanes(scope, input), input.features, input.heads, stored->firstHead,
                             size(scope, input.tokens));
  });
  if (built)
    addKernel("head_norms", op.getLoc(), scope, {out}, {{Operand::Argument, stored->argument}}, {op.getOperation()});
  return built;
}

bool CandidateBuilder::mergeStates(attn::MergeStatesOp op) {
  const auto type = cast<RankedTensorType>(op.getOutput().getType());
  const int outputs = argumentOf(op.getOutputs()), lses = argumentOf(op.getLses());
  const ExtentInfo parts = interface.arguments[lses].dims[0], queries = interface.arguments[lses].dims[3];
  auto describe = [&](Scope &scope) {
    halide::MergeProblem problem;
    problem.heads = static_cast<int>(type.getDimSize(1)), problem.width = static_cast<int>(type.getDimSize(3));
    problem.parts = size(scope, parts), problem.queries = size(scope, queries);
    Halide::ImageParam lse = tensor(scope, lses);
    problem.lse = [lse](Halide::Expr, Halide::Expr q, Halide::Expr h, Halide::Expr b, Halide::Expr part) -> Halide::Expr { return lse(q, h, b, part); };
    if (op.getSinks())
      problem.sink = [sinks = tensor(scope, argumentOf(op.getSinks()))](Halide::Expr h) { return Halide::Expr(sinks(h)); };
    return problem;
  };
  auto withOutputs = [&](Scope &scope) {
    halide::MergeProblem problem = describe(scope);
    const halide::NumberFormat format = formatOf(outputs);
    Halide::ImageParam output =
        buffer(scope, {Operand::Argument, outputs}, [&](const std::string &name) { return halide::partsParam(name, format.stored()); });
    const bool headsFirst = op.getHeadsFirst();
    problem.output = [=](Halide::Expr e, Halide::Expr q, Halide::Expr h, Halide::Expr b, Halide::Expr part) -> Halide::Expr {
      return format.load(headsFirst ? output(e, q, h, b, part) : output(e, h, q, b, part));
    };
    return problem;
  };
  return merge(op, op.getOutput(), op.getLse(), queries, withOutputs, describe);
}

/// The kernels that join parts: of the output, and of the lse when it is wanted.
bool CandidateBuilder::merge(Operation *op, Value output, Value lseValue, const ExtentInfo &queries, llvm::function_ref<halide::MergeProblem(Scope &)> withOutputs,
                             llvm::function_ref<halide::MergeProblem(Scope &)> withoutOutputs) {
  const auto type = cast<RankedTensorType>(output.getType());
  const SourceLocation loc = sourceLocation(op->getLoc());
  const std::optional<StoredOutput> stored = storedOutput(output);
  Place place;
  place.tokens = queries, place.heads = static_cast<int>(type.getDimSize(1)), place.features = place.rows = static_cast<int>(type.getDimSize(3));
  place.isArgument = stored.has_value();
  const std::string name = "merged" + std::to_string(candidate.workspace.size());
  place.index = stored ? stored->argument : addWorkspace(name, place.tokens, place.heads, place.rows, loc);
  Scope scope, lseScope;
  Halide::Func out, lse;
  const std::optional<StoredHeads> storedLse = lseValue ? storedHeads(lseValue) : std::nullopt;
  const bool built = halide::guarded(loc, diagnostics, [&] {
    out = stored ? halide::mergeToRows(interface.arguments[stored->argument].name, withOutputs(scope), layoutOf(stored->argument, stored->order))
                 : halide::mergeToLanes(name, withOutputs(scope), vectorsOf(place.tokens));
    if (storedLse)
      lse = halide::mergedLse(interface.arguments[storedLse->argument].name, withoutOutputs(lseScope), storedLse->firstHead);
  });
  if (!built)
    return false;
  addKernel("merge", op->getLoc(), scope, {out}, {{stored ? Operand::Argument : Operand::Workspace, place.index}}, {op});
  if (storedLse)
    addKernel("merge_lse", op->getLoc(), lseScope, {lse}, {{Operand::Argument, storedLse->argument}}, {op});
  places[output] = place;
  return true;
}

/// The output that `value` is, and which of its heads, if all that is done with it is to return it.
std::optional<CandidateBuilder::StoredHeads> CandidateBuilder::storedHeads(Value value) {
  int firstHead = 0;
  if (auto concat = value.hasOneUse() ? dyn_cast<attn::ConcatHeadsOp>(*value.user_begin()) : attn::ConcatHeadsOp()) {
    for (Value part : concat.getInputs()) {
      if (part == value)
        break;
      firstHead += static_cast<int>(cast<RankedTensorType>(part.getType()).getDimSize(1));
    }
    value = concat.getResult();
  }
  auto user = value.hasOneUse() ? dyn_cast<func::ReturnOp>(*value.user_begin()) : func::ReturnOp();
  return user ? std::optional(StoredHeads{outputOf(value, user), firstHead}) : std::nullopt;
}

} // namespace mhac
