// Masks: a key is visible to a query when all masks of the list say so.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef MHAC_ATTENTION_MASKS_TD
#define MHAC_ATTENTION_MASKS_TD

include "attention/VariantInterface.td"
include "mlir/IR/EnumAttr.td"

def Attn_Side : I32Enum<"Side", "where a row of the batch has no tokens", [
    I32EnumCase<"Right", 0, "right">, I32EnumCase<"Left", 1, "left">, I32EnumCase<"Both", 2, "both">]> {
  let cppNamespace = "::mhac::attn";
}

def Attn_CausalAttr : Attn_Variant<"Causal", "causal", ["isVisible", "comparesPositions"]> {
  let summary = "a query sees the keys up to its own position: p_k <= p_q";
}

def Attn_PaddingAttr : Attn_Variant<"Padding", "padding", ["parameters", "isVisible", "firstKey", "validKeys", "shiftsKeys"]> {
  let summary = "rows of the batch are padded; queries see no padding keys";
  let description = [{
    right: k < key_lengths[b]; left: k >= key_starts[b]; both: key_starts[b] <= k < key_starts[b] + key_lengths[b]. With left and both the
    position of a key is counted from key_starts[b].
  }];
  let parameters = (ins EnumParameter<Attn_Side>:$side);
  let assemblyFormat = "`<` struct(params) `>`";
}

#endif
