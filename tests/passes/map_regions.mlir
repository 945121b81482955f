// Regions that only outputs of the map need.
// RUN: %mhac-opt %s --attn-expand-variants --canonicalize | FileCheck %s

// Positions are those of the mask; a window of 0 is the diagonal itself.
// CHECK-LABEL: func.func @diagonal
// CHECK: attn.attention
// CHECK-SAME: maps [#attn.map<diagonal_mass, window = 2>]
// CHECK: diagonal(%b: index, %h: index, %q: index, %k: index, %[[STARTS:.*]]: tensor<?xi64>, %[[QUERIES:.*]]: index, %[[KEYS:.*]]: index) {
// CHECK-DAG: %[[TWO:.*]] = arith.constant 2 : index
// CHECK-DAG: %[[MINUS:.*]] = arith.constant -2 : index
// CHECK: %[[LOADED:.*]] = attn.load %[[STARTS]][%b]
// CHECK: %[[FIRST:.*]] = arith.index_cast %[[LOADED]]
// CHECK: %[[KEY:.*]] = arith.subi %k, %[[FIRST]]
// CHECK: %[[OFFSET:.*]] = arith.subi %[[KEYS]], %[[QUERIES]]
// CHECK: %[[QUERY:.*]] = arith.addi %q, %[[OFFSET]]
// CHECK: %[[DISTANCE:.*]] = arith.subi %[[KEY]], %[[QUERY]]
// CHECK: %[[BEHIND:.*]] = arith.cmpi sge, %[[DISTANCE]], %[[MINUS]]
// CHECK: %[[AHEAD:.*]] = arith.cmpi sle, %[[DISTANCE]], %[[TWO]]
// CHECK: %[[NEAR:.*]] = arith.andi %[[BEHIND]], %[[AHEAD]]
// CHECK: attn.yield %[[NEAR]] : i1
func.func @diagonal(%q: tensor<?x4x?x8xf32>, %k: tensor<?x4x?x8xf32>, %starts: tensor<?xi64>) -> (tensor<?x4x?x8xf32>, tensor<?x4x?xf32>) {
  %o:2 = attn.attention %q, %k, %k params(%starts : tensor<?xi64>) scale 1.0 masks [#attn.padding<side = left>] maps [#attn.map<diagonal_mass, window = 2>] : (tensor<?x4x?x8xf32>, tensor<?x4x?x8xf32>, tensor<?x4x?x8xf32>) -> (tensor<?x4x?x8xf32>, tensor<?x4x?xf32>)
  return %o#0, %o#1 : tensor<?x4x?x8xf32>, tensor<?x4x?xf32>
}

// The mask adds nothing to the score: no region of its own.
// CHECK-LABEL: func.func @modified
// CHECK-NOT: modified(
func.func @modified(%q: tensor<?x4x?x8xf32>, %k: tensor<?x4x?x8xf32>) -> (tensor<?x4x?x8xf32>, tensor<?x4x?x?xf32>) {
  %o:2 = attn.attention %q, %k, %k scale 1.0 masks [#attn.causal] maps [#attn.map<modified>] : (tensor<?x4x?x8xf32>, tensor<?x4x?x8xf32>, tensor<?x4x?x8xf32>) -> (tensor<?x4x?x8xf32>, tensor<?x4x?x?xf32>)
  return %o#0, %o#1 : tensor<?x4x?x8xf32>, tensor<?x4x?x?xf32>
}
