// The tiles region of attn.attention (part of attn-block-structure): interval arithmetic over a box of queries and keys. For masks that are no
// interval of keys for each query; sound for everything, and exact wherever its bounds are.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "attention/AttentionDialect.h"

#include "mlir/IR/IRMapping.h"

namespace mhac {

/// Copies what the mask computes without q and k into `block` of another region; `uniform` maps the mask's values to those of the copy.
void copyUniform(mlir::Block &mask, mlir::Block &block, unsigned region, mlir::OpBuilder &builder, mlir::IRMapping &uniform);

/// Fills `tiles`, the empty block of the op's tiles region: whether some pair of the box can be visible, and whether all are.
void interpretTile(attn::AttentionOp op, mlir::Block &tiles);

} // namespace mhac
