// Position encodings and the normalisation of Q and K: what happens to both between the input projections and the scores.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef MHAC_ATTENTION_POSITIONS_TD
#define MHAC_ATTENTION_POSITIONS_TD

include "attention/AttentionAttrs.td"
include "attention/VariantInterface.td"

def Attn_PositionSource : I32Enum<"PositionSource", "where positions come from: counted, one input for queries and keys, or one for each", [
    I32EnumCase<"Absolute", 0, "absolute">, I32EnumCase<"Shared", 1, "shared">, I32EnumCase<"Separate", 2, "separate">]> {
  let cppNamespace = "::mhac::attn";
}

def Attn_RopeAttr : Attn_Variant<"Rope", "rope", ["parameters", "transformQuery", "transformKey"]> {
  let summary = "rotates pairs of the first `rotary_dim` features of Q and K by their positions";
  let description = [{
    Pair j of rotary_dim / 2 turns by position * base^(-2j / rotary_dim), changed by `scaling`: a dictionary with the `kind` and the numbers of
    that kind, as the spec has them. `positions` says where positions come from.
    (c1) `rotary_dim` is even and at least 2, `base` finite and above 0.
  }];
  let parameters = (ins EnumParameter<Attn_Pairing>:$pairing, "::mlir::FloatAttr":$base, "int64_t":$rotary_dim,
      DefaultValuedParameter<"::mhac::attn::PositionSource", "::mhac::attn::PositionSource::Absolute">:$positions,
      DefaultValuedParameter<"::mlir::DictionaryAttr", "::mlir::DictionaryAttr()">:$scaling);
  let assemblyFormat = "`<` struct(params) `>`";
  let genVerifyDecl = 1;
}

def Attn_QkNormAttr : Attn_Variant<"QkNorm", "qk_norm", ["parameters", "transformQuery", "transformKey"]> {
  let summary = "normalises the heads of Q and K; stands before or behind the position encoding";
  let description = [{
    `q_features` and `k_features` are the numbers of elements of the weights `q_norm_weight` and `k_norm_weight`; 0: there are no weights.
    In YAML this is `layer.qk_norm`, no word of the list `position`.
  }];
  let parameters = (ins EnumParameter<Attn_Norm>:$kind, "::mlir::FloatAttr":$epsilon, "bool":$across_heads, "int64_t":$q_features,
      "int64_t":$k_features);
  let assemblyFormat = "`<` struct(params) `>`";
  let genVerifyDecl = 1;
}

#endif
