// Twice, because the second time must change nothing.
// RUN: %mhac-opt --attn-expand-variants --attn-expand-variants --canonicalize --cse %s | FileCheck %s

// CHECK-LABEL: func.func @causal
// CHECK: %[[QUERIES:.*]] = tensor.dim %arg0, %c2
// CHECK: %[[KEYS:.*]] = tensor.dim %arg1, %c2
// CHECK: attn.attention %arg0, %arg1, %arg1 params(%[[QUERIES]], %[[KEYS]] : index, index) scale 5.000000e-01 :
// CHECK-NEXT: mask(%b: index, %h: index, %q: index, %k: index, %queries: index, %keys: index) {
// CHECK-NEXT: %[[OFFSET:.*]] = arith.subi %keys, %queries : index
// CHECK-NEXT: %[[P:.*]] = arith.addi %q, %[[OFFSET]] : index
// CHECK-NEXT: %[[V:.*]] = arith.cmpi sle, %k, %[[P]] : index
// CHECK-NEXT: attn.yield %[[V]] : i1
func.func @causal(%q: tensor<?x2x?x4xf32>, %k: tensor<?x2x?x4xf32>) -> tensor<?x2x?x4xf32> {
  %o = attn.attention %q, %k, %k scale 1.0 masks [#attn.causal] scores [#attn.scale<0.5 : f64>] : (tensor<?x2x?x4xf32>, tensor<?x2x?x4xf32>, tensor<?x2x?x4xf32>) -> (tensor<?x2x?x4xf32>)
  return %o : tensor<?x2x?x4xf32>
}

// Fixed sizes are constants inside the region: 7 - 5 = 2.
// CHECK-LABEL: func.func @fixed
// CHECK: params(%c5{{.*}}, %c7{{.*}} : index, index)
// CHECK: mask(
// CHECK-NEXT: %c2 = arith.constant 2 : index
// CHECK-NEXT: %[[P:.*]] = arith.addi %q, %c2 : index
// CHECK-NEXT: arith.cmpi sle, %k, %[[P]] : index
func.func @fixed(%q: tensor<?x2x5x4xf32>, %k: tensor<?x2x7x4xf32>) -> tensor<?x2x5x4xf32> {
  %o = attn.attention %q, %k, %k scale 1.0 masks [#attn.causal] : (tensor<?x2x5x4xf32>, tensor<?x2x7x4xf32>, tensor<?x2x7x4xf32>) -> (tensor<?x2x5x4xf32>)
  return %o : tensor<?x2x5x4xf32>
}

// Self-attention has as many keys as queries: the offset is 0. Sizes come from the arguments, not from intermediate tensors.
// CHECK-LABEL: func.func @same_length
// CHECK: %[[N:.*]] = tensor.dim %arg0, %c1
// CHECK: params(%[[N]], %[[N]] : index, index)
// CHECK: mask(
// CHECK-NEXT: arith.cmpi sle, %k, %q : index
func.func @same_length(%x: tensor<?x?x2x4xf32>) -> tensor<?x2x?x4xf32> {
  %q = attn.swap_heads %x : tensor<?x?x2x4xf32> -> tensor<?x2x?x4xf32>
  %o = attn.attention %q, %q, %q scale 1.0 masks [#attn.causal] : (tensor<?x2x?x4xf32>, tensor<?x2x?x4xf32>, tensor<?x2x?x4xf32>) -> (tensor<?x2x?x4xf32>)
  return %o : tensor<?x2x?x4xf32>
}

// Left padding moves the positions of keys; row_end counts the offset from the valid keys, whichever order the list has.
// CHECK-LABEL: func.func @left
// CHECK: mask(%b: index, %h: index, %q: index, %k: index, %[[T:.*]]: tensor<?xi64>, %queries: index, %keys: index) {
// CHECK-NEXT: %[[L:.*]] = attn.load %[[T]][%b] : tensor<?xi64> -> i64
// CHECK-NEXT: %[[START:.*]] = arith.index_cast %[[L]] : i64 to index
// CHECK-NEXT: %[[PK:.*]] = arith.subi %k, %[[START]] : index
// CHECK-NEXT: %[[VALID:.*]] = arith.subi %keys, %[[START]] : index
// CHECK-NEXT: %[[OFFSET:.*]] = arith.subi %[[VALID]], %queries : index
// CHECK-NEXT: %[[PQ:.*]] = arith.addi %q, %[[OFFSET]] : index
// CHECK-NEXT: %[[C:.*]] = arith.cmpi sle, %[[PK]], %[[PQ]] : index
// CHECK-NEXT: %[[S:.*]] = arith.cmpi sge, %k, %[[START]] : index
// CHECK-NEXT: arith.andi %[[C]], %[[S]] : i1
func.func @left(%q: tensor<?x2x?x4xf32>, %k: tensor<?x2x?x4xf32>, %s: tensor<?xi64>) -> tensor<?x2x?x4xf32> {
  %o = attn.attention %q, %k, %k params(%s : tensor<?xi64>) scale 1.0 offset row_end masks [#attn.causal, #attn.padding<side = left>] : (tensor<?x2x?x4xf32>, tensor<?x2x?x4xf32>, tensor<?x2x?x4xf32>) -> (tensor<?x2x?x4xf32>)
  return %o : tensor<?x2x?x4xf32>
}

// CHECK-LABEL: func.func @none
// CHECK: attn.attention
// CHECK-NOT: mask(
// CHECK-NOT: score(
// CHECK: return
func.func @none(%q: tensor<?x2x?x4xf32>) -> tensor<?x2x?x4xf32> {
  %o = attn.attention %q, %q, %q scale 1.0 : (tensor<?x2x?x4xf32>, tensor<?x2x?x4xf32>, tensor<?x2x?x4xf32>) -> (tensor<?x2x?x4xf32>)
  return %o : tensor<?x2x?x4xf32>
}

// A side of 0 is the comparison that causal makes: one remains.
// CHECK-LABEL: func.func @window
// CHECK: mask(
// CHECK-NEXT: %[[W:.*]] = arith.constant 4095 : index
// CHECK-NEXT: %[[C:.*]] = arith.cmpi sle, %k, %q : index
// CHECK-NEXT: %[[D:.*]] = arith.subi %q, %k : index
// CHECK-NEXT: %[[N:.*]] = arith.cmpi sle, %[[D]], %[[W]] : index
// CHECK-NEXT: %[[B:.*]] = arith.andi %[[C]], %[[N]] : i1
// CHECK-NEXT: attn.yield %[[B]]
func.func @window(%q: tensor<?x2x?x4xf32>) -> tensor<?x2x?x4xf32> {
  %o = attn.attention %q, %q, %q scale 1.0 masks [#attn.sliding_window<left = 4095, right = 0>] : (tensor<?x2x?x4xf32>, tensor<?x2x?x4xf32>, tensor<?x2x?x4xf32>) -> (tensor<?x2x?x4xf32>)
  return %o : tensor<?x2x?x4xf32>
}

// One alternative of two holds; inside a list all do. Inputs that two masks read are one operand.
// CHECK-LABEL: func.func @any
// CHECK: params(%arg1, %{{.*}}, %{{.*}} : tensor<?xi64>, index, index)
// CHECK: mask(
// CHECK: %[[CAUSAL:.*]] = arith.cmpi sle, %k, %q : index
// CHECK: %[[PREFIX:.*]] = arith.cmpi slt, %k, %{{.*}} : index
// CHECK: %[[BOTH:.*]] = arith.andi %[[PREFIX]], %{{.*}} : i1
// CHECK: %[[ANY:.*]] = arith.ori %[[CAUSAL]], %[[BOTH]] : i1
// CHECK: %[[ALL:.*]] = arith.andi %[[ANY]], %{{.*}} : i1
// CHECK-NEXT: attn.yield %[[ALL]]
func.func @any(%q: tensor<?x2x?x4xf32>, %n: tensor<?xi64>) -> tensor<?x2x?x4xf32> {
  %o = attn.attention %q, %q, %q params(%n : tensor<?xi64>) scale 1.0 masks [#attn.any<[[#attn.causal], [#attn.prefix, #attn.chunked<size = 8>]]>, #attn.any<[[#attn.prefix], [#attn.prefix<length = 3>]]>] : (tensor<?x2x?x4xf32>, tensor<?x2x?x4xf32>, tensor<?x2x?x4xf32>) -> (tensor<?x2x?x4xf32>)
  return %o : tensor<?x2x?x4xf32>
}

// A chunk begins at the same key for all keys of a query, so that an interval of keys remains.
// CHECK-LABEL: func.func @chunked
// CHECK: mask(
// CHECK: %[[CHUNK:.*]] = attn.floor_div %q, %[[SIZE:.*]]
// CHECK-NEXT: %[[FIRST:.*]] = arith.muli %[[CHUNK]], %[[SIZE]] : index
// CHECK-NEXT: %[[D:.*]] = arith.subi %k, %[[FIRST]] : index
// CHECK-NEXT: arith.cmpi sge, %[[D]], %c0
// CHECK-NEXT: arith.cmpi sle, %[[D]], %c7
func.func @chunked(%q: tensor<?x2x?x4xf32>) -> tensor<?x2x?x4xf32> {
  %o = attn.attention %q, %q, %q scale 1.0 masks [#attn.chunked<size = 8>] : (tensor<?x2x?x4xf32>, tensor<?x2x?x4xf32>, tensor<?x2x?x4xf32>) -> (tensor<?x2x?x4xf32>)
  return %o : tensor<?x2x?x4xf32>
}

// Truth values are bytes; a mask that ends before the keys hides the rest. One that is added changes the score too.
// CHECK-LABEL: func.func @tensor
// CHECK: score(
// CHECK: %[[ADDED:.*]] = attn.load %{{.*}}[%b, %h, %c0, %k] : tensor<?x2x1x?xf32> -> f32
// CHECK-NEXT: %[[S:.*]] = arith.addf %s, %[[ADDED]] : f32
// CHECK-NEXT: attn.yield %[[S]]
// CHECK: mask(
// CHECK: %[[END:.*]] = tensor.dim %[[M:.*]], %c3
// CHECK-NEXT: %[[INSIDE:.*]] = arith.cmpi slt, %k, %[[END]] : index
// CHECK-NEXT: %[[V:.*]] = attn.load %[[M]][%b, %h, %c0, %k] : tensor<?x2x1x?xf32> -> f32
// CHECK-NEXT: %[[SEEN:.*]] = arith.cmpf ogt, %[[V]], %{{.*}} : f32
// CHECK-NEXT: arith.andi %[[INSIDE]], %[[SEEN]] : i1
func.func @tensor(%q: tensor<?x2x?x4xf32>, %m: tensor<?x2x1x?xf32>) -> tensor<?x2x?x4xf32> {
  %o = attn.attention %q, %q, %q params(%m : tensor<?x2x1x?xf32>) scale 1.0 masks [#attn.tensor<added = true, batch = true, heads = 2, query = false>] : (tensor<?x2x?x4xf32>, tensor<?x2x?x4xf32>, tensor<?x2x?x4xf32>) -> (tensor<?x2x?x4xf32>)
  return %o : tensor<?x2x?x4xf32>
}
