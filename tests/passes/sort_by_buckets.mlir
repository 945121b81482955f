// RUN: %mhac-opt --attn-sort-by-buckets --canonicalize --cse %s | FileCheck %s

// Heads of both rounds; of the second those keys that the first did not show. Causality is that of the tokens. The sink joins behind the rounds.
// CHECK-LABEL: func.func @rounds(
// CHECK: %[[HQ:.*]] = attn.hash %arg0
// CHECK: %[[HK:.*]] = attn.hash %arg1
// CHECK: %[[QO:.*]] = attn.sort_buckets %[[HQ]]
// CHECK: %[[KO:.*]] = attn.sort_buckets %[[HK]]
// CHECK: %[[RANGES:.*]] = attn.bucket_ranges %[[QO]], %[[KO]]
// CHECK: %[[Q:.*]] = attn.gather_tokens %arg0 by %[[QO]]
// CHECK: %[[K:.*]] = attn.gather_tokens %arg1 by %[[KO]]
// CHECK: %[[O:.*]], %[[L:.*]] = attn.attention %[[Q]], %[[K]], %[[K]] params(%[[HQ]], %[[HK]], %arg2, %[[QO]], %[[KO]], %[[RANGES]], %arg3, %arg3 : {{.*}}) scale 5.000000e-01 : {{.*}} -> (tensor<?x4x?x4xf32>, tensor<?x4x?xf32>)
// CHECK: mask(%b: index, %h: index, %q: index, %k: index, %[[PHQ:.*]]: tensor<?x2x2x?xi32>, %[[PHK:.*]]: tensor<?x1x2x?xi32>, %{{.*}}: tensor<2xf32>, %[[PQO:.*]]: tensor<?x4x3x?xi32>, %[[PKO:.*]]: tensor<?x2x3x?xi32>, %[[PR:.*]]: tensor<?x4x2x?xi32>,
// CHECK-DAG: attn.floor_mod %h,
// CHECK-DAG: %[[G:.*]] = attn.floor_div %h,
// CHECK-DAG: attn.load %[[PQO]][%b, %h, %{{.*}}, %q]
// CHECK-DAG: attn.load %[[PKO]][%b, %[[G]], %{{.*}}, %k]
// CHECK-DAG: arith.cmpi sle
// CHECK-DAG: attn.load %[[PR]][%b, %h, %{{.*}}, %q] {ascending}
// CHECK-DAG: arith.cmpi sge, %k,
// CHECK-DAG: arith.cmpi slt, %k,
// CHECK-DAG: attn.load %[[PHQ]]
// CHECK-DAG: attn.load %[[PHK]]
// CHECK: arith.xori
// CHECK: attn.merge_rounds %[[O]], %[[L]] by %[[QO]] sinks %arg2 : {{.*}} -> (tensor<?x2x?x4xf32>, tensor<?x2x?xf32>)
func.func @rounds(%q: tensor<?x2x?x4xf32>, %k: tensor<?x1x?x4xf32>, %sinks: tensor<2xf32>, %n: index) -> (tensor<?x2x?x4xf32>, tensor<?x2x?xf32>) {
  %hq = attn.hash %q {buckets = 8 : i64, rotations = array<i64: 0, 0>, rounds = 2 : i64, seed = 7 : i64} : tensor<?x2x?x4xf32> -> tensor<?x2x2x?xi32>
  %hk = attn.hash %k {buckets = 8 : i64, rotations = array<i64: 0>, rounds = 2 : i64, seed = 7 : i64} : tensor<?x1x?x4xf32> -> tensor<?x1x2x?xi32>
  %o, %l = attn.attention %q, %k, %k params(%hq, %hk, %sinks, %n, %n : tensor<?x2x2x?xi32>, tensor<?x1x2x?xi32>, tensor<2xf32>, index, index) scale 0.5 : (tensor<?x2x?x4xf32>, tensor<?x1x?x4xf32>, tensor<?x1x?x4xf32>) -> (tensor<?x2x?x4xf32>, tensor<?x2x?xf32>)
    mask(%b: index, %h: index, %i: index, %j: index, %a: tensor<?x2x2x?xi32>, %c: tensor<?x1x2x?xi32>, %s: tensor<2xf32>, %queries: index, %keys: index) {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %causal = arith.cmpi sle, %j, %i : index
      %a0 = attn.load %a[%b, %h, %c0, %i] : tensor<?x2x2x?xi32> -> i32
      %b0 = attn.load %c[%b, %c0, %c0, %j] : tensor<?x1x2x?xi32> -> i32
      %first = arith.cmpi eq, %a0, %b0 : i32
      %a1 = attn.load %a[%b, %h, %c1, %i] : tensor<?x2x2x?xi32> -> i32
      %b1 = attn.load %c[%b, %c0, %c1, %j] : tensor<?x1x2x?xi32> -> i32
      %second = arith.cmpi eq, %a1, %b1 : i32
      %meet = arith.ori %first, %second : i1
      %visible = arith.andi %causal, %meet : i1
      attn.yield %visible : i1
    }
    sink(%b: index, %h: index, %i: index, %a: tensor<?x2x2x?xi32>, %c: tensor<?x1x2x?xi32>, %s: tensor<2xf32>, %queries: index, %keys: index) {
      %sink = attn.load %s[%h] : tensor<2xf32> -> f32
      attn.yield %sink : f32
    }
  return %o, %l : tensor<?x2x?x4xf32>, tensor<?x2x?xf32>
}

