// The only place where pass order is written.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "passes/Passes.h"

#include "attention/AttentionDialect.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Pass/PassRegistry.h"
#include "mlir/Transforms/Passes.h"

using namespace mlir;

namespace {
/// Writes into the module which stage its text belongs to, so that it can be read back.
struct MarkLowered : PassWrapper<MarkLowered, OperationPass<ModuleOp>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(MarkLowered)
  StringRef getArgument() const override { return "attn-mark-lowered"; }
  StringRef getDescription() const override { return "sets the module's attn.stage to lowered"; }
  void runOnOperation() override { getOperation()->setAttr(mhac::attn::kStageAttr, StringAttr::get(&getContext(), "lowered")); }
};
} // namespace

void mhac::buildLoweringPipeline(OpPassManager &manager) {
  OpPassManager &functions = manager.nest<func::FuncOp>();
  functions.addPass(createMergeProjectionsPass()); // first: the scale below goes into a part, which must not move afterwards
  functions.addPass(createExpandVariantsPass());   // from here on no variant has a name
  functions.addPass(createCanonicalizerPass());    // folds fixed sizes, so that the next passes see constants and empty regions
  functions.addPass(createFoldScalePass());        // behind expansion: only now the scale holds all constant factors
  functions.addPass(createCSEPass());              // one load of a length instead of one per variant, also in what blocks copy
  functions.addPass(createSortByBucketsPass());    // behind simplification, ahead of what reads the mask of the op that runs
  functions.addPass(createBlockStructurePass());   // behind simplification: it reads the mask region as it will be computed
  functions.addPass(createCanonicalizerPass());    // the interpreter writes min(x, x) and constants without looking
  functions.addPass(createCSEPass());
  manager.addPass(std::make_unique<MarkLowered>()); // last: the text says "lowered" only when all of it is
}

void mhac::registerMhacPasses() {
  registerLoweringPasses();
  PassRegistration<MarkLowered>();
  PassPipelineRegistration<>("attn-lower", "all passes of the lowering stage", buildLoweringPipeline);
}
