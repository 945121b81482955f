/* The public header alone, as strict C99.
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include <mhac/runtime.h>

mhac_status header_c99(mhac_context **context);
mhac_status header_c99(mhac_context **context) {
  mhac_context_options options = MHAC_CONTEXT_OPTIONS_INIT;
  options.cpu_features = MHAC_CPU_AVX2 | MHAC_CPU_DETECTED;
  return mhac_context_create(&options, context);
}
