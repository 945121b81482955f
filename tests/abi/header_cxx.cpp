// The generated headers in C++11 with warnings as errors.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tiny_a.h"
#include "tiny_b.h"

mhac_status call(mhac_context *context);
mhac_status call(mhac_context *context) {
  tiny_a_args args = TINY_A_ARGS_INIT;
  return tiny_a(context, &args);
}
