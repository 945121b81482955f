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

// Loaded ends that grow with the query: those of the first and the last query bound the block.
// CHECK-LABEL: func.func @ascending
// CHECK: blocks({{.*}}%[[P:.*]]: tensor<?x2x2x?xi32>, %queries: index, %keys: index) {
// CHECK-DAG: attn.load %[[P]][%b, %h, %c0, %q_first] {ascending}
// CHECK-DAG: attn.load %[[P]][%b, %h, %c0, %q_last] {ascending}
// CHECK-DAG: attn.load %[[P]][%b, %h, %c1, %q_first] {ascending}
// CHECK-DAG: attn.load %[[P]][%b, %h, %c1, %q_last] {ascending}
// CHECK: tiles(
// CHECK-NOT: attn.load_range
// CHECK: return
func.func @ascending(%q: tensor<?x2x?x4xf32>, %r: tensor<?x2x2x?xi32>, %n: index) -> tensor<?x2x?x4xf32> {
  %o = attn.attention %q, %q, %q params(%r, %n, %n : tensor<?x2x2x?xi32>, index, index) scale 1.0 : (tensor<?x2x?x4xf32>, tensor<?x2x?x4xf32>, tensor<?x2x?x4xf32>) -> (tensor<?x2x?x4xf32>)
    mask(%b: index, %h: index, %i: index, %k: index, %ranges: tensor<?x2x2x?xi32>, %queries: index, %keys: index) {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %first = attn.load %ranges[%b, %h, %c0, %i] {ascending} : tensor<?x2x2x?xi32> -> i32
      %end = attn.load %ranges[%b, %h, %c1, %i] {ascending} : tensor<?x2x2x?xi32> -> i32
      %lo = arith.index_cast %first : i32 to index
      %hi = arith.index_cast %end : i32 to index
      %behind = arith.cmpi sge, %k, %lo : index
      %ahead = arith.cmpi slt, %k, %hi : index
      %v = arith.andi %behind, %ahead : i1
      attn.yield %v : i1
    }
  return %o : tensor<?x2x?x4xf32>
}
