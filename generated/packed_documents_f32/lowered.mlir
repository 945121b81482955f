module attributes {attn.spec_file = "packed_documents_f32.yaml", attn.stage = "lowered"} {
  func.func @packed_documents(%arg0: tensor<?x?x768xf32> {attn.argument = #attn.argument<name = "x", role = input, dims = ["batch", "query", "768"], strided = true>}, %arg1: tensor<768x2304xf32> {attn.argument = #attn.argument<name = "wqkv", role = weight, dims = ["768", "2304"]>}, %arg2: tensor<2304xf32> {attn.argument = #attn.argument<name = "bqkv", role = weight, dims = ["2304"]>}, %arg3: tensor<768x768xf32> {attn.argument = #attn.argument<name = "wo", role = weight, dims = ["768", "768"]>}, %arg4: tensor<768xf32> {attn.argument = #attn.argument<name = "bo", role = weight, dims = ["768"]>}, %arg5: tensor<?x?xi64> {attn.argument = #attn.argument<name = "documents", role = parameter, dims = ["batch", "query"], check = position>}) -> (tensor<?x?x768xf32> {attn.argument = #attn.argument<name = "y", role = output, dims = ["batch", "query", "768"], strided = true>}) attributes {attn.entry, attn.sizes = [#attn.size<name = "batch", minimum = 0, maximum = 2147352576>, #attn.size<name = "query", minimum = 0, maximum = 2147352576>]} {
    %c1 = arith.constant 1 : index
    %0:3 = attn.project %arg0 weights(%arg1) biases(%arg2) {layout = #attn.layout<in_out>, parts = [#attn.part<weight = 0, bias = 0, heads = 12, width = 64, first = 0, group = 12, group_stride = 0, head_stride = 64, scale = 0.18033688011112042 : f64>, #attn.part<weight = 0, bias = 0, heads = 12, width = 64, first = 768, group = 12, group_stride = 0, head_stride = 64>, #attn.part<weight = 0, bias = 0, heads = 12, width = 64, first = 1536, group = 12, group_stride = 0, head_stride = 64>]} : (tensor<?x?x768xf32>, tensor<768x2304xf32>, tensor<2304xf32>) -> (tensor<?x12x?x64xf32>, tensor<?x12x?x64xf32>, tensor<?x12x?x64xf32>)
    %dim = tensor.dim %arg0, %c1 : tensor<?x?x768xf32>
    %o = attn.attention %0#0, %0#1, %0#2 params(%arg5, %dim, %dim : tensor<?x?xi64>, index, index) scale 1.000000e+00 base2 : (tensor<?x12x?x64xf32>, tensor<?x12x?x64xf32>, tensor<?x12x?x64xf32>) -> (tensor<?x12x?x64xf32>)
      mask(%b: index, %h: index, %q: index, %k: index, %documents: tensor<?x?xi64>, %queries: index, %keys: index) {
      %2 = arith.cmpi sle, %k, %q : index
      %3 = attn.load %documents[%b, %q] : tensor<?x?xi64> -> i64
      %4 = arith.index_cast %3 : i64 to index
      %5 = attn.load %documents[%b, %k] : tensor<?x?xi64> -> i64
      %6 = arith.index_cast %5 : i64 to index
      %7 = arith.cmpi eq, %4, %6 : index
      %8 = arith.andi %2, %7 : i1
      attn.yield %8 : i1
    }
      blocks(%b: index, %h: index, %q_first: index, %q_last: index, %documents: tensor<?x?xi64>, %queries: index, %keys: index) {
      %c0 = arith.constant 0 : index
      %c1_0 = arith.constant 1 : index
      %2 = arith.addi %q_last, %c1_0 : index
      %3 = arith.addi %q_first, %c1_0 : index
      %4 = arith.minsi %2, %keys : index
      %5 = arith.minsi %3, %c0 : index
      %6 = arith.minsi %4, %keys : index
      %7 = arith.maxsi %6, %c0 : index
      %8 = arith.minsi %5, %7 : index
      %9 = arith.maxsi %8, %c0 : index
      attn.yield %c0, %7, %c0, %9 : index, index, index, index
    }
      tiles(%b: index, %h: index, %q_first: index, %q_last: index, %k_first: index, %k_last: index, %documents: tensor<?x?xi64>, %queries: index, %keys: index) {
      %2 = arith.cmpi sle, %k_first, %q_last : index
      %3 = arith.cmpi sle, %k_last, %q_first : index
      %smallest, %largest = attn.load_range %documents[%b, %q_first] to[%b, %q_last] spans [#attn.span<point>, #attn.span<queries>] : tensor<?x?xi64> -> i64, i64
      %4 = arith.index_cast %smallest : i64 to index
      %5 = arith.index_cast %largest : i64 to index
      %smallest_0, %largest_1 = attn.load_range %documents[%b, %k_first] to[%b, %k_last] spans [#attn.span<point>, #attn.span<keys>] : tensor<?x?xi64> -> i64, i64
      %6 = arith.index_cast %smallest_0 : i64 to index
      %7 = arith.index_cast %largest_1 : i64 to index
      %8 = arith.cmpi sle, %4, %7 : index
      %9 = arith.cmpi sle, %6, %5 : index
      %10 = arith.cmpi eq, %4, %5 : index
      %11 = arith.cmpi eq, %6, %7 : index
      %12 = arith.cmpi eq, %4, %6 : index
      %13 = arith.andi %8, %9 : i1
      %14 = arith.andi %10, %11 : i1
      %15 = arith.andi %14, %12 : i1
      %16 = arith.andi %2, %13 : i1
      %17 = arith.andi %3, %15 : i1
      attn.yield %16, %17 : i1, i1
    }
    %1 = attn.project %o weights(%arg3) biases(%arg4) {layout = #attn.layout<in_out>, parts = [#attn.part<weight = 0, bias = 0, heads = 1, width = 768, first = 0, group = 1, group_stride = 0, head_stride = 0>]} : (tensor<?x12x?x64xf32>, tensor<768x768xf32>, tensor<768xf32>) -> tensor<?x?x768xf32>
    return %1 : tensor<?x?x768xf32>
  }
}
