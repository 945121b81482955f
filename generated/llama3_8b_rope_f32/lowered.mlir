module attributes {attn.spec_file = "llama3_8b_rope_f32.yaml", attn.stage = "lowered"} {
  func.func @llama3_8b_rope(%arg0: tensor<?x?x4096xf32> {attn.argument = #attn.argument<name = "x", role = input, dims = ["batch", "query", "4096"], strided = true>}, %arg1: tensor<4096x4096xf32> {attn.argument = #attn.argument<name = "wq", role = weight, dims = ["4096", "4096"]>}, %arg2: tensor<1024x4096xf32> {attn.argument = #attn.argument<name = "wk", role = weight, dims = ["1024", "4096"]>}, %arg3: tensor<1024x4096xf32> {attn.argument = #attn.argument<name = "wv", role = weight, dims = ["1024", "4096"]>}, %arg4: tensor<4096x4096xf32> {attn.argument = #attn.argument<name = "wo", role = weight, dims = ["4096", "4096"]>}) -> (tensor<?x?x4096xf32> {attn.argument = #attn.argument<name = "y", role = output, dims = ["batch", "query", "4096"], strided = true>}) attributes {attn.entry, attn.sizes = [#attn.size<name = "batch", minimum = 0, maximum = 2147352576>, #attn.size<name = "query", minimum = 0, maximum = 2147352576>]} {
    %c1 = arith.constant 1 : index
    %0:3 = attn.project %arg0 weights(%arg1, %arg2, %arg3) {layout = #attn.layout<out_in>, parts = [#attn.part<weight = 0, bias = -1, heads = 32, width = 128, first = 0, group = 32, group_stride = 0, head_stride = 128>, #attn.part<weight = 1, bias = -1, heads = 8, width = 128, first = 0, group = 8, group_stride = 0, head_stride = 128>, #attn.part<weight = 2, bias = -1, heads = 8, width = 128, first = 0, group = 8, group_stride = 0, head_stride = 128>]} : (tensor<?x?x4096xf32>, tensor<4096x4096xf32>, tensor<1024x4096xf32>, tensor<1024x4096xf32>) -> (tensor<?x32x?x128xf32>, tensor<?x8x?x128xf32>, tensor<?x8x?x128xf32>)
    %dim = tensor.dim %arg0, %c1 : tensor<?x?x4096xf32>
    %1 = attn.rotate %0#0 params(%dim : index) {frequencies = array<f64: 1.000000e+00, 0.81461723385654472, 0.66360123769608848, 0.54058100463576697, 0.44036660267178046, 0.35873022375128988, 0.29222782257301511, 0.23805382048035073, 0.19392274474868576, 0.15797280990904319, 0.12868737343265052, 0.10483095217796996, 0.085397100285765609, 0.069565949614160322, 0.05666962144529105, 0.04616405026546052, 0.037606030930863933, 0.030634520893224042, 0.024955408670558694, 0.020329105980970152, 0.016560440080994446, 0.013490419890226748, 0.010989528534539826, 0.0089522593361943993, 0.0072926647372171093, 0.0059407303756749668, 0.0048394213457198928, 0.0039422760301166563, 0.0032114459947525909, 0.0021665707635033591, 0.0013718935677611381, 8.5675141291963208E-4, 5.2484616099295468E-4, 3.1269375038406517E-4, 1.7850781276799641E-4, 9.5562123539646833E-5, 7.7846552739324498E-5, 6.3415143457776151E-5, 5.1659068748189563E-5, 4.2082367687255257E-5, 3.4281021959525912E-5, 2.7925911282444468E-5, 2.2748928601828183E-5, 1.8531669290821308E-5, 1.509621717643313E-5, 1.2297638677963614E-5, 1.0017868402809974E-5, 8.1607282474359434E-6, 6.6478698711812354E-6, 5.415469365499922E-6, 4.4115346745584042E-6, 3.5937121736509995E-6, 2.9274998701761677E-6, 2.3847918463583033E-6, 1.942692537204043E-6, 1.5825508208909101E-6, 1.2891731721515574E-6, 1.0501826834601687E-6, 8.5549691264436594E-7, 6.9690252855116742E-7, 5.6770881007598369E-7, 4.6246538050008837E-7, 3.767322690173964E-7, 3.0689259889145111E-7>, pairing = #attn.pairing<half>, prepared, scale = 0.12751743082459868 : f64} : tensor<?x32x?x128xf32> position {
    ^bb0(%arg5: index, %arg6: index, %arg7: index):
      attn.yield %arg6 : index
    }
    %2 = attn.rotate %0#1 {frequencies = array<f64: 1.000000e+00, 0.81461723385654472, 0.66360123769608848, 0.54058100463576697, 0.44036660267178046, 0.35873022375128988, 0.29222782257301511, 0.23805382048035073, 0.19392274474868576, 0.15797280990904319, 0.12868737343265052, 0.10483095217796996, 0.085397100285765609, 0.069565949614160322, 0.05666962144529105, 0.04616405026546052, 0.037606030930863933, 0.030634520893224042, 0.024955408670558694, 0.020329105980970152, 0.016560440080994446, 0.013490419890226748, 0.010989528534539826, 0.0089522593361943993, 0.0072926647372171093, 0.0059407303756749668, 0.0048394213457198928, 0.0039422760301166563, 0.0032114459947525909, 0.0021665707635033591, 0.0013718935677611381, 8.5675141291963208E-4, 5.2484616099295468E-4, 3.1269375038406517E-4, 1.7850781276799641E-4, 9.5562123539646833E-5, 7.7846552739324498E-5, 6.3415143457776151E-5, 5.1659068748189563E-5, 4.2082367687255257E-5, 3.4281021959525912E-5, 2.7925911282444468E-5, 2.2748928601828183E-5, 1.8531669290821308E-5, 1.509621717643313E-5, 1.2297638677963614E-5, 1.0017868402809974E-5, 8.1607282474359434E-6, 6.6478698711812354E-6, 5.415469365499922E-6, 4.4115346745584042E-6, 3.5937121736509995E-6, 2.9274998701761677E-6, 2.3847918463583033E-6, 1.942692537204043E-6, 1.5825508208909101E-6, 1.2891731721515574E-6, 1.0501826834601687E-6, 8.5549691264436594E-7, 6.9690252855116742E-7, 5.6770881007598369E-7, 4.6246538050008837E-7, 3.767322690173964E-7, 3.0689259889145111E-7>, pairing = #attn.pairing<half>, prepared} : tensor<?x8x?x128xf32> position {
    ^bb0(%arg5: index, %arg6: index):
      attn.yield %arg6 : index
    }
    %o = attn.attention %1, %2, %0#2 params(%dim, %dim : index, index) scale 1.000000e+00 base2 : (tensor<?x32x?x128xf32>, tensor<?x8x?x128xf32>, tensor<?x8x?x128xf32>) -> (tensor<?x32x?x128xf32>)
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
    %3 = attn.project %o weights(%arg4) {layout = #attn.layout<out_in>, parts = [#attn.part<weight = 0, bias = -1, heads = 1, width = 4096, first = 0, group = 1, group_stride = 0, head_stride = 0>]} : (tensor<?x32x?x128xf32>, tensor<4096x4096xf32>) -> tensor<?x?x4096xf32>
    return %3 : tensor<?x?x4096xf32>
  }
}
