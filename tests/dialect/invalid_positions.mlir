// One case for each numbered constraint of attn.normalize, attn.rotate and their attributes, under the same number.
// RUN: %mhac-opt %s -split-input-file -verify-diagnostics

func.func @normalize_c1(%x: tensor<?x?x?x4xf32>) {
  // expected-error @+1 {{(c1) input wants rank 4, static heads and width, and floats, found 'tensor<?x?x?x4xf32>'}}
  %r = attn.normalize %x {kind = #attn.norm<rms>, epsilon = 0.0 : f64} : tensor<?x?x?x4xf32>
  return
}

// -----

func.func @normalize_c2(%x: tensor<?x2x?x4xf32>, %w: tensor<4xf32>) {
  // expected-error @+1 {{(c2) weight wants 8 elements of a floating-point type, found}}
  %r = attn.normalize %x weight %w : tensor<4xf32> {kind = #attn.norm<rms>, epsilon = 0.0 : f64, across_heads} : tensor<?x2x?x4xf32>
  return
}

// -----

func.func @normalize_c3(%x: tensor<?x2x?x4xf32>) {
  // expected-error @+1 {{(c3) epsilon wants a finite number of at least 0, found -1.0}}
  %r = attn.normalize %x {kind = #attn.norm<l2>, epsilon = -1.0 : f64} : tensor<?x2x?x4xf32>
  return
}

// -----

func.func @normalize_c4(%x: tensor<?x2x?x4xf32>) {
  // expected-error @+1 {{(c4) scale wants a finite number above 0, found 0.0}}
  %r = attn.normalize %x {kind = #attn.norm<l2>, epsilon = 0.0 : f64, scale = 0.0 : f64} : tensor<?x2x?x4xf32>
  return
}

// -----

func.func @rotate_c1(%x: tensor<?x2x4xf32>) {
  // expected-error @+1 {{(c1) input wants rank 4}}
  %r = attn.rotate %x {pairing = #attn.pairing<half>, frequencies = array<f64: 1.0>} : tensor<?x2x4xf32> position {
  ^bb0(%b: index, %s: index):
    attn.yield %s : index
  }
  return
}

// -----

func.func @rotate_c2_count(%x: tensor<?x2x?x5xf32>) {
  // expected-error @+1 {{(c2) wants from 1 to 2 frequencies, found 3}}
  %r = attn.rotate %x {pairing = #attn.pairing<half>, frequencies = array<f64: 1.0, 0.5, 0.25>} : tensor<?x2x?x5xf32> position {
  ^bb0(%b: index, %s: index):
    attn.yield %s : index
  }
  return
}

// -----

func.func @rotate_c2_finite(%x: tensor<?x2x?x4xf32>) {
  // expected-error @+1 {{(c2) frequencies want finite numbers}}
  %r = attn.rotate %x {pairing = #attn.pairing<half>, frequencies = array<f64: 0x7FF0000000000000>} : tensor<?x2x?x4xf32> position {
  ^bb0(%b: index, %s: index):
    attn.yield %s : index
  }
  return
}

// -----

func.func @rotate_c3(%x: tensor<?x2x?x4xf32>) {
  // expected-error @+1 {{(c3) magnitude and scale want finite numbers above 0, found -1.0}}
  %r = attn.rotate %x {pairing = #attn.pairing<half>, frequencies = array<f64: 1.0>, magnitude = -1.0 : f64} : tensor<?x2x?x4xf32> position {
  ^bb0(%b: index, %s: index):
    attn.yield %s : index
  }
  return
}

// -----

func.func @rotate_c4(%x: tensor<?x2x?x4xf32>, %n: i64) {
  // expected-error @+1 {{(c4) params want ranked tensors and index, found 'i64'}}
  %r = attn.rotate %x params(%n : i64) {pairing = #attn.pairing<half>, frequencies = array<f64: 1.0>} : tensor<?x2x?x4xf32> position {
  ^bb0(%b: index, %s: index, %m: i64):
    attn.yield %s : index
  }
  return
}

// -----

func.func @rotate_c5_arguments(%x: tensor<?x2x?x4xf32>) {
  // expected-error @+1 {{(c5) region 'position' wants one block with arguments ('index', 'index')}}
  %r = attn.rotate %x {pairing = #attn.pairing<half>, frequencies = array<f64: 1.0>} : tensor<?x2x?x4xf32> position {
  ^bb0(%s: index):
    attn.yield %s : index
  }
  return
}

// -----

func.func @rotate_c5_yield(%x: tensor<?x2x?x4xf32>) {
  // expected-error @+1 {{(c5) region 'position' wants to yield an index}}
  %r = attn.rotate %x {pairing = #attn.pairing<half>, frequencies = array<f64: 1.0>} : tensor<?x2x?x4xf32> position {
  ^bb0(%b: index, %s: index):
    attn.yield
  }
  return
}

// -----

func.func @attention_c7(%q: tensor<?x2x?x4xf32>) {
  // expected-error @+1 {{(c7) wants variants of kind 'position', found #attn.causal}}
  %o = attn.attention %q, %q, %q scale 1.0 positions [#attn.causal] : (tensor<?x2x?x4xf32>, tensor<?x2x?x4xf32>, tensor<?x2x?x4xf32>) -> (tensor<?x2x?x4xf32>)
  return
}

// -----

// expected-error @+1 {{rotary_dim wants an even number of at least 2, found 3}}
func.func private @rope_c1() attributes {a = #attn.rope<pairing = half, base = 100.0, rotary_dim = 3>}

// -----

// expected-error @+1 {{scaling of kind "linear" wants a number 'factor' above 0}}
func.func private @rope_scaling() attributes {a = #attn.rope<pairing = half, base = 100.0, rotary_dim = 4, scaling = {kind = "linear"}>}

// -----

// expected-error @+1 {{q_features and k_features want to be both above 0 or both 0, found 4 and 0}}
func.func private @qk_norm() attributes {a = #attn.qk_norm<kind = rms, epsilon = 1.0e-6, across_heads = false, q_features = 4, k_features = 0>}
