// Score changes, applied in the order written.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef MHAC_ATTENTION_SCORES_TD
#define MHAC_ATTENTION_SCORES_TD

include "attention/AttentionAttrs.td"
include "attention/VariantInterface.td"

def Attn_ScaleAttr : Attn_Variant<"Scale", "scale", ["transformScore", "constantFactor"]> {
  let summary = "multiplies the products of queries and keys";
  let parameters = (ins "::mlir::FloatAttr":$value);
  let assemblyFormat = "`<` $value `>`";
  let genVerifyDecl = 1;
}

def Attn_BiasAttr : Attn_Variant<"Bias", "bias", ["parameters", "transformScore"]> {
  let summary = "adds an input: S + score_bias[b, h, q, k]";
  let description = [{
    score_bias has extent 1 along b without `batch`, along q without `query`, and `heads` heads, the layer's or 1.
  }];
  let parameters = (ins "bool":$batch, "int64_t":$heads, "bool":$query);
  let assemblyFormat = "`<` struct(params) `>`";
  let genVerifyDecl = 1;
}

def Attn_AlibiAttr : Attn_Variant<"Alibi", "alibi", ["transformScore"]> {
  let summary = "adds a number that falls with the distance, steeper or flatter head by head (ALiBi)";
  let description = [{
    symmetric: S - slopes[h] |p_q - p_k|; otherwise S + slopes[h] (p_k - p_q). One slope a query head.
  }];
  let parameters = (ins "bool":$symmetric, "::mlir::DenseF64ArrayAttr":$slopes);
  let assemblyFormat = "`<` struct(params) `>`";
  let genVerifyDecl = 1;
}

def Attn_RelativeBiasAttr : Attn_Variant<"RelativeBias", "relative_bias", ["parameters", "transformScore"]> {
  let summary = "adds a learned number for the distance and head: S + relative_bias[bucket(p_k - p_q), h] (T5)";
  let description = [{
    With n = buckets, bidirectional n = buckets / 2, and i = n / 2 (rounded down), a distance a >= 0 into the past has bucket a when a < i, otherwise
    min(n - 1, i + floor((n - i) ln(a / i) / ln(max_distance / i))). Keys behind the query have bucket 0, bidirectional n + the bucket of as
    far into the past.
  }];
  let parameters = (ins "int64_t":$buckets, "int64_t":$max_distance, "bool":$bidirectional, "int64_t":$heads);
  let assemblyFormat = "`<` struct(params) `>`";
  let genVerifyDecl = 1;
}

def Attn_SoftcapAttr : Attn_Variant<"Softcap", "softcap", ["transformScore"]> {
  let summary = "keeps scores within a bound: cap * tanh(S / cap)";
  let parameters = (ins "::mlir::FloatAttr":$cap);
  let assemblyFormat = "`<` $cap `>`";
  let genVerifyDecl = 1;
}

def Attn_SinkAttr : Attn_Variant<"Sink", "sink", ["parameters", "updateSoftmax"]> {
  let summary = "a learned logit a head, sinks[h], joins the softmax's denominator";
  let parameters = (ins "int64_t":$heads);
  let assemblyFormat = "`<` struct(params) `>`";
  let genVerifyDecl = 1;
}

def Attn_ScoreExprAttr : Attn_Variant<"ScoreExpr", "score_expr",
    ["parameters", "transformScore", "comparesPositions", "largestSize"]> {
  let summary = "the new score is an expression of the old one and of the pair";
  let description = "As #attn.mask_expr, where `s` is the score. (c1) The text is a number over these parameters.";
  let parameters = (ins StringRefParameter<>:$text, Attn_StringList<>:$parameters);
  let assemblyFormat = "`<` $text `,` $parameters `>`";
  let genVerifyDecl = 1;
}

#endif
