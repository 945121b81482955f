// Mask `causal`: a query sees the keys up to its own position, p_k <= p_q.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "attention/AttentionDialect.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using namespace mhac::attn;

const VariantInfo &CausalAttr::info() {
  static const VariantInfo info{getMnemonic(), VariantKind::Mask, "a query sees the keys up to its own position", {}};
  return info;
}

Attribute CausalAttr::fromSpec(VariantReader &reader) { return get(reader.context); }

bool CausalAttr::comparesPositions() const { return true; }

Value CausalAttr::isVisible(RegionBuilder &region) const {
  // One after the other: the order in which arguments of a call are evaluated is the compiler's.
  Value key = region.keyPosition(), query = region.queryPosition();
  return arith::CmpIOp::create(region.builder, region.loc, arith::CmpIPredicate::sle, key, query);
}
