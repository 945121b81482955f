/* Where there are no POSIX threads: no pool can be made. A context may have an application's own threads, as everywhere.
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "thread_pool.h"

#include "context.h"

mhac_status mhac_thread_pool_create(int threads, const mhac_allocator *allocator, mhac_thread_pool **pool) {
  (void)threads;
  (void)allocator;
  if (pool == NULL)
    return MHAC_STATUS_NULL_ARGUMENT;
  *pool = NULL;
  return MHAC_STATUS_THREAD;
}

void mhac_thread_pool_destroy(mhac_thread_pool *pool) { (void)pool; }

mhac_parallel mhac_thread_pool_parallel(mhac_thread_pool *pool) {
  mhac_parallel serial = {NULL, 1, NULL};
  (void)pool;
  return serial;
}

mhac_status mhac_thread_pool_check(const mhac_parallel *parallel) {
  (void)parallel;
  return MHAC_STATUS_OK;
}
