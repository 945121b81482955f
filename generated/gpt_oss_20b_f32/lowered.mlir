module attributes {attn.spec_file = "gpt_oss_20b_f32.yaml", attn.stage = "lowered"} {
  func.func @gpt_oss_20b(%arg0: tensor<?x?x2880xf32> {attn.argument = #attn.argument<name = "x", role = input, dims = ["batch", "query", "2880"], strided = true>}, %arg1: tensor<4096x2880xf32> {attn.argument = #attn.argument<name = "wq", role = weight, dims = ["4096", "2880"]>}, %arg2: tensor<512x2880xf32> {attn.argument = #attn.argument<name = "wk", role = weight, dims = ["512", "2880"]>}, %arg3: tensor<512x2880xf32> {attn.argument = #attn.argument<name = "wv", role = weight, dims = ["512", "2880"]>}, %arg4: tensor<4096xf32> {attn.argument = #attn.argument<name = "bq", role = weight, dims = ["4096"]>}, %arg5: tensor<512xf32> {attn.argument = #attn.argument<name = "bk", role = weight, dims = ["512"]>}, %arg6: tensor<512xf32> {attn.argument = #attn.argument<name = "bv", role = weight, dims = ["512"]>}, %arg7: tensor<2880x4096xf32> {attn.argument = #attn.argument<name = "wo", role = weight, dims = ["2880", "4096"]>}, %arg8: tensor<2880xf32> {attn.argument = #attn.argument<name = "bo", role = weight, dims = ["2880"]>}, %arg9: tensor<64xf32> {attn.argument = #attn.argument<name = "sinks", role = parameter, dims = ["64"]>}) -> (tensor<?x?x2880xf32> {attn.argument = #attn.argument<name = "y", role = output, dims = ["batch", "query", "2880"], strided = true>}) attributes {attn.entry, attn.sizes = [#attn.size<name = "batch", minimum = 0, maximum = 2147352576>, #attn.size<name = "query", minimum = 0, maximum = 2147352576>]} {
    %c1 = arith.constant 1 : index
    %0:3 = attn.project %arg0 weights(%arg1, %arg2, %arg3) biases(%arg4, %arg5, %arg6) {layout = #attn.layout<out_in>, parts = [#attn.part<weight = 0, bias = 0, heads = 64, width = 64, first = 0, group = 64, group_stride = 0, head_stride = 64>, #attn.part<weight = 1, bias = 1, heads = 8, width = 64, first = 0, group = 8, group_stride = 0, head_stride = 64>, #attn.part<weight = 2, bias = 2, heads = 8, width = 64, first = 0, group = 8, group_stride = 0, head_stride = 64>]} : (tensor<?x?x2880xf32>, tensor<4096x2880xf32>, tensor<512x2880xf32>, tensor<512x2880xf32>, tensor<4096xf32>, tensor<512xf32>, tensor<512xf32>) -> (tensor<?x64x?x64xf32>, tensor<?x8x?x64xf32>, tensor<?x8x?x64xf32>)
    %dim = tensor.dim %arg0, %c1 : tensor<?x?x2880xf32>
    %1 = attn.rotate %0#0 params(%dim : index) {frequencies = array<f64: 1.000000e+00, 0.68904430588816323, 0.47478205547690072, 0.32714587186423649, 0.22541800020287084, 0.15532298948448497, 0.10702442147781144, 0.073744568210260819, 0.050813274815461475, 0.031620752275346484, 0.01945096754405793, 0.011792191099482284, 0.0070157139105043878, 0.0040695547147582426, 0.002277271936341833, 0.0012061309690418727, 5.809475019311124E-4, 2.2794779579512524E-4, 3.8308812373753384E-5, 2.6396469031472779E-5, 1.818833668168956E-5, 1.2532569824095001E-5, 8.6354958754384802E-6, 5.9502392614916046E-6, 4.0999784818029804E-6, 2.8250668271503398E-6, 1.9465962110014815E-6, 1.3412910350540445E-6, 9.242089502428302E-7, 6.3682091461569897E-7, 4.3879782508643959E-7, 3.0235114281192144E-7>, magnitude = 1.3465735902799727 : f64, pairing = #attn.pairing<half>, prepared, scale = 0.18033688011112042 : f64} : tensor<?x64x?x64xf32> position {
    ^bb0(%arg10: index, %arg11: index, %arg12: index):
      attn.yield %arg11 : index
    }
    %2 = attn.rotate %0#1 {frequencies = array<f64: 1.000000e+00, 0.68904430588816323, 0.47478205547690072, 0.32714587186423649, 0.22541800020287084, 0.15532298948448497, 0.10702442147781144, 0.073744568210260819, 0.050813274815461475, 0.031620752275346484, 0.01945096754405793, 0.011792191099482284, 0.0070157139105043878, 0.0040695547147582426, 0.002277271936341833, 0.0012061309690418727, 5.809475019311124E-4, 2.2794779579512524E-4, 3.8308812373753384E-5, 2.6396469031472779E-5, 1.818833668168956E-5, 1.2532569824095001E-5, 8.6354958754384802E-6, 5.9502392614916046E-6, 4.0999784818029804E-6, 2.8250668271503398E-6, 1.9465962110014815E-6, 1.3412910350540445E-6, 9.242089502428302E-7, 6.3682091461569897E-7, 4.3879782508643959E-7, 3.0235114281192144E-7>, magnitude = 1.3465735902799727 : f64, pairing = #attn.pairing<half>, prepared} : tensor<?x8x?x64xf32> position {
    ^bb0(%arg10: index, %arg11: index):
      attn.yield %arg11 : index
    }
    %o = attn.attention %1, %2, %0#2 params(%arg9, %dim, %dim : tensor<64xf32>, index, index) scale 1.000000e+00 base2 : (tensor<?x64x?x64xf32>, tensor<?x8x?x64xf32>, tensor<?x8x?x64xf32>) -> (tensor<?x64x?x64xf32>)
      mask(%b: index, %h: index, %q: index, %k: index, %sinks: tensor<64xf32>, %queries: index, %keys: index) {
      %c127 = arith.constant 127 : index
      %4 = arith.cmpi sle, %k, %q : index
      %5 = arith.subi %q, %k : index
      %6 = arith.cmpi sle, %5, %c127 : index
      %7 = arith.andi %4, %6 : i1
      attn.yield %7 : i1
    }
      blocks(%b: index, %h: index, %q_first: index, %q_last: index, %sinks: tensor<64xf32>, %queries: index, %keys: index) {
      %c-127 = arith.constant -127 : index
      %c0 = arith.constant 0 : index
      %c1_0 = arith.constant 1 : index
      %4 = arith.addi %q_last, %c1_0 : index
      %5 = arith.addi %q_first, %c1_0 : index
      %6 = arith.addi %q_first, %c-127 : index
      %7 = arith.addi %q_last, %c-127 : index
      %8 = arith.maxsi %6, %c0 : index
      %9 = arith.minsi %4, %keys : index
      %10 = arith.maxsi %7, %c0 : index
      %11 = arith.minsi %5, %keys : index
      %12 = arith.maxsi %8, %c0 : index
      %13 = arith.minsi %4, %9 : index
      %14 = arith.maxsi %10, %c0 : index
      %15 = arith.minsi %5, %11 : index
      %16 = arith.maxsi %12, %c0 : index
      %17 = arith.minsi %16, %keys : index
      %18 = arith.minsi %13, %keys : index
      %19 = arith.maxsi %18, %17 : index
      %20 = arith.maxsi %14, %17 : index
      %21 = arith.minsi %20, %19 : index
      %22 = arith.minsi %15, %19 : index
      %23 = arith.maxsi %22, %21 : index
      attn.yield %17, %19, %21, %23 : index, index, index, index
    }
      sink(%b: index, %h: index, %q: index, %sinks: tensor<64xf32>, %queries: index, %keys: index) {
      %4 = attn.load %sinks[%h] : tensor<64xf32> -> f32
      attn.yield %4 : f32
    }
    %3 = attn.project %o weights(%arg7) biases(%arg8) {layout = #attn.layout<out_in>, parts = [#attn.part<weight = 0, bias = 0, heads = 1, width = 2880, first = 0, group = 1, group_stride = 0, head_stride = 0>]} : (tensor<?x64x?x64xf32>, tensor<2880x4096xf32>, tensor<2880xf32>) -> tensor<?x?x2880xf32>
    return %3 : tensor<?x?x2880xf32>
  }
}
