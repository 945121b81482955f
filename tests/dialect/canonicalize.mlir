// Regions that say nothing go away; two exchanges of heads cancel.
// RUN: %mhac-opt --canonicalize %s | FileCheck %s

// CHECK-LABEL: func.func @empty_regions
// CHECK: attn.attention
// CHECK-NOT: score(
// CHECK-NOT: mask(
// CHECK: return
func.func @empty_regions(%q: tensor<1x1x?x2xf32>) -> tensor<1x1x?x2xf32> {
  %o = attn.attention %q, %q, %q scale 1.0 : (tensor<1x1x?x2xf32>, tensor<1x1x?x2xf32>, tensor<1x1x?x2xf32>) -> (tensor<1x1x?x2xf32>)
    score(%b: index, %h: index, %i: index, %k: index, %s: f32) {
      attn.yield %s : f32
    }
    mask(%b: index, %h: index, %i: index, %k: index) {
      %v = arith.cmpi sle, %k, %k : index
      attn.yield %v : i1
    }
  return %o : tensor<1x1x?x2xf32>
}

// CHECK-LABEL: func.func @used_mask
// CHECK: mask(
func.func @used_mask(%q: tensor<1x1x?x2xf32>) -> tensor<1x1x?x2xf32> {
  %o = attn.attention %q, %q, %q scale 1.0 : (tensor<1x1x?x2xf32>, tensor<1x1x?x2xf32>, tensor<1x1x?x2xf32>) -> (tensor<1x1x?x2xf32>)
    mask(%b: index, %h: index, %i: index, %k: index) {
      %v = arith.constant false
      attn.yield %v : i1
    }
  return %o : tensor<1x1x?x2xf32>
}

// CHECK-LABEL: func.func @swap_twice
// CHECK-NEXT: return %arg0
func.func @swap_twice(%q: tensor<?x3x?x2xf32>) -> tensor<?x3x?x2xf32> {
  %s = attn.swap_heads %q : tensor<?x3x?x2xf32> -> tensor<?x?x3x2xf32>
  %t = attn.swap_heads %s : tensor<?x?x3x2xf32> -> tensor<?x3x?x2xf32>
  return %t : tensor<?x3x?x2xf32>
}
