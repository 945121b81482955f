// Operations of the attn dialect. Formulas with shapes stand in the descriptions; constraints are numbered (c1), (c2), ... and the verifier
// and its tests carry the same numbers.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef MHAC_ATTENTION_OPS_TD
#define MHAC_ATTENTION_OPS_TD

include "attention/AttentionVariants.td"
include "mlir/IR/OpAsmInterface.td"
include "mlir/IR/SymbolInterfaces.td"
include "mlir/Interfaces/InferTypeOpInterface.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

class Attn_Op<string mnemonic, list<Trait> traits = []> : Op<Attn_Dialect, mnemonic, traits>;

def Attn_ProjectOp : Attn_Op<"project", [Pure, AttrSizedOperandSegments]> {
  let summary = "linear projection of tokens into heads, or of heads into tokens";
  let description = [{
    From tokens, input [b, s, f] (s tokens of f features), result i is a tensor of heads [b, heads, s, width] with
    `result[b, h, s, j] = scale * (bias[r] + sum_f input[b, s, f] * W[r, f])`, r the row that `parts[i]` gives for (h, j).
    From heads, inputs [b, h, s, e], of different h and e, stand for their heads' features one after the other; the one result is [b, s, width].
    `columns` says where in W the features of every head begin, instead of behind those of the head before: between them may lie features of
    heads that are left out.
    W[r, f] lies at r * inputs + f (`out_in`, nn.Linear) or f * outputs + r (`in_out`, Conv1D). Products accumulate in f32. With `scales`, one tensor
    [outputs, groups] a weight, W[r, f] is the weight's number times scales[r, f / (inputs / groups)]. With `quantized_tokens` each token of the input is
    rounded to integers q of 8 bits times one scale, the largest of |input| / 127, and products are sums of integers (specs/README.md, number formats).

    (c1) Ranks are 3 or 4 (inputs), 2 (weights) and 1 (biases), elements floats, not all of one type, of weights with scales also signed integers. (c2) There is one part for each result, at
    least one.
    (c3) Parts name existing weights and biases. (c4) From tokens there is one input without columns, batch and tokens of the results are those
    of the input, heads and width those of the part. (c5) From heads there is one part of one head, and the inputs agree in batch and tokens. (c6)
    Weights have as many inputs as there are features. (c7) All rows of a part lie in its weight and its bias. (c8) Columns are one a head, of heads
    that do not overlap, in their order, and inside the weights, which (c6) is about no more. (c9) Scales are f32, one a weight, and their groups divide its inputs. (c10) Quantized tokens want
    weights of si8 with one scale a row.
  }];
  let arguments = (ins Variadic<AnyRankedTensor>:$inputs, Variadic<AnyRankedTensor>:$weights, Variadic<AnyRankedTensor>:$scales, Variadic<AnyRankedTensor>:$biases,
      TypedArrayAttrBase<Attn_PartAttr, "one row map a result">:$parts, Attn_LayoutAttr:$layout,
      OptionalAttr<Attn_ScheduleAttr>:$schedule, DefaultValuedAttr<DenseI64ArrayAttr, "{}">:$columns, UnitAttr:$quantized_tokens);
  let results = (outs Variadic<AnyRankedTensor>:$results);
  let assemblyFormat = [{
    $inputs `weights` `(` $weights `)` (`scales` `(` $scales^ `)`)? (`biases` `(` $biases^ `)`)? attr-dict `:` functional-type(operands, results)
  }];
  let extraClassDeclaration = [{
    /// The first input, which says how many tokens there are.
    ::mlir::Value getInput() { return getInputs().front(); }
    /// How many features a token is projected from: dynamic when that is not known.
    int64_t getInputFeatures();
  }];
  let hasVerifier = 1;
}

def Attn_SelectHeadsOp : Attn_Op<"select_heads", [Pure]> {
  let summary = "leaves out heads of a tensor as it lies: result[b, i, s, d] = input[b, numbers[i], s, d]";
  let description = [{
    Nothing is moved. (c1) Input and result have rank 4, one element type, and agree in all but the heads. (c2) There is a number for each head of the
    result, at least 0, increasing, and below the input's number of heads.
  }];
  let arguments = (ins AnyRankedTensor:$input, DenseI64ArrayAttr:$numbers);
  let results = (outs AnyRankedTensor:$result);
  let assemblyFormat = "$input $numbers attr-dict `:` type($input) `->` type($result)";
  let hasVerifier = 1;
}