// One of two rounds is not all of the hash; and an alternative shows more than the bucket.
// CHECK-LABEL: func.func @part(
// CHECK-NOT: attn.sort_buckets
func.func @part(%q: tensor<?x2x?x4xf32>, %n: index) -> tensor<?x2x?x4xf32> {
  %hq = attn.hash %q {buckets = 8 : i64, rotations = array<i64: 0, 0>, rounds = 2 : i64, seed = 7 : i64} : tensor<?x2x?x4xf32> -> tensor<?x2x2x?xi32>
  %o = attn.attention %q, %q, %q params(%hq, %n, %n : tensor<?x2x2x?xi32>, index, index) scale 0.5 : (tensor<?x2x?x4xf32>, tensor<?x2x?x4xf32>, tensor<?x2x?x4xf32>) -> (tensor<?x2x?x4xf32>)
    mask(%b: index, %h: index, %i: index, %j: index, %a: tensor<?x2x2x?xi32>, %queries: index, %keys: index) {
      %c0 = arith.constant 0 : index
      %a0 = attn.load %a[%b, %h, %c0, %i] : tensor<?x2x2x?xi32> -> i32
      %b0 = attn.load %a[%b, %h, %c0, %j] : tensor<?x2x2x?xi32> -> i32
      %first = arith.cmpi eq, %a0, %b0 : i32
      attn.yield %first : i1
    }
  return %o : tensor<?x2x?x4xf32>
}

// CHECK-LABEL: func.func @alternative(
// CHECK-NOT: attn.sort_buckets
func.func @alternative(%q: tensor<?x2x?x4xf32>, %n: index) -> tensor<?x2x?x4xf32> {
  %hq = attn.hash %q {buckets = 8 : i64, rotations = array<i64: 0, 0>, rounds = 1 : i64, seed = 7 : i64} : tensor<?x2x?x4xf32> -> tensor<?x2x1x?xi32>
  %o = attn.attention %q, %q, %q params(%hq, %n, %n : tensor<?x2x1x?xi32>, index, index) scale 0.5 : (tensor<?x2x?x4xf32>, tensor<?x2x?x4xf32>, tensor<?x2x?x4xf32>) -> (tensor<?x2x?x4xf32>)
    mask(%b: index, %h: index, %i: index, %j: index, %a: tensor<?x2x1x?xi32>, %queries: index, %keys: index) {
      %c0 = arith.constant 0 : index
      %a0 = attn.load %a[%b, %h, %c0, %i] : tensor<?x2x1x?xi32> -> i32
      %b0 = attn.load %a[%b, %h, %c0, %j] : tensor<?x2x1x?xi32> -> i32
      %same = arith.cmpi eq, %a0, %b0 : i32
      %own = arith.cmpi eq, %i, %j : index
      %either = arith.ori %same, %own : i1
      attn.yield %either : i1
    }
  return %o : tensor<?x2x?x4xf32>
}
