// What expressions become: comparisons that attn-block-structure can solve, integers that saturate where they could leave 32 bits.
// RUN: %mhac-opt --attn-expand-variants --canonicalize --cse %s | FileCheck %s

// |q - k| <= 4 is two comparisons, neither of which needs q - k to be positive.
// CHECK-LABEL: func.func @distance
// CHECK: mask(
// CHECK-DAG: %[[D:.*]] = arith.subi %q, %k : index
// CHECK-DAG: %[[NEAR:.*]] = arith.cmpi sle, %[[D]], %c4 : index
// CHECK-DAG: %[[MINUS:.*]] = arith.subi %c0, %[[D]] : index
// CHECK: %[[FAR:.*]] = arith.cmpi sle, %[[MINUS]], %c4 : index
// CHECK-NEXT: %[[V:.*]] = arith.andi %[[NEAR]], %[[FAR]] : i1
// CHECK-NEXT: attn.yield %[[V]] : i1
func.func @distance(%q: tensor<?x2x?x4xf32>) -> tensor<?x2x?x4xf32> {
  %o = attn.attention %q, %q, %q scale 1.0 masks [#attn.mask_expr<"abs(q - k) <= 2 * 2", []>] : (tensor<?x2x?x4xf32>, tensor<?x2x?x4xf32>, tensor<?x2x?x4xf32>) -> (tensor<?x2x?x4xf32>)
  return %o : tensor<?x2x?x4xf32>
}

// q * 100 can leave 32 bits: it is computed in 64 and cut. A parameter has its own limit.
// CHECK-LABEL: func.func @saturates
// CHECK: mask(%b: index, %h: index, %q: index, %k: index, %[[N:.*]]: tensor<1xi64>,
// CHECK-DAG: %[[WIDE:.*]] = arith.index_cast %q : index to i64
// CHECK-DAG: %[[PRODUCT:.*]] = arith.muli %[[WIDE]], %c100_i64 : i64
// CHECK-DAG: %[[LOW:.*]] = arith.maxsi %[[PRODUCT]], %c-1073741823_i64 : i64
// CHECK-DAG: %[[CUT:.*]] = arith.minsi %[[LOW]], %c1073741823_i64 : i64
// CHECK-DAG: %[[X:.*]] = arith.index_cast %[[CUT]] : i64 to index
// CHECK-DAG: %[[I64:.*]] = attn.load %[[N]][%c0] : tensor<1xi64> -> i64
// CHECK-DAG: %[[MAX:.*]] = arith.maxsi %[[I64]], %c-250000000_i64 : i64
// CHECK-DAG: %[[MIN:.*]] = arith.minsi %[[MAX]], %c250000000_i64 : i64
// CHECK-DAG: %[[I:.*]] = arith.index_cast %[[MIN]] : i64 to index
// CHECK: arith.cmpi slt, %[[X]], %[[I]] : index
func.func @saturates(%q: tensor<?x2x?x4xf32>, %n: tensor<1xi64>) -> tensor<?x2x?x4xf32> {
  %o = attn.attention %q, %q, %q params(%n : tensor<1xi64>) scale 1.0 masks [#attn.mask_expr<"q * 100 < n", ["n i64"]>] : (tensor<?x2x?x4xf32>, tensor<?x2x?x4xf32>, tensor<?x2x?x4xf32>) -> (tensor<?x2x?x4xf32>)
  return %o : tensor<?x2x?x4xf32>
}

// Own elements by tensor index, others by the indices written; two expressions share a parameter.
// CHECK-LABEL: func.func @parameters
// CHECK: score(
// CHECK: %[[OWN:[0-9]+]] = attn.load %[[T:.*]][%h, %{{.*}}] : tensor<2x?xf32> -> f32
// CHECK: %[[SUM:[0-9]+]] = arith.addf %{{.*}}, %[[OWN]] : f32
// CHECK: %[[HALF:[0-9]+]] = attn.floor_div %{{.*}}, %c2
// CHECK: %[[OTHER:[0-9]+]] = attn.load %[[T]][%h, %[[HALF]]] : tensor<2x?xf32> -> f32
// CHECK: arith.mulf %[[SUM]], %[[OTHER]] : f32
// CHECK: mask(
// CHECK: attn.load %{{.*}}[%b, %h, %q, %k] : tensor<?x2x?x?xi8> -> i8
func.func @parameters(%q: tensor<?x2x?x4xf32>, %m: tensor<?x2x?x?xi8>, %t: tensor<2x?xf32>) -> tensor<?x2x?x4xf32> {
  %o = attn.attention %q, %q, %q params(%m, %t : tensor<?x2x?x?xi8>, tensor<2x?xf32>) scale 1.0 masks [#attn.mask_expr<"m", ["m bool batch 2 query key"]>] scores [#attn.score_expr<"s + t", ["t f32 2 key"]>, #attn.score_expr<"s * t[h, k // 2]", ["t f32 2 key"]>] : (tensor<?x2x?x4xf32>, tensor<?x2x?x4xf32>, tensor<?x2x?x4xf32>) -> (tensor<?x2x?x4xf32>)
  return %o : tensor<?x2x?x4xf32>
}
