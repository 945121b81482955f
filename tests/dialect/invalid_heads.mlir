// One case for each numbered constraint on heads that are left out or have several widths, under the same number.
// RUN: %mhac-opt %s -split-input-file -verify-diagnostics

// expected-error @+1 {{numbers want one a head (2), found 1}}
#part_c3 = #attn.part<weight = 0, bias = -1, heads = 2, width = 4, first = 0, group = 2, group_stride = 0, head_stride = 4, numbers = [0]>

// -----

// expected-error @+1 {{numbers of heads want at least 0 and increasing, found 2 behind 2}}
#part_c3_order = #attn.part<weight = 0, bias = -1, heads = 2, width = 4, first = 0, group = 2, group_stride = 0, head_stride = 4, numbers = [2, 2]>

// -----

func.func @project_c4(%x: tensor<?x?x6xf32>, %w: tensor<8x6xf32>) {
  // expected-error @+1 {{(c4) from tokens wants one input and no columns, found 2 and 0}}
  %r = attn.project %x, %x weights(%w) {layout = #attn.layout<out_in>, parts = [#attn.part<weight = 0, bias = -1, heads = 2, width = 4, first = 0, group = 2, group_stride = 0, head_stride = 4>]} : (tensor<?x?x6xf32>, tensor<?x?x6xf32>, tensor<8x6xf32>) -> tensor<?x2x?x4xf32>
  return
}

// -----

func.func @project_c5(%x: tensor<?x2x5x3xf32>, %z: tensor<?x1x6x2xf32>, %w: tensor<8x8xf32>) {
  // expected-error @+1 {{(c5) inputs from heads want one element type, batch and number of tokens}}
  %r = attn.project %x, %z weights(%w) {layout = #attn.layout<out_in>, parts = [#attn.part<weight = 0, bias = -1, heads = 1, width = 8, first = 0, group = 1, group_stride = 0, head_stride = 0>]} : (tensor<?x2x5x3xf32>, tensor<?x1x6x2xf32>, tensor<8x8xf32>) -> tensor<?x5x8xf32>
  return
}

// -----

func.func @project_c6(%x: tensor<?x2x?x3xf32>, %z: tensor<?x1x?x2xf32>, %w: tensor<8x9xf32>) {
  // expected-error @+1 {{(c6) weights want 8 inputs, found 9}}
  %r = attn.project %x, %z weights(%w) {layout = #attn.layout<out_in>, parts = [#attn.part<weight = 0, bias = -1, heads = 1, width = 8, first = 0, group = 1, group_stride = 0, head_stride = 0>]} : (tensor<?x2x?x3xf32>, tensor<?x1x?x2xf32>, tensor<8x9xf32>) -> tensor<?x?x8xf32>
  return
}

// -----

func.func @project_c7(%x: tensor<?x?x6xf32>, %w: tensor<12x6xf32>) {
  // expected-error @+1 {{(c7) part reads row 15, weight 0 has 12}}
  %r = attn.project %x weights(%w) {layout = #attn.layout<out_in>, parts = [#attn.part<weight = 0, bias = -1, heads = 2, width = 4, first = 0, group = 4, group_stride = 0, head_stride = 4, numbers = [0, 3]>]} : (tensor<?x?x6xf32>, tensor<12x6xf32>) -> tensor<?x2x?x4xf32>
  return
}

// -----

func.func @project_c8_count(%x: tensor<?x2x?x3xf32>, %w: tensor<8x9xf32>) {
  // expected-error @+1 {{(c8) wants a column for each of 2 heads, found 1}}
  %r = attn.project %x weights(%w) {columns = array<i64: 0>, layout = #attn.layout<out_in>, parts = [#attn.part<weight = 0, bias = -1, heads = 1, width = 8, first = 0, group = 1, group_stride = 0, head_stride = 0>]} : (tensor<?x2x?x3xf32>, tensor<8x9xf32>) -> tensor<?x?x8xf32>
  return
}

// -----

func.func @project_c8_overlap(%x: tensor<?x2x?x3xf32>, %w: tensor<8x9xf32>) {
  // expected-error @+1 {{(c8) columns want at least 3 behind the head before, found 2}}
  %r = attn.project %x weights(%w) {columns = array<i64: 0, 2>, layout = #attn.layout<out_in>, parts = [#attn.part<weight = 0, bias = -1, heads = 1, width = 8, first = 0, group = 1, group_stride = 0, head_stride = 0>]} : (tensor<?x2x?x3xf32>, tensor<8x9xf32>) -> tensor<?x?x8xf32>
  return
}

// -----

func.func @project_c8_end(%x: tensor<?x2x?x3xf32>, %w: tensor<8x9xf32>) {
  // expected-error @+1 {{(c8) columns reach 10 inputs, found 9}}
  %r = attn.project %x weights(%w) {columns = array<i64: 0, 7>, layout = #attn.layout<out_in>, parts = [#attn.part<weight = 0, bias = -1, heads = 1, width = 8, first = 0, group = 1, group_stride = 0, head_stride = 0>]} : (tensor<?x2x?x3xf32>, tensor<8x9xf32>) -> tensor<?x?x8xf32>
  return
}

// -----

func.func @select_heads_c1(%q: tensor<?x4x?x8xf32>) {
  // expected-error @+1 {{(c1) wants input and result of rank 4 that agree in all but the heads}}
  %s = attn.select_heads %q [1, 2] : tensor<?x4x?x8xf32> -> tensor<?x2x?x7xf32>
  return
}

// -----

func.func @select_heads_c2_count(%q: tensor<?x4x?x8xf32>) {
  // expected-error @+1 {{(c2) wants 2 numbers, found 1}}
  %s = attn.select_heads %q [1] : tensor<?x4x?x8xf32> -> tensor<?x2x?x8xf32>
  return
}

// -----

func.func @select_heads_c2_range(%q: tensor<?x4x?x8xf32>) {
  // expected-error @+1 {{(c2) wants numbers below 4, found 4}}
  %s = attn.select_heads %q [1, 4] : tensor<?x4x?x8xf32> -> tensor<?x2x?x8xf32>
  return
}

// -----

func.func @select_heads_c2_order(%q: tensor<?x4x?x8xf32>) {
  // expected-error @+1 {{(c2) numbers of heads want at least 0 and increasing, found 1 behind 2}}
  %s = attn.select_heads %q [2, 1] : tensor<?x4x?x8xf32> -> tensor<?x2x?x8xf32>
  return
}

// -----

func.func @concat_heads_c1(%a: tensor<?x1x?xf32>, %b: tensor<?x2x5x3xf32>) {
  // expected-error @+1 {{(c1) wants inputs that agree with 'tensor<?x3x?xf32>' in all but the heads, found 'tensor<?x2x5x3xf32>'}}
  %s = attn.concat_heads %a, %b : (tensor<?x1x?xf32>, tensor<?x2x5x3xf32>) -> tensor<?x3x?xf32>
  return
}

// -----

func.func @concat_heads_c2(%a: tensor<?x1x?xf32>, %b: tensor<?x2x?xf32>) {
  // expected-error @+1 {{(c2) wants a result of 3 heads, found 'tensor<?x4x?xf32>'}}
  %s = attn.concat_heads %a, %b : (tensor<?x1x?xf32>, tensor<?x2x?xf32>) -> tensor<?x4x?xf32>
  return
}

// -----

func.func @attention_c3_count(%q: tensor<?x3x?x8xf32>, %k: tensor<?x2x?x8xf32>) {
  // expected-error @+1 {{(c3) kv_head_of wants 3 numbers, found 2}}
  %o = attn.attention %q, %k, %k scale 1.0 kv_head_of [0, 1] : (tensor<?x3x?x8xf32>, tensor<?x2x?x8xf32>, tensor<?x2x?x8xf32>) -> (tensor<?x3x?x8xf32>)
  return
}

// -----

func.func @attention_c3_range(%q: tensor<?x3x?x8xf32>, %k: tensor<?x2x?x8xf32>) {
  // expected-error @+1 {{(c3) kv_head_of wants numbers from 0 to 1, found 2}}
  %o = attn.attention %q, %k, %k scale 1.0 kv_head_of [0, 1, 2] : (tensor<?x3x?x8xf32>, tensor<?x2x?x8xf32>, tensor<?x2x?x8xf32>) -> (tensor<?x3x?x8xf32>)
  return
}

// -----

func.func @attention_c13_count(%q: tensor<?x2x?x8xf32>) {
  // expected-error @+1 {{(c13) head_numbers wants 2 numbers, found 3}}
  %o = attn.attention %q, %q, %q scale 1.0 heads [0, 1, 2] : (tensor<?x2x?x8xf32>, tensor<?x2x?x8xf32>, tensor<?x2x?x8xf32>) -> (tensor<?x2x?x8xf32>)
  return
}

// -----

func.func @attention_c13_order(%q: tensor<?x2x?x8xf32>) {
  // expected-error @+1 {{(c13) numbers of heads want at least 0 and increasing, found 1 behind 1}}
  %o = attn.attention %q, %q, %q scale 1.0 heads [1, 1] : (tensor<?x2x?x8xf32>, tensor<?x2x?x8xf32>, tensor<?x2x?x8xf32>) -> (tensor<?x2x?x8xf32>)
  return
}
