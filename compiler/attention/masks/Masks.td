// Masks: a key is visible to a query when all masks of the list say so.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef MHAC_ATTENTION_MASKS_TD
#define MHAC_ATTENTION_MASKS_TD

include "attention/AttentionAttrs.td"
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

def Attn_SlidingWindowAttr : Attn_Variant<"SlidingWindow", "sliding_window", ["isVisible", "comparesPositions"]> {
  let summary = "a query sees the keys near its own position: p_q - left <= p_k <= p_q + right; -1 is no limit";
  let parameters = (ins DefaultValuedParameter<"int64_t", "-1">:$left, DefaultValuedParameter<"int64_t", "-1">:$right);
  let assemblyFormat = "`<` struct(params) `>`";
  let genVerifyDecl = 1;
}

def Attn_GlobalAttr : Attn_Variant<"Global", "global", ["parameters", "isVisible"]> {
  let summary = "global tokens see all keys and are seen by all queries";
  let description = [{
    With `tokens`: 0 <= p_k < tokens or 0 <= p_q < tokens. Without: those that inputs mark, global_queries[b, q] or global_keys[b, k];
    `shared` when queries and keys are the same tokens, global_tokens[b, position].
  }];
  let parameters = (ins OptionalParameter<"std::optional<int64_t>">:$tokens, DefaultValuedParameter<"bool", "false">:$shared);
  let assemblyFormat = "(`<` struct($tokens, $shared)^ `>`)?";
  let genVerifyDecl = 1;
}

def Attn_PrefixAttr : Attn_Variant<"Prefix", "prefix", ["parameters", "isVisible"]> {
  let summary = "the first keys are visible to all queries: p_k < length, without a number p_k < prefix_lengths[b]";
  let parameters = (ins OptionalParameter<"std::optional<int64_t>">:$length);
  let assemblyFormat = "(`<` struct($length)^ `>`)?";
  let genVerifyDecl = 1;
}

def Attn_DocumentAttr : Attn_Variant<"Document", "document", ["parameters", "isVisible"]> {
  let summary = "tokens of one document see each other: query_documents[b, q] == key_documents[b, k]";
  let description = "`shared` when queries and keys are the same tokens, documents[b, position].";
  let parameters = (ins DefaultValuedParameter<"bool", "false">:$shared);
  let assemblyFormat = "(`<` struct($shared)^ `>`)?";
}

def Attn_ChunkedAttr : Attn_Variant<"Chunked", "chunked", ["isVisible", "comparesPositions"]> {
  let summary = "positions are cut into chunks: floor(p_q / size) == floor(p_k / size)";
  let parameters = (ins "int64_t":$size);
  let assemblyFormat = "`<` struct(params) `>`";
  let genVerifyDecl = 1;
}

def Attn_DilatedAttr : Attn_Variant<"Dilated", "dilated", ["isVisible", "comparesPositions"]> {
  let summary = "every step-th key near the query: |p_q - p_k| <= window * step and (p_q - p_k) mod step == 0";
  let parameters = (ins "int64_t":$window, "int64_t":$step);
  let assemblyFormat = "`<` struct(params) `>`";
  let genVerifyDecl = 1;
}

def Attn_BlockSparseAttr : Attn_Variant<"BlockSparse", "block_sparse", ["isVisible", "comparesPositions"]> {
  let summary = "blocks of queries see blocks of keys: those beside their own, the first ones, and drawn ones (BigBird)";
  let description = [{
    With Q = floor(p_q / block), K = floor(p_k / block) and N = max(1, ceil(keys / block)): |Q - K| <= local, or 0 <= K < global, or
    0 <= Q < global, or K == r(i) for an i < random. r(i) = x mod N, where x begins as seed mod P, P = 46337, and for each v of h, Q, i
    becomes ((y + 1)^2 mod P + 17 y) mod P with y = (x + v) mod P.
  }];
  let parameters = (ins "int64_t":$block, "int64_t":$local, "int64_t":$global, "int64_t":$random, "int64_t":$seed);
  let assemblyFormat = "`<` struct(params) `>`";
  let genVerifyDecl = 1;
}

def Attn_LshAttr : Attn_Variant<"Lsh", "lsh", ["isVisible", "expandBefore"]> {
  let summary = "queries see the keys that fall into their bucket in one of several rounds of hashing (Reformer)";
  let description = [{
    attn.hash says into which bucket a query or key falls. Heads hash as their key/value head does, which is number floor(h / group) in the whole
    layer for query head h of it.
  }];
  let parameters = (ins "int64_t":$buckets, "int64_t":$rounds, "int64_t":$seed, "int64_t":$group);
  let assemblyFormat = "`<` struct(params) `>`";
  let genVerifyDecl = 1;
}

def Attn_TensorAttr : Attn_Variant<"Tensor", "tensor", ["parameters", "sizes", "isVisible", "transformScore"]> {
  let summary = "an input [b, h, q, mask_keys] says what is visible; keys beyond mask_keys are hidden";
  let description = [{
    mask[b, h, q, k] is a truth value, or with `added` a number that is added to the score and hides when it is -inf. It has extent 1 along b
    without `batch`, along q without `query`, and `heads` heads, the layer's or 1.
  }];
  let parameters = (ins "bool":$added, "bool":$batch, "int64_t":$heads, "bool":$query);
  let assemblyFormat = "`<` struct(params) `>`";
  let genVerifyDecl = 1;
}

def Attn_AnyAttr : Attn_Variant<"Any", "any",
    ["parameters", "sizes", "largestSize", "isVisible", "firstKey", "validKeys", "shiftsKeys", "comparesPositions", "expandBefore"]> {
  let summary = "one of the alternatives holds; each is a list of masks that all hold";
  let parameters = (ins "::mlir::ArrayAttr":$alternatives);
  let assemblyFormat = "`<` $alternatives `>`";
  let genVerifyDecl = 1;
}

def Attn_MaskExprAttr : Attn_Variant<"MaskExpr", "mask_expr",
    ["parameters", "isVisible", "comparesPositions", "largestSize"]> {
  let summary = "a key is visible when a condition written as an expression holds";
  let description = [{
    The text is the condition, in the language of specs/README.md; `parameters` declares what it reads at run time, "name dtype dims...", dims as
    in attn.argument. (c1) The text is a condition over these parameters.
  }];
  let parameters = (ins StringRefParameter<>:$text, Attn_StringList<>:$parameters);
  let assemblyFormat = "`<` $text `,` $parameters `>`";
  let genVerifyDecl = 1;
}

#endif
