// What the attributes of score changes refuse.
// RUN: %mhac-opt %s -split-input-file -verify-diagnostics

// expected-error @+1 {{bias wants at least one head, found 0}}
func.func private @bias() attributes {a = #attn.bias<batch = true, heads = 0, query = true>}

// -----

// expected-error @+1 {{alibi wants finite slopes, one a head, found array<f64>}}
func.func private @alibi() attributes {a = #attn.alibi<symmetric = true, slopes = []>}

// -----

// expected-error @+1 {{relative_bias wants 1 to 65536 buckets, an even number when bidirectional, found 5}}
func.func private @relative_bias_buckets() attributes {a = #attn.relative_bias<buckets = 5, max_distance = 9, bidirectional = true, heads = 1>}

// -----

// expected-error @+1 {{relative_bias wants a max_distance above 2 and up to 65536, found 2}}
func.func private @relative_bias_distance() attributes {a = #attn.relative_bias<buckets = 4, max_distance = 2, bidirectional = false, heads = 1>}

// -----

// expected-error @+1 {{relative_bias wants at least one head, found 0}}
func.func private @relative_bias_heads() attributes {a = #attn.relative_bias<buckets = 4, max_distance = 9, bidirectional = false, heads = 0>}

// -----

// expected-error @+1 {{softcap wants a finite f64 above 0, found 0.000000e+00 : f64}}
func.func private @softcap() attributes {a = #attn.softcap<0.0 : f64>}

// -----

// expected-error @+1 {{sink wants at least one head, found 0}}
func.func private @sink() attributes {a = #attn.sink<heads = 0>}
