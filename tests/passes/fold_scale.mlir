// RUN: %mhac-opt --attn-fold-scale %s | FileCheck %s

#p = #attn.part<weight = 0, bias = -1, heads = 2, width = 4, first = 0, group = 2, group_stride = 0, head_stride = 4>

// 0.5 * log2(e); only the part of the queries gets it. That its length is asked for does not matter.
// CHECK-LABEL: func.func @folded
// CHECK: parts = [#attn.part<{{[^>]*}}, scale = 0.72134752044448169 : f64>, #attn.part<{{[^>]*}}head_stride = 4>]
// CHECK: attn.attention {{.*}} scale 1.000000e+00 base2 :
func.func @folded(%x: tensor<?x?x3xf32>, %w: tensor<8x3xf32>) -> tensor<?x2x?x4xf32> {
  %q:2 = attn.project %x weights(%w) {layout = #attn.layout<out_in>, parts = [#p, #p]} : (tensor<?x?x3xf32>, tensor<8x3xf32>) -> (tensor<?x2x?x4xf32>, tensor<?x2x?x4xf32>)
  %c2 = arith.constant 2 : index
  %n = tensor.dim %q#0, %c2 : tensor<?x2x?x4xf32>
  %o = attn.attention %q#0, %q#1, %q#1 params(%n, %n : index, index) scale 0.5 : (tensor<?x2x?x4xf32>, tensor<?x2x?x4xf32>, tensor<?x2x?x4xf32>) -> (tensor<?x2x?x4xf32>)
  return %o : tensor<?x2x?x4xf32>
}

// Queries that are an input, or that are keys too, stay as they are.
// CHECK-LABEL: func.func @input
// CHECK: scale 5.000000e-01 :
func.func @input(%q: tensor<?x2x?x4xf32>) -> tensor<?x2x?x4xf32> {
  %o = attn.attention %q, %q, %q scale 0.5 : (tensor<?x2x?x4xf32>, tensor<?x2x?x4xf32>, tensor<?x2x?x4xf32>) -> (tensor<?x2x?x4xf32>)
  return %o : tensor<?x2x?x4xf32>
}

// CHECK-LABEL: func.func @query_is_key
// CHECK: scale 5.000000e-01 :
func.func @query_is_key(%x: tensor<?x?x3xf32>, %w: tensor<8x3xf32>) -> tensor<?x2x?x4xf32> {
  %q = attn.project %x weights(%w) {layout = #attn.layout<out_in>, parts = [#p]} : (tensor<?x?x3xf32>, tensor<8x3xf32>) -> tensor<?x2x?x4xf32>
  %o = attn.attention %q, %q, %q scale 0.5 : (tensor<?x2x?x4xf32>, tensor<?x2x?x4xf32>, tensor<?x2x?x4xf32>) -> (tensor<?x2x?x4xf32>)
  return %o : tensor<?x2x?x4xf32>
}

// A score region wants natural units: the scale alone moves.
// CHECK-LABEL: func.func @score_region
// CHECK: scale = 5.000000e-01 : f64>
// CHECK: scale 1.000000e+00 :
// CHECK-NOT: base2
func.func @score_region(%x: tensor<?x?x3xf32>, %w: tensor<8x3xf32>) -> tensor<?x2x?x4xf32> {
  %q:2 = attn.project %x weights(%w) {layout = #attn.layout<out_in>, parts = [#p, #p]} : (tensor<?x?x3xf32>, tensor<8x3xf32>) -> (tensor<?x2x?x4xf32>, tensor<?x2x?x4xf32>)
  %o = attn.attention %q#0, %q#1, %q#1 scale 0.5 : (tensor<?x2x?x4xf32>, tensor<?x2x?x4xf32>, tensor<?x2x?x4xf32>) -> (tensor<?x2x?x4xf32>)
    score(%b: index, %h: index, %i: index, %k: index, %s: f32) {
      %t = math.tanh %s : f32
      attn.yield %t : f32
    }
  return %o : tensor<?x2x?x4xf32>
}

// The factor with which a score region begins is one of the scale: 0.5 * 0.25.
// CHECK-LABEL: func.func @first_factor
// CHECK: scale 1.250000e-01 :
// CHECK: math.tanh %s : f32
func.func @first_factor(%q: tensor<?x2x?x4xf32>) -> tensor<?x2x?x4xf32> {
  %o = attn.attention %q, %q, %q scale 0.5 : (tensor<?x2x?x4xf32>, tensor<?x2x?x4xf32>, tensor<?x2x?x4xf32>) -> (tensor<?x2x?x4xf32>)
    score(%b: index, %h: index, %i: index, %k: index, %s: f32) {
      %c = arith.constant 2.5e-01 : f32
      %x = arith.mulf %s, %c : f32
      %t = math.tanh %x : f32
      attn.yield %t : f32
    }
  return %o : tensor<?x2x?x4xf32>
}

// A map of the scaled scores wants the scale alone.
// CHECK-LABEL: func.func @first_factor_and_map
// CHECK: scale 5.000000e-01 maps
// CHECK: arith.mulf %s, %{{.*}} : f32
func.func @first_factor_and_map(%q: tensor<?x2x?x4xf32>) -> (tensor<?x2x?x4xf32>, tensor<?x2x?x?xf32>) {
  %o:2 = attn.attention %q, %q, %q scale 0.5 maps [#attn.map<scores>] : (tensor<?x2x?x4xf32>, tensor<?x2x?x4xf32>, tensor<?x2x?x4xf32>) -> (tensor<?x2x?x4xf32>, tensor<?x2x?x?xf32>)
    score(%b: index, %h: index, %i: index, %k: index, %s: f32) {
      %c = arith.constant 2.5e-01 : f32
      %x = arith.mulf %s, %c : f32
      %t = math.tanh %x : f32
      attn.yield %t : f32
    }
  return %o#0, %o#1 : tensor<?x2x?x4xf32>, tensor<?x2x?x?xf32>
}