def Attn_ConcatHeadsOp : Attn_Op<"concat_heads", [Pure]> {
  let summary = "the heads of several tensors [b, h, ...] one after the other, to be returned";
  let description = [{
    (c1) Inputs have the result's rank, at least 2, and its element type, and agree with it in all but the heads. (c2) The result has as many heads as
    the inputs together.
  }];
  let arguments = (ins Variadic<AnyRankedTensor>:$inputs);
  let results = (outs AnyRankedTensor:$result);
  let assemblyFormat = "$inputs attr-dict `:` functional-type(operands, results)";
  let hasVerifier = 1;
}

def Attn_SwapHeadsOp : Attn_Op<"swap_heads", [Pure]> {
  let summary = "exchanges the position and head dimensions: [b, s, h, d] <-> [b, h, s, d]";
  let description = "(c1) Input and result have rank 4 and one element type; dimensions 1 and 2 are exchanged. Two exchanges fold to none.";
  let arguments = (ins AnyRankedTensor:$input, OptionalAttr<Attn_ScheduleAttr>:$schedule);
  let results = (outs AnyRankedTensor:$result);
  let assemblyFormat = "$input attr-dict `:` type($input) `->` type($result)";
  let hasVerifier = 1;
  let hasFolder = 1;
}

def Attn_NormalizeOp : Attn_Op<"normalize", [Pure, AllTypesMatch<["input", "result"]>]> {
  let summary = "normalises the heads of Q or K (QK-norm)";
  let description = [{
    With x the features of a token's head, or with `across_heads` of all its heads in order, n of them:

        rms: result = scale * w * x / sqrt(sum x^2 / n + epsilon)
        l2:  result = scale * w * x / max(sqrt(sum x^2), epsilon)

    w is `weight`, indexed by feature, or by head and feature with `across_heads`; 1 without one. Sums are f32.

    (c1) The input is [b, heads, s, d] with static heads and width, of floats. (c2) The weight has rank 1 and d floats, heads * d with
    `across_heads`. (c3) Epsilon is finite and at least 0. (c4) The scale is finite and above 0.
  }];
  let arguments = (ins AnyRankedTensor:$input, Optional<AnyRankedTensor>:$weight, Attn_NormAttr:$kind, F64Attr:$epsilon,
      UnitAttr:$across_heads, DefaultValuedAttr<F64Attr, "1.0">:$scale);
  let results = (outs AnyRankedTensor:$result);
  let assemblyFormat = "$input (`weight` $weight^ `:` type($weight))? attr-dict `:` type($input)";
  let hasVerifier = 1;
}

def Attn_RotateOp : Attn_Op<"rotate", [Pure, IsolatedFromAbove, AllTypesMatch<["input", "result"]>]> {
  let summary = "rotates pairs of features of Q or K by their token's position (RoPE)";
  let description = [{
    With P frequencies and p = position(b, s), pair j of head h is features j and j + P (`half`) or 2j and 2j + 1 (`interleaved`), (x, y), and

        result = scale * magnitude * (x cos(p f_j) - y sin(p f_j), x sin(p f_j) + y cos(p f_j))

    Features from 2P on are multiplied by `scale` only. Frequencies are in radians a position. An angle is p times the frequency in 2^-64 of a
    turn, modulo a turn, in integers: positions of any size and sign lose nothing but the rounding of the frequency to f64, an error
    below 2^-52 p f_j; cosine and sine are f32.

    `position` takes (b, s, params...) and yields an index; s counts the tokens of the tensor. With `prepared` it is s plus what is the same for
    all tokens of a batch row, at least -n and at most n for a call whose longest sequence has n tokens, and cosine and sine come from the prepared
    state when the call has it: tables by position that all rotations with these frequencies and magnitude share. The bits are the same.

    (c1) The input is [b, heads, s, d] with static heads and width, of floats. (c2) There are from 1 to d / 2 frequencies, all finite.
    (c3) Magnitude and scale are finite and above 0. (c4) Params are ranked tensors and index values. (c5) The region has one block, takes two
    index values and the params, and yields an index.
  }];
  let arguments = (ins AnyRankedTensor:$input, Variadic<AnyType>:$params, Attn_PairingAttr:$pairing, DenseF64ArrayAttr:$frequencies,
      DefaultValuedAttr<F64Attr, "1.0">:$magnitude, DefaultValuedAttr<F64Attr, "1.0">:$scale, UnitAttr:$prepared);
  let results = (outs AnyRankedTensor:$result);
  let regions = (region SizedRegion<1>:$position);
  let assemblyFormat = "$input (`params` `(` $params^ `:` type($params) `)`)? attr-dict `:` type($input) `position` $position";
  let hasVerifier = 1;
  let hasRegionVerifier = 1;
}

