// Builds the kernels of one candidate, op by op; the tensors between them are workspace buffers. What every op needs stands in BuildPipeline.cpp, outputs
// beside y and lse in BuildOutputs.cpp, hashing and what follows from it in BuildHashing.cpp.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "attention/AttentionDialect.h"
#include "attention/KernelInterface.h"
#include "attention/SourceLocations.h"
#include "halide/Attention.h"
#include "halide/HalideBoundary.h"
#include "halide/MergeStates.h"
#include "halide/ProjectToken.h"
#include "halide/TranslateRegion.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

#include <initializer_list>
#include <map>
#include <optional>
#include <set>

namespace mhac {

/// Where the value of a tensor in the IR lies.
struct Place {
  bool isArgument = false; // an argument of the entry, in rows; otherwise a workspace buffer, in lanes
  int index = 0;
  halide::RowOrder order = halide::RowOrder::Tokens;
  ExtentInfo tokens;
  int heads = 1, features = 0; // features: of one head
  int rows = 0;                // lanes only: rows of a block, features and what follows them (lse)
  std::vector<int64_t> headNumbers = {}; // where heads lie in an argument of which some are left out
};

/// A kernel while it is built: every tensor and size it touches becomes an argument, in the order of first use.
struct Scope {
  std::vector<Halide::Argument> arguments;
  std::vector<OperandInfo> operands;
  std::map<std::pair<int, int>, Halide::ImageParam> buffers;
  std::map<int, Halide::Param<int>> sizes;
};

/// The regions of an attn.attention as functions on Halide's expressions, inside one kernel. Outlives the functions that are made from it.
struct Regions {
  halide::TileContext tile; // of the kernel's tiles
  std::vector<int64_t> headNumbers = {}; // regions know heads by their number in the whole layer
  std::vector<halide::RegionValue> params = {};
  bool translated = true;

  std::vector<Halide::Expr> operator()(mlir::Region &region, std::vector<halide::RegionValue> at, const halide::RegionPart &part = {}) {
    at[1] = halide::numberOf(headNumbers, std::get<Halide::Expr>(at[1]));
    at.insert(at.end(), params.begin(), params.end());
    mlir::FailureOr<std::vector<Halide::Expr>> results = halide::translateRegion(region, at, tile, part);
    translated = translated && mlir::succeeded(results);
    return mlir::succeeded(results) ? *results : std::vector<Halide::Expr>(4, Halide::Expr(0));
  }
};

class CandidateBuilder {
public:
  CandidateBuilder(const KernelInterface &interface, CandidateInfo &candidate, size_t number, Diagnostics &diagnostics)
      : interface(interface), candidate(candidate), prefix(interface.name + "_c" + std::to_string(number)), diagnostics(diagnostics) {}

  bool run(mlir::func::FuncOp function);
  std::vector<halide::PipelineJob> jobs;

private:
  void findBlocks(mlir::func::FuncOp function);
  bool build(mlir::Operation *op);
  bool project(attn::ProjectOp op);
  bool hasOneToken(const ExtentInfo &tokens) const;
  bool gatherToken(attn::ProjectOp op, const halide::ProjectInput &in, const Place &input, const halide::TokenVector &layout, Scope &scope, Halide::ImageParam &token);
  bool quantizeTokens(attn::ProjectOp op, const std::vector<halide::ProjectInput> &in, llvm::ArrayRef<Place> inputs, Scope &scope,
                      std::optional<halide::TokenNumbers> &tokens);
  bool attention(attn::AttentionOp op);
  static float scaleOf(attn::AttentionOp op);
  bool describe(attn::AttentionOp op, Scope &scope, Regions &regions, halide::AttentionProblem &problem);
  bool maps(attn::AttentionOp op, const Place &output, const halide::AttentionTiles &tiles);
  bool map(attn::AttentionOp op, const std::string &name, llvm::ArrayRef<unsigned> numbers, const Place &output, const halide::AttentionTiles &tiles);
  bool headNorms(attn::HeadNormsOp op);
  bool mergeStates(attn::MergeStatesOp op);
  bool merge(mlir::Operation *op, mlir::Value output, mlir::Value lse, const ExtentInfo &queries, llvm::function_ref<halide::MergeProblem(Scope &)> withOutputs,
             llvm::function_ref<halide::MergeProblem(Scope &)> withoutOutputs);
  bool hash(attn::HashOp op);
  bool sortBuckets(attn::SortBucketsOp op);
  bool bucketRanges(attn::BucketRangesOp op);
  bool gatherTokens(attn::GatherTokensOp op);
  bool mergeRounds(attn::MergeRoundsOp op);
  bool encode(mlir::Operation *op);
  void prepare(mlir::func::FuncOp function);
  std::optional<std::vector<halide::RegionValue>> regionParams(mlir::Operation *op, mlir::OperandRange operands, Scope &scope);
  bool swapHeads(attn::SwapHeadsOp op);
  bool selectHeads(attn::SelectHeadsOp op);
  bool returned(mlir::func::ReturnOp op);
  bool store(mlir::func::ReturnOp op, mlir::Value value, int output, int firstHead);

