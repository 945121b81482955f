// Every op in its own syntax, printed and read again.
// RUN: %mhac-opt %s | %mhac-opt | FileCheck %s

// CHECK-LABEL: func.func @project
// CHECK: %[[Q:.*]]:2 = attn.project %arg0 weights(%arg1, %arg1) biases(%arg2) {layout = #attn.layout<out_in>, parts = [#attn.part<weight = 0, bias = 0, heads = 2, width = 4, first = 0, group = 2, group_stride = 0, head_stride = 4, scale = 5.000000e-01 : f64>, #attn.part<weight = 1, bias = -1, heads = 1, width = 3, first = 5, group = 1, group_stride = 0, head_stride = 0>]}
// CHECK: attn.project %[[Q]]#0 weights(%arg3) {layout = #attn.layout<in_out>
func.func @project(%x: tensor<?x?x6xf32>, %w: tensor<8x6xf32>, %b: tensor<8xf32>, %wo: tensor<8x6xf32>) -> tensor<?x?x6xf32> {
  %q:2 = attn.project %x weights(%w, %w) biases(%b) {layout = #attn.layout<out_in>, parts = [#attn.part<weight = 0, bias = 0, heads = 2, width = 4, first = 0, group = 2, group_stride = 0, head_stride = 4, scale = 0.5 : f64>, #attn.part<weight = 1, bias = -1, heads = 1, width = 3, first = 5, group = 1, group_stride = 0, head_stride = 0>]} : (tensor<?x?x6xf32>, tensor<8x6xf32>, tensor<8x6xf32>, tensor<8xf32>) -> (tensor<?x2x?x4xf32>, tensor<?x1x?x3xf32>)
  %y = attn.project %q#0 weights(%wo) {layout = #attn.layout<in_out>, parts = [#attn.part<weight = 0, bias = -1, heads = 1, width = 6, first = 0, group = 1, group_stride = 0, head_stride = 0>]} : (tensor<?x2x?x4xf32>, tensor<8x6xf32>) -> tensor<?x?x6xf32>
  return %y : tensor<?x?x6xf32>
}

// CHECK-LABEL: func.func @attention
// CHECK: %o, %lse = attn.attention %arg0, %arg1, %arg1 params(%arg2 : tensor<?xi64>) scale 1.250000e-01 offset row_end masks [#attn.causal, #attn.padding<side = right>] scores [#attn.scale<2.000000e+00 : f64>] {schedule = #attn.schedule<rule = "r", reason = "because", tiles = {q = 16 : i64}>} : (tensor<?x4x5x8xf32>, tensor<?x2x?x8xf32>, tensor<?x2x?x8xf32>) -> (tensor<?x4x5x8xf32>, tensor<?x4x5xf32>)
// CHECK-NOT: mask(
func.func @attention(%q: tensor<?x4x5x8xf32>, %k: tensor<?x2x?x8xf32>, %n: tensor<?xi64>) -> tensor<?x4x5x8xf32> {
  %o, %lse = attn.attention %q, %k, %k params(%n : tensor<?xi64>) scale 0.125 offset row_end masks [#attn.causal, #attn.padding<side = right>] scores [#attn.scale<2.0 : f64>] {schedule = #attn.schedule<rule = "r", reason = "because", tiles = {q = 16}>} : (tensor<?x4x5x8xf32>, tensor<?x2x?x8xf32>, tensor<?x2x?x8xf32>) -> (tensor<?x4x5x8xf32>, tensor<?x4x5xf32>)
  return %o : tensor<?x4x5x8xf32>
}

// CHECK-LABEL: func.func @regions
// CHECK: attn.attention %arg0, %arg0, %arg0 params(%arg1, %arg2 : tensor<?xf32>, index) scale 1.000000e+00 base2 :
// CHECK-NEXT: score(%b: index, %h: index, %q: index, %k: index, %s: f32, %{{.*}}: tensor<?xf32>, %{{.*}}: index) {
// CHECK-NEXT: %[[BIAS:.*]] = attn.load %{{.*}}[%k] : tensor<?xf32> -> f32
// CHECK: mask(%b: index, %h: index, %q: index, %k: index, %{{.*}}: tensor<?xf32>, %{{.*}}: index) {
// CHECK: attn.yield %{{.*}} : i1
// CHECK: blocks(%b: index, %h: index, %q_first: index, %q_last: index, %{{.*}}: tensor<?xf32>, %{{.*}}: index) {
// CHECK: attn.yield %{{.*}}, %q_last, %{{.*}}, %q_first : index, index, index, index
func.func @regions(%q: tensor<1x1x?x2xf32>, %bias: tensor<?xf32>, %n: index) -> tensor<1x1x?x2xf32> {
  %o = attn.attention %q, %q, %q params(%bias, %n : tensor<?xf32>, index) scale 1.0 base2 : (tensor<1x1x?x2xf32>, tensor<1x1x?x2xf32>, tensor<1x1x?x2xf32>) -> (tensor<1x1x?x2xf32>)
    score(%b: index, %h: index, %i: index, %k: index, %s: f32, %t: tensor<?xf32>, %m: index) {
      %l = attn.load %t[%k] : tensor<?xf32> -> f32
      %r = arith.addf %s, %l : f32
      attn.yield %r : f32
    }
    mask(%b: index, %h: index, %i: index, %k: index, %t: tensor<?xf32>, %m: index) {
      %v = arith.cmpi slt, %k, %i : index
      attn.yield %v : i1
    }
    blocks(%b: index, %h: index, %first: index, %last: index, %t: tensor<?xf32>, %m: index) {
      %c0 = arith.constant 0 : index
      attn.yield %c0, %last, %c0, %first : index, index, index, index
    }
  return %o : tensor<1x1x?x2xf32>
}

// CHECK-LABEL: func.func @maps
// CHECK: %o, %lse, %probabilities, %diagonal_mass, %key_mass = attn.attention %arg0, %arg1, %arg1 scale 1.000000e+00 maps [#attn.map<probabilities>, #attn.map<diagonal_mass, window = 3>, #attn.map<key_mass>] : {{.*}} -> (tensor<?x4x5x8xf32>, tensor<?x4x5xf32>, tensor<?x4x5x?xf32>, tensor<?x4x5xf32>, tensor<?x4x?xf32>)
// CHECK: %o_0, %peak_position = attn.attention %arg0, %arg1, %arg1 scale 1.000000e+00 maps [#attn.map<peak_position>] base2 : {{.*}} -> (tensor<?x4x5x8xf32>, tensor<?x4x5xi64>)
// CHECK: attn.head_norms %o : tensor<?x4x5x8xf32> -> tensor<?x4xf32>
func.func @maps(%q: tensor<?x4x5x8xf32>, %k: tensor<?x2x?x8xf32>) {
  %o:5 = attn.attention %q, %k, %k scale 1.0 maps [#attn.map<probabilities>, #attn.map<diagonal_mass, window = 3>, #attn.map<key_mass>] : (tensor<?x4x5x8xf32>, tensor<?x2x?x8xf32>, tensor<?x2x?x8xf32>) -> (tensor<?x4x5x8xf32>, tensor<?x4x5xf32>, tensor<?x4x5x?xf32>, tensor<?x4x5xf32>, tensor<?x4x?xf32>)
  %p:2 = attn.attention %q, %k, %k scale 1.0 maps [#attn.map<peak_position>] base2 : (tensor<?x4x5x8xf32>, tensor<?x2x?x8xf32>, tensor<?x2x?x8xf32>) -> (tensor<?x4x5x8xf32>, tensor<?x4x5xi64>)
  %n = attn.head_norms %o#0 : tensor<?x4x5x8xf32> -> tensor<?x4xf32>
  return
}

// CHECK-LABEL: func.func @merge
// CHECK: attn.merge_states %arg0, %arg1 sinks %arg2 {heads_first} : (tensor<?x2x4x?x8xf32>, tensor<?x2x4x?xf32>, tensor<4xf32>) -> tensor<2x4x?x8xf32>
// CHECK: attn.merge_states %{{.*}}, %arg1 : (tensor<?x2x?x4x8xf32>, tensor<?x2x4x?xf32>) -> (tensor<2x4x?x8xf32>, tensor<2x4x?xf32>)
func.func @merge(%o: tensor<?x2x4x?x8xf32>, %l: tensor<?x2x4x?xf32>, %s: tensor<4xf32>, %p: tensor<?x2x?x4x8xf32>) {
  %m = attn.merge_states %o, %l sinks %s {heads_first} : (tensor<?x2x4x?x8xf32>, tensor<?x2x4x?xf32>, tensor<4xf32>) -> tensor<2x4x?x8xf32>
  %n, %lse = attn.merge_states %p, %l : (tensor<?x2x?x4x8xf32>, tensor<?x2x4x?xf32>) -> (tensor<2x4x?x8xf32>, tensor<2x4x?xf32>)
  return
}

// CHECK-LABEL: func.func @sized
// CHECK-SAME: #attn.argument<name = "n", role = parameter, dims = ["batch"], check = sum, check_size = "batch", check_with = "m">
func.func @sized(%n: tensor<?xi64> {attn.argument = #attn.argument<name = "n", role = parameter, dims = ["batch"], check = sum, check_size = "batch", check_with = "m">}) attributes {attn.entry, attn.sizes = [#attn.size<name = "batch", minimum = 0, maximum = 8>]} {
  return
}

// CHECK: attn.entry @entry {
// CHECK-NEXT: attn.candidate @sized target "x86-64-v4" machine "x86-64-linux-avx2" features 3 guards [#attn.guard<size = "batch", minimum = 1, maximum = 4>, #attn.guard<size = "workers", minimum = 2, maximum = 64>]
// CHECK-NEXT: attn.candidate @sized target "x86-64-v4" machine "x86-64-linux-avx2" features 3 guards [#attn.guard<size = "batch", minimum = 4, maximum = 8, per_worker = true>] batch_major
attn.entry @entry {
  attn.candidate @sized target "x86-64-v4" machine "x86-64-linux-avx2" features 3 guards [#attn.guard<size = "batch", minimum = 1, maximum = 4>, #attn.guard<size = "workers", minimum = 2, maximum = 64>]
  attn.candidate @sized target "x86-64-v4" machine "x86-64-linux-avx2" features 3 guards [#attn.guard<size = "batch", minimum = 4, maximum = 8, per_worker = true>] batch_major
}
