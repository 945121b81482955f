// One case for each numbered constraint of what mask `lsh` is made of, under the same number.
// RUN: %mhac-opt %s -split-input-file -verify-diagnostics

func.func @hash_c1(%x: tensor<?x?x?x4xf32>) {
  // expected-error @+1 {{(c1) input wants rank 4, static heads and width, and floats}}
  %hash = attn.hash %x {buckets = 8 : i64, rotations = array<i64: 0, 1>, rounds = 2 : i64, seed = 0 : i64} : tensor<?x?x?x4xf32> -> tensor<?x2x2x?xi32>
  return
}

// -----

func.func @hash_c2(%x: tensor<?x2x?x4xf32>) {
  // expected-error @+1 {{(c2) result wants 'tensor<?x2x2x?xi32>'}}
  %hash = attn.hash %x {buckets = 8 : i64, rotations = array<i64: 0, 1>, rounds = 2 : i64, seed = 0 : i64} : tensor<?x2x?x4xf32> -> tensor<?x2x?x2xi32>
  return
}

// -----

func.func @hash_c3_buckets(%x: tensor<?x2x?x4xf32>) {
  // expected-error @+1 {{(c3) buckets want an even number from 2 to 4096, found 7}}
  %hash = attn.hash %x {buckets = 7 : i64, rotations = array<i64: 0, 1>, rounds = 2 : i64, seed = 0 : i64} : tensor<?x2x?x4xf32> -> tensor<?x2x2x?xi32>
  return
}

// -----

func.func @hash_c3_rounds(%x: tensor<?x2x?x4xf32>) {
  // expected-error @+1 {{(c3) rounds want a number from 1 to 8, found 9}}
  %hash = attn.hash %x {buckets = 8 : i64, rotations = array<i64: 0, 1>, rounds = 9 : i64, seed = 0 : i64} : tensor<?x2x?x4xf32> -> tensor<?x2x9x?xi32>
  return
}

// -----

func.func @hash_c3_seed(%x: tensor<?x2x?x4xf32>) {
  // expected-error @+1 {{(c3) seed wants a number from 0 to 4294967295, found -1}}
  %hash = attn.hash %x {buckets = 8 : i64, rotations = array<i64: 0, 1>, rounds = 2 : i64, seed = -1 : i64} : tensor<?x2x?x4xf32> -> tensor<?x2x2x?xi32>
  return
}

// -----

func.func @hash_c4(%x: tensor<?x2x?x4xf32>) {
  // expected-error @+1 {{(c4) wants a rotation of at least 0 for each of 2 heads}}
  %hash = attn.hash %x {buckets = 8 : i64, rotations = array<i64: 0>, rounds = 2 : i64, seed = 0 : i64} : tensor<?x2x?x4xf32> -> tensor<?x2x2x?xi32>
  return
}

// -----

func.func @sort_c1(%hash: tensor<?x2x2x?xi32>) {
  // expected-error @+1 {{(c1) wants the result of attn.hash}}
  %order = attn.sort_buckets %hash : tensor<?x2x2x?xi32> -> tensor<?x4x3x?xi32>
  return
}

// -----

func.func @sort_c2(%x: tensor<?x2x?x4xf32>) {
  %hash = attn.hash %x {buckets = 8 : i64, rotations = array<i64: 0, 1>, rounds = 2 : i64, seed = 0 : i64} : tensor<?x2x?x4xf32> -> tensor<?x2x2x?xi32>
  // expected-error @+1 {{(c2) result wants 'tensor<?x4x3x?xi32>'}}
  %order = attn.sort_buckets %hash : tensor<?x2x2x?xi32> -> tensor<?x2x3x?xi32>
  return
}

// -----

func.func @ranges_c1(%order: tensor<?x4x3x?xi32>) {
  // expected-error @+1 {{(c1) wants results of attn.sort_buckets}}
  %r = attn.bucket_ranges %order, %order : (tensor<?x4x3x?xi32>, tensor<?x4x3x?xi32>) -> tensor<?x4x2x?xi32>
  return
}

// -----

func.func @ranges_c2(%x: tensor<?x2x?x4xf32>) {
  %hash = attn.hash %x {buckets = 8 : i64, rotations = array<i64: 0, 1>, rounds = 2 : i64, seed = 0 : i64} : tensor<?x2x?x4xf32> -> tensor<?x2x2x?xi32>
  %order = attn.sort_buckets %hash : tensor<?x2x2x?xi32> -> tensor<?x4x3x?xi32>
  // expected-error @+1 {{(c2) result wants 'tensor<?x4x2x?xi32>'}}
  %r = attn.bucket_ranges %order, %order : (tensor<?x4x3x?xi32>, tensor<?x4x3x?xi32>) -> tensor<?x4x3x?xi32>
  return
}

// -----

func.func @ranges_c3(%x: tensor<?x2x?x4xf32>) {
  %hash = attn.hash %x {buckets = 8 : i64, rotations = array<i64: 0, 1>, rounds = 2 : i64, seed = 0 : i64} : tensor<?x2x?x4xf32> -> tensor<?x2x2x?xi32>
  %order = attn.sort_buckets %hash : tensor<?x2x2x?xi32> -> tensor<?x4x3x?xi32>
  // expected-error @+1 {{(c3) wants one of 2 key/value heads for each of 2 heads}}
  %r = attn.bucket_ranges %order, %order {kv_head_of = array<i64: 0, 2>} : (tensor<?x4x3x?xi32>, tensor<?x4x3x?xi32>) -> tensor<?x4x2x?xi32>
  return
}

// -----

