module attributes {attn.spec_file = "bloom_560m_f32.yaml", attn.stage = "lowered"} {
  func.func @bloom_560m(%arg0: tensor<?x?x1024xf32> {attn.argument = #attn.argument<name = "x", role = input, dims = ["batch", "query", "1024"], strided = true>}, %arg1: tensor<3072x1024xf32> {attn.argument = #attn.argument<name = "wqkv", role = weight, dims = ["3072", "1024"]>}, %arg2: tensor<3072xf32> {attn.argument = #attn.argument<name = "bqkv", role = weight, dims = ["3072"]>}, %arg3: tensor<1024x1024xf32> {attn.argument = #attn.argument<name = "wo", role = weight, dims = ["1024", "1024"]>}, %arg4: tensor<1024xf32> {attn.argument = #attn.argument<name = "bo", role = weight, dims = ["1024"]>}) -> (tensor<?x?x1024xf32> {attn.argument = #attn.argument<name = "y", role = output, dims = ["batch", "query", "1024"], strided = true>}) attributes {attn.entry, attn.sizes = [#attn.size<name = "batch", minimum = 0, maximum = 2147352576>, #attn.size<name = "query", minimum = 0, maximum = 2147352576>]} {
    %c1 = arith.constant 1 : index
    %0:3 = attn.project %arg0 weights(%arg1) biases(%arg2) {layout = #attn.layout<out_in>, parts = [#attn.part<weight = 0, bias = 0, heads = 16, width = 64, first = 0, group = 1, group_stride = 192, head_stride = 64, scale = 1.250000e-01 : f64>, #attn.part<weight = 0, bias = 0, heads = 16, width = 64, first = 64, group = 1, group_stride = 192, head_stride = 64>, #attn.part<weight = 0, bias = 0, heads = 16, width = 64, first = 128, group = 1, group_stride = 192, head_stride = 64>]} : (tensor<?x?x1024xf32>, tensor<3072x1024xf32>, tensor<3072xf32>) -> (tensor<?x16x?x64xf32>, tensor<?x16x?x64xf32>, tensor<?x16x?x64xf32>)
    %dim = tensor.dim %arg0, %c1 : tensor<?x?x1024xf32>
    %o = attn.attention %0#0, %0#1, %0#2 params(%dim, %dim : index, index) scale 1.000000e+00 : (tensor<?x16x?x64xf32>, tensor<?x16x?x64xf32>, tensor<?x16x?x64xf32>) -> (tensor<?x16x?x64xf32>)
      score(%b: index, %h: index, %q: index, %k: index, %s: f32, %queries: index, %keys: index) {
      %2 = arith.subi %k, %q : index
      %3 = arith.index_cast %2 : index to i32
      %4 = arith.sitofp %3 : i32 to f32
      %5 = attn.table dense<[0.707106769, 5.000000e-01, 0.353553385, 2.500000e-01, 0.176776692, 1.250000e-01, 0.0883883461, 6.250000e-02, 0.0441941731, 3.125000e-02, 0.0220970865, 1.562500e-02, 0.0110485433, 7.812500e-03, 0.00552427163, 3.906250e-03]> : tensor<16xf32>[%h] : f32
      %6 = arith.mulf %5, %4 : f32
      %7 = arith.addf %s, %6 : f32
      attn.yield %7 : f32
    }
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
    %1 = attn.project %o weights(%arg3) biases(%arg4) {layout = #attn.layout<out_in>, parts = [#attn.part<weight = 0, bias = 0, heads = 1, width = 1024, first = 0, group = 1, group_stride = 0, head_stride = 0>]} : (tensor<?x16x?x64xf32>, tensor<1024x1024xf32>, tensor<1024xf32>) -> tensor<?x?x1024xf32>
    return %1 : tensor<?x?x1024xf32>
  }
}
