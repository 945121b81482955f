module attributes {attn.spec_file = "t5_base_decoder_f32.yaml", attn.stage = "lowered"} {
  func.func @t5_base_decoder(%arg0: tensor<?x?x768xf32> {attn.argument = #attn.argument<name = "x", role = input, dims = ["batch", "query", "768"], strided = true>}, %arg1: tensor<768x768xf32> {attn.argument = #attn.argument<name = "wq", role = weight, dims = ["768", "768"]>}, %arg2: tensor<768x768xf32> {attn.argument = #attn.argument<name = "wk", role = weight, dims = ["768", "768"]>}, %arg3: tensor<768x768xf32> {attn.argument = #attn.argument<name = "wv", role = weight, dims = ["768", "768"]>}, %arg4: tensor<768x768xf32> {attn.argument = #attn.argument<name = "wo", role = weight, dims = ["768", "768"]>}, %arg5: tensor<32x12xf32> {attn.argument = #attn.argument<name = "relative_bias", role = parameter, dims = ["32", "12"]>}) -> (tensor<?x?x768xf32> {attn.argument = #attn.argument<name = "y", role = output, dims = ["batch", "query", "768"], strided = true>}) attributes {attn.entry, attn.sizes = [#attn.size<name = "batch", minimum = 0, maximum = 2147352576>, #attn.size<name = "query", minimum = 0, maximum = 2147352576>]} {
    %c1 = arith.constant 1 : index
    %0:3 = attn.project %arg0 weights(%arg1, %arg2, %arg3) {layout = #attn.layout<out_in>, parts = [#attn.part<weight = 0, bias = -1, heads = 12, width = 64, first = 0, group = 12, group_stride = 0, head_stride = 64>, #attn.part<weight = 1, bias = -1, heads = 12, width = 64, first = 0, group = 12, group_stride = 0, head_stride = 64>, #attn.part<weight = 2, bias = -1, heads = 12, width = 64, first = 0, group = 12, group_stride = 0, head_stride = 64>]} : (tensor<?x?x768xf32>, tensor<768x768xf32>, tensor<768x768xf32>, tensor<768x768xf32>) -> (tensor<?x12x?x64xf32>, tensor<?x12x?x64xf32>, tensor<?x12x?x64xf32>)
    %dim = tensor.dim %arg0, %c1 : tensor<?x?x768xf32>
    %o = attn.attention %0#0, %0#1, %0#2 params(%arg5, %dim, %dim : tensor<32x12xf32>, index, index) scale 1.000000e+00 : (tensor<?x12x?x64xf32>, tensor<?x12x?x64xf32>, tensor<?x12x?x64xf32>) -> (tensor<?x12x?x64xf32>)
      score(%b: index, %h: index, %q: index, %k: index, %s: f32, %relative_bias: tensor<32x12xf32>, %queries: index, %keys: index) {
      %c128 = arith.constant 128 : index
      %2 = arith.subi %k, %q : index
      %3 = arith.addi %2, %c128 : index
      %4 = attn.table dense<"0x1F000000000000001F000000000000001F000000000000001F000000000000001F000000000000001F000000000000001F000000000000001F000000000000001F000000000000001F000000000000001F000000000000001F000000000000001F000000000000001F000000000000001F000000000000001F000000000000001E000000000000001E000000000000001E000000000000001E000000000000001E000000000000001E000000000000001E000000000000001E000000000000001E000000000000001E000000000000001E000000000000001E000000000000001E000000000000001E000000000000001D000000000000001D000000000000001D000000000000001D000000000000001D000000000000001D000000000000001D000000000000001D000000000000001D000000000000001D000000000000001D000000000000001D000000000000001C000000000000001C000000000000001C000000000000001C000000000000001C000000000000001C000000000000001C000000000000001C000000000000001C000000000000001C000000000000001B000000000000001B000000000000001B000000000000001B000000000000001B000000000000001B000000000000001B000000000000001B000000000000001B000000000000001B000000000000001A000000000000001A000000000000001A000000000000001A000000000000001A000000000000001A000000000000001A000000000000001A0000000000000019000000000000001900000000000000190000000000000019000000000000001900000000000000190000000000000019000000000000001800000000000000180000000000000018000000000000001800000000000000180000000000000018000000000000001700000000000000170000000000000017000000000000001700000000000000170000000000000017000000000000001600000000000000160000000000000016000000000000001600000000000000160000000000000015000000000000001500000000000000150000000000000015000000000000001400000000000000140000000000000014000000000000001400000000000000130000000000000013000000000000001300000000000000120000000000000012000000000000001200000000000000110000000000000011000000000000001000000000000000100000000000000010000000000000000F000000000000000E000000000000000D000000000000000C000000000000000B000000000000000A0000000000000009000000000000000800000000000000070000000000000006000000000000000500000000000000040000000000000003000000000000000200000000000000010000000000000000000000000000000000000000000000"> : tensor<130xindex>[%3] : index
      %5 = attn.load %relative_bias[%4, %h] : tensor<32x12xf32> -> f32
      %6 = arith.addf %s, %5 : f32
      attn.yield %6 : f32
    }
      mask(%b: index, %h: index, %q: index, %k: index, %relative_bias: tensor<32x12xf32>, %queries: index, %keys: index) {
      %2 = arith.cmpi sle, %k, %q : index
      attn.yield %2 : i1
    }
      blocks(%b: index, %h: index, %q_first: index, %q_last: index, %relative_bias: tensor<32x12xf32>, %queries: index, %keys: index) {
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
    %1 = attn.project %o weights(%arg4) {layout = #attn.layout<out_in>, parts = [#attn.part<weight = 0, bias = -1, heads = 1, width = 768, first = 0, group = 1, group_stride = 0, head_stride = 0>]} : (tensor<?x12x?x64xf32>, tensor<768x768xf32>) -> tensor<?x?x768xf32>
    return %1 : tensor<?x?x768xf32>
  }
}
