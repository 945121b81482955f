// attn-merge-projections: projections of the same tokens become one op with several results (Passes.td).
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "passes/Passes.h"

#include "attention/AttentionDialect.h"

using namespace mlir;
using namespace mhac::attn;

namespace mhac {
#define GEN_PASS_DEF_MERGEPROJECTIONSPASS
#include "passes/Passes.h.inc"
} // namespace mhac

namespace {

/// The number of `value` in the list, which it joins when it is not there yet.
int64_t indexIn(SmallVectorImpl<Value> &list, Value value) {
  auto found = llvm::find(list, value);
  if (found == list.end()) {
    list.push_back(value);
    return list.size() - 1;
  }
  return found - list.begin();
}

bool canMerge(ProjectOp first, ProjectOp next) {
  return first.getInput() == next.getInput() && first.getLayout() == next.getLayout() && first.getQuantizedTokens() == next.getQuantizedTokens() &&
         first.getScales().empty() == next.getScales().empty() && !first.getSchedule() && !next.getSchedule();
}

void merge(ArrayRef<ProjectOp> ops) {
  // At the place of the last one all weights are there; users of the others are behind it, which the caller made sure of.
  ProjectOp first = ops.front(), last = ops.back();
  OpBuilder builder(last);
  SmallVector<Value> weights, scales, biases;
  SmallVector<Attribute> parts;
  SmallVector<Type> types;
  SmallVector<Location> locations;
  for (ProjectOp op : ops) {
    locations.push_back(op.getLoc());
    llvm::append_range(types, op.getResultTypes());
    for (PartAttr part : op.getParts().getAsRange<PartAttr>()) {
      int64_t weight = indexIn(weights, op.getWeights()[part.getWeight()]);
      if (!op.getScales().empty() && size_t(weight) == scales.size()) // a new weight
        scales.push_back(op.getScales()[part.getWeight()]);
      int64_t bias = part.getBias() < 0 ? -1 : indexIn(biases, op.getBiases()[part.getBias()]);
      parts.push_back(part.with(weight, bias, part.getScale()));
    }
  }
  auto merged = ProjectOp::create(builder, builder.getFusedLoc(locations), types, first.getInput(), weights, scales, biases,
                                  builder.getArrayAttr(parts), first.getLayout(), ScheduleAttr(), ArrayRef<int64_t>(), first.getQuantizedTokens());
  unsigned result = 0;
  for (ProjectOp op : ops) {
    for (Value old : op.getResults())
      old.replaceAllUsesWith(merged.getResult(result++));
    op.erase();
  }
}

struct MergeProjectionsPass : mhac::impl::MergeProjectionsPassBase<MergeProjectionsPass> {
  void runOnOperation() override {
    for (Block &block : getOperation().getBody())
      for (bool changed = true; changed;)
        changed = mergeOne(block);
  }

  bool mergeOne(Block &block) {
    for (auto first : block.getOps<ProjectOp>()) {
      if (cast<RankedTensorType>(first.getInput().getType()).getRank() != 3)
        continue; // from heads there is one result only
      SmallVector<ProjectOp> ops = {first};
      for (Operation *op = first->getNextNode(); op; op = op->getNextNode()) {
        // A user of a collected projection ends the search: the merged op stands at the last one and must stay ahead of it.
        if (llvm::any_of(op->getOperands(), [&](Value value) { return llvm::is_contained(ops, value.getDefiningOp<ProjectOp>()); }))
          break;
        if (auto next = dyn_cast<ProjectOp>(op); next && canMerge(first, next))
          ops.push_back(next);
      }
      if (ops.size() > 1) {
        merge(ops);
        return true;
      }
    }
    return false;
  }
};

} // namespace
