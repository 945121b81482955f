module attributes {attn.spec_file = "prefix_lm_f32.yaml", attn.stage = "lowered"} {
  func.func @prefix_lm(%arg0: tensor<?x?x768xf32> {attn.argument = #attn.argument<name = "x", role = input, dims = ["batch", "query", "768"], strided = true>}, %arg1: tensor<768x768xf32> {attn.argument = #attn.argument<name = "wq", role = weight, dims = ["768", "768"]>}, %arg2: tensor<768x768xf32> {attn.argument = #attn.argument<name = "wk", role = weight, dims = ["768", "768"]>}, %arg3: tensor<768x768xf32> {attn.argument = #attn.argument<name = "wv", role = weight, dims = ["768", "768"]>}, %arg4: tensor<768x768xf32> {attn.argument = #attn.argument<name = "wo", role = weight, dims = ["768", "768"]>}, %arg5: tensor<?xi64> {attn.argument = #attn.argument<name = "prefix_lengths", role = parameter, dims = ["batch"], check = range, check_size = "query">}) -> (tensor<?x?x768xf32> {attn.argument = #attn.argument<name = "y", role = output, dims = ["batch", "query", "768"], strided = true>}) attributes {attn.entry, attn.sizes = [#attn.size<name = "batch", minimum = 0, maximum = 2147352576>, #attn.size<name = "query", minimum = 0, maximum = 2147352576>]} {
    %c1 = arith.constant 1 : index
    %0:3 = attn.project %arg0 weights(%arg1, %arg2, %arg3) {layout = #attn.layout<out_in>, parts = [#attn.part<weight = 0, bias = -1, heads = 12, width = 64, first = 0, group = 12, group_stride = 0, head_stride = 64, scale = 0.18033688011112042 : f64>, #attn.part<weight = 1, bias = -1, heads = 12, width = 64, first = 0, group = 12, group_stride = 0, head_stride = 64>, #attn.part<weight = 2, bias = -1, heads = 12, width = 64, first = 0, group = 12, group_stride = 0, head_stride = 64>]} : (tensor<?x?x768xf32>, tensor<768x768xf32>, tensor<768x768xf32>, tensor<768x768xf32>) -> (tensor<?x12x?x64xf32>, tensor<?x12x?x64xf32>, tensor<?x12x?x64xf32>)
    %dim = tensor.dim %arg0, %c1 : tensor<?x?x768xf32>
    %o = attn.attention %0#0, %0#1, %0#2 params(%arg5, %dim, %dim : tensor<?xi64>, index, index) scale 1.000000e+00 base2 : (tensor<?x12x?x64xf32>, tensor<?x12x?x64xf32>, tensor<?x12x?x64xf32>) -> (tensor<?x12x?x64xf32>)
      mask(%b: index, %h: index, %q: index, %k: index, %prefix_lengths: tensor<?xi64>, %queries: index, %keys: index) {
      %2 = arith.cmpi sle, %k, %q : index
      %3 = attn.load %prefix_lengths[%b] : tensor<?xi64> -> i64
      %4 = arith.index_cast %3 : i64 to index
      %5 = arith.cmpi slt, %k, %4 : index
      %6 = arith.ori %2, %5 : i1
      attn.yield %6 : i1
    }
      blocks(%b: index, %h: index, %q_first: index, %q_last: index, %prefix_lengths: tensor<?xi64>, %queries: index, %keys: index) {
      %c1_0 = arith.constant 1 : index
      %c0 = arith.constant 0 : index
      %2 = attn.load %prefix_lengths[%b] : tensor<?xi64> -> i64
      %3 = arith.index_cast %2 : i64 to index
      %4 = arith.addi %q_last, %c1_0 : index
      %5 = arith.addi %q_first, %c1_0 : index
      %6 = arith.maxsi %4, %3 : index
      %7 = arith.minsi %6, %keys : index
      %8 = arith.maxsi %5, %3 : index
      %9 = arith.minsi %8, %keys : index
      %10 = arith.minsi %7, %keys : index
      %11 = arith.maxsi %10, %c0 : index
      %12 = arith.minsi %9, %11 : index
      %13 = arith.maxsi %12, %c0 : index
      attn.yield %c0, %11, %c0, %13 : index, index, index, index
    }
    %1 = attn.project %o weights(%arg4) {layout = #attn.layout<out_in>, parts = [#attn.part<weight = 0, bias = -1, heads = 1, width = 768, first = 0, group = 1, group_stride = 0, head_stride = 0>]} : (tensor<?x12x?x64xf32>, tensor<768x768xf32>) -> tensor<?x?x768xf32>
    return %1 : tensor<?x?x768xf32>
  }
}
