module attributes {attn.spec_file = "bert_base_int8.yaml", attn.stage = "lowered"} {
  func.func @bert_base(%arg0: tensor<?x?x768xf32> {attn.argument = #attn.argument<name = "x", role = input, dims = ["batch", "query", "768"], strided = true>}, %arg1: tensor<2304x768xsi8> {attn.argument = #attn.argument<name = "wqkv", role = weight, dims = ["2304", "768"]>}, %arg2: tensor<2304x1xf32> {attn.argument = #attn.argument<name = "wqkv_scales", role = weight, dims = ["2304", "1"]>}, %arg3: tensor<2304xf32> {attn.argument = #attn.argument<name = "bqkv", role = weight, dims = ["2304"]>}, %arg4: tensor<768x768xsi8> {attn.argument = #attn.argument<name = "wo", role = weight, dims = ["768", "768"]>}, %arg5: tensor<768x1xf32> {attn.argument = #attn.argument<name = "wo_scales", role = weight, dims = ["768", "1"]>}, %arg6: tensor<768xf32> {attn.argument = #attn.argument<name = "bo", role = weight, dims = ["768"]>}, %arg7: tensor<?xi64> {attn.argument = #attn.argument<name = "key_lengths", role = parameter, dims = ["batch"], check = range, check_size = "query">}) -> (tensor<?x?x768xf32> {attn.argument = #attn.argument<name = "y", role = output, dims = ["batch", "query", "768"], strided = true>}) attributes {attn.entry, attn.sizes = [#attn.size<name = "batch", minimum = 0, maximum = 2147352576>, #attn.size<name = "query", minimum = 0, maximum = 2147352576>]} {
    %c1 = arith.constant 1 : index
    %0:3 = attn.project %arg0 weights(%arg1) scales(%arg2) biases(%arg3) {layout = #attn.layout<out_in>, parts = [#attn.part<weight = 0, bias = 0, heads = 12, width = 64, first = 0, group = 12, group_stride = 0, head_stride = 64, scale = 0.18033688011112042 : f64>, #attn.part<weight = 0, bias = 0, heads = 12, width = 64, first = 768, group = 12, group_stride = 0, head_stride = 64>, #attn.part<weight = 0, bias = 0, heads = 12, width = 64, first = 1536, group = 12, group_stride = 0, head_stride = 64>], quantized_tokens} : (tensor<?x?x768xf32>, tensor<2304x768xsi8>, tensor<2304x1xf32>, tensor<2304xf32>) -> (tensor<?x12x?x64xf32>, tensor<?x12x?x64xf32>, tensor<?x12x?x64xf32>)
    %dim = tensor.dim %arg0, %c1 : tensor<?x?x768xf32>
    %o = attn.attention %0#0, %0#1, %0#2 params(%arg7, %dim, %dim : tensor<?xi64>, index, index) scale 1.000000e+00 base2 : (tensor<?x12x?x64xf32>, tensor<?x12x?x64xf32>, tensor<?x12x?x64xf32>) -> (tensor<?x12x?x64xf32>)
      mask(%b: index, %h: index, %q: index, %k: index, %key_lengths: tensor<?xi64>, %queries: index, %keys: index) {
      %2 = attn.load %key_lengths[%b] : tensor<?xi64> -> i64
      %3 = arith.index_cast %2 : i64 to index
      %4 = arith.cmpi slt, %k, %3 : index
      attn.yield %4 : i1
    }
      blocks(%b: index, %h: index, %q_first: index, %q_last: index, %key_lengths: tensor<?xi64>, %queries: index, %keys: index) {
      %c0 = arith.constant 0 : index
      %2 = attn.load %key_lengths[%b] : tensor<?xi64> -> i64
      %3 = arith.index_cast %2 : i64 to index
      %4 = arith.minsi %3, %keys : index
      %5 = arith.maxsi %4, %c0 : index
      %6 = arith.minsi %3, %5 : index
      %7 = arith.maxsi %6, %c0 : index
      attn.yield %c0, %5, %c0, %7 : index, index, index, index
    }
    %1 = attn.project %o weights(%arg4) scales(%arg5) biases(%arg6) {layout = #attn.layout<out_in>, parts = [#attn.part<weight = 0, bias = 0, heads = 1, width = 768, first = 0, group = 1, group_stride = 0, head_stride = 0>], quantized_tokens} : (tensor<?x12x?x64xf32>, tensor<768x768xsi8>, tensor<768x1xf32>, tensor<768xf32>) -> tensor<?x?x768xf32>
    return %1 : tensor<?x?x768xf32>
  }
}
