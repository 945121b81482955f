// What the score changes emit, in the order written.
// RUN: %mhac-opt --attn-expand-variants --canonicalize --cse %s | FileCheck %s

// The scale leaves the list; the other changes follow each other.
// CHECK-LABEL: func.func @softcap_then_bias
// CHECK: scale 5.000000e-01 :
// CHECK-NEXT: score(%b: index, %h: index, %q: index, %k: index, %s: f32, %[[T:.*]]: tensor<1x2x?x?xf32>, %queries: index, %keys: index) {
// CHECK-DAG: %[[ZERO:.*]] = arith.constant 0 : index
// CHECK-DAG: %[[INVERSE:.*]] = arith.constant 2.500000e-01 : f32
// CHECK-DAG: %[[CAP:.*]] = arith.constant 4.000000e+00 : f32
// CHECK: %[[X:.*]] = arith.mulf %s, %[[INVERSE]] : f32
// CHECK: %[[TANH:.*]] = math.tanh %[[X]] : f32
// CHECK: %[[CAPPED:.*]] = arith.mulf %[[TANH]], %[[CAP]] : f32
// CHECK: %[[BIAS:.*]] = attn.load %[[T]][%[[ZERO]], %h, %q, %k] : tensor<1x2x?x?xf32> -> f32
// CHECK: %[[SUM:.*]] = arith.addf %[[CAPPED]], %[[BIAS]] : f32
// CHECK: attn.yield %[[SUM]] : f32
func.func @softcap_then_bias(%q: tensor<?x2x?x4xf32>, %k: tensor<?x2x?x4xf32>, %bias: tensor<1x2x?x?xf32>) -> tensor<?x2x?x4xf32> {
  %o = attn.attention %q, %k, %k params(%bias : tensor<1x2x?x?xf32>) scale 1.0 scores [#attn.scale<0.5 : f64>, #attn.softcap<4.0 : f64>, #attn.bias<batch = false, heads = 2, query = true>] : (tensor<?x2x?x4xf32>, tensor<?x2x?x4xf32>, tensor<?x2x?x4xf32>) -> (tensor<?x2x?x4xf32>)
  return %o : tensor<?x2x?x4xf32>
}

// Distances are those of positions: k - (q + keys - queries).
// CHECK-LABEL: func.func @alibi
// CHECK: score(
// CHECK: %[[OFFSET:.*]] = arith.subi %keys, %queries : index
// CHECK: %[[P:.*]] = arith.addi %q, %[[OFFSET]] : index
// CHECK: %[[D:.*]] = arith.subi %k, %[[P]] : index
// CHECK: %[[I:.*]] = arith.index_cast %[[D]] : index to i32
// CHECK: %[[F:.*]] = arith.sitofp %[[I]] : i32 to f32
// CHECK: %[[SLOPE:.*]] = attn.table dense<[5.000000e-01, 2.500000e-01]> : tensor<2xf32>[%h] : f32
// CHECK: %[[GAIN:.*]] = arith.mulf %[[SLOPE]], %[[F]] : f32
// CHECK: arith.addf %s, %[[GAIN]] : f32
func.func @alibi(%q: tensor<?x2x?x4xf32>, %k: tensor<?x2x?x4xf32>) -> tensor<?x2x?x4xf32> {
  %o = attn.attention %q, %k, %k scale 1.0 scores [#attn.alibi<symmetric = false, slopes = [0.5, 0.25]>] : (tensor<?x2x?x4xf32>, tensor<?x2x?x4xf32>, tensor<?x2x?x4xf32>) -> (tensor<?x2x?x4xf32>)
  return %o : tensor<?x2x?x4xf32>
}

// The bucket of every distance from -max_distance to max_distance is in a list, whose ends stand for all beyond them.
// CHECK-LABEL: func.func @relative_bias
// CHECK: score(
// CHECK: %[[BUCKET:.*]] = attn.table dense<[1, 1, 1, 0, 3, 3, 3]> : tensor<7xindex>[%{{.*}}] : index
// CHECK: attn.load %{{.*}}[%[[BUCKET]], %h] : tensor<4x2xf32> -> f32
func.func @relative_bias(%q: tensor<?x2x?x4xf32>, %k: tensor<?x2x?x4xf32>, %t: tensor<4x2xf32>) -> tensor<?x2x?x4xf32> {
  %o = attn.attention %q, %k, %k params(%t : tensor<4x2xf32>) scale 1.0 scores [#attn.relative_bias<buckets = 4, max_distance = 3, bidirectional = true, heads = 2>] : (tensor<?x2x?x4xf32>, tensor<?x2x?x4xf32>, tensor<?x2x?x4xf32>) -> (tensor<?x2x?x4xf32>)
  return %o : tensor<?x2x?x4xf32>
}

// One direction: keys behind the query share bucket 0 with the query's own position.
// CHECK-LABEL: func.func @relative_bias_past
// CHECK: attn.table dense<[5, 5, 4, 3, 2, 1, 0, 0]> : tensor<8xindex>
func.func @relative_bias_past(%q: tensor<?x2x?x4xf32>, %k: tensor<?x2x?x4xf32>, %t: tensor<6x2xf32>) -> tensor<?x2x?x4xf32> {
  %o = attn.attention %q, %k, %k params(%t : tensor<6x2xf32>) scale 1.0 scores [#attn.relative_bias<buckets = 6, max_distance = 6, bidirectional = false, heads = 2>] : (tensor<?x2x?x4xf32>, tensor<?x2x?x4xf32>, tensor<?x2x?x4xf32>) -> (tensor<?x2x?x4xf32>)
  return %o : tensor<?x2x?x4xf32>
}

// A sink is no change of scores but a region of its own.
// CHECK-LABEL: func.func @sink
// CHECK-NOT: score(
// CHECK: sink(%b: index, %h: index, %q: index, %[[T:.*]]: tensor<2xf32>, %queries: index, %keys: index) {
// CHECK-NEXT: %[[LOGIT:.*]] = attn.load %[[T]][%h] : tensor<2xf32> -> f32
// CHECK-NEXT: attn.yield %[[LOGIT]] : f32
func.func @sink(%q: tensor<?x2x?x4xf32>, %k: tensor<?x2x?x4xf32>, %t: tensor<2xf32>) -> tensor<?x2x?x4xf32> {
  %o = attn.attention %q, %k, %k params(%t : tensor<2xf32>) scale 1.0 scores [#attn.sink<heads = 2>] : (tensor<?x2x?x4xf32>, tensor<?x2x?x4xf32>, tensor<?x2x?x4xf32>) -> (tensor<?x2x?x4xf32>)
  return %o : tensor<?x2x?x4xf32>
}
