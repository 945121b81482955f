// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "targets/Regimes.h"

#include <algorithm>
#include <limits>

using namespace mlir;

namespace mhac {

constexpr int64_t unbounded = std::numeric_limits<int64_t>::max();

/// The most special ones first.
static const Regime regimeTable[] = {
    // One block of tokens: a register tile of two would compute 32.
    {"few", "query", false, 0, 16, false, true},
    // K and V of a head are beyond L2: blocks of queries take turns on each chunk of them.
    {"long", "key", false, 4096, unbounded, false, false},
    // Enough elements for every worker to be busy with whole ones: X, Q, K, V and O of one stay in its cache from kernel to kernel.
    {"batch_major", "batch", true, 4, unbounded, true, true},
    {"", "", false, 0, unbounded, false, false},
};

int64_t Regime::mostTokens(Operation *op) const {
  return !perWorker && size == attn::sequenceOf(op->getOperand(0)) ? maximum : unbounded;
}

SmallVector<RegimeOfFunction> regimesOf(func::FuncOp function) {
  const bool projects = function.walk([](attn::ProjectOp) { return WalkResult::interrupt(); }).wasInterrupted();
  const bool merges = function.walk([](attn::MergeStatesOp) { return WalkResult::interrupt(); }).wasInterrupted();
  SmallVector<RegimeOfFunction> regimes;
  for (const Regime &regime : regimeTable) {
    if (regime.size.empty()) {
      regimes.push_back({&regime, {}});
      break;
    }
    if (regime.onlyLayers && !projects)
      continue;
    if (regime.batchMajor && merges) // parts, not batches, are outermost
      continue;
    auto sizes = function->getAttrOfType<ArrayAttr>(attn::kSizesAttr).getAsRange<attn::SizeAttr>();
    const bool hasKeys = llvm::any_of(sizes, [](attn::SizeAttr size) { return size.getName() == "key"; });
    const StringRef wanted = regime.size == "key" && !hasKeys ? StringRef("query") : StringRef(regime.size);
    for (auto size : sizes) {
      if (size.getName() != wanted)
        continue;
      const int64_t smallest = regime.perWorker ? 0 : size.getMinimum(); // there may be any number of workers
      if (size.getMaximum() < regime.minimum || smallest > regime.maximum)
        continue;
      attn::GuardAttr guard;
      if (smallest < regime.minimum || size.getMaximum() > regime.maximum)
        guard = attn::GuardAttr::get(function.getContext(), wanted, regime.minimum, std::min(regime.maximum, size.getMaximum()), regime.perWorker);
      regimes.push_back({&regime, guard});
      if (!guard)
        return regimes;
    }
  }
  return regimes;
}

} // namespace mhac
