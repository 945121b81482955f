// Makes foreign.o with Halide's own runtime inside, and foreign.h.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Halide.h"

int main() {
  Halide::Var x("x");
  Halide::Func scratch("scratch"), f("f");
  scratch(x) = x * 3;
  f(x) = scratch(x) + scratch(x + 1);
  Halide::Var outer("outer"), inner("inner");
  f.split(x, outer, inner, 8).parallel(outer);
  scratch.compute_at(f, outer).store_in(Halide::MemoryType::Heap); // halide_malloc, halide_do_par_for
  Halide::Target target("x86-64-linux-sse41");
  f.compile_to_object("foreign.o", {}, "foreign", target);
  f.compile_to_header("foreign.h", {}, "foreign", target);
  return 0;
}
