// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "targets/ChooseSchedule.h"

#include "attention/AttentionDialect.h"
#include "attention/SourceLocations.h"
#include "targets/ScheduleRule.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

using namespace mlir;

namespace mhac {
namespace {

/// The first rule that applies, with those passed over before it in the reason.
attn::ScheduleAttr chooseFor(Operation *op, const Target &target, const Regime &regime, Diagnostics &diagnostics) {
  std::string passedOver;
  for (ArrayRef<ScheduleRule> rules : {target.architecture->rules(), genericRules()})
    for (const ScheduleRule &rule : rules) {
      if (rule.op != op->getName().getStringRef())
        continue;
      ScheduleChoice choice = rule.choose(op, target, regime);
      if (!choice.applies) {
        if (!choice.reason.empty())
          passedOver += "; not " + rule.name.str() + ": " + choice.reason;
        continue;
      }
      if (regime.packsKeys && isa<attn::AttentionOp>(op)) {
        choice.tiles.push_back({"pack_keys", 1});
        choice.reason += "; K and V are copied head by head first";
      }
      Builder builder(op->getContext());
      SmallVector<NamedAttribute> tiles;
      for (auto [name, value] : choice.tiles)
        tiles.push_back(builder.getNamedAttr(name, builder.getI64IntegerAttr(value)));
      if (StringRef(rule.name).starts_with("generic_"))
        diagnostics.performanceWarning(sourceLocation(op->getLoc()), "'" + op->getName().getStringRef().str() + "' takes the generic schedule on " + target.name + passedOver);
      return attn::ScheduleAttr::get(op->getContext(), builder.getStringAttr(rule.name), builder.getStringAttr(choice.reason + passedOver),
                                     builder.getDictionaryAttr(tiles));
    }
  return {};
}

} // namespace

LogicalResult chooseSchedules(ModuleOp module, ArrayRef<std::string> targetWords, Diagnostics &diagnostics) {
  SmallVector<Target> targets;
  for (const std::string &word : targetWords) {
    std::string reason;
    std::optional<Target> target = findTarget(word, reason);
    if (!target) {
      diagnostics.unsupported({}, "target '" + word + "' is unknown: " + reason);
      return failure();
    }
    if (llvm::none_of(targets, [&](const Target &t) { return t.name == target->name; }))
      targets.push_back(*target);
  }
  // The first candidate that fits runs, so the more demanding ones come first.
  llvm::stable_sort(targets, [](const Target &a, const Target &b) { return llvm::popcount(a.features) > llvm::popcount(b.features); });

  OpBuilder builder(module.getContext());
  for (auto function : llvm::to_vector(module.getOps<func::FuncOp>())) {
    if (!function->hasAttr(attn::kEntryAttr))
      continue;
    builder.setInsertionPoint(function);
    auto entry = attn::EntryOp::create(builder, function.getLoc(), function.getSymName());
    Block *list = &entry.getBody().emplaceBlock();
    const SmallVector<RegimeOfFunction> regimes = regimesOf(function);
    for (const Target &target : targets)
      for (const auto &[regime, guards] : regimes) {
        builder.setInsertionPoint(function);
        auto copy = cast<func::FuncOp>(builder.clone(*function));
        std::string name = (function.getSymName() + "." + target.name + (regime->name.empty() ? "" : ".") + regime->name).str();
        copy.setSymName(name);
        copy.setPrivate();
        copy->removeAttr(attn::kEntryAttr);
        copy.walk([&, regime = regime](Operation *op) {
          if (isa<attn::ProjectOp, attn::AttentionOp>(op))
            if (attn::ScheduleAttr schedule = chooseFor(op, target, *regime, diagnostics))
              op->setAttr("schedule", schedule);
        });
        builder.setInsertionPointToEnd(list);
        attn::CandidateOp::create(builder, function.getLoc(), name, target.name, target.halide, target.features, builder.getArrayAttr(guards),
                                  regime->batchMajor);
      }
    function.erase();
  }
  module->setAttr(attn::kStageAttr, builder.getStringAttr("scheduled"));
  return success();
}

} // namespace mhac
