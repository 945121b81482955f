// The attn dialect: an attention layer as a short straight program over builtin tensors.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef MHAC_ATTENTION_DIALECT_TD
#define MHAC_ATTENTION_DIALECT_TD

include "mlir/IR/OpBase.td"

def Attn_Dialect : Dialect {
  let name = "attn";
  let cppNamespace = "::mhac::attn";
  let summary = "attention layers, from the spec to scheduled kernels";
  let description = [{
    A layer is a `func.func` whose arguments and results carry `attn.argument`, built of `attn.project`, `attn.swap_heads` and
    `attn.attention`. Dimension letters: b batch, h query head, g key/value head, q query position, k key position, d width of a head of
    Q and K, e width of a head of V, m d_model. The module carries `attn.stage` ("attn", "lowered", "scheduled").
  }];
  let useDefaultAttributePrinterParser = 1;
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::func::FuncDialect", "::mlir::math::MathDialect",
                           "::mlir::tensor::TensorDialect"];
}

#endif
