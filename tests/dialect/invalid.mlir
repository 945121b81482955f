// One case for each numbered constraint of the ODS descriptions, under the same number.
// RUN: %mhac-opt %s -split-input-file -verify-diagnostics

func.func @project_c1_input(%x: tensor<6x6xf32>, %w: tensor<8x6xf32>) {
  // expected-error @+1 {{(c1) input wants rank 3 or 4}}
  %r = attn.project %x weights(%w) {layout = #attn.layout<out_in>, parts = [#attn.part<weight = 0, bias = -1, heads = 2, width = 4, first = 0, group = 2, group_stride = 0, head_stride = 4>]} : (tensor<6x6xf32>, tensor<8x6xf32>) -> tensor<?x2x?x4xf32>
  return
}

// -----

func.func @project_c1_weight(%x: tensor<?x?x6xf32>, %w: tensor<8xf32>) {
  // expected-error @+1 {{(c1) weight wants rank 2 and elements of}}
  %r = attn.project %x weights(%w) {layout = #attn.layout<out_in>, parts = [#attn.part<weight = 0, bias = -1, heads = 2, width = 4, first = 0, group = 2, group_stride = 0, head_stride = 4>]} : (tensor<?x?x6xf32>, tensor<8xf32>) -> tensor<?x2x?x4xf32>
  return
}

// -----

func.func @project_c1_numbers_without_scales(%x: tensor<?x?x6xf32>, %w: tensor<8x6xsi8>) {
  // expected-error @+1 {{(c1) weight wants rank 2 and elements of}}
  %r = attn.project %x weights(%w) {layout = #attn.layout<out_in>, parts = [#attn.part<weight = 0, bias = -1, heads = 2, width = 4, first = 0, group = 2, group_stride = 0, head_stride = 4>]} : (tensor<?x?x6xf32>, tensor<8x6xsi8>) -> tensor<?x2x?x4xf32>
  return
}

// -----

func.func @project_c9_groups(%x: tensor<?x?x6xf32>, %w: tensor<8x6xsi8>, %s: tensor<8x4xf32>) {
  // expected-error @+1 {{(c9) scales of 'tensor<8x6xsi8>' want [outputs, groups] of f32, groups a divisor of the inputs, found 'tensor<8x4xf32>'}}
  %r = attn.project %x weights(%w) scales(%s) {layout = #attn.layout<out_in>, parts = [#attn.part<weight = 0, bias = -1, heads = 2, width = 4, first = 0, group = 2, group_stride = 0, head_stride = 4>]} : (tensor<?x?x6xf32>, tensor<8x6xsi8>, tensor<8x4xf32>) -> tensor<?x2x?x4xf32>
  return
}

// -----

func.func @project_c10_groups(%x: tensor<?x?x6xf32>, %w: tensor<8x6xsi8>, %s: tensor<8x2xf32>) {
  // expected-error @+1 {{(c10) quantized tokens want one scale a row, found 'tensor<8x2xf32>'}}
  %r = attn.project %x weights(%w) scales(%s) {quantized_tokens, layout = #attn.layout<out_in>, parts = [#attn.part<weight = 0, bias = -1, heads = 2, width = 4, first = 0, group = 2, group_stride = 0, head_stride = 4>]} : (tensor<?x?x6xf32>, tensor<8x6xsi8>, tensor<8x2xf32>) -> tensor<?x2x?x4xf32>
  return
}

// -----

func.func @project_c10_type(%x: tensor<?x?x6xf32>, %w: tensor<8x6xsi4>, %s: tensor<8x1xf32>) {
  // expected-error @+1 {{(c10) quantized tokens want weights of si8, found 'tensor<8x6xsi4>'}}
  %r = attn.project %x weights(%w) scales(%s) {quantized_tokens, layout = #attn.layout<out_in>, parts = [#attn.part<weight = 0, bias = -1, heads = 2, width = 4, first = 0, group = 2, group_stride = 0, head_stride = 4>]} : (tensor<?x?x6xf32>, tensor<8x6xsi4>, tensor<8x1xf32>) -> tensor<?x2x?x4xf32>
  return
}

// -----

func.func @project_c1_bias(%x: tensor<?x?x6xf32>, %w: tensor<8x6xf32>, %b: tensor<8xi64>) {
  // expected-error @+1 {{(c1) bias wants rank 1 and elements of}}
  %r = attn.project %x weights(%w) biases(%b) {layout = #attn.layout<out_in>, parts = [#attn.part<weight = 0, bias = -1, heads = 2, width = 4, first = 0, group = 2, group_stride = 0, head_stride = 4>]} : (tensor<?x?x6xf32>, tensor<8x6xf32>, tensor<8xi64>) -> tensor<?x2x?x4xf32>
  return
}

// -----

func.func @project_c2(%x: tensor<?x?x6xf32>, %w: tensor<8x6xf32>) {
  // expected-error @+1 {{(c2) wants one part for each result, found 2 parts and 1 results}}
  %r = attn.project %x weights(%w) {layout = #attn.layout<out_in>, parts = [#attn.part<weight = 0, bias = -1, heads = 2, width = 4, first = 0, group = 2, group_stride = 0, head_stride = 4>, #attn.part<weight = 0, bias = -1, heads = 2, width = 4, first = 0, group = 2, group_stride = 0, head_stride = 4>]} : (tensor<?x?x6xf32>, tensor<8x6xf32>) -> tensor<?x2x?x4xf32>
  return
}

// -----

func.func @project_c3_weight(%x: tensor<?x?x6xf32>, %w: tensor<8x6xf32>) {
  // expected-error @+1 {{(c3) part names weight 1 and bias -1, there are 1 and 0}}
  %r = attn.project %x weights(%w) {layout = #attn.layout<out_in>, parts = [#attn.part<weight = 1, bias = -1, heads = 2, width = 4, first = 0, group = 2, group_stride = 0, head_stride = 4>]} : (tensor<?x?x6xf32>, tensor<8x6xf32>) -> tensor<?x2x?x4xf32>
  return
}

// -----

func.func @project_c3_bias(%x: tensor<?x?x6xf32>, %w: tensor<8x6xf32>) {
  // expected-error @+1 {{(c3) part names weight 0 and bias 0, there are 1 and 0}}
  %r = attn.project %x weights(%w) {layout = #attn.layout<out_in>, parts = [#attn.part<weight = 0, bias = 0, heads = 2, width = 4, first = 0, group = 2, group_stride = 0, head_stride = 4>]} : (tensor<?x?x6xf32>, tensor<8x6xf32>) -> tensor<?x2x?x4xf32>
  return
}

// -----

func.func @project_c4(%x: tensor<?x?x6xf32>, %w: tensor<8x6xf32>) {
  // expected-error @+1 {{(c4) result wants}}
  %r = attn.project %x weights(%w) {layout = #attn.layout<out_in>, parts = [#attn.part<weight = 0, bias = -1, heads = 2, width = 4, first = 0, group = 2, group_stride = 0, head_stride = 4>]} : (tensor<?x?x6xf32>, tensor<8x6xf32>) -> tensor<?x2x?x5xf32>
  return
}

// -----

func.func @project_c5_heads(%x: tensor<?x2x?x3xf32>, %w: tensor<8x6xf32>) {
  // expected-error @+1 {{(c5) from heads wants one part of one head}}
  %r = attn.project %x weights(%w) {layout = #attn.layout<out_in>, parts = [#attn.part<weight = 0, bias = -1, heads = 2, width = 4, first = 0, group = 2, group_stride = 0, head_stride = 4>]} : (tensor<?x2x?x3xf32>, tensor<8x6xf32>) -> tensor<?x2x?x4xf32>
  return
}

// -----

func.func @project_c5_result(%x: tensor<?x2x?x3xf32>, %w: tensor<8x6xf32>) {
  // expected-error @+1 {{(c5) result wants}}
  %r = attn.project %x weights(%w) {layout = #attn.layout<out_in>, parts = [#attn.part<weight = 0, bias = -1, heads = 1, width = 8, first = 0, group = 1, group_stride = 0, head_stride = 0>]} : (tensor<?x2x?x3xf32>, tensor<8x6xf32>) -> tensor<?x?x9xf32>
  return
}

// -----

func.func @project_c6(%x: tensor<?x?x6xf32>, %w: tensor<8x7xf32>) {
  // expected-error @+1 {{(c6) weights want 6 inputs, found 7}}
  %r = attn.project %x weights(%w) {layout = #attn.layout<out_in>, parts = [#attn.part<weight = 0, bias = -1, heads = 2, width = 4, first = 0, group = 2, group_stride = 0, head_stride = 4>]} : (tensor<?x?x6xf32>, tensor<8x7xf32>) -> tensor<?x2x?x4xf32>
  return
}

// -----

func.func @project_c6_in_out(%x: tensor<?x?x6xf32>, %w: tensor<8x6xf32>) {
  // expected-error @+1 {{(c6) weights want 6 inputs, found 8}}
  %r = attn.project %x weights(%w) {layout = #attn.layout<in_out>, parts = [#attn.part<weight = 0, bias = -1, heads = 2, width = 4, first = 0, group = 2, group_stride = 0, head_stride = 4>]} : (tensor<?x?x6xf32>, tensor<8x6xf32>) -> tensor<?x2x?x4xf32>
  return
}

// -----

func.func @project_c7_weight(%x: tensor<?x?x6xf32>, %w: tensor<8x6xf32>) {
  // expected-error @+1 {{(c7) part reads row 8, weight 0 has 8}}
  %r = attn.project %x weights(%w) {layout = #attn.layout<out_in>, parts = [#attn.part<weight = 0, bias = -1, heads = 2, width = 4, first = 1, group = 2, group_stride = 0, head_stride = 4>]} : (tensor<?x?x6xf32>, tensor<8x6xf32>) -> tensor<?x2x?x4xf32>
  return
}

// -----

func.func @project_c7_group(%x: tensor<?x?x6xf32>, %w: tensor<8x6xf32>) {
  // expected-error @+1 {{(c7) part reads row 12, weight 0 has 8}}
  %r = attn.project %x weights(%w) {layout = #attn.layout<out_in>, parts = [#attn.part<weight = 0, bias = -1, heads = 2, width = 4, first = 0, group = 1, group_stride = 9, head_stride = 0>]} : (tensor<?x?x6xf32>, tensor<8x6xf32>) -> tensor<?x2x?x4xf32>
  return
}

// -----

func.func @project_c7_bias(%x: tensor<?x?x6xf32>, %w: tensor<8x6xf32>, %b: tensor<7xf32>) {
  // expected-error @+1 {{(c7) part reads value 7, bias 0 has 7}}
  %r = attn.project %x weights(%w) biases(%b) {layout = #attn.layout<out_in>, parts = [#attn.part<weight = 0, bias = 0, heads = 2, width = 4, first = 0, group = 2, group_stride = 0, head_stride = 4>]} : (tensor<?x?x6xf32>, tensor<8x6xf32>, tensor<7xf32>) -> tensor<?x2x?x4xf32>
  return
}

// -----

func.func @attention_c1_rank(%q: tensor<4x?x8xf32>, %k: tensor<?x2x?x8xf32>, %v: tensor<?x2x?x8xf32>) {
  // expected-error @+1 {{(c1) query, key and value want rank 4}}
  %o = attn.attention %q, %k, %v scale 1.0 : (tensor<4x?x8xf32>, tensor<?x2x?x8xf32>, tensor<?x2x?x8xf32>) -> (tensor<?x4x?x8xf32>)
  return
}

// -----

func.func @attention_c1_type(%q: tensor<?x4x?x8xf32>, %k: tensor<?x2x?x8xf64>, %v: tensor<?x2x?x8xf32>) {
  // expected-error @+1 {{(c1) query, key and value want rank 4}}
  %o = attn.attention %q, %k, %v scale 1.0 : (tensor<?x4x?x8xf32>, tensor<?x2x?x8xf64>, tensor<?x2x?x8xf32>) -> (tensor<?x4x?x8xf32>)
  return
}

// -----

func.func @attention_c2_batch(%q: tensor<2x4x?x8xf32>, %k: tensor<3x2x?x8xf32>, %v: tensor<?x2x?x8xf32>) {
  // expected-error @+1 {{(c2) query, key and value want one batch, found 2, 3 and -}}
  %o = attn.attention %q, %k, %v scale 1.0 : (tensor<2x4x?x8xf32>, tensor<3x2x?x8xf32>, tensor<?x2x?x8xf32>) -> (tensor<?x4x?x8xf32>)
  return
}

// -----

func.func @attention_c2_keys(%q: tensor<?x4x?x8xf32>, %k: tensor<?x2x?x8xf32>, %v: tensor<?x1x?x8xf32>) {
  // expected-error @+1 {{(c2) key and value want the same heads and keys}}
  %o = attn.attention %q, %k, %v scale 1.0 : (tensor<?x4x?x8xf32>, tensor<?x2x?x8xf32>, tensor<?x1x?x8xf32>) -> (tensor<?x4x?x8xf32>)
  return
}

// -----

func.func @attention_c3(%q: tensor<?x4x?x8xf32>, %k: tensor<?x3x?x8xf32>, %v: tensor<?x3x?x8xf32>) {
  // expected-error @+1 {{(c3) key/value heads want a divisor of 4, found 3}}
  %o = attn.attention %q, %k, %v scale 1.0 : (tensor<?x4x?x8xf32>, tensor<?x3x?x8xf32>, tensor<?x3x?x8xf32>) -> (tensor<?x4x?x8xf32>)
  return
}

// -----

func.func @attention_c4(%q: tensor<?x4x?x8xf32>, %k: tensor<?x2x?x7xf32>, %v: tensor<?x2x?x8xf32>) {
  // expected-error @+1 {{(c4) query and key want one width, found 8 and 7}}
  %o = attn.attention %q, %k, %v scale 1.0 : (tensor<?x4x?x8xf32>, tensor<?x2x?x7xf32>, tensor<?x2x?x8xf32>) -> (tensor<?x4x?x8xf32>)
  return
}

// -----

func.func @attention_c5(%q: tensor<?x4x?x8xf32>, %k: tensor<?x2x?x8xf32>, %v: tensor<?x2x?x8xf32>) {
  // expected-error @+1 {{(c5) output wants}}
  %o = attn.attention %q, %k, %v scale 1.0 : (tensor<?x4x?x8xf32>, tensor<?x2x?x8xf32>, tensor<?x2x?x8xf32>) -> (tensor<?x4x?x7xf32>)
  return
}

// -----

func.func @attention_c6(%q: tensor<?x4x?x8xf32>, %k: tensor<?x2x?x8xf32>, %v: tensor<?x2x?x8xf32>) {
  // expected-error @+1 {{(c6) lse wants}}
  %o, %lse = attn.attention %q, %k, %v scale 1.0 : (tensor<?x4x?x8xf32>, tensor<?x2x?x8xf32>, tensor<?x2x?x8xf32>) -> (tensor<?x4x?x8xf32>, tensor<?x4x?xf64>)
  return
}

// -----

func.func @attention_c7_kind(%q: tensor<?x4x?x8xf32>, %k: tensor<?x2x?x8xf32>, %v: tensor<?x2x?x8xf32>) {
  // expected-error @+1 {{(c7) wants variants of kind 'mask', found #attn.scale}}
  %o = attn.attention %q, %k, %v scale 1.0 masks [#attn.scale<1.0 : f64>] : (tensor<?x4x?x8xf32>, tensor<?x2x?x8xf32>, tensor<?x2x?x8xf32>) -> (tensor<?x4x?x8xf32>)
  return
}

// -----

func.func @attention_c7_twice(%q: tensor<?x4x?x8xf32>, %k: tensor<?x2x?x8xf32>, %v: tensor<?x2x?x8xf32>) {
  // expected-error @+1 {{(c7) mask 'causal' stands twice}}
  %o = attn.attention %q, %k, %v scale 1.0 masks [#attn.causal, #attn.causal] : (tensor<?x4x?x8xf32>, tensor<?x2x?x8xf32>, tensor<?x2x?x8xf32>) -> (tensor<?x4x?x8xf32>)
  return
}

// -----

func.func @attention_c7_both(%q: tensor<?x4x?x8xf32>, %k: tensor<?x2x?x8xf32>, %v: tensor<?x2x?x8xf32>) {
  // expected-error @+1 {{(c7) has both variants and regions}}
  %o = attn.attention %q, %k, %v scale 1.0 masks [#attn.causal] : (tensor<?x4x?x8xf32>, tensor<?x2x?x8xf32>, tensor<?x2x?x8xf32>) -> (tensor<?x4x?x8xf32>)
    mask(%b: index, %h: index, %i: index, %j: index) {
      %t = arith.constant true
      attn.yield %t : i1
    }
  return
}

// -----

func.func @attention_c8_type(%q: tensor<?x4x?x8xf32>, %k: tensor<?x2x?x8xf32>, %v: tensor<?x2x?x8xf32>, %p: f32) {
  // expected-error @+1 {{(c8) params want ranked tensors and index, found 'f32'}}
  %o = attn.attention %q, %k, %v params(%p : f32) scale 1.0 : (tensor<?x4x?x8xf32>, tensor<?x2x?x8xf32>, tensor<?x2x?x8xf32>) -> (tensor<?x4x?x8xf32>)
  return
}

// -----

func.func @attention_c8_missing(%q: tensor<?x4x?x8xf32>, %k: tensor<?x2x?x8xf32>, %v: tensor<?x2x?x8xf32>) {
  // expected-error @+1 {{(c8) param 0 wants 'key_lengths' of rank 1}}
  %o = attn.attention %q, %k, %v scale 1.0 masks [#attn.padding<side = right>] : (tensor<?x4x?x8xf32>, tensor<?x2x?x8xf32>, tensor<?x2x?x8xf32>) -> (tensor<?x4x?x8xf32>)
  return
}

// -----

func.func @attention_c8_superfluous(%q: tensor<?x4x?x8xf32>, %k: tensor<?x2x?x8xf32>, %v: tensor<?x2x?x8xf32>, %p: index) {
  // expected-error @+1 {{(c8) wants 0 params, found 1}}
  %o = attn.attention %q, %k, %v params(%p : index) scale 1.0 masks [#attn.causal] : (tensor<?x4x?x8xf32>, tensor<?x2x?x8xf32>, tensor<?x2x?x8xf32>) -> (tensor<?x4x?x8xf32>)
  return
}

// -----

func.func @attention_c9_arguments(%q: tensor<?x4x?x8xf32>, %k: tensor<?x2x?x8xf32>, %v: tensor<?x2x?x8xf32>) {
  // expected-error @+1 {{(c9) region 'score' wants arguments}}
  %o = attn.attention %q, %k, %v scale 1.0 : (tensor<?x4x?x8xf32>, tensor<?x2x?x8xf32>, tensor<?x2x?x8xf32>) -> (tensor<?x4x?x8xf32>)
    score(%b: index, %h: index, %i: index, %j: index) {
      %t = arith.constant true
      attn.yield %t : i1
    }
  return
}

// -----

func.func @attention_c9_yield(%q: tensor<?x4x?x8xf32>, %k: tensor<?x2x?x8xf32>, %v: tensor<?x2x?x8xf32>) {
  // expected-error @+1 {{(c9) region 'mask' wants to yield}}
  %o = attn.attention %q, %k, %v scale 1.0 : (tensor<?x4x?x8xf32>, tensor<?x2x?x8xf32>, tensor<?x2x?x8xf32>) -> (tensor<?x4x?x8xf32>)
    mask(%b: index, %h: index, %i: index, %j: index) {
      %t = arith.constant 1.0 : f32
      attn.yield %t : f32
    }
  return
}

// -----

func.func @attention_c10(%q: tensor<?x4x?x8xf32>, %k: tensor<?x2x?x8xf32>, %v: tensor<?x2x?x8xf32>) {
  // expected-error @+1 {{(c10) scale wants a finite number above 0}}
  %o = attn.attention %q, %k, %v scale 0.0 : (tensor<?x4x?x8xf32>, tensor<?x2x?x8xf32>, tensor<?x2x?x8xf32>) -> (tensor<?x4x?x8xf32>)
  return
}

// -----

func.func @swap_heads_c1_rank(%q: tensor<?x?x8xf32>) {
  // expected-error @+1 {{(c1) input wants rank 4}}
  %s = attn.swap_heads %q : tensor<?x?x8xf32> -> tensor<?x?x8xf32>
  return
}

// -----

func.func @swap_heads_c1_result(%q: tensor<?x2x?x8xf32>) {
  // expected-error @+1 {{(c1) result wants}}
  %s = attn.swap_heads %q : tensor<?x2x?x8xf32> -> tensor<?x2x?x8xf32>
  return
}

// -----

func.func @load_c1(%t: tensor<?xi64>) {
  // expected-error @+1 {{(c1) wants 1 indices, found 0}}
  %e = attn.load %t[] : tensor<?xi64> -> i64
  return
}

// -----

func.func @load_c2(%t: tensor<?xi64>, %i: index) {
  // expected-error @+1 {{(c2) result wants 'i64', found 'index'}}
  %e = attn.load %t[%i] : tensor<?xi64> -> index
  return
}

// -----

// expected-error @+1 {{(c1) wants at least one candidate}}
attn.entry @entry_c1_empty {
}

// -----

// expected-error @+1 {{(c1) wants nothing but candidates, found arith.constant}}
attn.entry @entry_c1_other {
  %c = arith.constant 1 : index
}

// -----

attn.entry @candidate_c1 {
  // expected-error @+1 {{(c1) callee @nothing is no function of the module}}
  attn.candidate @nothing target "x86-64-v4" machine "x86-64-linux-avx2" features 3 guards []
}

// -----

func.func private @f() attributes {attn.sizes = []}
attn.entry @candidate_c2_size {
  // expected-error @+1 {{(c2) guard on 'query', which is no size of @f}}
  attn.candidate @f target "x86-64-v4" machine "x86-64-linux-avx2" features 3 guards [#attn.guard<size = "query", minimum = 0, maximum = 1>]
}

// -----

func.func private @f()
attn.entry @candidate_c2_kind {
  // expected-error @+1 {{(c2) guards want #attn.guard, found 1 : i64}}
  attn.candidate @f target "x86-64-v4" machine "x86-64-linux-avx2" features 3 guards [1]
}

// -----

func.func private @f() attributes {attn.sizes = []}
attn.entry @candidate_c3 {
  // expected-error @+1 {{(c3) is batch-major, but 'batch' is no size of @f}}
  attn.candidate @f target "x86-64-v4" machine "x86-64-linux-avx2" features 3 guards [] batch_major
}

// -----

// expected-error @+1 {{name wants a C identifier, found "1x"}}
func.func private @argument_c1() attributes {a = #attn.argument<name = "1x", role = input, dims = []>}

// -----

// expected-error @+1 {{argument 'x': check and check_size come together}}
func.func private @argument_c2() attributes {a = #attn.argument<name = "x", role = input, dims = [], check = range>}

// -----

// expected-error @+1 {{size 'n' wants 0 <= minimum <= maximum <= 2147352576, found 3 and 2}}
func.func private @size_c1() attributes {a = #attn.size<name = "n", minimum = 3, maximum = 2>}

// -----

// expected-error @+1 {{guard on 'n' wants 0 <= minimum <= maximum, found -1 and 2}}
func.func private @guard_c1() attributes {a = #attn.guard<size = "n", minimum = -1, maximum = 2>}

// -----

// expected-error @+1 {{heads, width and group want at least 1, found 0, 4 and 2}}
func.func private @part_c1() attributes {a = #attn.part<weight = 0, bias = -1, heads = 0, width = 4, first = 0, group = 2, group_stride = 0, head_stride = 4>}

// -----

// expected-error @+1 {{scale wants a finite f64 above 0}}
func.func private @scale() attributes {a = #attn.scale<-1.0 : f64>}

// -----

// expected-error @+1 {{argument 0 wants an 'attn.argument' because the function has 'attn.sizes'}}
func.func private @dialect_c1_missing(tensor<1xf32>) attributes {attn.sizes = []}

// -----

// expected-error @+1 {{argument 0 'x': dim "2" does not fit the type 'tensor<1xf32>'}}
func.func private @dialect_c1_number(tensor<1xf32> {attn.argument = #attn.argument<name = "x", role = input, dims = ["2"]>}) attributes {attn.sizes = []}

// -----

// expected-error @+1 {{argument 0 'x': dim "n" is no size of the function}}
func.func private @dialect_c1_size(tensor<1xf32> {attn.argument = #attn.argument<name = "x", role = input, dims = ["n"]>}) attributes {attn.sizes = []}

// -----

// expected-error @+1 {{argument 0 'x': size "n" does not fit the type 'tensor<1xf32>'}}
func.func private @dialect_c1_dynamic(tensor<1xf32> {attn.argument = #attn.argument<name = "x", role = input, dims = ["n"]>}) attributes {attn.sizes = [#attn.size<name = "n", minimum = 0, maximum = 4>]}

// -----

// expected-error @+1 {{result 0: the name 'x' is taken by another argument}}
func.func private @dialect_c1_name(tensor<1xf32> {attn.argument = #attn.argument<name = "x", role = input, dims = ["1"]>}) -> (tensor<1xf32> {attn.argument = #attn.argument<name = "x", role = output, dims = ["1"]>}) attributes {attn.sizes = []}

// -----

// expected-error @+1 {{sliding_window wants left and right from -1 to 536870912, found -2 and -1}}
func.func private @sliding_window() attributes {a = #attn.sliding_window<left = -2>}

// -----

// expected-error @+1 {{global wants tokens from 1 to 536870912, not shared, or none, found 0}}
func.func private @global() attributes {a = #attn.global<tokens = 0>}

// -----

// expected-error @+1 {{prefix wants a length from 0 to 536870912, found -1}}
func.func private @prefix() attributes {a = #attn.prefix<length = -1>}

// -----

// expected-error @+1 {{chunked wants a size from 1 to 536870912, found 0}}
func.func private @chunked() attributes {a = #attn.chunked<size = 0>}

// -----

// expected-error @+1 {{dilated wants window and step from 1 to 536870912, found 1 and 0}}
func.func private @dilated() attributes {a = #attn.dilated<window = 1, step = 0>}

// -----

// expected-error @+1 {{block_sparse wants random up to 64 and a seed below 46337, found 65 and 0}}
func.func private @block_sparse() attributes {a = #attn.block_sparse<block = 1, local = 0, global = 0, random = 65, seed = 0>}

// -----

// expected-error @+1 {{tensor wants at least one head, found 0}}
func.func private @tensor() attributes {a = #attn.tensor<added = false, batch = true, heads = 0, query = true>}

// -----

// expected-error @+1 {{any wants lists of masks, found #attn.causal}}
func.func private @any() attributes {a = #attn.any<[#attn.causal]>}

// -----

// expected-error @+1 {{any wants lists of masks, found [#attn.scale<1.000000e+00 : f64>]}}
func.func private @any_kind() attributes {a = #attn.any<[[#attn.scale<1.0 : f64>]]>}

// -----

// expected-error @+1 {{column 6 of the expression: unknown name 'n'; known names are 'q', 'k', 'h', 'b', 'queries' and 'keys'}}
func.func private @mask_expr_name() attributes {a = #attn.mask_expr<"q < (n)", []>}

// -----

// expected-error @+1 {{column 1 of the expression: a mask must be a condition, found an integer}}
func.func private @mask_expr_type() attributes {a = #attn.mask_expr<"q + k", []>}

// -----

// expected-error @+1 {{wants declarations 'name dtype dims...', found 'n i16'}}
func.func private @score_expr_declaration() attributes {a = #attn.score_expr<"s + n", ["n i16"]>}

// -----

func.func @attention_c11_count(%q: tensor<?x4x?x8xf32>, %k: tensor<?x2x?x8xf32>) {
  // expected-error @+1 {{wants the output, perhaps the lse, and a result for each of 2 maps, found 2 results}}
  %o:2 = attn.attention %q, %k, %k scale 1.0 maps [#attn.map<peak>, #attn.map<entropy>] : (tensor<?x4x?x8xf32>, tensor<?x2x?x8xf32>, tensor<?x2x?x8xf32>) -> (tensor<?x4x?x8xf32>, tensor<?x4x?xf32>)
  return
}

// -----

func.func @attention_c11_twice(%q: tensor<?x4x?x8xf32>, %k: tensor<?x2x?x8xf32>) {
  // expected-error @+1 {{(c11) map 'peak' stands twice}}
  %o:3 = attn.attention %q, %k, %k scale 1.0 maps [#attn.map<peak>, #attn.map<peak>] : (tensor<?x4x?x8xf32>, tensor<?x2x?x8xf32>, tensor<?x2x?x8xf32>) -> (tensor<?x4x?x8xf32>, tensor<?x4x?xf32>, tensor<?x4x?xf32>)
  return
}

// -----

func.func @attention_c11_type(%q: tensor<?x4x?x8xf32>, %k: tensor<?x2x?x8xf32>) {
  // expected-error @+1 {{(c11) result of map 'peak_position' wants 'tensor<?x4x?xi64>', found 'tensor<?x4x?xf32>'}}
  %o:2 = attn.attention %q, %k, %k scale 1.0 maps [#attn.map<peak_position>] : (tensor<?x4x?x8xf32>, tensor<?x2x?x8xf32>, tensor<?x2x?x8xf32>) -> (tensor<?x4x?x8xf32>, tensor<?x4x?xf32>)
  return
}

// -----

func.func @attention_c11_shape(%q: tensor<?x4x?x8xf32>, %k: tensor<?x2x?x8xf32>) {
  // expected-error @+1 {{(c11) result of map 'key_mass' wants 'tensor<?x4x?xf32>', found 'tensor<?x2x?xf32>'}}
  %o:2 = attn.attention %q, %k, %k scale 1.0 maps [#attn.map<key_mass>] : (tensor<?x4x?x8xf32>, tensor<?x2x?x8xf32>, tensor<?x2x?x8xf32>) -> (tensor<?x4x?x8xf32>, tensor<?x2x?xf32>)
  return
}

// -----

func.func @attention_c12(%q: tensor<?x4x?x8xf32>, %k: tensor<?x2x?x8xf32>) {
  // expected-error @+1 {{(c12) has a diagonal region, but no diagonal mass}}
  %o = attn.attention %q, %k, %k scale 1.0 : (tensor<?x4x?x8xf32>, tensor<?x2x?x8xf32>, tensor<?x2x?x8xf32>) -> (tensor<?x4x?x8xf32>)
    diagonal(%b: index, %h: index, %i: index, %j: index) {
      %near = arith.cmpi eq, %i, %j : index
      attn.yield %near : i1
    }
  return
}

// -----

// expected-error @+1 {{window wants at least 0, and 0 unless for diagonal_mass, found 2}}
func.func private @map_c1() attributes {map = #attn.map<peak, window = 2>}

// -----

func.func @head_norms_c1(%o: tensor<?x4x8xf32>) {
  // expected-error @+1 {{(c1) input wants rank 4 and a floating-point type, found}}
  %n = attn.head_norms %o : tensor<?x4x8xf32> -> tensor<?x4xf32>
  return
}

// -----

func.func @head_norms_c2(%o: tensor<?x4x?x8xf32>) {
  // expected-error @+1 {{(c2) result wants 'tensor<?x4xf32>', found 'tensor<?x8xf32>'}}
  %n = attn.head_norms %o : tensor<?x4x?x8xf32> -> tensor<?x8xf32>
  return
}

// -----

func.func @merge_states_c1_rank(%o: tensor<2x?x4x8xf32>, %l: tensor<?x2x4x?xf32>) {
  // expected-error @+1 {{(c1) outputs want rank 5, found}}
  %m = attn.merge_states %o, %l : (tensor<2x?x4x8xf32>, tensor<?x2x4x?xf32>) -> tensor<2x4x?x8xf32>
  return
}

// -----

func.func @merge_states_c1_heads(%o: tensor<?x2x?x4x8xf32>, %l: tensor<?x2x4x?xf32>) {
  // expected-error @+1 {{(c1) outputs want static heads and width}}
  %m = attn.merge_states %o, %l {heads_first} : (tensor<?x2x?x4x8xf32>, tensor<?x2x4x?xf32>) -> tensor<2x4x?x8xf32>
  return
}

// -----

func.func @merge_states_c2(%o: tensor<?x2x?x4x8xf32>, %l: tensor<?x2x?x4xf32>) {
  // expected-error @+1 {{(c2) lses want 'tensor<?x2x4x?xf32>', found 'tensor<?x2x?x4xf32>'}}
  %m = attn.merge_states %o, %l : (tensor<?x2x?x4x8xf32>, tensor<?x2x?x4xf32>) -> tensor<2x4x?x8xf32>
  return
}

// -----

func.func @merge_states_c3(%o: tensor<?x2x?x4x8xf32>, %l: tensor<?x2x4x?xf32>, %s: tensor<8xf32>) {
  // expected-error @+1 {{(c3) sinks want 'tensor<4xf32>', found 'tensor<8xf32>'}}
  %m = attn.merge_states %o, %l sinks %s : (tensor<?x2x?x4x8xf32>, tensor<?x2x4x?xf32>, tensor<8xf32>) -> tensor<2x4x?x8xf32>
  return
}

// -----

func.func @merge_states_c4(%o: tensor<?x2x?x4x8xf32>, %l: tensor<?x2x4x?xf32>) {
  // expected-error @+1 {{(c4) output wants 'tensor<2x4x?x8xf32>', found 'tensor<2x4x?x7xf32>'}}
  %m = attn.merge_states %o, %l : (tensor<?x2x?x4x8xf32>, tensor<?x2x4x?xf32>) -> tensor<2x4x?x7xf32>
  return
}

// -----

func.func @merge_states_c4_lse(%o: tensor<?x2x?x4x8xf32>, %l: tensor<?x2x4x?xf32>) {
  // expected-error @+1 {{(c4) lse wants 'tensor<2x4x?xf32>', found 'tensor<2x?x4xf32>'}}
  %m:2 = attn.merge_states %o, %l : (tensor<?x2x?x4x8xf32>, tensor<?x2x4x?xf32>) -> (tensor<2x4x?x8xf32>, tensor<2x?x4xf32>)
  return
}
