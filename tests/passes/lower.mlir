// The whole stage: its text says that it is lowered, and lowering it again changes nothing.
// RUN: %mhac-opt --attn-lower %s | FileCheck %s
// RUN: %mhac-opt --attn-lower %s -o %t.once
// RUN: %mhac-opt --attn-lower %t.once -o %t.twice
// RUN: diff %t.once %t.twice

#p = #attn.part<weight = 0, bias = -1, heads = 2, width = 4, first = 0, group = 2, group_stride = 0, head_stride = 4>

// CHECK: module attributes {attn.stage = "lowered"}
// CHECK: attn.attention {{.*}} scale 1.000000e+00 offset row_end base2 :
// CHECK: mask(
// CHECK: blocks(
module attributes {attn.stage = "attn"} {
  func.func @f(%x: tensor<?x?x3xf32>, %wq: tensor<8x3xf32>, %wk: tensor<8x3xf32>, %starts: tensor<?xi64>) -> tensor<?x2x?x4xf32> {
    %q = attn.project %x weights(%wq) {layout = #attn.layout<out_in>, parts = [#p]} : (tensor<?x?x3xf32>, tensor<8x3xf32>) -> tensor<?x2x?x4xf32>
    %k = attn.project %x weights(%wk) {layout = #attn.layout<out_in>, parts = [#p]} : (tensor<?x?x3xf32>, tensor<8x3xf32>) -> tensor<?x2x?x4xf32>
    %o = attn.attention %q, %k, %k params(%starts : tensor<?xi64>) scale 1.0 offset row_end masks [#attn.causal, #attn.padding<side = left>] scores [#attn.scale<0.5 : f64>] : (tensor<?x2x?x4xf32>, tensor<?x2x?x4xf32>, tensor<?x2x?x4xf32>) -> (tensor<?x2x?x4xf32>)
    return %o : tensor<?x2x?x4xf32>
  }
}