func.func @gather_c2(%x: tensor<?x2x?x4xf32>, %order: tensor<?x4x3x?xi32>) {
  // expected-error @+1 {{(c2) wants the result of attn.sort_buckets for 2 heads}}
  %g = attn.gather_tokens %x by %order : (tensor<?x2x?x4xf32>, tensor<?x4x3x?xi32>) -> tensor<?x4x?x4xf32>
  return
}

// -----

func.func @gather_c3(%x: tensor<?x2x?x4xf32>) {
  %hash = attn.hash %x {buckets = 8 : i64, rotations = array<i64: 0, 1>, rounds = 2 : i64, seed = 0 : i64} : tensor<?x2x?x4xf32> -> tensor<?x2x2x?xi32>
  %order = attn.sort_buckets %hash : tensor<?x2x2x?xi32> -> tensor<?x4x3x?xi32>
  // expected-error @+1 {{(c3) result wants 'tensor<?x4x?x4xf32>'}}
  %g = attn.gather_tokens %x by %order : (tensor<?x2x?x4xf32>, tensor<?x4x3x?xi32>) -> tensor<?x2x?x4xf32>
  return
}

// -----

func.func @merge_c2(%x: tensor<?x2x?x4xf32>, %o: tensor<?x4x?x4xf32>, %lse: tensor<?x4x?xf32>, %bad: tensor<?x2x?xf32>, %sinks: tensor<2x1xf32>) {
  %hash = attn.hash %x {buckets = 8 : i64, rotations = array<i64: 0, 1>, rounds = 2 : i64, seed = 0 : i64} : tensor<?x2x?x4xf32> -> tensor<?x2x2x?xi32>
  %order = attn.sort_buckets %hash : tensor<?x2x2x?xi32> -> tensor<?x4x3x?xi32>
  // expected-error @+1 {{(c2) lses want 'tensor<?x4x?xf32>'}}
  %m = attn.merge_rounds %o, %bad by %order : (tensor<?x4x?x4xf32>, tensor<?x2x?xf32>, tensor<?x4x3x?xi32>) -> tensor<?x2x?x4xf32>
  return
}

// -----

func.func @merge_c3(%x: tensor<?x2x?x4xf32>, %o: tensor<?x4x?x4xf32>, %lse: tensor<?x4x?xf32>, %bad: tensor<?x2x?xf32>, %sinks: tensor<2x1xf32>, %order: tensor<?x4x3x?xi32>) {
  // expected-error @+1 {{(c3) wants the result of attn.sort_buckets for 4 heads}}
  %m = attn.merge_rounds %o, %lse by %order : (tensor<?x4x?x4xf32>, tensor<?x4x?xf32>, tensor<?x4x3x?xi32>) -> tensor<?x2x?x4xf32>
  return
}

// -----

func.func @merge_c4(%x: tensor<?x2x?x4xf32>, %o: tensor<?x4x?x4xf32>, %lse: tensor<?x4x?xf32>, %bad: tensor<?x2x?xf32>, %sinks: tensor<2x1xf32>) {
  %hash = attn.hash %x {buckets = 8 : i64, rotations = array<i64: 0, 1>, rounds = 2 : i64, seed = 0 : i64} : tensor<?x2x?x4xf32> -> tensor<?x2x2x?xi32>
  %order = attn.sort_buckets %hash : tensor<?x2x2x?xi32> -> tensor<?x4x3x?xi32>
  // expected-error @+1 {{(c4) sinks want rank 1 and f32}}
  %m = attn.merge_rounds %o, %lse by %order sinks %sinks : (tensor<?x4x?x4xf32>, tensor<?x4x?xf32>, tensor<?x4x3x?xi32>, tensor<2x1xf32>) -> tensor<?x2x?x4xf32>
  return
}

// -----

func.func @merge_c5(%x: tensor<?x2x?x4xf32>, %o: tensor<?x4x?x4xf32>, %lse: tensor<?x4x?xf32>, %bad: tensor<?x2x?xf32>, %sinks: tensor<2x1xf32>) {
  %hash = attn.hash %x {buckets = 8 : i64, rotations = array<i64: 0, 1>, rounds = 2 : i64, seed = 0 : i64} : tensor<?x2x?x4xf32> -> tensor<?x2x2x?xi32>
  %order = attn.sort_buckets %hash : tensor<?x2x2x?xi32> -> tensor<?x4x3x?xi32>
  // expected-error @+1 {{(c5) output wants rank 4 and a divisor of 4 heads}}
  %m = attn.merge_rounds %o, %lse by %order : (tensor<?x4x?x4xf32>, tensor<?x4x?xf32>, tensor<?x4x3x?xi32>) -> tensor<?x3x?x4xf32>
  return
}

// -----

func.func @merge_c6(%x: tensor<?x2x?x4xf32>, %o: tensor<?x4x?x4xf32>, %lse: tensor<?x4x?xf32>, %bad: tensor<?x2x?xf32>, %sinks: tensor<2x1xf32>) {
  %hash = attn.hash %x {buckets = 8 : i64, rotations = array<i64: 0, 1>, rounds = 2 : i64, seed = 0 : i64} : tensor<?x2x?x4xf32> -> tensor<?x2x2x?xi32>
  %order = attn.sort_buckets %hash : tensor<?x2x2x?xi32> -> tensor<?x4x3x?xi32>
  // expected-error @+1 {{(c6) wants 2 numbers, found 1}}
  %m = attn.merge_rounds %o, %lse by %order {head_numbers = array<i64: 1>} : (tensor<?x4x?x4xf32>, tensor<?x4x?xf32>, tensor<?x4x3x?xi32>) -> tensor<?x2x?x4xf32>
  return
}
