// Kernels of attn.hash and of what attn.attention reads of it.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "halide/CandidateBuilder.h"
#include "halide/Hash.h"

using namespace mlir;

namespace mhac {

using Operand = OperandInfo::Kind;

/// A dense buffer of integers, [b, heads, rows, tokens]; along tokens there is an element for each that the kernels' vectors take.
int CandidateBuilder::addTable(Value value, const std::string &name, const ExtentInfo &tokens, int64_t multiple) {
  auto type = cast<RankedTensorType>(value.getType());
  auto constant = [](int64_t n) { return ExtentInfo{-1, 1, n}; };
  multiple = llvm::alignTo(multiple, vectorsOf(tokens) * halide::kLanes);
  ExtentInfo padded{tokens.size, multiple, multiple};
  if (tokens.size < 0 || interface.sizes[tokens.size].isFixed())
    padded = constant(llvm::alignTo(tokens.size < 0 ? tokens.factor : interface.sizes[tokens.size].minimum, multiple));
  candidate.workspace.push_back({name, DType::I32, {padded, constant(type.getDimSize(2)), constant(type.getDimSize(1)), ExtentInfo{interface.sizeIndex("batch"), 1, 1}}});
  return tables[value] = static_cast<int>(candidate.workspace.size()) - 1;
}

/// Such a buffer as an argument.
Halide::ImageParam CandidateBuilder::table(Scope &scope, Value value) {
  return buffer(scope, {Operand::Workspace, tables.at(value)}, [&](const std::string &name) {
    Halide::ImageParam param(Halide::Int(32), 4, name);
    halide::constrainTable(param, static_cast<int>(cast<RankedTensorType>(value.getType()).getDimSize(2)));
    return param;
  });
}

bool CandidateBuilder::hash(attn::HashOp op) {
  const Place input = lanesOf(op.getInput(), 1.f, op.getLoc());
  Scope scope;
  halide::HashProblem problem;
  problem.name = "buckets" + std::to_string(candidate.workspace.size());
  problem.heads = input.heads, problem.features = input.features, problem.vectors = vectorsOf(input.tokens);
  problem.buckets = static_cast<int>(op.getBuckets()), problem.rounds = static_cast<int>(op.getRounds());
  problem.seed = static_cast<uint32_t>(op.getSeed());
  problem.rotations.assign(op.getRotations().begin(), op.getRotations().end());
  const int result = addTable(op.getResult(), problem.name, input.tokens);
  Halide::Func out;
  const bool built = halide::guarded(sourceLocation(op.getLoc()), diagnostics, [&] {
    problem.lanes = lanes(scope, input);
    out = halide::hashHeads(problem);
  });
  if (built)
    addKernel("hash", op.getLoc(), scope, {out}, {{Operand::Workspace, result}}, {op.getOperation()});
  return built;
}

bool CandidateBuilder::sortBuckets(attn::SortBucketsOp op) {
  auto hash = op.getHash().getDefiningOp<attn::HashOp>();
  const ExtentInfo tokens = places.at(hash.getInput()).tokens;
  auto type = cast<RankedTensorType>(op.getHash().getType());
  Scope scope;
  halide::SortProblem problem;
  problem.name = "order" + std::to_string(candidate.workspace.size());
  problem.heads = static_cast<int>(type.getDimSize(1)), problem.rounds = static_cast<int>(type.getDimSize(2));
  problem.bucketCount = static_cast<int>(op.getBuckets()), problem.tokens = size(scope, tokens);
  const int result = addTable(op.getResult(), problem.name, tokens, problem.bucketCount);
  Halide::Func out;
  const bool built = halide::guarded(sourceLocation(op.getLoc()), diagnostics, [&] {
    problem.buckets = table(scope, op.getHash());
    out = halide::sortBuckets(problem);
  });
  if (built)
    addKernel("sort", op.getLoc(), scope, {out}, {{Operand::Workspace, result}}, {op.getOperation()});
  return built;
}

bool CandidateBuilder::bucketRanges(attn::BucketRangesOp op) {
  auto queries = op.getQueries().getDefiningOp<attn::SortBucketsOp>(), keys = op.getKeys().getDefiningOp<attn::SortBucketsOp>();
  auto queryHash = queries.getHash().getDefiningOp<attn::HashOp>(), keyHash = keys.getHash().getDefiningOp<attn::HashOp>();
  const Place query = places.at(queryHash.getInput()), key = places.at(keyHash.getInput());
  Scope scope;
  halide::RangesProblem problem;
  problem.name = "ranges" + std::to_string(candidate.workspace.size());
  problem.heads = query.heads, problem.rounds = static_cast<int>(queryHash.getRounds()), problem.bucketCount = static_cast<int>(queryHash.getBuckets());
  problem.queryCount = size(scope, query.tokens), problem.keyCount = size(scope, key.tokens);
  const int result = addTable(op.getResult(), problem.name, query.tokens);
  Halide::Func out;
  const bool built = halide::guarded(sourceLocation(op.getLoc()), diagnostics, [&] {
    problem.buckets = table(scope, queries.getHash());
    problem.queries = table(scope, op.getQueries()), problem.keys = table(scope, op.getKeys());
    problem.keyHead = [&](Halide::Expr head) -> Halide::Expr {
      const std::vector<int64_t> kvHeadOf(op.getKvHeadOf().begin(), op.getKvHeadOf().end());
      Halide::Expr own = head % query.heads;
      return head / query.heads * key.heads + (kvHeadOf.empty() ? own / (query.heads / key.heads) : halide::numberOf(kvHeadOf, own));
    };
    out = halide::bucketRanges(problem);
  });
  if (built)
    addKernel("ranges", op.getLoc(), scope, {out}, {{Operand::Workspace, result}}, {op.getOperation()});
  return built;
}

bool CandidateBuilder::gatherTokens(attn::GatherTokensOp op) {
  const Place source = places.at(op.getInput());
  Place place = source;
  place.isArgument = false;
  place.headNumbers.clear();
  place.heads = static_cast<int>(cast<RankedTensorType>(op.getResult().getType()).getDimSize(1));
  place.rows = place.features;
  const std::string name = "sorted" + std::to_string(candidate.workspace.size());
  place.index = addWorkspace(name, place.tokens, place.heads, place.rows, sourceLocation(op.getLoc()));
  Scope scope;
  Halide::Func out;
  const bool built = halide::guarded(sourceLocation(op.getLoc()), diagnostics, [&] {
    Halide::Expr tokens = size(scope, place.tokens);
    halide::Accessor rowsAt = accessor(scope, source);
    Halide::ImageParam order = table(scope, op.getOrder());
    auto sortedAt = [=, heads = source.heads](Halide::Expr feature, Halide::Expr token, Halide::Expr head, Halide::Expr batch) {
      return rowsAt(feature, unsafe_promise_clamped(order(token, static_cast<int>(attn::SortBucketsOp::Tokens), head, batch), 0, tokens - 1), head % heads, batch);
    };
    out = halide::packLanes(name, sortedAt, place.features, tokens, 1.f, vectorsOf(place.tokens));
  });
  if (built)
    addKernel("gather", op.getLoc(), scope, {out}, {{Operand::Workspace, place.index}}, {op.getOperation()});
  places[op.getResult()] = place;
  return built;
}

/// The parts of a query lie where each round has sorted it to.
bool CandidateBuilder::mergeRounds(attn::MergeRoundsOp op) {
  const Place parts = places.at(op.getOutputs());
  const int heads = static_cast<int>(cast<RankedTensorType>(op.getOutput().getType()).getDimSize(1));
  auto describe = [&](Scope &scope) {
    halide::MergeProblem problem;
    problem.heads = heads, problem.width = parts.features;
    problem.parts = parts.heads / heads, problem.queries = size(scope, parts.tokens);
    Halide::ImageParam order = table(scope, op.getOrder());
    halide::Accessor sorted = accessor(scope, parts);
    problem.output = [=, queries = problem.queries](Halide::Expr e, Halide::Expr q, Halide::Expr h, Halide::Expr b, Halide::Expr part) {
      Halide::Expr row = part * heads + h;
      return sorted(e, unsafe_promise_clamped(order(q, static_cast<int>(attn::SortBucketsOp::Places), row, b), 0, queries - 1), row, b);
    };
    // The row behind the features.
    problem.lse = [at = problem.output, width = parts.features](Halide::Expr, Halide::Expr q, Halide::Expr h, Halide::Expr b, Halide::Expr part) { return at(width, q, h, b, part); };
    if (op.getSinks())
      problem.sink = [sinks = tensor(scope, argumentOf(op.getSinks())), numbers = std::vector<int64_t>(op.getHeadNumbers().begin(), op.getHeadNumbers().end())](Halide::Expr h) {
        return Halide::Expr(sinks(halide::numberOf(numbers, h)));
      };
    return problem;
  };
  return merge(op, op.getOutput(), op.getLse(), parts.tokens, describe, describe);
}

} // namespace mhac
