// Operations of the attn dialect. Formulas with shapes stand in the descriptions; constraints are numbered (c1), (c2), ... and the verifier
// and its tests carry the same numbers.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef MHAC_ATTENTION_OPS_TD
#define MHAC_ATTENTION_OPS_TD

include "attention/AttentionAttrs.td"
include "mlir/IR/RegionKindInterface.td"
include "mlir/IR/SymbolInterfaces.td"
include "mlir/Interfaces/InferTypeOpInterface.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

class Attn_Op<string mnemonic, list<Trait> traits = []> : Op<Attn_Dialect, mnemonic, traits>;

def Attn_ProjectOp : Attn_Op<"project", [Pure, AttrSizedOperandSegments]> {
  let summary = "linear projection of tokens into heads, or of heads into tokens";
  let description = [{
    From tokens, input [b, s, f] (s tokens of f features), result i is a tensor of heads [b, heads, s, width] with
    `result[b, h, s, j] = scale * (bias[r] + sum_f input[b, s, f] * W[r, f])`, r the row that `parts[i]` gives for (h, j).
    From heads, input [b, h, s, e] stands for h * e features in the order head, element; the one result is [b, s, width].
    W[r, f] lies at r * inputs + f (`out_in`, nn.Linear) or f * outputs + r (`in_out`, Conv1D). Products accumulate in f32.
  }];
  let arguments = (ins AnyRankedTensor:$input, Variadic<AnyRankedTensor>:$weights, Variadic<AnyRankedTensor>:$biases,
      TypedArrayAttrBase<Attn_PartAttr, "one row map a result">:$parts, Attn_LayoutAttr:$layout,
      OptionalAttr<Attn_ScheduleAttr>:$schedule);
  let results = (outs Variadic<AnyRankedTensor>:$results);
  let assemblyFormat = [{
    $input `weights` `(` $weights `)` (`biases` `(` $biases^ `)`)? attr-dict `:` functional-type(operands, results)
  }];
  let hasVerifier = 1;
}

def Attn_SwapHeadsOp : Attn_Op<"swap_heads", [Pure]> {
  let summary = "exchanges the position and head dimensions: [b, s, h, d] <-> [b, h, s, d]";
  let arguments = (ins AnyRankedTensor:$input, OptionalAttr<Attn_ScheduleAttr>:$schedule);
  let results = (outs AnyRankedTensor:$result);
  let assemblyFormat = "$input attr-dict `:` type($input) `->` type($result)";
  let hasVerifier = 1;
  let hasFolder = 1;
}

def Attn_AttentionOp : Attn_Op<"attention", [Pure, AttrSizedResultSegments]> {
  let summary = "scaled dot-product attention with score and mask regions";
  let description = [{
    With Q [b, h, q, d], K [b, g, k, d], V [b, g, k, e] and head h reading key/value head g(h) = h / (heads / kv_heads):

        S[b, h, q, k] = score(scale * sum_d Q[b, h, q, d] * K[b, g(h), k, d])
        P = softmax over the k with mask(b, h, q, k)
        output[b, h, q, e] = sum_k P[b, h, q, k] * V[b, g(h), k, e]
        lse[b, h, q] = ln sum_k exp S (natural, visible keys only)

    A row without a visible key gives output 0 and lse -inf. K at a masked pair and V at keys that no query of its batch row and head sees never
    matter, even NaN. Softmax is f32; products accumulate in f32.

    `score` takes (b, h, q, k : index, s : f32, params...) and yields f32; `mask` takes (b, h, q, k, params...) and yields i1; the indices are
    those of the tensors. An empty region is the identity, and everything visible. `blocks` is made by attn-block-structure: it takes
    (b, h, q_first, q_last, params...) for a block of consecutive queries (both ends included) and yields four indices: keys outside [lo, hi)
    are hidden from every query of the block, keys inside [full_lo, full_hi) are visible to all. Before attn-expand-variants the variants stand in
    `masks` and `scores`, and their run-time parameters in `params`, in that order.
    With `base2` the scores are already multiplied by log2(e) (see attn-fold-scale).
  }];
  let arguments = (ins AnyRankedTensor:$query, AnyRankedTensor:$key, AnyRankedTensor:$value, Variadic<AnyType>:$params,
      F64Attr:$scale, DefaultValuedAttr<Attn_OffsetAttr, "Offset::BottomRight">:$query_offset,
      DefaultValuedAttr<ArrayAttr, "{}">:$masks, DefaultValuedAttr<ArrayAttr, "{}">:$scores, UnitAttr:$base2,
      OptionalAttr<Attn_ScheduleAttr>:$schedule);
  let results = (outs AnyRankedTensor:$output, Optional<AnyRankedTensor>:$lse);
  let regions = (region AnyRegion:$score, AnyRegion:$mask, AnyRegion:$blocks);
  let hasVerifier = 1;
  let hasRegionVerifier = 1;
  let hasCustomAssemblyFormat = 1;
}

def Attn_LoadOp : Attn_Op<"load", [Pure]> {
  let summary = "reads one element of a parameter inside a region";
  let description = "Indices outside the tensor are clamped to it, so that a tile that crosses the end reads valid memory.";
  let arguments = (ins AnyRankedTensor:$param, Variadic<Index>:$indices);
  let results = (outs AnyType:$result);
  let assemblyFormat = "$param `[` $indices `]` attr-dict `:` type($param) `->` type($result)";
  let hasVerifier = 1;
}

def Attn_YieldOp : Attn_Op<"yield", [Pure, Terminator, ReturnLike]> {
  let summary = "ends a region of attn.attention";
  let arguments = (ins Variadic<AnyType>:$values);
  let assemblyFormat = "($values^ `:` type($values))? attr-dict";
}

def Attn_EntryOp : Attn_Op<"entry", [Symbol, NoTerminator, SingleBlock, NoRegionArguments]> {
  let summary = "a public function: an ordered list of candidates, the first that fits runs";
  let arguments = (ins SymbolNameAttr:$sym_name);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = "$sym_name $body attr-dict";
  let hasRegionVerifier = 1;
}

def Attn_CandidateOp : Attn_Op<"candidate", [HasParent<"EntryOp">, DeclareOpInterfaceMethods<SymbolUserOpInterface>]> {
  let summary = "one body of an entry, for one target and the sizes that its guards allow";
  let arguments = (ins FlatSymbolRefAttr:$callee, StrAttr:$target, ArrayAttr:$guards);
  let assemblyFormat = "$callee `target` $target `guards` $guards attr-dict";
}

#endif
