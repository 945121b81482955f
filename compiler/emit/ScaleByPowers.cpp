// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "emit/ScaleByPowers.h"

#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicsX86.h"
#include "llvm/IR/PatternMatch.h"
#include "llvm/Transforms/Utils/Local.h"

using namespace llvm;
using namespace llvm::PatternMatch;

namespace mhac {

static constexpr float kMagic = 12582912.f; // adding 1.5 * 2^23 rounds to nearest

static bool isSplat(Value *value, float wanted) {
  const APFloat *number;
  return match(value, m_APFloat(number)) && number->bitwiseIsEqual(APFloat(wanted));
}

/// The user of `value` that is `value + number`.
static Instruction *sumWith(Value *value, float number) {
  for (User *user : value->users())
    if (auto *sum = dyn_cast<BinaryOperator>(user); sum && sum->getOpcode() == Instruction::FAdd && isSplat(sum->getOperand(1), number))
      return sum;
  return nullptr;
}

/// Replaces one select(x < limit, 0, p * 2^n); false if it is not one.
static bool replace(SelectInst *product) {
  Value *x, *p, *shifted;
  const APFloat *limit;
  CmpPredicate order;
  auto power = m_BitCast(m_c_Add(m_Shl(m_BitCast(m_Value(shifted)), m_SpecificInt(23)), m_BitCast(m_Value(p))));
  if (product->getType() != FixedVectorType::get(Type::getFloatTy(product->getContext()), 16) ||
      !match(product, m_Select(m_FCmp(order, m_Value(x), m_APFloat(limit)), m_PosZeroFP(), power)) || order != FCmpInst::FCMP_OLT)
    return false;
  auto *rounding = dyn_cast<BinaryOperator>(shifted);
  Instruction *nearest = sumWith(shifted, -kMagic);
  if (!rounding || rounding->getOpcode() != Instruction::FAdd || rounding->getOperand(0) != x || !isSplat(rounding->getOperand(1), kMagic) || !nearest)
    return false;
  SmallVector<Instruction *> distances;
  for (User *user : nearest->users())
    if (match(user, m_FSub(m_Specific(x), m_Specific(nearest))))
      distances.push_back(cast<Instruction>(user));

  constexpr int currentRounding = 4, toNearestWithoutException = 8;
  IRBuilder<> builder(nearest);
  Value *zero = Constant::getNullValue(product->getType());
  Value *distance = builder.CreateIntrinsic(Intrinsic::x86_avx512_mask_reduce_ps_512, {},
                                            {x, builder.getInt32(toNearestWithoutException), zero, builder.getInt16(-1), builder.getInt32(currentRounding)});
  Value *n = builder.CreateFSub(x, distance);
  for (Instruction *old : distances)
    old->replaceAllUsesWith(distance);
  builder.SetInsertPoint(product);
  Value *kept = builder.CreateBitCast(builder.CreateFCmpUGE(x, ConstantFP::get(x->getType(), *limit)), builder.getInt16Ty());
  Value *scaled = builder.CreateIntrinsic(Intrinsic::x86_avx512_mask_scalef_ps_512, {}, {p, n, zero, kept, builder.getInt32(currentRounding)});
  product->replaceAllUsesWith(scaled);
  RecursivelyDeleteTriviallyDeadInstructions(product);
  return true;
}

unsigned scaleByPowers(Module &module) {
  unsigned count = 0;
  for (Function &function : module) {
    if (!function.getFnAttribute("target-features").getValueAsString().contains("+avx512dq"))
      continue;
    SmallVector<SelectInst *> selects;
    for (Instruction &instruction : instructions(function))
      if (auto *select = dyn_cast<SelectInst>(&instruction))
        selects.push_back(select);
    for (SelectInst *select : selects)
      count += replace(select);
  }
  return count;
}

} // namespace mhac