def Attn_AttentionOp : Attn_Op<"attention",
    [Pure, AttrSizedResultSegments, IsolatedFromAbove, DeclareOpInterfaceMethods<OpAsmOpInterface, ["getAsmBlockArgumentNames", "getAsmResultNames"]>]> {
  let summary = "scaled dot-product attention with score and mask regions";
  let description = [{
    With Q [b, h, q, d], K [b, g, k, d], V [b, g, k, e] and head h reading key/value head g(h) = h / (heads / kv_heads):

        S[b, h, q, k] = score(scale * sum_d Q[b, h, q, d] * K[b, g(h), k, d])
        P = softmax over the k with mask(b, h, q, k), exp sink(b, h, q) added to the denominator
        output[b, h, q, e] = sum_k P[b, h, q, k] * V[b, g(h), k, e]
        lse[b, h, q] = ln sum_k exp S (natural, visible keys only)

    and one result for each #attn.map in `maps`, see there.

    A row without a visible key gives output 0 and lse -inf. K at a masked pair and V at keys that no query of its batch row and head sees
    never matter, even NaN. Softmax is f32; products accumulate in f32.

    `score` takes (b, h, q, k : index, s : f32, params...) and yields f32; `mask` takes (b, h, q, k, params...) and yields i1; the indices
    are those of the tensors. An empty region is the identity, and everything visible. `blocks` is made by attn-block-structure: it takes
    (b, h, q_first, q_last, params...) for a block of consecutive queries (both ends included) and yields four indices: keys outside
    [lo, hi) are hidden from every query of the block, keys inside [full_lo, full_hi) are visible to all. `tiles`, of the same pass, is there when
    intervals do not say everything: it takes (b, h, q_first, q_last, k_first, k_last, params...) and yields two i1, whether some pair of the tile
    can be visible and whether all are. `sink` takes (b, h, q, params...) and yields f32. For `maps` there are
    `diagonal`, which takes and yields what `mask` does, whether the pair counts for the diagonal mass; and `modified`, as `score` but without what masks
    add to it, where that is not the same. Before attn-expand-variants the
    variants stand in `masks`, `scores` and `positions` (encodings of Q and K, in the order in which they are applied), and their run-time
    parameters in `params`, in that order. With `base2` the scores are already multiplied by log2(e) (see attn-fold-scale). After
    attn-expand-variants positions are ops ahead of this one, and the last two params are the numbers of queries and keys (index).

    Where heads are left out, `head_numbers` says which numbers they have in the whole layer: regions get head_numbers[h] instead of h. `kv_head_of`
    gives g(h) for each head where sharing is not regular.

    (c1) Query, key and value have rank 4, static heads and widths, and one floating-point element type. (c2) Batch, key/value heads and
    keys agree. (c3) The key/value heads divide the query heads, or `kv_head_of` names one of them for each. (c4) Queries and keys have one width.
    (c5) The output is [b, h, q, e]. (c6)
    lse is [b, h, q] of f32. (c7) `masks`, `scores` and `positions` hold variants of their kind, none twice, and are empty once there is a region. (c8)
    Params are ranked tensors and index values; as long as there are variants, they are those that the variants ask for. (c9) Regions take
    and yield the values listed above, in one block. (c10) The scale is finite and above 0. (c11) `maps` holds #attn.map, none twice,
    and there is a result of each: [b, h, q, k], [b, h, q] or [b, h, k] of f32, of i64 for a position. (c12) A diagonal region is there only
    for a diagonal mass. (c13) `head_numbers` has a number for each head, at least 0 and increasing.
  }];
  let arguments = (ins AnyRankedTensor:$query, AnyRankedTensor:$key, AnyRankedTensor:$value, Variadic<AnyType>:$params,
      F64Attr:$scale, DefaultValuedAttr<Attn_OffsetAttr, "::mhac::attn::Offset::BottomRight">:$query_offset,
      DefaultValuedAttr<ArrayAttr, "{}">:$masks, DefaultValuedAttr<ArrayAttr, "{}">:$scores,
      DefaultValuedAttr<ArrayAttr, "{}">:$positions, UnitAttr:$base2,
      DefaultValuedAttr<TypedArrayAttrBase<Attn_MapAttr, "outputs made from the map">, "{}">:$maps, OptionalAttr<Attn_ScheduleAttr>:$schedule,
      DefaultValuedAttr<DenseI64ArrayAttr, "{}">:$head_numbers, DefaultValuedAttr<DenseI64ArrayAttr, "{}">:$kv_head_of);
  let results = (outs AnyRankedTensor:$output, Optional<AnyRankedTensor>:$lse, Variadic<AnyRankedTensor>:$map_results);
  let regions = (region AnyRegion:$score, AnyRegion:$mask, AnyRegion:$blocks, AnyRegion:$tiles, AnyRegion:$sink, AnyRegion:$diagonal, AnyRegion:$modified);
  let hasVerifier = 1;
  let hasRegionVerifier = 1;
  let hasCustomAssemblyFormat = 1;
  let hasCanonicalizeMethod = 1;
  let extraClassDeclaration = [{
    /// The regions, by number.
    enum RegionNumber : unsigned { Score, Mask, Blocks, Tiles, Sink, Diagonal, Modified };
    static constexpr unsigned regionCount = 7;
    /// The types of a region's arguments and of what it yields.
    ::llvm::SmallVector<::mlir::Type> getRegionArgumentTypes(unsigned region);
    ::llvm::SmallVector<::mlir::Type> getRegionResultTypes(unsigned region);
    /// "score", "mask", "blocks", "tiles", "sink", "diagonal", "modified".
    static ::llvm::StringRef getRegionName(unsigned region);
    /// Names of a region's arguments ahead of those that stand for `params`.
    static ::llvm::ArrayRef<::llvm::StringLiteral> getRegionIndexNames(unsigned region);
    /// Where the arguments that stand for `params` begin in a region.
    static unsigned getFirstParamArgument(unsigned region) { return getRegionIndexNames(region).size(); }
    /// Fills an empty region with a block of the right arguments and returns it.
    ::mlir::Block &addRegionBlock(unsigned region);
    /// The key/value head that query head `h` reads.
    int64_t getKvHead(int64_t h);
    /// All variants, masks, scores, positions: the order of their run-time parameters.
    ::llvm::SmallVector<::mhac::attn::VariantInterface> getVariants();
  }];
}

