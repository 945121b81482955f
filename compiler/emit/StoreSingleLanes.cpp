// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "emit/StoreSingleLanes.h"

#include "llvm/IR/Constants.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"

using namespace llvm;

namespace mhac {

/// The only lane that the mask lets through; -1 when it is not a constant, or lets several or none.
static int singleLane(Value *mask) {
  auto *constant = dyn_cast<Constant>(mask);
  auto *type = dyn_cast<FixedVectorType>(mask->getType());
  if (!constant || !type)
    return -1;
  int single = -1;
  for (unsigned lane = 0; lane < type->getNumElements(); ++lane) {
    Constant *element = constant->getAggregateElement(lane);
    if (!element || !isa<ConstantInt>(element))
      return -1;
    if (element->isNullValue())
      continue;
    if (single >= 0)
      return -1;
    single = static_cast<int>(lane);
  }
  return single;
}

unsigned storeSingleLanes(Module &module) {
  SmallVector<std::pair<IntrinsicInst *, int>> stores;
  for (Function &function : module)
    for (Instruction &instruction : instructions(function))
      if (auto *call = dyn_cast<IntrinsicInst>(&instruction); call && call->getIntrinsicID() == Intrinsic::masked_store)
        if (int lane = singleLane(call->getArgOperand(call->arg_size() - 1)); lane >= 0)
          stores.push_back({call, lane});
  for (auto [call, lane] : stores) {
    IRBuilder<> builder(call);
    Value *element = builder.CreateExtractElement(call->getArgOperand(0), lane);
    Type *type = element->getType();
    Value *place = builder.CreateConstInBoundsGEP1_32(type, call->getArgOperand(1), lane);
    builder.CreateAlignedStore(element, place, Align(type->getScalarSizeInBits() / 8));
    call->eraseFromParent();
  }
  return stores.size();
}

} // namespace mhac
