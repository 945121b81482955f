// Score changes, applied in the order written.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef MHAC_ATTENTION_SCORES_TD
#define MHAC_ATTENTION_SCORES_TD

include "attention/VariantInterface.td"

def Attn_ScaleAttr : Attn_Variant<"Scale", "scale", ["transformScore", "constantFactor"]> {
  let summary = "multiplies the products of queries and keys";
  let parameters = (ins "::mlir::FloatAttr":$value);
  let assemblyFormat = "`<` $value `>`";
  let genVerifyDecl = 1;
}

#endif