def Attn_HashOp : Attn_Op<"hash", [Pure]> {
  let summary = "buckets of the vectors of Q or K by random rotations (locality-sensitive hashing)";
  let description = [{
    result[b, h, r, s] = the first i with the largest y[i], where y = [x R ; -x R] has `buckets` numbers, x = input[b, h, s, :] and R is a matrix of
    d rows and buckets / 2 columns. Near vectors have a bucket in common more often than others. Its entries are

        R[f, c] = u0 + u1 + u2 + u3 - 510, u0 to u3 the bytes of u = mix(mix(mix(mix(mix(seed) ^ p g) ^ p r) ^ p c) ^ p f)

    with p = 0x9e3779b9 and g = rotations[h], and mix(u): u ^= u >> 16, u *= 0x7feb352d, u ^= u >> 15, u *= 0x846ca68b, u ^= u >> 16, all modulo 2^32:
    nearly normal integers, the same everywhere and exact in f32. Products are summed in f32. A vector with a NaN has any bucket.

    (c1) The input is [b, heads, s, d] with static heads and width, of floats. (c2) The result is [b, heads, rounds, s] of i32. (c3) Buckets are an even
    number from 2 to 4096, rounds from 1 to 8, the seed is from 0 to 2^32 - 1. (c4) There is a rotation for each head, at least 0.
  }];
  let arguments = (ins AnyRankedTensor:$input, I64Attr:$buckets, I64Attr:$rounds, I64Attr:$seed, DenseI64ArrayAttr:$rotations);
  let results = (outs AnyRankedTensor:$result);
  let assemblyFormat = "$input attr-dict `:` type($input) `->` type($result)";
  let builders = [OpBuilder<(ins "::mlir::Value":$input, "int64_t":$buckets, "int64_t":$rounds, "int64_t":$seed, "::llvm::ArrayRef<int64_t>":$rotations)>];
  let extraClassDeclaration = "static constexpr int64_t kMostBuckets = 4096, kMostRounds = 8;";
  let hasVerifier = 1;
}