  const Place &lanesOf(mlir::Value value, float scale, mlir::Location loc);
  int addWorkspace(const std::string &name, const ExtentInfo &tokens, int heads, int rows, const SourceLocation &loc);
  int addWorkspace(WorkspaceBufferInfo info, const SourceLocation &loc);
  int addTable(mlir::Value value, const std::string &name, const ExtentInfo &tokens, int64_t multiple = 1);
  Halide::ImageParam table(Scope &scope, mlir::Value value);
  std::string identityOf(const KernelInfo &kernel, llvm::ArrayRef<mlir::Operation *> ops);
  void addKernel(const std::string &name, mlir::Location loc, Scope &scope, const std::vector<Halide::Func> &outputs, const std::vector<OperandInfo> &outputOperands,
                 llvm::ArrayRef<mlir::Operation *> ops = {}, std::set<std::string> streamed = {});

  Halide::ImageParam buffer(Scope &scope, OperandInfo operand, const std::function<Halide::ImageParam(const std::string &)> &make);
  Halide::ImageParam lanes(Scope &scope, const Place &place);
  halide::NumberFormat formatOf(int argument) const;
  halide::RowLayout layoutOf(int argument, halide::RowOrder order) const { return {order, formatOf(argument)}; }
  halide::Accessor accessor(Scope &scope, const Place &place);
  halide::Accessor packedRows(Scope &scope, const Place &place, mlir::Location loc);
  Halide::ImageParam tensor(Scope &scope, int argument);
  halide::NumberParam numbers(Scope &scope, int argument) { return {tensor(scope, argument), formatOf(argument)}; }
  Halide::Expr size(Scope &scope, const ExtentInfo &extent);
  ExtentInfo tokenExtent(mlir::Value value, unsigned dim);
  int vectorsOf(const ExtentInfo &tokens) const;
  int outputOf(mlir::Value value, mlir::Operation *user);
  struct StoredOutput {
    int argument;
    halide::RowOrder order;
  };
  std::optional<StoredOutput> storedOutput(mlir::Value value);
  struct StoredHeads {
    int argument, firstHead;
  };
  std::optional<StoredHeads> storedHeads(mlir::Value value);
  int argumentOf(mlir::Value value) const;
  bool fail(mlir::Operation *op, const std::string &message) {
    diagnostics.internal(sourceLocation(op->getLoc()), message);
    return false;
  }

  /// A name of #attn.schedule's tiles: the values it may have are multiples of `step` in [step, maximum].
  struct Tile {
    llvm::StringLiteral name;
    int &value;
    int step, maximum;
    bool orNone = false;     // or 0
    bool isOptional = false; // what is left out is what `value` was
  };
  bool readTiles(mlir::Operation *op, std::optional<attn::ScheduleAttr> schedule, std::initializer_list<Tile> tiles);

  const KernelInterface &interface;
  CandidateInfo &candidate;
  std::string prefix;
  Diagnostics &diagnostics;
  llvm::DenseMap<mlir::Value, Place> places;
  llvm::DenseMap<mlir::Value, int> tables; // workspace buffers of integers, [b, heads, rows, tokens]
  std::map<int, int> vectors; // size of a sequence (-1: a number) -> vectors of its widest register tile
  std::map<std::pair<void *, float>, Place> packed; // lane-major copies of arguments
  std::map<std::pair<int, int>, int> gathered; // tokens by the buffer they are made from and the places of a lane
  std::map<std::vector<int>, int> rounded; // tokens by the buffers they are made from: the buffer of their scales, ahead of their numbers
};

} // namespace mhac
