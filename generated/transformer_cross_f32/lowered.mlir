module attributes {attn.spec_file = "transformer_cross_f32.yaml", attn.stage = "lowered"} {
  func.func @transformer_cross(%arg0: tensor<?x?x512xf32> {attn.argument = #attn.argument<name = "x", role = input, dims = ["batch", "query", "512"], strided = true>}, %arg1: tensor<?x?x512xf32> {attn.argument = #attn.argument<name = "memory", role = input, dims = ["batch", "key", "512"], strided = true>}, %arg2: tensor<512x512xf32> {attn.argument = #attn.argument<name = "wq", role = weight, dims = ["512", "512"]>}, %arg3: tensor<512x512xf32> {attn.argument = #attn.argument<name = "wk", role = weight, dims = ["512", "512"]>}, %arg4: tensor<512x512xf32> {attn.argument = #attn.argument<name = "wv", role = weight, dims = ["512", "512"]>}, %arg5: tensor<512x512xf32> {attn.argument = #attn.argument<name = "wo", role = weight, dims = ["512", "512"]>}, %arg6: tensor<?xi64> {attn.argument = #attn.argument<name = "key_lengths", role = parameter, dims = ["batch"], check = range, check_size = "key">}) -> (tensor<?x?x512xf32> {attn.argument = #attn.argument<name = "y", role = output, dims = ["batch", "query", "512"], strided = true>}) attributes {attn.entry, attn.sizes = [#attn.size<name = "batch", minimum = 0, maximum = 2147352576>, #attn.size<name = "query", minimum = 0, maximum = 2147352576>, #attn.size<name = "key", minimum = 0, maximum = 2147352576>]} {
    %c1 = arith.constant 1 : index
    %0 = attn.project %arg0 weights(%arg2) {layout = #attn.layout<out_in>, parts = [#attn.part<weight = 0, bias = -1, heads = 8, width = 64, first = 0, group = 8, group_stride = 0, head_stride = 64, scale = 0.18033688011112042 : f64>]} : (tensor<?x?x512xf32>, tensor<512x512xf32>) -> tensor<?x8x?x64xf32>
    %1:2 = attn.project %arg1 weights(%arg3, %arg4) {layout = #attn.layout<out_in>, parts = [#attn.part<weight = 0, bias = -1, heads = 8, width = 64, first = 0, group = 8, group_stride = 0, head_stride = 64>, #attn.part<weight = 1, bias = -1, heads = 8, width = 64, first = 0, group = 8, group_stride = 0, head_stride = 64>]} : (tensor<?x?x512xf32>, tensor<512x512xf32>, tensor<512x512xf32>) -> (tensor<?x8x?x64xf32>, tensor<?x8x?x64xf32>)
    %dim = tensor.dim %arg0, %c1 : tensor<?x?x512xf32>
    %dim_0 = tensor.dim %arg1, %c1 : tensor<?x?x512xf32>
    %o = attn.attention %0, %1#0, %1#1 params(%arg6, %dim, %dim_0 : tensor<?xi64>, index, index) scale 1.000000e+00 base2 : (tensor<?x8x?x64xf32>, tensor<?x8x?x64xf32>, tensor<?x8x?x64xf32>) -> (tensor<?x8x?x64xf32>)
      mask(%b: index, %h: index, %q: index, %k: index, %key_lengths: tensor<?xi64>, %queries: index, %keys: index) {
      %3 = attn.load %key_lengths[%b] : tensor<?xi64> -> i64
      %4 = arith.index_cast %3 : i64 to index
      %5 = arith.cmpi slt, %k, %4 : index
      attn.yield %5 : i1
    }
      blocks(%b: index, %h: index, %q_first: index, %q_last: index, %key_lengths: tensor<?xi64>, %queries: index, %keys: index) {
      %c0 = arith.constant 0 : index
      %3 = attn.load %key_lengths[%b] : tensor<?xi64> -> i64
      %4 = arith.index_cast %3 : i64 to index
      %5 = arith.minsi %4, %keys : index
      %6 = arith.maxsi %5, %c0 : index
      %7 = arith.minsi %4, %6 : index
      %8 = arith.maxsi %7, %c0 : index
      attn.yield %c0, %6, %c0, %8 : index, index, index, index
    }
    %2 = attn.project %o weights(%arg5) {layout = #attn.layout<out_in>, parts = [#attn.part<weight = 0, bias = -1, heads = 1, width = 512, first = 0, group = 1, group_stride = 0, head_stride = 0>]} : (tensor<?x8x?x64xf32>, tensor<512x512xf32>) -> tensor<?x?x512xf32>
    return %2 : tensor<?x?x512xf32>
  }
}
