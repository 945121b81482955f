module attributes {attn.spec_file = "reformer_enwik8_f32.yaml", attn.stage = "lowered"} {
  func.func @reformer_enwik8(%arg0: tensor<?x?x1024xf32> {attn.argument = #attn.argument<name = "x", role = input, dims = ["batch", "query", "1024"], strided = true>}, %arg1: tensor<1024x1024xf32> {attn.argument = #attn.argument<name = "wq", role = weight, dims = ["1024", "1024"]>}, %arg2: tensor<1024x1024xf32> {attn.argument = #attn.argument<name = "wk", role = weight, dims = ["1024", "1024"]>}, %arg3: tensor<1024x1024xf32> {attn.argument = #attn.argument<name = "wv", role = weight, dims = ["1024", "1024"]>}, %arg4: tensor<1024x1024xf32> {attn.argument = #attn.argument<name = "wo", role = weight, dims = ["1024", "1024"]>}) -> (tensor<?x?x1024xf32> {attn.argument = #attn.argument<name = "y", role = output, dims = ["batch", "query", "1024"], strided = true>}) attributes {attn.entry, attn.sizes = [#attn.size<name = "batch", minimum = 0, maximum = 2147352576>, #attn.size<name = "query", minimum = 0, maximum = 2147352576>]} {
    %c1 = arith.constant 1 : index
    %0:3 = attn.project %arg0 weights(%arg1, %arg2, %arg3) {layout = #attn.layout<out_in>, parts = [#attn.part<weight = 0, bias = -1, heads = 8, width = 128, first = 0, group = 8, group_stride = 0, head_stride = 128, scale = 0.12751743082459868 : f64>, #attn.part<weight = 1, bias = -1, heads = 8, width = 128, first = 0, group = 8, group_stride = 0, head_stride = 128>, #attn.part<weight = 2, bias = -1, heads = 8, width = 128, first = 0, group = 8, group_stride = 0, head_stride = 128>]} : (tensor<?x?x1024xf32>, tensor<1024x1024xf32>, tensor<1024x1024xf32>, tensor<1024x1024xf32>) -> (tensor<?x8x?x128xf32>, tensor<?x8x?x128xf32>, tensor<?x8x?x128xf32>)
    %dim = tensor.dim %arg0, %c1 : tensor<?x?x1024xf32>
    %1 = attn.hash %0#0 {buckets = 128 : i64, rotations = array<i64: 0, 1, 2, 3, 4, 5, 6, 7>, rounds = 4 : i64, seed = 0 : i64} : tensor<?x8x?x128xf32> -> tensor<?x8x4x?xi32>
    %2 = attn.hash %0#1 {buckets = 128 : i64, rotations = array<i64: 0, 1, 2, 3, 4, 5, 6, 7>, rounds = 4 : i64, seed = 0 : i64} : tensor<?x8x?x128xf32> -> tensor<?x8x4x?xi32>
    %3 = attn.sort_buckets %1 : tensor<?x8x4x?xi32> -> tensor<?x32x3x?xi32>
    %4 = attn.sort_buckets %2 : tensor<?x8x4x?xi32> -> tensor<?x32x3x?xi32>
    %5 = attn.bucket_ranges %3, %4 : (tensor<?x32x3x?xi32>, tensor<?x32x3x?xi32>) -> tensor<?x32x2x?xi32>
    %6 = attn.gather_tokens %0#0 by %3 : (tensor<?x8x?x128xf32>, tensor<?x32x3x?xi32>) -> tensor<?x32x?x128xf32>
    %7 = attn.gather_tokens %0#1 by %4 : (tensor<?x8x?x128xf32>, tensor<?x32x3x?xi32>) -> tensor<?x32x?x128xf32>
    %8 = attn.gather_tokens %0#2 by %4 : (tensor<?x8x?x128xf32>, tensor<?x32x3x?xi32>) -> tensor<?x32x?x128xf32>
    %o, %lse = attn.attention %6, %7, %8 params(%1, %2, %3, %4, %5, %dim, %dim : tensor<?x8x4x?xi32>, tensor<?x8x4x?xi32>, tensor<?x32x3x?xi32>, tensor<?x32x3x?xi32>, tensor<?x32x2x?xi32>, index, index) scale 1.000000e+00 base2 : (tensor<?x32x?x128xf32>, tensor<?x32x?x128xf32>, tensor<?x32x?x128xf32>) -> (tensor<?x32x?x128xf32>, tensor<?x32x?xf32>)
      mask(%b: index, %h: index, %q: index, %k: index, %arg5: tensor<?x8x4x?xi32>, %arg6: tensor<?x8x4x?xi32>, %arg7: tensor<?x32x3x?xi32>, %arg8: tensor<?x32x3x?xi32>, %arg9: tensor<?x32x2x?xi32>, %queries: index, %keys: index) {
      %c1_0 = arith.constant 1 : index
      %c2 = arith.constant 2 : index
      %true = arith.constant true
      %c0 = arith.constant 0 : index
      %c8 = arith.constant 8 : index
      %10 = attn.floor_mod %h, %c8
      %11 = attn.load %arg7[%b, %h, %c0, %q] : tensor<?x32x3x?xi32> -> i32
      %12 = arith.index_cast %11 : i32 to index
      %13 = attn.load %arg8[%b, %h, %c0, %k] : tensor<?x32x3x?xi32> -> i32
      %14 = arith.index_cast %13 : i32 to index
      %15 = arith.cmpi sle, %14, %12 : index
      %16 = attn.load %arg9[%b, %h, %c0, %q] {ascending} : tensor<?x32x2x?xi32> -> i32
      %17 = arith.index_cast %16 : i32 to index
      %18 = attn.load %arg9[%b, %h, %c1_0, %q] {ascending} : tensor<?x32x2x?xi32> -> i32
      %19 = arith.index_cast %18 : i32 to index
      %20 = arith.cmpi sge, %k, %17 : index
      %21 = arith.cmpi slt, %k, %19 : index
      %22 = arith.andi %20, %21 : i1
      %23 = arith.andi %22, %15 : i1
      %24 = attn.floor_div %h, %c8
      %25 = arith.cmpi sgt, %24, %c0 : index
      %26 = attn.load %arg5[%b, %10, %c0, %12] : tensor<?x8x4x?xi32> -> i32
      %27 = arith.index_cast %26 : i32 to index
      %28 = attn.load %arg6[%b, %10, %c0, %14] : tensor<?x8x4x?xi32> -> i32
      %29 = arith.index_cast %28 : i32 to index
      %30 = arith.cmpi eq, %27, %29 : index
      %31 = arith.andi %25, %30 : i1
      %32 = arith.cmpi sgt, %24, %c1_0 : index
      %33 = attn.load %arg5[%b, %10, %c1_0, %12] : tensor<?x8x4x?xi32> -> i32
      %34 = arith.index_cast %33 : i32 to index
      %35 = attn.load %arg6[%b, %10, %c1_0, %14] : tensor<?x8x4x?xi32> -> i32
      %36 = arith.index_cast %35 : i32 to index
      %37 = arith.cmpi eq, %34, %36 : index
      %38 = arith.andi %32, %37 : i1
      %39 = arith.ori %31, %38 : i1
      %40 = arith.cmpi sgt, %24, %c2 : index
      %41 = attn.load %arg5[%b, %10, %c2, %12] : tensor<?x8x4x?xi32> -> i32
      %42 = arith.index_cast %41 : i32 to index
      %43 = attn.load %arg6[%b, %10, %c2, %14] : tensor<?x8x4x?xi32> -> i32
      %44 = arith.index_cast %43 : i32 to index
      %45 = arith.cmpi eq, %42, %44 : index
      %46 = arith.andi %40, %45 : i1
      %47 = arith.ori %39, %46 : i1
      %48 = arith.xori %47, %true : i1
      %49 = arith.andi %23, %48 : i1
      attn.yield %49 : i1
    }
      blocks(%b: index, %h: index, %q_first: index, %q_last: index, %arg5: tensor<?x8x4x?xi32>, %arg6: tensor<?x8x4x?xi32>, %arg7: tensor<?x32x3x?xi32>, %arg8: tensor<?x32x3x?xi32>, %arg9: tensor<?x32x2x?xi32>, %queries: index, %keys: index) {
      %c1_0 = arith.constant 1 : index
      %c2 = arith.constant 2 : index
      %c0 = arith.constant 0 : index
      %c8 = arith.constant 8 : index
      %10 = attn.floor_div %h, %c8
      %11 = attn.load %arg9[%b, %h, %c0, %q_first] {ascending} : tensor<?x32x2x?xi32> -> i32
      %12 = arith.index_cast %11 : i32 to index
      %13 = attn.load %arg9[%b, %h, %c0, %q_last] {ascending} : tensor<?x32x2x?xi32> -> i32
      %14 = arith.index_cast %13 : i32 to index
      %15 = attn.load %arg9[%b, %h, %c1_0, %q_first] {ascending} : tensor<?x32x2x?xi32> -> i32
      %16 = arith.index_cast %15 : i32 to index
      %17 = attn.load %arg9[%b, %h, %c1_0, %q_last] {ascending} : tensor<?x32x2x?xi32> -> i32
      %18 = arith.index_cast %17 : i32 to index
      %19 = arith.maxsi %12, %c0 : index
      %20 = arith.minsi %keys, %18 : index
      %21 = arith.maxsi %14, %c0 : index
      %22 = arith.minsi %keys, %16 : index
      %23 = arith.maxsi %19, %c0 : index
      %24 = arith.minsi %20, %keys : index
      %25 = arith.maxsi %21, %c0 : index
      %26 = arith.minsi %22, %c0 : index
      %27 = arith.cmpi sle, %10, %c0 : index
      %28 = arith.select %27, %keys, %c0 : index
      %29 = arith.maxsi %28, %keys : index
      %30 = arith.minsi %29, %keys : index
      %31 = arith.maxsi %28, %c0 : index
      %32 = arith.minsi %31, %keys : index
      %33 = arith.cmpi sle, %10, %c1_0 : index
      %34 = arith.select %33, %keys, %c0 : index
      %35 = arith.maxsi %34, %keys : index
      %36 = arith.minsi %35, %keys : index
      %37 = arith.maxsi %34, %c0 : index
      %38 = arith.minsi %37, %keys : index
      %39 = arith.minsi %30, %36 : index
      %40 = arith.minsi %32, %38 : index
      %41 = arith.cmpi sle, %10, %c2 : index
      %42 = arith.select %41, %keys, %c0 : index
      %43 = arith.maxsi %42, %keys : index
      %44 = arith.minsi %43, %keys : index
      %45 = arith.maxsi %42, %c0 : index
      %46 = arith.minsi %45, %keys : index
      %47 = arith.minsi %39, %44 : index
      %48 = arith.minsi %40, %46 : index
      %49 = arith.maxsi %23, %c0 : index
      %50 = arith.minsi %24, %47 : index
      %51 = arith.maxsi %25, %c0 : index
      %52 = arith.minsi %26, %48 : index
      %53 = arith.maxsi %49, %c0 : index
      %54 = arith.minsi %53, %keys : index
      %55 = arith.minsi %50, %keys : index
      %56 = arith.maxsi %55, %54 : index
      %57 = arith.maxsi %51, %54 : index
      %58 = arith.minsi %57, %56 : index
      %59 = arith.minsi %52, %56 : index
      %60 = arith.maxsi %59, %58 : index
      attn.yield %54, %56, %58, %60 : index, index, index, index
    }
      tiles(%b: index, %h: index, %q_first: index, %q_last: index, %k_first: index, %k_last: index, %arg5: tensor<?x8x4x?xi32>, %arg6: tensor<?x8x4x?xi32>, %arg7: tensor<?x32x3x?xi32>, %arg8: tensor<?x32x3x?xi32>, %arg9: tensor<?x32x2x?xi32>, %queries: index, %keys: index) {
      %c1_0 = arith.constant 1 : index
      %c2 = arith.constant 2 : index
      %true = arith.constant true
      %c0 = arith.constant 0 : index
      %c8 = arith.constant 8 : index
      %10 = attn.floor_div %h, %c8
      %11 = arith.cmpi sgt, %10, %c0 : index
      %12 = arith.cmpi sgt, %10, %c1_0 : index
      %13 = arith.cmpi sgt, %10, %c2 : index
      %14 = attn.load %arg9[%b, %h, %c0, %q_first] {ascending} : tensor<?x32x2x?xi32> -> i32
      %15 = arith.index_cast %14 : i32 to index
      %16 = attn.load %arg9[%b, %h, %c0, %q_last] {ascending} : tensor<?x32x2x?xi32> -> i32
      %17 = arith.index_cast %16 : i32 to index
      %18 = arith.cmpi sle, %15, %k_last : index
      %19 = arith.cmpi sle, %17, %k_first : index
      %20 = attn.load %arg9[%b, %h, %c1_0, %q_first] {ascending} : tensor<?x32x2x?xi32> -> i32
      %21 = arith.index_cast %20 : i32 to index
      %22 = attn.load %arg9[%b, %h, %c1_0, %q_last] {ascending} : tensor<?x32x2x?xi32> -> i32
      %23 = arith.index_cast %22 : i32 to index
      %24 = arith.cmpi slt, %k_first, %23 : index
      %25 = arith.cmpi slt, %k_last, %21 : index
      %26 = arith.andi %18, %24 : i1
      %27 = arith.andi %19, %25 : i1
      %smallest, %largest = attn.load_range %arg8[%b, %h, %c0, %k_first] to[%b, %h, %c0, %k_last] spans [#attn.span<point>, #attn.span<point>, #attn.span<point>, #attn.span<keys>] : tensor<?x32x3x?xi32> -> i32, i32
      %28 = arith.index_cast %smallest : i32 to index
      %29 = arith.index_cast %largest : i32 to index
      %smallest_1, %largest_2 = attn.load_range %arg7[%b, %h, %c0, %q_first] to[%b, %h, %c0, %q_last] spans [#attn.span<point>, #attn.span<point>, #attn.span<point>, #attn.span<queries>] : tensor<?x32x3x?xi32> -> i32, i32
      %30 = arith.index_cast %smallest_1 : i32 to index
      %31 = arith.index_cast %largest_2 : i32 to index
      %32 = arith.cmpi sle, %28, %31 : index
      %33 = arith.cmpi sle, %29, %30 : index
      %34 = arith.andi %26, %32 : i1
      %35 = arith.andi %27, %33 : i1
      %36 = arith.ori %11, %12 : i1
      %37 = arith.ori %36, %13 : i1
      %38 = arith.xori %37, %true : i1
      %39 = arith.andi %35, %38 : i1
      attn.yield %34, %39 : i1, i1
    }
    %output = attn.merge_rounds %o, %lse by %3 : (tensor<?x32x?x128xf32>, tensor<?x32x?xf32>, tensor<?x32x3x?xi32>) -> tensor<?x8x?x128xf32>
    %9 = attn.project %output weights(%arg4) {layout = #attn.layout<out_in>, parts = [#attn.part<weight = 0, bias = -1, heads = 1, width = 1024, first = 0, group = 1, group_stride = 0, head_stride = 0>]} : (tensor<?x8x?x128xf32>, tensor<1024x1024xf32>) -> tensor<?x?x1024xf32>
    return %9 : tensor<?x?x1024xf32>
  }
}
