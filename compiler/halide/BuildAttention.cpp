// The kernel of attn.attention: its sizes, regions and parameters, where its operands lie, and a copy of K and V where the schedule asks for one.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "halide/CandidateBuilder.h"
#include "halide/ScoreParts.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;

namespace mhac {

using Operand = OperandInfo::Kind;

/// The same of a copy that has the tokens of a head one behind the other, made by a kernel of its own.
halide::Accessor CandidateBuilder::packedRows(Scope &scope, const Place &place, Location loc) {
  const std::string name = interface.arguments[place.index].name + "_packed";
  const ExtentInfo features{-1, 1, place.features}, heads{-1, 1, place.heads}, batch{interface.sizeIndex("batch"), 1, 1};
  const int index = addWorkspace({name, DType::F32, {features, place.tokens, heads, batch}}, sourceLocation(loc));
  Scope copying;
  addKernel("pack_" + interface.arguments[place.index].name, loc, copying, {halide::packRows(name, accessor(copying, place), place.features, place.heads)},
            {{Operand::Workspace, index}});
  return halide::rowsAccessor(buffer(scope, {Operand::Workspace, index}, [&](const std::string &name) { return halide::packedRowsParam(name, place.features); }),
                              halide::RowOrder::Bhsd);
}

/// What the last arguments of an op's regions stand for.
std::optional<std::vector<halide::RegionValue>> CandidateBuilder::regionParams(Operation *op, OperandRange operands, Scope &scope) {
  std::vector<halide::RegionValue> params;
  for (Value param : operands) {
    if (tables.contains(param)) {
      params.push_back(table(scope, param));
    } else if (isa<RankedTensorType>(param.getType())) {
      params.push_back(tensor(scope, argumentOf(param)));
    } else if (auto dim = param.getDefiningOp<tensor::DimOp>()) {
      params.push_back(size(scope, tokenExtent(dim.getSource(), static_cast<unsigned>(*dim.getConstantIndex()))));
    } else if (auto number = param.getDefiningOp<arith::ConstantIndexOp>()) {
      params.push_back(Halide::Expr(static_cast<int>(number.value())));
    } else {
      fail(op, "a parameter of '" + op->getName().getStringRef().str() + "' is neither an argument nor a size");
      return std::nullopt;
    }
  }
  return params;
}

bool CandidateBuilder::attention(attn::AttentionOp op) {
  halide::AttentionTiles tiles;
  int packKeys = 0; // K and V are copied first, the tokens of a head one behind the other
  if (!readTiles(op, op.getSchedule(),
                 {{"query_vectors", tiles.queryVectors, 1, 2}, {"query_blocks", tiles.queryBlocks, 1, 16}, {"score_keys", tiles.scoreKeys, 1, 16}, {"output_rows", tiles.outputRows, 1, 16},
                  {"chunk", tiles.chunk, 16, 65536}, {"pack_keys", packKeys, 1, 1, /*orNone=*/false, /*isOptional=*/true}, {"list_keys", tiles.listKeys, 1, 64, /*orNone=*/false, /*isOptional=*/true}}))
    return false;
  if (tiles.listKeys % tiles.scoreKeys) {
    diagnostics.usage(sourceLocation(op.getLoc()), "schedule of 'attn.attention': 'list_keys' must be a multiple of 'score_keys' (" + std::to_string(tiles.scoreKeys) + "), got " + std::to_string(tiles.listKeys));
    return false;
  }

  const Place query = places.at(op.getQuery()), key = places.at(op.getKey()), value = places.at(op.getValue());
  Scope scope;
  halide::AttentionProblem problem;
  Regions regions{{tiles.queryVectors * halide::kLanes, tiles.listKeys ? tiles.listKeys : tiles.scoreKeys, [&](Halide::Expr value) { return problem.hoist ? problem.hoist(value) : value; },
                   [&](Halide::ImageParam tensor, std::vector<Halide::Expr> at, int dim) { return problem.loadPair(tensor, at, dim); }}};
  problem.name = "attention" + std::to_string(candidate.workspace.size());
  // What is left of the scale goes into Q if Q is transposed here, else into the scores.
  if (query.isArgument)
    problem.queryRows = accessor(scope, query), problem.queryScale = scaleOf(op);
  else
    problem.queryLanes = lanes(scope, query), problem.scale = scaleOf(op);
  auto keysAt = [&](const Place &rows) { return packKeys && rows.isArgument ? packedRows(scope, rows, op.getLoc()) : accessor(scope, rows); };
  auto isNarrow = [&](const Place &rows) { return !packKeys && rows.isArgument && formatOf(rows.index).isNarrow(); };
  problem.key = keysAt(key), problem.value = keysAt(value);
  problem.narrowKey = isNarrow(key), problem.narrowValue = isNarrow(value);
  problem.keysAreLanes = !key.isArgument && !value.isArgument;
  if (!describe(op, scope, regions, problem))
    return false;
  // Maps are made again from scores and lse.
  problem.wantLse = op.getLse() || !op.getMaps().empty();
  // Rows that are only returned are stored by the kernel itself; with lse, or for a projection, lanes come first.
  const std::optional<StoredOutput> stored = problem.wantLse ? std::nullopt : storedOutput(op.getOutput());
  Place output;
  output.tokens = query.tokens;
  output.heads = query.heads, output.features = value.features, output.rows = value.features + (problem.wantLse ? 1 : 0);
  if (stored)
    output.isArgument = true, output.index = stored->argument, output.order = stored->order, problem.name = interface.arguments[stored->argument].name;
  else
    output.index = addWorkspace(problem.name, output.tokens, output.heads, output.rows, sourceLocation(op.getLoc()));
  Halide::Func out;
  const bool built = halide::guarded(sourceLocation(op.getLoc()), diagnostics, [&] {
    out = halide::attend(problem, tiles, stored ? std::optional(layoutOf(stored->argument, stored->order)) : std::nullopt);
  });
  if (!built || !regions.translated)
    return built ? fail(op, "a region could not be translated") : false;
  addKernel("attend", op.getLoc(), scope, {out}, {{stored ? Operand::Argument : Operand::Workspace, output.index}}, {op.getOperation()});
  places[op.getOutput()] = output;
  if (op.getLse())
    places[op.getLse()] = output;
  return maps(op, output, tiles);
}

/// Sizes, regions and parameters for a kernel in `scope`.
bool CandidateBuilder::describe(attn::AttentionOp op, Scope &scope, Regions &regions, halide::AttentionProblem &problem) {
  const Place query = places.at(op.getQuery()), key = places.at(op.getKey()), value = places.at(op.getValue());
  problem.heads = query.heads, problem.kvHeads = key.heads, problem.headDim = query.features, problem.vHeadDim = value.features;
  problem.kvHeadOf.assign(op.getKvHeadOf().begin(), op.getKvHeadOf().end());
  problem.queries = size(scope, query.tokens), problem.keys = size(scope, key.tokens);
  problem.fixedKeys = key.tokens.size < 0 || interface.sizes[key.tokens.size].isFixed();
  problem.maximumKeys = key.tokens.size < 0 ? key.tokens.factor : interface.sizes[key.tokens.size].maximum;
  problem.masked = !op.getMask().empty();
  if (problem.masked && op.getBlocks().empty())
    return fail(op, "a mask without block structure");

  std::optional<std::vector<halide::RegionValue>> params = regionParams(op, op.getParams(), scope);
  if (!params)
    return false;
  regions.params = std::move(*params);
  regions.headNumbers.assign(op.getHeadNumbers().begin(), op.getHeadNumbers().end());
  problem.isVisible = [&regions, op](Halide::Expr b, Halide::Expr h, Halide::Expr q, Halide::Expr k) mutable -> Halide::Expr {
    return Halide::cast<bool>(regions(op.getMask(), {b, h, q, k})[0]);
  };
  const SmallVector<Value> distanceParts = halide::findDistanceParts(op.getScore());
  problem.boundedScores = halide::isBounded(op.getScore());
  for (Value value : distanceParts) // the pair (distance, 0) stands for all of its distance
    problem.distanceParts.push_back([&regions, op, value](Halide::Expr b, Halide::Expr h, Halide::Expr distance) mutable {
      return regions(op.getScore(), {b, h, distance, Halide::Expr(0), Halide::Expr(0.f)}, {{}, {value}})[0];
    });
  if (!op.getScore().empty())
    problem.changeScore = [&regions, op, distanceParts](Halide::Expr b, Halide::Expr h, Halide::Expr q, Halide::Expr k, Halide::Expr score,
                                                        const std::vector<Halide::Expr> &parts) mutable {
      halide::RegionPart rest;
      for (auto [value, expr] : llvm::zip(distanceParts, parts)) // those that the kernel has made; others are made where they are
        rest.known[value] = expr;
      return regions(op.getScore(), {b, h, q, k, score}, rest)[0];
    };
  if (!op.getSink().empty())
    problem.sink = [&regions, op](Halide::Expr b, Halide::Expr h, Halide::Expr q) mutable { return regions(op.getSink(), {b, h, q})[0]; };
  problem.keyRange = [&regions, op, keys = problem.keys](Halide::Expr b, Halide::Expr h, Halide::Expr first, Halide::Expr last) mutable {
    if (op.getBlocks().empty())
      return halide::KeyRange{0, keys, 0, keys};
    std::vector<Halide::Expr> range = regions(op.getBlocks(), {b, h, first, last});
    return halide::KeyRange{range[0], range[1], range[2], range[3]};
  };
  if (!op.getTiles().empty())
    problem.tileContent = [&regions, op](Halide::Expr b, Halide::Expr h, Halide::Expr firstQuery, Halide::Expr lastQuery, Halide::Expr firstKey, Halide::Expr lastKey) mutable {
      std::vector<Halide::Expr> content = regions(op.getTiles(), {b, h, firstQuery, lastQuery, firstKey, lastKey});
      return halide::TileContent{Halide::cast<bool>(content[0]), Halide::cast<bool>(content[1])};
    };
  return true;
}

/// What the products of Q and K are multiplied with, including log2(e) unless a score region wants natural scores.
float CandidateBuilder::scaleOf(attn::AttentionOp op) {
  return static_cast<float>(op.getScale().convertToDouble() * (op.getBase2() || !op.getScore().empty() ? 1. : 1.4426950408889634));
}

} // namespace mhac
