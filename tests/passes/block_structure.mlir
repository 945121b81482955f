// What is true of all masks is tested in tests/unit/passes; here is how the program looks.
// RUN: %mhac-opt --attn-block-structure --canonicalize --cse %s | FileCheck %s

// CHECK-LABEL: func.func @none
// CHECK: blocks({{.*}}, %queries: index, %keys: index) {
// CHECK-NEXT: %c0 = arith.constant 0 : index
// CHECK-NEXT: attn.yield %c0, %keys, %c0, %keys
func.func @none(%q: tensor<?x2x?x4xf32>, %n: index) -> tensor<?x2x?x4xf32> {
  %o = attn.attention %q, %q, %q params(%n, %n : index, index) scale 1.0 : (tensor<?x2x?x4xf32>, tensor<?x2x?x4xf32>, tensor<?x2x?x4xf32>) -> (tensor<?x2x?x4xf32>)
  return %o : tensor<?x2x?x4xf32>
}

// k <= q: [0, q_last + 1) with [0, q_first + 1) full.
// CHECK-LABEL: func.func @prefix
// CHECK: blocks(
// CHECK-DAG: %[[LAST:.*]] = arith.addi %q_last, %c1
// CHECK-DAG: %[[FIRST:.*]] = arith.addi %q_first, %c1
// CHECK-DAG: %[[CLAMPED:.*]] = arith.minsi %[[LAST]], %keys
// CHECK-DAG: %[[HI:.*]] = arith.maxsi %[[CLAMPED]], %c0
// CHECK-DAG: %[[INSIDE:.*]] = arith.minsi %[[FIRST]], %[[HI]]
// CHECK-DAG: %[[FULL:.*]] = arith.maxsi %[[INSIDE]], %c0
// CHECK: attn.yield %c0, %[[HI]], %c0, %[[FULL]]
func.func @prefix(%q: tensor<?x2x?x4xf32>, %n: index) -> tensor<?x2x?x4xf32> {
  %o = attn.attention %q, %q, %q params(%n, %n : index, index) scale 1.0 : (tensor<?x2x?x4xf32>, tensor<?x2x?x4xf32>, tensor<?x2x?x4xf32>) -> (tensor<?x2x?x4xf32>)
    mask(%b: index, %h: index, %i: index, %k: index, %queries: index, %keys: index) {
      %v = arith.cmpi sle, %k, %i : index
      attn.yield %v : i1
    }
  return %o : tensor<?x2x?x4xf32>
}

// Arithmetic that the interpreter does not know: everything may be visible, nothing is full.
// CHECK-LABEL: func.func @unknown
// CHECK: blocks(
// CHECK-NOT: arith.remsi
// CHECK: attn.yield %c0, %c16, %c0, %c0
func.func @unknown(%q: tensor<1x2x16x4xf32>, %n: index) -> tensor<1x2x16x4xf32> {
  %o = attn.attention %q, %q, %q params(%n, %n : index, index) scale 1.0 : (tensor<1x2x16x4xf32>, tensor<1x2x16x4xf32>, tensor<1x2x16x4xf32>) -> (tensor<1x2x16x4xf32>)
    mask(%b: index, %h: index, %i: index, %k: index, %queries: index, %keys: index) {
      %c2 = arith.constant 2 : index
      %r = arith.remsi %k, %c2 : index
      %v = arith.cmpi eq, %r, %i : index
      attn.yield %v : i1
    }
  return %o : tensor<1x2x16x4xf32>
}
