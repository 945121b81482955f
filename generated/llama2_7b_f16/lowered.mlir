module attributes {attn.spec_file = "llama2_7b_f16.yaml", attn.stage = "lowered"} {
  func.func @llama2_7b(%arg0: tensor<?x?x4096xf32> {attn.argument = #attn.argument<name = "x", role = input, dims = ["batch", "query", "4096"], strided = true>}, %arg1: tensor<4096x4096xf16> {attn.argument = #attn.argument<name = "wq", role = weight, dims = ["4096", "4096"]>}, %arg2: tensor<4096x4096xf16> {attn.argument = #attn.argument<name = "wk", role = weight, dims = ["4096", "4096"]>}, %arg3: tensor<4096x4096xf16> {attn.argument = #attn.argument<name = "wv", role = weight, dims = ["4096", "4096"]>}, %arg4: tensor<4096x4096xf16> {attn.argument = #attn.argument<name = "wo", role = weight, dims = ["4096", "4096"]>}) -> (tensor<?x?x4096xf32> {attn.argument = #attn.argument<name = "y", role = output, dims = ["batch", "query", "4096"], strided = true>}) attributes {attn.entry, attn.sizes = [#attn.size<name = "batch", minimum = 0, maximum = 2147352576>, #attn.size<name = "query", minimum = 0, maximum = 2147352576>]} {
    %c1 = arith.constant 1 : index
    %0:3 = attn.project %arg0 weights(%arg1, %arg2, %arg3) {layout = #attn.layout<out_in>, parts = [#attn.part<weight = 0, bias = -1, heads = 32, width = 128, first = 0, group = 32, group_stride = 0, head_stride = 128>, #attn.part<weight = 1, bias = -1, heads = 32, width = 128, first = 0, group = 32, group_stride = 0, head_stride = 128>, #attn.part<weight = 2, bias = -1, heads = 32, width = 128, first = 0, group = 32, group_stride = 0, head_stride = 128>]} : (tensor<?x?x4096xf32>, tensor<4096x4096xf16>, tensor<4096x4096xf16>, tensor<4096x4096xf16>) -> (tensor<?x32x?x128xf32>, tensor<?x32x?x128xf32>, tensor<?x32x?x128xf32>)
    %dim = tensor.dim %arg0, %c1 : tensor<?x?x4096xf32>
    %1 = attn.rotate %0#0 params(%dim : index) {frequencies = array<f64: 1.000000e+00, 0.86596432336006534, 0.74989420933245587, 0.64938163157621132, 0.56234132519034907, 0.48696752516586311, 0.42169650342858223, 0.36517412725483772, 0.31622776601683794, 0.27384196342643613, 0.23713737056616552, 0.20535250264571461, 0.17782794100389229, 0.15399265260594919, 0.1333521432163324, 0.11547819846894582, 1.000000e-01, 0.086596432336006529, 0.074989420933245579, 0.064938163157621132, 0.056234132519034911, 0.048696752516586311, 0.042169650342858224, 0.036517412725483769, 0.031622776601683791, 0.027384196342643614, 0.023713737056616554, 0.02053525026457146, 0.017782794100389229, 0.015399265260594919, 0.013335214321633241, 0.011547819846894581, 1.000000e-02, 0.0086596432336006543, 0.0074989420933245579, 0.006493816315762113, 0.005623413251903491, 0.004869675251658631, 0.0042169650342858229, 0.0036517412725483771, 0.0031622776601683794, 0.0027384196342643613, 0.0023713737056616554, 0.002053525026457146, 0.0017782794100389228, 0.001539926526059492, 0.0013335214321633241, 0.0011547819846894581, 1.000000e-03, 8.6596432336006539E-4, 7.4989420933245586E-4, 6.4938163157621134E-4, 5.623413251903491E-4, 4.869675251658631E-4, 4.2169650342858224E-4, 3.651741272548377E-4, 3.1622776601683794E-4, 2.7384196342643611E-4, 2.3713737056616554E-4, 2.0535250264571461E-4, 1.7782794100389227E-4, 1.5399265260594919E-4, 1.333521432163324E-4, 1.1547819846894582E-4>, pairing = #attn.pairing<half>, prepared, scale = 0.12751743082459868 : f64} : tensor<?x32x?x128xf32> position {
    ^bb0(%arg5: index, %arg6: index, %arg7: index):
      attn.yield %arg6 : index
    }
    %2 = attn.rotate %0#1 {frequencies = array<f64: 1.000000e+00, 0.86596432336006534, 0.74989420933245587, 0.64938163157621132, 0.56234132519034907, 0.48696752516586311, 0.42169650342858223, 0.36517412725483772, 0.31622776601683794, 0.27384196342643613, 0.23713737056616552, 0.20535250264571461, 0.17782794100389229, 0.15399265260594919, 0.1333521432163324, 0.11547819846894582, 1.000000e-01, 0.086596432336006529, 0.074989420933245579, 0.064938163157621132, 0.056234132519034911, 0.048696752516586311, 0.042169650342858224, 0.036517412725483769, 0.031622776601683791, 0.027384196342643614, 0.023713737056616554, 0.02053525026457146, 0.017782794100389229, 0.015399265260594919, 0.013335214321633241, 0.011547819846894581, 1.000000e-02, 0.0086596432336006543, 0.0074989420933245579, 0.006493816315762113, 0.005623413251903491, 0.004869675251658631, 0.0042169650342858229, 0.0036517412725483771, 0.0031622776601683794, 0.0027384196342643613, 0.0023713737056616554, 0.002053525026457146, 0.0017782794100389228, 0.001539926526059492, 0.0013335214321633241, 0.0011547819846894581, 1.000000e-03, 8.6596432336006539E-4, 7.4989420933245586E-4, 6.4938163157621134E-4, 5.623413251903491E-4, 4.869675251658631E-4, 4.2169650342858224E-4, 3.651741272548377E-4, 3.1622776601683794E-4, 2.7384196342643611E-4, 2.3713737056616554E-4, 2.0535250264571461E-4, 1.7782794100389227E-4, 1.5399265260594919E-4, 1.333521432163324E-4, 1.1547819846894582E-4>, pairing = #attn.pairing<half>, prepared} : tensor<?x32x?x128xf32> position {
    ^bb0(%arg5: index, %arg6: index):
      attn.yield %arg6 : index
    }
    %o = attn.attention %1, %2, %0#2 params(%dim, %dim : index, index) scale 1.000000e+00 base2 : (tensor<?x32x?x128xf32>, tensor<?x32x?x128xf32>, tensor<?x32x?x128xf32>) -> (tensor<?x32x?x128xf32>)
      mask(%b: index, %h: index, %q: index, %k: index, %queries: index, %keys: index) {
      %4 = arith.cmpi sle, %k, %q : index
      attn.yield %4 : i1
    }
      blocks(%b: index, %h: index, %q_first: index, %q_last: index, %queries: index, %keys: index) {
      %c0 = arith.constant 0 : index
      %c1_0 = arith.constant 1 : index
      %4 = arith.addi %q_last, %c1_0 : index
      %5 = arith.addi %q_first, %c1_0 : index
      %6 = arith.minsi %4, %keys : index
      %7 = arith.maxsi %6, %c0 : index
      %8 = arith.minsi %5, %7 : index
      %9 = arith.maxsi %8, %c0 : index
      attn.yield %c0, %7, %c0, %9 : index, index, index, index
    }
    %3 = attn.project %o weights(%arg4) {layout = #attn.layout<out_in>, parts = [#attn.part<weight = 0, bias = -1, heads = 1, width = 4096, first = 0, group = 1, group_stride = 0, head_stride = 0>]} : (tensor<?x32x?x128xf32>, tensor<4096x4096xf16>) -> tensor<?x?x4096xf32>
    return %3 : tensor<?x?x4096xf32>
  }
}