def Attn_SortBucketsOp : Attn_Op<"sort_buckets", [Pure]> {
  let summary = "the order of tokens by bucket, for each head and round";
  let description = [{
    From buckets [b, h, r, s] of attn.hash a table [b, r * heads + h, 3, s], of which row 0 has the token at each place of the order, the earlier one
    first where buckets are equal; row 1 the place of each token; row 2, as far as there are buckets, the place of the first token in bucket i or behind it.

    (c1) The operand is the result of attn.hash. (c2) The result is [b, rounds * heads, 3, s] of i32.
  }];
  let arguments = (ins AnyRankedTensor:$hash);
  let results = (outs AnyRankedTensor:$result);
  let assemblyFormat = "$hash attr-dict `:` type($hash) `->` type($result)";
  let builders = [OpBuilder<(ins "::mlir::Value":$hash)>];
  let extraClassDeclaration = [{
    enum Row { Tokens, Places, Starts, RowCount };
    int64_t getBuckets();
  }];
  let hasVerifier = 1;
}

def Attn_BucketRangesOp : Attn_Op<"bucket_ranges", [Pure]> {
  let summary = "where the keys of each query's bucket lie in the order of the keys";
  let description = [{
    result[b, i, 0, s] <= place < result[b, i, 1, s] for the keys that fall into the bucket of the query at place s of the order of round and head
    i = r * heads + h. Both ends grow along s. Query head h looks into the order of key/value head g(h), as in attn.attention.

    (c1) The operands are sorted hashes of Q and K by the same buckets, rounds and seed. (c2) The result is [b, rounds * heads, 2, queries] of i32. (c3)
    The key/value heads divide the query heads, or `kv_head_of` names one of them for each.
  }];
  let arguments = (ins AnyRankedTensor:$queries, AnyRankedTensor:$keys, DefaultValuedAttr<DenseI64ArrayAttr, "{}">:$kv_head_of);
  let results = (outs AnyRankedTensor:$result);
  let assemblyFormat = "$queries `,` $keys attr-dict `:` functional-type(operands, results)";
  let builders = [OpBuilder<(ins "::mlir::Value":$queries, "::mlir::Value":$keys, "::llvm::ArrayRef<int64_t>":$kv_head_of)>];
  let extraClassDeclaration = "enum Row { First, End, RowCount };";
  let hasVerifier = 1;
}

def Attn_GatherTokensOp : Attn_Op<"gather_tokens", [Pure]> {
  let summary = "the tokens of all heads in sorted order, once a round";
  let description = [{
    result[b, r * heads + h, s, :] = input[b, h, order[b, r * heads + h, 0, s], :], order made by attn.sort_buckets. (c1) The input has rank 4, static
    heads and width. (c2) `order` is the result of attn.sort_buckets for as many heads. (c3) The result is [b, rounds * heads, s, d] of the input's elements.
  }];
  let arguments = (ins AnyRankedTensor:$input, AnyRankedTensor:$order);
  let results = (outs AnyRankedTensor:$result);
  let assemblyFormat = "$input `by` $order attr-dict `:` functional-type(operands, results)";
  let builders = [OpBuilder<(ins "::mlir::Value":$input, "::mlir::Value":$order)>];
  let hasVerifier = 1;
}

