// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "targets/Regimes.h"

#include <algorithm>
#include <limits>

using namespace mlir;

namespace mhac {

constexpr int64_t unbounded = std::numeric_limits<int64_t>::max();

/// The most special ones first.
static const Regime regimeTable[] = {
    // A matrix times a vector: kernels for one token, which formats that are read fast have.
    {"one", "query", false, 0, 1, false, true, true},
    // One block of tokens: a register tile of two would compute 32.
    {"few", "query", false, 0, 16, false, true, false},
    // K and V of a head in rows that lie far apart: each is a page and they share a part of L1 and L2. Enough queries pay for a copy head by head.
    {"packed", "key", false, 1024, unbounded, false, false, false, 256, true},
    // K and V of a head are beyond L2: blocks of queries take turns on each chunk of them.
    {"long", "key", false, 4096, unbounded, false, false, false},
    // Enough elements for every worker to be busy with whole ones: X, Q, K, V and O of one stay in its cache from kernel to kernel.
    {"batch_major", "batch", true, 4, unbounded, true, true, false},
    {"", "", false, 0, unbounded, false, false, false},
};

int64_t Regime::mostTokens(Operation *op) const {
  return !perWorker && size == attn::sequenceOf(op->getOperand(0)) ? maximum : unbounded;
}

/// Whether f32 rows lie where a caller has them, between those of other heads or to be read by a list of tiles, where each row has an address of its own.
static bool wantPacking(Value rows, bool areListed) {
  if (!cast<RankedTensorType>(rows.getType()).getElementType().isF32())
    return false;
  bool areBetween = false;
  while (Operation *view = rows.getDefiningOp()) {
    if (!isa<attn::SwapHeadsOp, attn::SelectHeadsOp>(view))
      return false;
    rows = view->getOperand(0);
    areBetween |= isa<attn::SwapHeadsOp>(view) && cast<RankedTensorType>(rows.getType()).getDimSize(2) > 1;
  }
  return areBetween || areListed;
}

static bool keysWantPacking(func::FuncOp function) {
  auto result = function.walk([](attn::AttentionOp op) {
    const bool areListed = !op.getTiles().empty();
    return wantPacking(op.getKey(), areListed) || wantPacking(op.getValue(), areListed) ? WalkResult::interrupt() : WalkResult::advance();
  });
  return result.wasInterrupted();
}

SmallVector<RegimeOfFunction> regimesOf(func::FuncOp function) {
  const bool projects = function.walk([](attn::ProjectOp) { return WalkResult::interrupt(); }).wasInterrupted();
  const bool scales = function.walk([](attn::ProjectOp op) { return op.getScales().empty() || op.getQuantizedTokens() ? WalkResult::advance() : WalkResult::interrupt(); }).wasInterrupted();
  const bool merges = function.walk([](attn::MergeStatesOp) { return WalkResult::interrupt(); }).wasInterrupted();
  auto sizes = function->getAttrOfType<ArrayAttr>(attn::kSizesAttr).getAsRange<attn::SizeAttr>();
  auto find = [&](StringRef name) {
    auto size = llvm::find_if(sizes, [&](attn::SizeAttr size) { return size.getName() == name; });
    return size == sizes.end() ? attn::SizeAttr() : *size;
  };
  SmallVector<RegimeOfFunction> regimes;
  for (const Regime &regime : regimeTable) {
    if ((regime.onlyLayers && !projects) || (regime.onlyScales && !scales))
      continue;
    if (regime.batchMajor && merges) // parts, not batches, are outermost
      continue;
    if (regime.packsKeys && !keysWantPacking(function))
      continue;
    RegimeOfFunction found{&regime, {}};
    bool isPossible = true;
    auto require = [&](StringRef name, int64_t minimum, int64_t maximum, bool perWorker) {
      attn::SizeAttr size = find(name);
      if (!size && name == "key")
        size = find("query");
      if (!size) {
        isPossible = false;
        return;
      }
      const int64_t smallest = perWorker ? 0 : size.getMinimum(); // there may be any number of workers
      isPossible &= size.getMaximum() >= minimum && smallest <= maximum;
      if (smallest < minimum || size.getMaximum() > maximum)
        found.guards.push_back(attn::GuardAttr::get(function.getContext(), size.getName(), minimum, std::min(maximum, size.getMaximum()), perWorker));
    };
    if (!regime.size.empty())
      require(regime.size, regime.minimum, regime.maximum, regime.perWorker);
    if (regime.fewestQueries)
      require("query", regime.fewestQueries, unbounded, false);
    if (!isPossible)
      continue;
    regimes.push_back(found);
    if (found.guards.empty())
      break;
  }
  return regimes;
}

} // namespace mhac
