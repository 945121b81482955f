module attributes {attn.spec_file = "qwen3_8b_bf16.yaml", attn.stage = "lowered"} {
  func.func @qwen3_8b(%arg0: tensor<?x?x4096xbf16> {attn.argument = #attn.argument<name = "x", role = input, dims = ["batch", "query", "4096"], strided = true>}, %arg1: tensor<4096x4096xbf16> {attn.argument = #attn.argument<name = "wq", role = weight, dims = ["4096", "4096"]>}, %arg2: tensor<1024x4096xbf16> {attn.argument = #attn.argument<name = "wk", role = weight, dims = ["1024", "4096"]>}, %arg3: tensor<1024x4096xbf16> {attn.argument = #attn.argument<name = "wv", role = weight, dims = ["1024", "4096"]>}, %arg4: tensor<4096x4096xbf16> {attn.argument = #attn.argument<name = "wo", role = weight, dims = ["4096", "4096"]>}, %arg5: tensor<128xbf16> {attn.argument = #attn.argument<name = "q_norm_weight", role = weight, dims = ["128"]>}, %arg6: tensor<128xbf16> {attn.argument = #attn.argument<name = "k_norm_weight", role = weight, dims = ["128"]>}) -> (tensor<?x?x4096xbf16> {attn.argument = #attn.argument<name = "y", role = output, dims = ["batch", "query", "4096"], strided = true>}) attributes {attn.entry, attn.sizes = [#attn.size<name = "batch", minimum = 0, maximum = 2147352576>, #attn.size<name = "query", minimum = 0, maximum = 2147352576>]} {
    %c1 = arith.constant 1 : index
    %0:3 = attn.project %arg0 weights(%arg1, %arg2, %arg3) {layout = #attn.layout<out_in>, parts = [#attn.part<weight = 0, bias = -1, heads = 32, width = 128, first = 0, group = 32, group_stride = 0, head_stride = 128>, #attn.part<weight = 1, bias = -1, heads = 8, width = 128, first = 0, group = 8, group_stride = 0, head_stride = 128>, #attn.part<weight = 2, bias = -1, heads = 8, width = 128, first = 0, group = 8, group_stride = 0, head_stride = 128>]} : (tensor<?x?x4096xbf16>, tensor<4096x4096xbf16>, tensor<1024x4096xbf16>, tensor<1024x4096xbf16>) -> (tensor<?x32x?x128xbf16>, tensor<?x8x?x128xbf16>, tensor<?x8x?x128xbf16>)
    %dim = tensor.dim %arg0, %c1 : tensor<?x?x4096xbf16>
    %1 = attn.normalize %0#0 weight %arg5 : tensor<128xbf16> {epsilon = 9.9999999999999995E-7 : f64, kind = #attn.norm<rms>} : tensor<?x32x?x128xbf16>
    %2 = attn.rotate %1 params(%dim : index) {frequencies = array<f64: 1.000000e+00, 0.80584218776148187, 0.64938163157621132, 0.5232991146814947, 0.42169650342858223, 0.33982083289425596, 0.27384196342643613, 0.22067340690845899, 0.17782794100389229, 0.14330125702369628, 0.11547819846894582, 0.0930572040929699, 0.074989420933245579, 0.060429639023813285, 0.048696752516586311, 0.039241897584845357, 0.031622776601683791, 0.025482967479793464, 0.02053525026457146, 0.016548170999431813, 0.013335214321633241, 0.010746078283213174, 0.0086596432336006543, 0.0069783058485986633, 0.005623413251903491, 0.0045315836376008181, 0.0036517412725483771, 0.002942727176209282, 0.0023713737056616554, 0.0019109529749704406, 0.001539926526059492, 0.0012409377607517195, 1.000000e-03, 8.0584218776148179E-4, 6.4938163157621134E-4, 5.2329911468149473E-4, 4.2169650342858224E-4, 3.3982083289425596E-4, 2.7384196342643611E-4, 2.2067340690845897E-4, 1.7782794100389227E-4, 1.4330125702369627E-4, 1.1547819846894582E-4, 9.3057204092969901E-5, 7.4989420933245586E-5, 6.0429639023813283E-5, 4.8696752516586312E-5, 3.9241897584845357E-5, 3.1622776601683795E-5, 2.5482967479793464E-5, 2.0535250264571462E-5, 1.6548170999431813E-5, 1.3335214321633241E-5, 1.0746078283213176E-5, 8.6596432336006536E-6, 6.9783058485986632E-6, 5.6234132519034912E-6, 4.531583637600818E-6, 3.6517412725483771E-6, 2.9427271762092816E-6, 2.3713737056616552E-6, 1.9109529749704404E-6, 1.5399265260594919E-6, 1.2409377607517195E-6>, pairing = #attn.pairing<half>, prepared, scale = 0.12751743082459868 : f64} : tensor<?x32x?x128xbf16> position {
    ^bb0(%arg7: index, %arg8: index, %arg9: index):
      attn.yield %arg8 : index
    }
    %3 = attn.normalize %0#1 weight %arg6 : tensor<128xbf16> {epsilon = 9.9999999999999995E-7 : f64, kind = #attn.norm<rms>} : tensor<?x8x?x128xbf16>
    %4 = attn.rotate %3 {frequencies = array<f64: 1.000000e+00, 0.80584218776148187, 0.64938163157621132, 0.5232991146814947, 0.42169650342858223, 0.33982083289425596, 0.27384196342643613, 0.22067340690845899, 0.17782794100389229, 0.14330125702369628, 0.11547819846894582, 0.0930572040929699, 0.074989420933245579, 0.060429639023813285, 0.048696752516586311, 0.039241897584845357, 0.031622776601683791, 0.025482967479793464, 0.02053525026457146, 0.016548170999431813, 0.013335214321633241, 0.010746078283213174, 0.0086596432336006543, 0.0069783058485986633, 0.005623413251903491, 0.0045315836376008181, 0.0036517412725483771, 0.002942727176209282, 0.0023713737056616554, 0.0019109529749704406, 0.001539926526059492, 0.0012409377607517195, 1.000000e-03, 8.0584218776148179E-4, 6.4938163157621134E-4, 5.2329911468149473E-4, 4.2169650342858224E-4, 3.3982083289425596E-4, 2.7384196342643611E-4, 2.2067340690845897E-4, 1.7782794100389227E-4, 1.4330125702369627E-4, 1.1547819846894582E-4, 9.3057204092969901E-5, 7.4989420933245586E-5, 6.0429639023813283E-5, 4.8696752516586312E-5, 3.9241897584845357E-5, 3.1622776601683795E-5, 2.5482967479793464E-5, 2.0535250264571462E-5, 1.6548170999431813E-5, 1.3335214321633241E-5, 1.0746078283213176E-5, 8.6596432336006536E-6, 6.9783058485986632E-6, 5.6234132519034912E-6, 4.531583637600818E-6, 3.6517412725483771E-6, 2.9427271762092816E-6, 2.3713737056616552E-6, 1.9109529749704404E-6, 1.5399265260594919E-6, 1.2409377607517195E-6>, pairing = #attn.pairing<half>, prepared} : tensor<?x8x?x128xbf16> position {
    ^bb0(%arg7: index, %arg8: index):
      attn.yield %arg8 : index
    }
    %o = attn.attention %2, %4, %0#2 params(%dim, %dim : index, index) scale 1.000000e+00 base2 : (tensor<?x32x?x128xbf16>, tensor<?x8x?x128xbf16>, tensor<?x8x?x128xbf16>) -> (tensor<?x32x?x128xbf16>)
      mask(%b: index, %h: index, %q: index, %k: index, %queries: index, %keys: index) {
      %6 = arith.cmpi sle, %k, %q : index
      attn.yield %6 : i1
    }
      blocks(%b: index, %h: index, %q_first: index, %q_last: index, %queries: index, %keys: index) {
      %c0 = arith.constant 0 : index
      %c1_0 = arith.constant 1 : index
      %6 = arith.addi %q_last, %c1_0 : index
      %7 = arith.addi %q_first, %c1_0 : index
      %8 = arith.minsi %6, %keys : index
      %9 = arith.maxsi %8, %c0 : index
      %10 = arith.minsi %7, %9 : index
      %11 = arith.maxsi %10, %c0 : index
      attn.yield %c0, %9, %c0, %11 : index, index, index, index
    }
    %5 = attn.project %o weights(%arg4) {layout = #attn.layout<out_in>, parts = [#attn.part<weight = 0, bias = -1, heads = 1, width = 4096, first = 0, group = 1, group_stride = 0, head_stride = 0>]} : (tensor<?x32x?x128xbf16>, tensor<4096x4096xbf16>) -> tensor<?x?x4096xbf16>
    return %5 : tensor<?x?x4096xbf16>
  }
}