def Attn_MergeRoundsOp : Attn_Op<"merge_rounds", [Pure]> {
  let summary = "joins what sorted queries saw in all rounds, in the order of the tokens";
  let description = [{
    As attn.merge_states, where part r of head h and query s is outputs[b, r * heads + h, place, :] and the lse there, place being that of
    the query in that order: order[b, r * heads + h, 1, s]. The rounds' keys are disjoint. A head's sink is sinks[h], or sinks[head_numbers[h]].

    (c1) Outputs [b, rounds * heads, s, e] have static heads and width, and elements of a floating-point type. (c2) Lses are [b, rounds * heads, s] of f32.
    (c3) `order` is the result of attn.sort_buckets for as many heads. (c4) Sinks have rank 1 and elements of f32. (c5) The output is [b, heads, s, e], heads
    a divisor of the outputs' heads, the lse [b, heads, s] of f32. (c6) `head_numbers` are one a head, at least 0 and increasing.
  }];
  let arguments = (ins AnyRankedTensor:$outputs, AnyRankedTensor:$lses, AnyRankedTensor:$order, Optional<AnyRankedTensor>:$sinks,
      DefaultValuedAttr<DenseI64ArrayAttr, "{}">:$head_numbers);
  let results = (outs AnyRankedTensor:$output, Optional<AnyRankedTensor>:$lse);
  let assemblyFormat = "$outputs `,` $lses `by` $order (`sinks` $sinks^)? attr-dict `:` functional-type(operands, results)";
  let hasVerifier = 1;
}

def Attn_HeadNormsOp : Attn_Op<"head_norms", [Pure]> {
  let summary = "the Euclidean norm of every head's output over all its queries";
  let description = [{
    result[b, h] = sqrt sum over q, e of input[b, h, q, e]^2. (c1) The input has rank 4 and elements of a floating-point type. (c2) The result is
    [b, h] of f32.
  }];
  let arguments = (ins AnyRankedTensor:$input, OptionalAttr<Attn_ScheduleAttr>:$schedule);
  let results = (outs AnyRankedTensor:$result);
  let assemblyFormat = "$input attr-dict `:` type($input) `->` type($result)";
  let hasVerifier = 1;
}

def Attn_MergeStatesOp : Attn_Op<"merge_states", [Pure]> {
  let summary = "joins parts of the same rows over disjoint keys";
  let description = [{
    With outputs O_p and lse_p of parts p, weights w_p = exp lse_p / (sum_p exp lse_p + exp sink[h]): output[b, h, q, e] = sum_p w_p O_p, and
    lse = ln sum_p exp lse_p, without the sink, so that merging is associative. A part whose lse is -inf has no weight, whatever its output is;
    a row of such parts only, or of none, gives output 0 and lse -inf. `outputs` is [p, b, q, h, e], or [p, b, h, q, e] with `heads_first`.

    (c1) `outputs` has rank 5, static heads and width, and elements of a floating-point type. (c2) `lses` is [p, b, h, q] of f32. (c3) `sinks` is
    [heads] of f32. (c4) The output is [b, h, q, e], the lse [b, h, q] of f32.
  }];
  let arguments = (ins AnyRankedTensor:$outputs, AnyRankedTensor:$lses, Optional<AnyRankedTensor>:$sinks, UnitAttr:$heads_first);
  let results = (outs AnyRankedTensor:$output, Optional<AnyRankedTensor>:$lse);
  let assemblyFormat = "$outputs `,` $lses (`sinks` $sinks^)? attr-dict `:` functional-type(operands, results)";
  let hasVerifier = 1;
}

def Attn_LoadOp : Attn_Op<"load", [Pure]> {
  let summary = "reads one element of a parameter inside a region";
  let description = [{
    Indices outside the tensor are clamped to it, so that a tile that crosses the end reads valid memory. `ascending`: along the index that is q, the
    element does not become smaller, so that those of the first and last query bound all between.
    (c1) One index a dimension. (c2) The result is an element of the tensor.
  }];
  let arguments = (ins AnyRankedTensor:$param, Variadic<Index>:$indices, UnitAttr:$ascending);
  let results = (outs AnyType:$result);
  let assemblyFormat = "$param `[` $indices `]` attr-dict `:` type($param) `->` type($result)";
  let hasVerifier = 1;
}

