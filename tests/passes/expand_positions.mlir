// RUN: %mhac-opt %s --attn-expand-variants --canonicalize --attn-fold-scale | FileCheck %s

// Encodings become ops ahead of the attention, in order; the regions ask for what the positions depend on, and the attention keeps none of it.
// CHECK-LABEL: func.func @rope
// CHECK-SAME:    %[[q:.*]]: tensor<?x2x?x4xf32>, %[[k:.*]]: tensor<?x2x?x4xf32>, %[[v:.*]]: tensor<?x2x?x4xf32>, %[[starts:.*]]: tensor<?xi64>
// CHECK:         %[[queries:.*]] = tensor.dim %[[q]]
// CHECK:         %[[keys:.*]] = tensor.dim %[[k]]
// CHECK:         %[[rq:.*]] = attn.rotate %[[q]] params(%[[starts]], %[[queries]], %[[keys]] : tensor<?xi64>, index, index)
// CHECK-SAME:      frequencies = array<f64: 1.000000e+00, 1.000000e-01>, pairing = #attn.pairing<half>, prepared
// The scale and the change to base 2 go into it.
// CHECK-SAME:      scale = 0.7213{{[0-9]+}} : f64
// CHECK-NEXT:      ^bb0(%[[b:.*]]: index, %[[s:.*]]: index, %[[t:.*]]: tensor<?xi64>, %[[n:.*]]: index, %[[m:.*]]: index):
// CHECK:             attn.load %[[t]][%[[b]]]
// CHECK:             attn.yield
// CHECK:         %[[rk:.*]] = attn.rotate %[[k]] params(%[[starts]] : tensor<?xi64>)
// CHECK:             arith.subi %{{.*}}, %{{.*}} : index
// CHECK:         attn.attention %[[rq]], %[[rk]], %[[v]] params(%[[starts]], %[[queries]], %[[keys]] : {{.*}}) scale 1.000000e+00 offset row_end base2
func.func @rope(%q: tensor<?x2x?x4xf32>, %k: tensor<?x2x?x4xf32>, %v: tensor<?x2x?x4xf32>, %starts: tensor<?xi64>) -> tensor<?x2x?x4xf32> {
  %o = attn.attention %q, %k, %v params(%starts : tensor<?xi64>) scale 5.000000e-01 offset row_end masks [#attn.padding<side = left>]
      positions [#attn.rope<pairing = half, base = 100.0, rotary_dim = 4>]
      : (tensor<?x2x?x4xf32>, tensor<?x2x?x4xf32>, tensor<?x2x?x4xf32>) -> (tensor<?x2x?x4xf32>)
  return %o : tensor<?x2x?x4xf32>
}

// Ids are read in the region and by nothing else.
// CHECK-LABEL: func.func @ids
// CHECK:         attn.rotate %{{.*}} params(%[[ids:.*]] : tensor<?x?xi64>)
// CHECK:             attn.load %{{.*}}[%{{.*}}, %{{.*}}] : tensor<?x?xi64> -> i64
// CHECK:         attn.attention %{{.*}}, %{{.*}}, %{{.*}} params(%{{.*}}, %{{.*}} : index, index)
func.func @ids(%q: tensor<?x2x?x4xf32>, %ids: tensor<?x?xi64>) -> tensor<?x2x?x4xf32> {
  %o = attn.attention %q, %q, %q params(%ids : tensor<?x?xi64>) scale 5.000000e-01
      positions [#attn.rope<pairing = interleaved, base = 100.0, rotary_dim = 2, positions = shared>]
      : (tensor<?x2x?x4xf32>, tensor<?x2x?x4xf32>, tensor<?x2x?x4xf32>) -> (tensor<?x2x?x4xf32>)
  return %o : tensor<?x2x?x4xf32>
}

// Norm and encoding stand in the order of the list; the last of them takes the scale.
// CHECK-LABEL: func.func @norm
// CHECK:         %[[rq:.*]] = attn.rotate
// CHECK:         %[[nq:.*]] = attn.normalize %[[rq]] weight %[[w:.*]] : tensor<4xf32> {epsilon = 1.000000e-03 : f64, kind = #attn.norm<rms>, scale = 0.7213{{[0-9]+}} : f64}
// CHECK:         %[[rk:.*]] = attn.rotate
// CHECK:         %[[nk:.*]] = attn.normalize %[[rk]] weight %{{.*}} : tensor<4xf32> {epsilon = 1.000000e-03 : f64, kind = #attn.norm<rms>}
// CHECK:         attn.attention %[[nq]], %[[nk]]
func.func @norm(%q: tensor<?x2x?x4xf32>, %k: tensor<?x2x?x4xf32>, %qw: tensor<4xf32>, %kw: tensor<4xf32>) -> tensor<?x2x?x4xf32> {
  %o = attn.attention %q, %k, %k params(%qw, %kw : tensor<4xf32>, tensor<4xf32>) scale 5.000000e-01
      positions [#attn.rope<pairing = half, base = 100.0, rotary_dim = 4>,
                 #attn.qk_norm<kind = rms, epsilon = 1.0e-3, across_heads = false, q_features = 4, k_features = 4>]
      : (tensor<?x2x?x4xf32>, tensor<?x2x?x4xf32>, tensor<?x2x?x4xf32>) -> (tensor<?x2x?x4xf32>)
  return %o : tensor<?x2x?x4xf32>
}
