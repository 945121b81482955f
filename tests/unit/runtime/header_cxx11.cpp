// The public header alone, as strict C++11; only compiled.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <mhac/runtime.h>

mhac_status header_cxx11(mhac_thread_pool *pool, mhac_context **context) {
  mhac_context_options options = MHAC_CONTEXT_OPTIONS_INIT;
  options.parallel = mhac_thread_pool_parallel(pool);
  return mhac_context_create(&options, context);
}