def Attn_LoadRangeOp : Attn_Op<"load_range", [Pure, SameVariadicOperandSize]> {
  let summary = "smallest and largest element of a box of a parameter, inside the tiles region";
  let description = [{
    The box reaches from `first` to `last`, both included and clamped to the tensor as by attn.load. `spans` says how far they lie apart at most:
    `point` (they are equal), `queries` or `keys` (as far as the first and last query or key of the tile), so that the number of elements is bounded.
    (c1) First, last and spans have one value a dimension. (c2) The results are elements of the tensor.
  }];
  let arguments = (ins AnyRankedTensor:$param, Variadic<Index>:$first, Variadic<Index>:$last, Attn_SpanArrayAttr:$spans);
  let results = (outs AnyType:$smallest, AnyType:$largest);
  let assemblyFormat = "$param `[` $first `]` `to` `[` $last `]` `spans` $spans attr-dict `:` type($param) `->` type($smallest) `,` type($largest)";
  let hasVerifier = 1;
}

def Attn_FloorDivOp : Attn_Op<"floor_div", [Pure]> {
  let summary = "quotient rounded down, inside a region: floor(a / b), and 0 when b is 0";
  let arguments = (ins Index:$lhs, Index:$rhs);
  let results = (outs Index:$result);
  let assemblyFormat = "$lhs `,` $rhs attr-dict";
  let hasFolder = 1;
}

def Attn_FloorModOp : Attn_Op<"floor_mod", [Pure]> {
  let summary = "remainder of floor_div, inside a region: a - floor_div(a, b) * b with the sign of b, and 0 when b is 0";
  let arguments = (ins Index:$lhs, Index:$rhs);
  let results = (outs Index:$result);
  let assemblyFormat = "$lhs `,` $rhs attr-dict";
  let hasFolder = 1;
}

def Attn_TableOp : Attn_Op<"table", [Pure]> {
  let summary = "reads one element of a constant list inside a region";
  let description = "An index outside the list is clamped to it. (c1) The list has rank 1 and at least one element. (c2) The result is an element.";
  let arguments = (ins ElementsAttr:$elements, Index:$index);
  let results = (outs AnyTypeOf<[F32, Index]>:$result);
  let assemblyFormat = "$elements `[` $index `]` attr-dict `:` type($result)";
  let hasVerifier = 1;
  let hasFolder = 1;
}

def Attn_YieldOp : Attn_Op<"yield", [Pure, Terminator]> {
  let summary = "ends a region of attn.attention or attn.rotate";
  let arguments = (ins Variadic<AnyType>:$values);
  let assemblyFormat = "($values^ `:` type($values))? attr-dict";
}

def Attn_EntryOp : Attn_Op<"entry", [Symbol, NoTerminator, SingleBlock, NoRegionArguments]> {
  let summary = "a public function: an ordered list of candidates, the first that fits runs";
  let description = "(c1) There is at least one candidate, and nothing else.";
  let arguments = (ins SymbolNameAttr:$sym_name);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = "$sym_name $body attr-dict";
  let hasRegionVerifier = 1;
}

def Attn_CandidateOp : Attn_Op<"candidate", [HasParent<"EntryOp">, DeclareOpInterfaceMethods<SymbolUserOpInterface>]> {
  let summary = "one body of an entry, for one target and the sizes that its guards allow";
  let description = [{
    `target` is the name that users know, `machine` the string that Halide compiles for, `features` the MHAC_CPU_* bits that a CPU must
    have. With `batch_major`, one task runs the callee's kernels for one element of the batch, otherwise a kernel runs for the whole batch.
    (c1) The callee is a function of the module. (c2) Guards are #attn.guard on a size of the callee or on `workers`. (c3) Only a callee with a
    size `batch` is called batch-major.
  }];
  let arguments = (ins FlatSymbolRefAttr:$callee, StrAttr:$target, StrAttr:$machine, I64Attr:$features, ArrayAttr:$guards, UnitAttr:$batch_major);
  let assemblyFormat = [{
    $callee `target` $target `machine` $machine `features` $features `guards` $guards (`batch_major` $batch_major^)? attr-dict
  }];
}

#endif
