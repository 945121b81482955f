// What mask `lsh` is made of, printed and read again.
// RUN: %mhac-opt %s | %mhac-opt | FileCheck %s

// CHECK: #attn.lsh<buckets = 8, rounds = 2, seed = 7, group = 2>
func.func private @mask() attributes {a = #attn.lsh<buckets = 8, rounds = 2, seed = 7, group = 2>}

// CHECK-LABEL: func.func @sorted
// CHECK: %[[HASH:.*]] = attn.hash %arg0 {buckets = 8 : i64, rotations = array<i64: 0, 0>, rounds = 3 : i64, seed = 7 : i64} : tensor<?x2x?x4xf32> -> tensor<?x2x3x?xi32>
// CHECK: %[[ORDER:.*]] = attn.sort_buckets %[[HASH]] : tensor<?x2x3x?xi32> -> tensor<?x6x3x?xi32>
// CHECK: attn.bucket_ranges %[[ORDER]], %[[ORDER]] {kv_head_of = array<i64: 1, 1>} : (tensor<?x6x3x?xi32>, tensor<?x6x3x?xi32>) -> tensor<?x6x2x?xi32>
// CHECK: attn.gather_tokens %arg0 by %[[ORDER]] : (tensor<?x2x?x4xf32>, tensor<?x6x3x?xi32>) -> tensor<?x6x?x4xf32>
// CHECK: attn.merge_rounds %{{.*}}, %arg1 by %[[ORDER]] sinks %arg2 {head_numbers = array<i64: 1, 4>} : {{.*}} -> (tensor<?x2x?x4xf32>, tensor<?x2x?xf32>)
func.func @sorted(%x: tensor<?x2x?x4xf32>, %lse: tensor<?x6x?xf32>, %sinks: tensor<5xf32>) -> (tensor<?x2x?x4xf32>, tensor<?x2x?xf32>) {
  %hash = attn.hash %x {buckets = 8 : i64, rotations = array<i64: 0, 0>, rounds = 3 : i64, seed = 7 : i64} : tensor<?x2x?x4xf32> -> tensor<?x2x3x?xi32>
  %order = attn.sort_buckets %hash : tensor<?x2x3x?xi32> -> tensor<?x6x3x?xi32>
  %ranges = attn.bucket_ranges %order, %order {kv_head_of = array<i64: 1, 1>} : (tensor<?x6x3x?xi32>, tensor<?x6x3x?xi32>) -> tensor<?x6x2x?xi32>
  %g = attn.gather_tokens %x by %order : (tensor<?x2x?x4xf32>, tensor<?x6x3x?xi32>) -> tensor<?x6x?x4xf32>
  %o, %l = attn.merge_rounds %g, %lse by %order sinks %sinks {head_numbers = array<i64: 1, 4>} : (tensor<?x6x?x4xf32>, tensor<?x6x?xf32>, tensor<?x6x3x?xi32>, tensor<5xf32>) -> (tensor<?x2x?x4xf32>, tensor<?x2x?xf32>)
  return %o, %l : tensor<?x2x?x4xf32>, tensor<?x2x?xf32>
}
