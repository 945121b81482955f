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

    (c1) On a function with `attn.sizes` every argument and result carries `attn.argument`, with a name of its own; its `dims` are as many
    as the tensor's rank, each a size of the function (static in the type exactly when fixed) or the number in the type.
  }];
  let useDefaultAttributePrinterParser = 1;
  let hasOperationAttrVerify = 1;
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::func::FuncDialect", "::mlir::math::MathDialect",
                           "::mlir::tensor::TensorDialect"];
}

#endif
