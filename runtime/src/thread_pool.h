/* What kernel_call.c asks of the thread pool beyond its public interface.
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#ifndef MHAC_THREAD_POOL_H
#define MHAC_THREAD_POOL_H

#include <mhac/runtime.h>

/* FORKED when `parallel` is a pool of this runtime that was made before fork(), so that a call can say so before it writes anything.
 * OK for every other pool: it answers when it is used. */
mhac_status mhac_thread_pool_check(const mhac_parallel *parallel);

#endif
