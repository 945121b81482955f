// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "emit/ExpandRounding.h"

#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"

using namespace llvm;

namespace mhac {

/// Numbers from 2^23 on are integers; they, infinity and NaN stay what they are. The sign of x comes back where 0 was made of a negative number.
static Value *roundedBy(Intrinsic::ID id, Value *x, IRBuilder<> &builder) {
  Type *type = x->getType();
  Value *large = ConstantFP::get(type, 8388608.), *one = ConstantFP::get(type, 1.), *zero = ConstantFP::getZero(type);
  Value *magnitude = builder.CreateUnaryIntrinsic(Intrinsic::fabs, x);
  Value *base = id == Intrinsic::trunc ? magnitude : x;
  Value *magic = builder.CreateBinaryIntrinsic(Intrinsic::copysign, large, base);
  Value *nearest = builder.CreateFSub(builder.CreateFAdd(base, magic), magic);
  if (id == Intrinsic::floor || id == Intrinsic::trunc)
    nearest = builder.CreateFSub(nearest, builder.CreateSelect(builder.CreateFCmpOGT(nearest, base), one, zero));
  else if (id == Intrinsic::ceil)
    nearest = builder.CreateFAdd(nearest, builder.CreateSelect(builder.CreateFCmpOLT(nearest, base), one, zero));
  Value *isSmall = builder.CreateFCmpOLT(magnitude, large);
  return builder.CreateSelect(isSmall, builder.CreateBinaryIntrinsic(Intrinsic::copysign, nearest, x), x);
}

unsigned expandRounding(Module &module) {
  unsigned count = 0;
  if (!module.getTargetTriple().isX86())
    return count;
  for (Function &function : module) {
    if (function.getFnAttribute("target-features").getValueAsString().contains("+sse4.1"))
      continue;
    SmallVector<IntrinsicInst *> calls;
    for (Instruction &instruction : instructions(function))
      if (auto *call = dyn_cast<IntrinsicInst>(&instruction); call && call->getType()->getScalarType()->isFloatTy())
        if (is_contained({Intrinsic::floor, Intrinsic::ceil, Intrinsic::trunc, Intrinsic::roundeven, Intrinsic::nearbyint, Intrinsic::rint}, call->getIntrinsicID()))
          calls.push_back(call);
    for (IntrinsicInst *call : calls) {
      IRBuilder<> builder(call); // without the flags of the call, which would let the two additions cancel
      call->replaceAllUsesWith(roundedBy(call->getIntrinsicID(), call->getArgOperand(0), builder));
      call->eraseFromParent();
      ++count;
    }
  }
  return count;
}

} // namespace mhac
