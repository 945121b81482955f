module attributes {attn.spec_file = "gpt3_1280_20_f32.yaml", attn.stage = "lowered"} {
  func.func @gpt3_1280_20(%arg0: tensor<?x?x1280xf32> {attn.argument = #attn.argument<name = "x", role = input, dims = ["batch", "query", "1280"], strided = true>}, %arg1: tensor<3840x1280xf32> {attn.argument = #attn.argument<name = "wqkv", role = weight, dims = ["3840", "1280"]>}, %arg2: tensor<3840xf32> {attn.argument = #attn.argument<name = "bqkv", role = weight, dims = ["3840"]>}, %arg3: tensor<1280x1280xf32> {attn.argument = #attn.argument<name = "wo", role = weight, dims = ["1280", "1280"]>}, %arg4: tensor<1280xf32> {attn.argument = #attn.argument<name = "bo", role = weight, dims = ["1280"]>}) -> (tensor<?x?x1280xf32> {attn.argument = #attn.argument<name = "y", role = output, dims = ["batch", "query", "1280"], strided = true>}) attributes {attn.entry, attn.sizes = [#attn.size<name = "batch", minimum = 0, maximum = 2147352576>, #attn.size<name = "query", minimum = 0, maximum = 2147352576>]} {
    %c1 = arith.constant 1 : index
    %0:3 = attn.project %arg0 weights(%arg1) biases(%arg2) {layout = #attn.layout<out_in>, parts = [#attn.part<weight = 0, bias = 0, heads = 20, width = 64, first = 0, group = 20, group_stride = 0, head_stride = 64, scale = 0.18033688011112042 : f64>, #attn.part<weight = 0, bias = 0, heads = 20, width = 64, first = 1280, group = 20, group_stride = 0, head_stride = 64>, #attn.part<weight = 0, bias = 0, heads = 20, width = 64, first = 2560, group = 20, group_stride = 0, head_stride = 64>]} : (tensor<?x?x1280xf32>, tensor<3840x1280xf32>, tensor<3840xf32>) -> (tensor<?x20x?x64xf32>, tensor<?x20x?x64xf32>, tensor<?x20x?x64xf32>)
    %dim = tensor.dim %arg0, %c1 : tensor<?x?x1280xf32>
    %o = attn.attention %0#0, %0#1, %0#2 params(%dim, %dim : index, index) scale 1.000000e+00 base2 : (tensor<?x20x?x64xf32>, tensor<?x20x?x64xf32>, tensor<?x20x?x64xf32>) -> (tensor<?x20x?x64xf32>)
      mask(%b: index, %h: index, %q: index, %k: index, %queries: index, %keys: index) {
      %2 = arith.cmpi sle, %k, %q : index
      attn.yield %2 : i1
    }
      blocks(%b: index, %h: index, %q_first: index, %q_last: index, %queries: index, %keys: index) {
      %c0 = arith.constant 0 : index
      %c1_0 = arith.constant 1 : index
      %2 = arith.addi %q_last, %c1_0 : index
      %3 = arith.addi %q_first, %c1_0 : index
      %4 = arith.minsi %2, %keys : index
      %5 = arith.maxsi %4, %c0 : index
      %6 = arith.minsi %3, %5 : index
      %7 = arith.maxsi %6, %c0 : index
      attn.yield %c0, %5, %c0, %7 : index, index, index, index
    }
    %1 = attn.project %o weights(%arg3) biases(%arg4) {layout = #attn.layout<out_in>, parts = [#attn.part<weight = 0, bias = 0, heads = 1, width = 1280, first = 0, group = 1, group_stride = 0, head_stride = 0>]} : (tensor<?x20x?x64xf32>, tensor<1280x1280xf32>, tensor<1280xf32>) -> tensor<?x?x1280xf32>
    return %1 : tensor<?x?x1280xf32>
  }
}
