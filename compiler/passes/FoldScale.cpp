// attn-fold-scale: scale, times log2(e) without a score region, joins what makes the queries (Passes.td).
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "passes/Passes.h"

#include "attention/AttentionDialect.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Matchers.h"

#include "llvm/ADT/TypeSwitch.h"

#include <numbers>

using namespace mlir;
using namespace mhac::attn;

namespace mhac {
#define GEN_PASS_DEF_FOLDSCALEPASS
#include "passes/Passes.h.inc"
} // namespace mhac

namespace {

/// Multiplications by a constant above 0 with which a score region begins join the scale: a softcap has one. Not where maps want to know what is
/// scaled and nothing else.
void foldFirstFactors(AttentionOp attention) {
  if (attention.getScore().empty() || !attention.getMaps().empty())
    return;
  Value score = attention.getScore().front().getArgument(4);
  while (score.hasOneUse()) {
    auto product = dyn_cast<arith::MulFOp>(*score.user_begin());
    FloatAttr factor;
    if (!product || !matchPattern(product.getLhs() == score ? product.getRhs() : product.getLhs(), m_Constant(&factor)))
      return;
    double scale = attention.getScale().convertToDouble() * factor.getValueAsDouble();
    if (!(scale > 1e-30 && scale < 1e30)) // the op wants it finite and above 0, and f32 holds it
      return;
    attention.setScale(APFloat(scale));
    product.replaceAllUsesWith(score);
    product.erase();
  }
}

void foldScale(AttentionOp attention) {
  if (!attention.getScores().empty() || attention.getBase2())
    return;
  foldFirstFactors(attention);
  auto result = dyn_cast<OpResult>(attention.getQuery());
  Operation *producer = result ? result.getOwner() : nullptr;
  // A second user of the queries would see scaled queries (its shape may be asked for).
  auto isOther = [&](Operation *user) { return user != attention && !isa<tensor::DimOp, HashOp>(user); }; // a factor above 0 changes no hash
  if (!isa_and_nonnull<ProjectOp, RotateOp, NormalizeOp>(producer) || llvm::any_of(result.getUsers(), isOther) || attention.getKey() == result ||
      attention.getValue() == result)
    return;
  // A score region wants scores in natural units.
  const bool base2 = attention.getScore().empty();
  double scale = attention.getScale().convertToDouble() * (base2 ? std::numbers::log2e : 1.);
  if (scale == 1.)
    return;
  Builder builder(attention.getContext());
  llvm::TypeSwitch<Operation *>(producer)
      .Case([&](ProjectOp project) {
        SmallVector<Attribute> parts(project.getParts().getValue());
        auto part = cast<PartAttr>(parts[result.getResultNumber()]);
        if (part.getScale())
          scale *= part.getScale().getValueAsDouble();
        parts[result.getResultNumber()] = part.with(part.getWeight(), part.getBias(), builder.getF64FloatAttr(scale));
        project.setPartsAttr(builder.getArrayAttr(parts));
      })
      .Case<RotateOp, NormalizeOp>([&](auto op) { op.setScaleAttr(builder.getF64FloatAttr(scale * op.getScale().convertToDouble())); });
  attention.setScaleAttr(builder.getF64FloatAttr(1.0));
  attention.setBase2(base2);
}

struct FoldScalePass : mhac::impl::FoldScalePassBase<FoldScalePass> {
  void runOnOperation() override { getOperation().walk(foldScale); }
};

} // namespace
