// attn.normalize, attn.rotate and the positions of attn.attention, printed and read again.
// RUN: %mhac-opt %s | %mhac-opt | FileCheck %s

// CHECK-LABEL: func.func @steps
// CHECK: attn.normalize %arg0 weight %arg1 : tensor<8xf32> {across_heads, epsilon = 1.000000e-03 : f64, kind = #attn.norm<l2>} : tensor<?x2x?x4xf32>
// CHECK: attn.rotate %{{.*}} params(%arg2 : index) {frequencies = array<f64: 1.000000e+00>, magnitude = 1.250000e+00 : f64, pairing = #attn.pairing<interleaved>} : tensor<?x2x?x4xf32> position {
// CHECK-NEXT: ^bb0(%{{.*}}: index, %[[s:.*]]: index, %[[n:.*]]: index):
// CHECK-NEXT: %[[p:.*]] = arith.addi %[[s]], %[[n]] : index
// CHECK-NEXT: attn.yield %[[p]] : index
func.func @steps(%x: tensor<?x2x?x4xf32>, %w: tensor<8xf32>, %n: index) -> tensor<?x2x?x4xf32> {
  %a = attn.normalize %x weight %w : tensor<8xf32> {kind = #attn.norm<l2>, epsilon = 1.0e-3 : f64, across_heads} : tensor<?x2x?x4xf32>
  %r = attn.rotate %a params(%n : index) {pairing = #attn.pairing<interleaved>, frequencies = array<f64: 1.0>, magnitude = 1.25 : f64} : tensor<?x2x?x4xf32> position {
  ^bb0(%b: index, %s: index, %m: index):
    %p = arith.addi %s, %m : index
    attn.yield %p : index
  }
  return %r : tensor<?x2x?x4xf32>
}

// CHECK-LABEL: func.func @attention
// CHECK: attn.attention %arg0, %arg0, %arg0 scale 1.000000e+00 positions [#attn.rope<pairing = half, base = 1.000000e+04 : f64, rotary_dim = 4, scaling = {factor = 2.000000e+00 : f64, kind = "linear"}>, #attn.qk_norm<kind = rms, epsilon = 9.9999999999999995E-7 : f64, across_heads = false, q_features = 0, k_features = 0>]
func.func @attention(%q: tensor<?x2x?x4xf32>) -> tensor<?x2x?x4xf32> {
  %o = attn.attention %q, %q, %q scale 1.0 positions [#attn.rope<pairing = half, base = 10000.0, rotary_dim = 4, scaling = {kind = "linear", factor = 2.0}>,
      #attn.qk_norm<kind = rms, epsilon = 1.0e-6, across_heads = false, q_features = 0, k_features = 0>]
      : (tensor<?x2x?x4xf32>, tensor<?x2x?x4xf32>, tensor<?x2x?x4xf32>) -> (tensor<?x2x?x4xf32>)
  return %o : tensor<?x2x?x4xf32>
}
