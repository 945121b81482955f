// RUN: %mhac-opt --attn-merge-projections %s | FileCheck %s

#q = #attn.part<weight = 0, bias = 0, heads = 2, width = 2, first = 0, group = 2, group_stride = 0, head_stride = 2>
#k = #attn.part<weight = 0, bias = -1, heads = 1, width = 2, first = 2, group = 1, group_stride = 0, head_stride = 2>

// One weight stays one operand; parts keep their own bias.
// CHECK-LABEL: func.func @packed
// CHECK: %[[R:.*]]:2 = attn.project %arg0 weights(%arg1) biases(%arg2)
// CHECK-SAME: parts = [#attn.part<weight = 0, bias = 0, heads = 2{{.*}}>, #attn.part<weight = 0, bias = -1, heads = 1
// CHECK-NEXT: return %[[R]]#0, %[[R]]#1
func.func @packed(%x: tensor<?x?x3xf32>, %w: tensor<4x3xf32>, %b: tensor<4xf32>) -> (tensor<?x2x?x2xf32>, tensor<?x1x?x2xf32>) {
  %q = attn.project %x weights(%w) biases(%b) {layout = #attn.layout<out_in>, parts = [#q]} : (tensor<?x?x3xf32>, tensor<4x3xf32>, tensor<4xf32>) -> tensor<?x2x?x2xf32>
  %k = attn.project %x weights(%w) {layout = #attn.layout<out_in>, parts = [#k]} : (tensor<?x?x3xf32>, tensor<4x3xf32>) -> tensor<?x1x?x2xf32>
  return %q, %k : tensor<?x2x?x2xf32>, tensor<?x1x?x2xf32>
}

// K and V of cross-attention share `memory`; Q does not.
// CHECK-LABEL: func.func @cross
// CHECK: %[[Q:.*]] = attn.project %arg0 weights(%arg2)
// CHECK-NEXT: %[[KV:.*]]:2 = attn.project %arg1 weights(%arg2, %arg3)
// CHECK-SAME: parts = [#attn.part<weight = 0, {{.*}}>, #attn.part<weight = 1, {{.*}}>]
// CHECK-NEXT: return %[[Q]], %[[KV]]#0, %[[KV]]#1
func.func @cross(%x: tensor<?x?x3xf32>, %m: tensor<?x?x3xf32>, %w: tensor<4x3xf32>, %wv: tensor<4x3xf32>) -> (tensor<?x1x?x2xf32>, tensor<?x1x?x2xf32>, tensor<?x1x?x2xf32>) {
  %q = attn.project %x weights(%w) {layout = #attn.layout<out_in>, parts = [#k]} : (tensor<?x?x3xf32>, tensor<4x3xf32>) -> tensor<?x1x?x2xf32>
  %k = attn.project %m weights(%w) {layout = #attn.layout<out_in>, parts = [#k]} : (tensor<?x?x3xf32>, tensor<4x3xf32>) -> tensor<?x1x?x2xf32>
  %v = attn.project %m weights(%wv) {layout = #attn.layout<out_in>, parts = [#k]} : (tensor<?x?x3xf32>, tensor<4x3xf32>) -> tensor<?x1x?x2xf32>
  return %q, %k, %v : tensor<?x1x?x2xf32>, tensor<?x1x?x2xf32>, tensor<?x1x?x2xf32>
}

// A user of the first projection between the two keeps them apart.
// CHECK-LABEL: func.func @used_between
// CHECK: attn.project %arg0
// CHECK: attn.swap_heads
// CHECK: attn.project %arg0
func.func @used_between(%x: tensor<?x?x3xf32>, %w: tensor<4x3xf32>) -> (tensor<?x?x1x2xf32>, tensor<?x1x?x2xf32>) {
  %q = attn.project %x weights(%w) {layout = #attn.layout<out_in>, parts = [#k]} : (tensor<?x?x3xf32>, tensor<4x3xf32>) -> tensor<?x1x?x2xf32>
  %s = attn.swap_heads %q : tensor<?x1x?x2xf32> -> tensor<?x?x1x2xf32>
  %k = attn.project %x weights(%w) {layout = #attn.layout<out_in>, parts = [#k]} : (tensor<?x?x3xf32>, tensor<4x3xf32>) -> tensor<?x1x?x2xf32>
  return %s, %k : tensor<?x?x1x2xf32>, tensor<?x1x?x2xf32>
}
