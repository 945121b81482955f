// Makes what the tests of the binary interface look at: two artefacts of the hand-made entry in unit/emit, tiny_a for two targets and
// tiny_b for one, and an object of a foreign Halide program with Halide's own runtime. Usage: emit_tiny <folder>
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "emit/Emit.h"
#include "tiny_kernels.h"

#include "Halide.h"

#include <cstdio>

using namespace mhac;

static bool emitTiny(const std::string &folder, const std::string &name, const std::vector<std::string> &targets) {
  test::TinyEntry entry = test::makeTinyEntry(name, targets);
  EmitRequest request{entry.interface, entry.bitcode};
  request.specText = "mhac: 1\n";
  request.outputPath = folder + "/" + name + ".o";
  request.headerPath = folder + "/" + name + ".h";
  request.manifestPath = folder + "/" + name + ".json";
  Diagnostics diagnostics;
  if (emitOutputs(request, diagnostics))
    return true;
  for (const Diagnostic &diagnostic : diagnostics.all())
    std::fprintf(stderr, "error: %s\n", diagnostic.message.c_str());
  return false;
}

int main(int argc, char **argv) {
  if (argc != 2)
    return 2;
  std::string folder = argv[1];
  Halide::Var x("x");
  Halide::Func f("f");
  f(x) = x * 3;
  f.vectorize(x, 8).parallel(x);
  f.compile_to_object(folder + "/foreign.o", {}, "foreign", Halide::Target("x86-64-linux-sse41"));
  f.compile_to_header(folder + "/foreign.h", {}, "foreign", Halide::Target("x86-64-linux-sse41"));
  return emitTiny(folder, "tiny_a", {"x86-64-v4", "x86-64-v3"}) && emitTiny(folder, "tiny_b", {"x86-64-v3"}) ? 0 : 1;
}
