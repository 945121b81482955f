// The passes of stage 3, lowering. Their order and its reasons stand in PassPipeline.cpp.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef MHAC_PASSES_TD
#define MHAC_PASSES_TD

include "mlir/Pass/PassBase.td"

def MergeProjectionsPass : Pass<"attn-merge-projections", "::mlir::func::FuncOp"> {
  let summary = "makes one op of the projections that read the same tokens";
  let description = [{
    Purpose: the tokens are read once and one loop nest makes all heads of Q, K and V (of K and V in cross-attention). Before: any. After:
    no two attn.project from tokens have the same input and layout, when nothing stands between them that the merged op would need to
    follow.

    ```mlir
    %q = attn.project %x weights(%wq) {layout = #attn.layout<out_in>, parts = [#attn.part<weight = 0, ...>]} : ...
    %k = attn.project %x weights(%wk) {layout = #attn.layout<out_in>, parts = [#attn.part<weight = 0, ...>]} : ...
    ==>
    %q, %k = attn.project %x weights(%wq, %wk) {..., parts = [#attn.part<weight = 0, ...>, #attn.part<weight = 1, ...>]} : ...
    ```
  }];
}

def ExpandVariantsPass : Pass<"attn-expand-variants", "::mlir::func::FuncOp"> {
  let summary = "emits variants into the score and mask regions";
  let description = [{
    Purpose: what follows knows regions only, no variant by name. Before: variants in `masks` and `scores`, their parameters in `params`.
    After: both lists are empty; the regions say the same; `params` are those of the variants, then the number of queries and the number of
    keys (index). Sizes that are fixed are constants inside the regions. Positions are ops on the queries and keys ahead of it.

    ```mlir
    attn.attention %q, %k, %v scale 1.0 masks [#attn.causal] : ...
    ==>
    attn.attention %q, %k, %v params(%queries, %keys : index, index) scale 1.0 : ...
      mask(%b, %h, %q, %k, %queries, %keys) {
        %offset = arith.subi %keys, %queries : index
        %position = arith.addi %q, %offset : index
        %visible = arith.cmpi sle, %k, %position : index
        attn.yield %visible : i1
      }
    ```
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::tensor::TensorDialect"];
}

def FoldScalePass : Pass<"attn-fold-scale", "::mlir::func::FuncOp"> {
  let summary = "moves the score scale, and the change to base 2, into the projection of the queries";
  let description = [{
    Purpose: the inner loop of the softmax computes exp2(s - m) with no multiplication. Before: expanded variants. After: where the queries
    come from attn.project, attn.rotate or attn.normalize and have no other use, the scale of the part or op holds scale * log2(e), the op's scale is 1
    and `base2` is set; with a score region, which wants natural units, it holds the scale alone and `base2` is not set. Elsewhere nothing changes.

    ```mlir
    %q = attn.project %x weights(%wq) {parts = [#attn.part<...>]} : ...
    attn.attention %q, %k, %v scale 0.125 : ...
    ==>
    %q = attn.project %x weights(%wq) {parts = [#attn.part<..., scale = 0.18033688011112042 : f64>]} : ...
    attn.attention %q, %k, %v scale 1.0 base2 : ...
    ```
  }];
}

def SortByBucketsPass : Pass<"attn-sort-by-buckets", "::mlir::func::FuncOp"> {
  let summary = "sorts queries and keys by the buckets that they are hashed into";
  let description = [{
    Purpose: the cost of mask `lsh` follows what is visible, not the number of pairs. Before: expanded variants. After: an attn.attention whose mask wants,
    beside anything else, that two attn.hash give the same bucket in one of their rounds, is one over sorted tokens. Its heads are those of all rounds, its
    mask an interval of keys for each query, without those that an earlier round shows; what was said of tokens is said of the tokens at those places.
    Ops that make maps stay as they are: they look at all pairs.

    ```mlir
    %o = attn.attention %q, %k, %v params(%hash_q, %hash_k, %n, %n : ...) ... mask(...) { ... hash_q[b, h, 0, q] == hash_k[b, h, 0, k] ... }
    ==>
    %i = attn.sort_buckets %hash_q : ...
    %j = attn.sort_buckets %hash_k : ...
    %r = attn.bucket_ranges %i, %j : ...
    %o, %lse = attn.attention (gathered %q by %i, %k by %j, %v by %j) params(%hash_q, %hash_k, %i, %j, %r, %n, %n : ...) ...
      mask(...) { ... r[b, h, 0, q] <= k and k < r[b, h, 1, q] ... }
    %merged = attn.merge_rounds %o, %lse by %i : ...
    ```
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect"];
}

def BlockStructurePass : Pass<"attn-block-structure", "::mlir::func::FuncOp"> {
  let summary = "finds, per block of queries, the keys that all queries see and those that none sees";
  let description = [{
    Purpose: kernels skip keys outside [lo, hi) and evaluate no mask inside [full_lo, full_hi). Before: expanded variants; the last two
    params are the numbers of queries and keys. After: every attn.attention has a `blocks` region with 0 <= lo <= hi <= keys and full_lo <=
    full_hi; it is sound for any mask region, and exact where the conditions are affine in k and q with coefficients -1, 0, 1 and joined by
    `and`.

    An abstract interpreter: an index is c * k plus an interval whose ends are values of the blocks region, a condition is the keys where it
    may hold (outside them it holds for no query of the block) and the keys where it must hold (for all). What it does not know may hold
    everywhere and must hold nowhere.

    ```mlir
    mask(%b, %h, %q, %k, %queries, %keys) { %v = arith.cmpi sle, %k, %q : index  attn.yield %v : i1 }
    ==>
    blocks(%b, %h, %q_first, %q_last, %queries, %keys) {
      // [0, min(q_last + 1, keys)) and [0, min(q_first + 1, keys))
    }
    ```
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect"];
}

#endif
