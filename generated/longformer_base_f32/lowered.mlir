module attributes {attn.spec_file = "longformer_base_f32.yaml", attn.stage = "lowered"} {
  func.func @longformer_base(%arg0: tensor<?x?x768xf32> {attn.argument = #attn.argument<name = "x", role = input, dims = ["batch", "query", "768"], strided = true>}, %arg1: tensor<768x768xf32> {attn.argument = #attn.argument<name = "wq", role = weight, dims = ["768", "768"]>}, %arg2: tensor<768x768xf32> {attn.argument = #attn.argument<name = "wk", role = weight, dims = ["768", "768"]>}, %arg3: tensor<768x768xf32> {attn.argument = #attn.argument<name = "wv", role = weight, dims = ["768", "768"]>}, %arg4: tensor<768xf32> {attn.argument = #attn.argument<name = "bq", role = weight, dims = ["768"]>}, %arg5: tensor<768xf32> {attn.argument = #attn.argument<name = "bk", role = weight, dims = ["768"]>}, %arg6: tensor<768xf32> {attn.argument = #attn.argument<name = "bv", role = weight, dims = ["768"]>}, %arg7: tensor<768x768xf32> {attn.argument = #attn.argument<name = "wo", role = weight, dims = ["768", "768"]>}, %arg8: tensor<768xf32> {attn.argument = #attn.argument<name = "bo", role = weight, dims = ["768"]>}, %arg9: tensor<?x?xi8> {attn.argument = #attn.argument<name = "global_tokens", role = parameter, dims = ["batch", "query"]>}, %arg10: tensor<?xi64> {attn.argument = #attn.argument<name = "key_lengths", role = parameter, dims = ["batch"], check = range, check_size = "query">}) -> (tensor<?x?x768xf32> {attn.argument = #attn.argument<name = "y", role = output, dims = ["batch", "query", "768"], strided = true>}) attributes {attn.entry, attn.sizes = [#attn.size<name = "batch", minimum = 0, maximum = 2147352576>, #attn.size<name = "query", minimum = 0, maximum = 2147352576>]} {
    %c1 = arith.constant 1 : index
    %0:3 = attn.project %arg0 weights(%arg1, %arg2, %arg3) biases(%arg4, %arg5, %arg6) {layout = #attn.layout<out_in>, parts = [#attn.part<weight = 0, bias = 0, heads = 12, width = 64, first = 0, group = 12, group_stride = 0, head_stride = 64, scale = 0.18033688011112042 : f64>, #attn.part<weight = 1, bias = 1, heads = 12, width = 64, first = 0, group = 12, group_stride = 0, head_stride = 64>, #attn.part<weight = 2, bias = 2, heads = 12, width = 64, first = 0, group = 12, group_stride = 0, head_stride = 64>]} : (tensor<?x?x768xf32>, tensor<768x768xf32>, tensor<768x768xf32>, tensor<768x768xf32>, tensor<768xf32>, tensor<768xf32>, tensor<768xf32>) -> (tensor<?x12x?x64xf32>, tensor<?x12x?x64xf32>, tensor<?x12x?x64xf32>)
    %dim = tensor.dim %arg0, %c1 : tensor<?x?x768xf32>
    %o = attn.attention %0#0, %0#1, %0#2 params(%arg9, %arg10, %dim, %dim : tensor<?x?xi8>, tensor<?xi64>, index, index) scale 1.000000e+00 base2 : (tensor<?x12x?x64xf32>, tensor<?x12x?x64xf32>, tensor<?x12x?x64xf32>) -> (tensor<?x12x?x64xf32>)
      mask(%b: index, %h: index, %q: index, %k: index, %global_tokens: tensor<?x?xi8>, %key_lengths: tensor<?xi64>, %queries: index, %keys: index) {
      %c0_i8 = arith.constant 0 : i8
      %c256 = arith.constant 256 : index
      %2 = arith.subi %k, %q : index
      %3 = arith.cmpi sle, %2, %c256 : index
      %4 = arith.subi %q, %k : index
      %5 = arith.cmpi sle, %4, %c256 : index
      %6 = arith.andi %3, %5 : i1
      %7 = attn.load %global_tokens[%b, %k] : tensor<?x?xi8> -> i8
      %8 = arith.cmpi ne, %7, %c0_i8 : i8
      %9 = attn.load %global_tokens[%b, %q] : tensor<?x?xi8> -> i8
      %10 = arith.cmpi ne, %9, %c0_i8 : i8
      %11 = arith.ori %8, %10 : i1
      %12 = arith.ori %6, %11 : i1
      %13 = attn.load %key_lengths[%b] : tensor<?xi64> -> i64
      %14 = arith.index_cast %13 : i64 to index
      %15 = arith.cmpi slt, %k, %14 : index
      %16 = arith.andi %12, %15 : i1
      attn.yield %16 : i1
    }
      blocks(%b: index, %h: index, %q_first: index, %q_last: index, %global_tokens: tensor<?x?xi8>, %key_lengths: tensor<?xi64>, %queries: index, %keys: index) {
      %c257 = arith.constant 257 : index
      %c-256 = arith.constant -256 : index
      %c0 = arith.constant 0 : index
      %2 = attn.load %key_lengths[%b] : tensor<?xi64> -> i64
      %3 = arith.index_cast %2 : i64 to index
      %4 = arith.addi %q_last, %c257 : index
      %5 = arith.addi %q_first, %c257 : index
      %6 = arith.addi %q_first, %c-256 : index
      %7 = arith.addi %q_last, %c-256 : index
      %8 = arith.maxsi %6, %c0 : index
      %9 = arith.minsi %4, %keys : index
      %10 = arith.maxsi %7, %c0 : index
      %11 = arith.minsi %5, %keys : index
      %12 = arith.maxsi %8, %c0 : index
      %13 = arith.minsi %9, %keys : index
      %14 = arith.maxsi %10, %c0 : index
      %15 = arith.minsi %11, %keys : index
      %16 = arith.cmpi sle, %13, %12 : index
      %17 = arith.cmpi sle, %keys, %c0 : index
      %18 = arith.minsi %12, %c0 : index
      %19 = arith.maxsi %13, %keys : index
      %20 = arith.select %17, %12, %18 : index
      %21 = arith.select %17, %13, %19 : index
      %22 = arith.select %16, %c0, %20 : index
      %23 = arith.select %16, %keys, %21 : index
      %24 = arith.subi %15, %14 : index
      %25 = arith.cmpi sge, %24, %c0 : index
      %26 = arith.select %25, %14, %c0 : index
      %27 = arith.select %25, %15, %c0 : index
      %28 = arith.maxsi %14, %c0 : index
      %29 = arith.minsi %15, %c0 : index
      %30 = arith.cmpi sle, %28, %29 : index
      %31 = arith.cmpi sle, %14, %15 : index
      %32 = arith.andi %30, %31 : i1
      %33 = arith.minsi %14, %c0 : index
      %34 = arith.maxsi %15, %c0 : index
      %35 = arith.select %32, %33, %26 : index
      %36 = arith.select %32, %34, %27 : index
      %37 = arith.maxsi %22, %c0 : index
      %38 = arith.minsi %23, %3 : index
      %39 = arith.maxsi %35, %c0 : index
      %40 = arith.minsi %36, %3 : index
      %41 = arith.maxsi %37, %c0 : index
      %42 = arith.minsi %41, %keys : index
      %43 = arith.minsi %38, %keys : index
      %44 = arith.maxsi %43, %42 : index
      %45 = arith.maxsi %39, %42 : index
      %46 = arith.minsi %45, %44 : index
      %47 = arith.minsi %40, %44 : index
      %48 = arith.maxsi %47, %46 : index
      attn.yield %42, %44, %46, %48 : index, index, index, index
    }
      tiles(%b: index, %h: index, %q_first: index, %q_last: index, %k_first: index, %k_last: index, %global_tokens: tensor<?x?xi8>, %key_lengths: tensor<?xi64>, %queries: index, %keys: index) {
      %true = arith.constant true
      %c0 = arith.constant 0 : index
      %c256 = arith.constant 256 : index
      %2 = attn.load %key_lengths[%b] : tensor<?xi64> -> i64
      %3 = arith.index_cast %2 : i64 to index
      %4 = arith.subi %k_first, %q_last : index
      %5 = arith.subi %k_last, %q_first : index
      %6 = arith.cmpi sle, %4, %c256 : index
      %7 = arith.cmpi sle, %5, %c256 : index
      %8 = arith.subi %q_first, %k_last : index
      %9 = arith.subi %q_last, %k_first : index
      %10 = arith.cmpi sle, %8, %c256 : index
      %11 = arith.cmpi sle, %9, %c256 : index
      %12 = arith.andi %6, %10 : i1
      %13 = arith.andi %7, %11 : i1
      %smallest, %largest = attn.load_range %global_tokens[%b, %k_first] to[%b, %k_last] spans [#attn.span<point>, #attn.span<keys>] : tensor<?x?xi8> -> i8, i8
      %14 = arith.index_castui %smallest : i8 to index
      %15 = arith.index_castui %largest : i8 to index
      %16 = arith.cmpi sle, %14, %c0 : index
      %17 = arith.cmpi sge, %15, %c0 : index
      %18 = arith.cmpi eq, %14, %15 : index
      %19 = arith.cmpi eq, %14, %c0 : index
      %20 = arith.andi %16, %17 : i1
      %21 = arith.andi %18, %19 : i1
      %22 = arith.xori %21, %true : i1
      %23 = arith.xori %20, %true : i1
      %smallest_0, %largest_1 = attn.load_range %global_tokens[%b, %q_first] to[%b, %q_last] spans [#attn.span<point>, #attn.span<queries>] : tensor<?x?xi8> -> i8, i8
      %24 = arith.index_castui %smallest_0 : i8 to index
      %25 = arith.index_castui %largest_1 : i8 to index
      %26 = arith.cmpi sle, %24, %c0 : index
      %27 = arith.cmpi sge, %25, %c0 : index
      %28 = arith.cmpi eq, %24, %25 : index
      %29 = arith.cmpi eq, %24, %c0 : index
      %30 = arith.andi %26, %27 : i1
      %31 = arith.andi %28, %29 : i1
      %32 = arith.xori %31, %true : i1
      %33 = arith.xori %30, %true : i1
      %34 = arith.ori %22, %32 : i1
      %35 = arith.ori %23, %33 : i1
      %36 = arith.ori %12, %34 : i1
      %37 = arith.ori %13, %35 : i1
      %38 = arith.cmpi slt, %k_first, %3 : index
      %39 = arith.cmpi slt, %k_last, %3 : index
      %40 = arith.andi %36, %38 : i1
      %41 = arith.andi %37, %39 : i1
      attn.yield %40, %41 : i1, i1
    }
    %1 = attn.project %o weights(%arg7) biases(%arg8) {layout = #attn.layout<out_in>, parts = [#attn.part<weight = 0, bias = 0, heads = 1, width = 768, first = 0, group = 1, group_stride = 0, head_stride = 0>]} : (tensor<?x12x?x64xf32>, tensor<768x768xf32>, tensor<768xf32>) -> tensor<?x?x768xf32>
    return %1 : tensor<?x?x768xf32>
  }
}
