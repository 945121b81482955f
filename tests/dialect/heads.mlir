// Heads that are left out and heads of several widths, printed and read again.
// RUN: %mhac-opt %s | %mhac-opt | FileCheck %s

// CHECK-LABEL: func.func @rows_and_columns
// CHECK: attn.project %arg0 weights(%arg1) {layout = #attn.layout<out_in>, parts = [#attn.part<weight = 0, bias = -1, heads = 2, width = 4, first = 0, group = 3, group_stride = 0, head_stride = 4, numbers = {{.*}}0, 2]>]}
// CHECK: attn.project %{{.*}}, %arg2 weights(%arg3) {columns = array<i64: 0, 8, 12>, layout = #attn.layout<out_in>
func.func @rows_and_columns(%x: tensor<?x?x6xf32>, %w: tensor<12x6xf32>, %h: tensor<?x1x?x2xf32>, %wo: tensor<6x14xf32>) -> tensor<?x?x6xf32> {
  %q = attn.project %x weights(%w) {layout = #attn.layout<out_in>, parts = [#attn.part<weight = 0, bias = -1, heads = 2, width = 4, first = 0, group = 3, group_stride = 0, head_stride = 4, numbers = [0, 2]>]} : (tensor<?x?x6xf32>, tensor<12x6xf32>) -> tensor<?x2x?x4xf32>
  %y = attn.project %q, %h weights(%wo) {columns = array<i64: 0, 8, 12>, layout = #attn.layout<out_in>, parts = [#attn.part<weight = 0, bias = -1, heads = 1, width = 6, first = 0, group = 1, group_stride = 0, head_stride = 0>]} : (tensor<?x2x?x4xf32>, tensor<?x1x?x2xf32>, tensor<6x14xf32>) -> tensor<?x?x6xf32>
  return %y : tensor<?x?x6xf32>
}

// CHECK-LABEL: func.func @select
// CHECK: attn.select_heads %arg0 [1, 2, 5] : tensor<?x6x?x8xf32> -> tensor<?x3x?x8xf32>
// CHECK: attn.attention %{{.*}}, %arg1, %arg1 scale 1.000000e+00 heads [1, 2, 5] kv_head_of [0, 0, 1] :
// CHECK: attn.concat_heads %{{.*}}, %arg2 : (tensor<?x3x?xf32>, tensor<?x2x?xf32>) -> tensor<?x5x?xf32>
func.func @select(%q: tensor<?x6x?x8xf32>, %k: tensor<?x2x?x8xf32>, %l: tensor<?x2x?xf32>) -> tensor<?x5x?xf32> {
  %s = attn.select_heads %q [1, 2, 5] : tensor<?x6x?x8xf32> -> tensor<?x3x?x8xf32>
  %o, %lse = attn.attention %s, %k, %k scale 1.0 heads [1, 2, 5] kv_head_of [0, 0, 1] : (tensor<?x3x?x8xf32>, tensor<?x2x?x8xf32>, tensor<?x2x?x8xf32>) -> (tensor<?x3x?x8xf32>, tensor<?x3x?xf32>)
  %c = attn.concat_heads %lse, %l : (tensor<?x3x?xf32>, tensor<?x2x?xf32>) -> tensor<?x5x?xf32>
  return %c : tensor<?x5x?xf32>
}
