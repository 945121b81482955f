/* The floating-point mode of kernels: results below the smallest normal number, 2^-126, become 0. Weights of a softmax fall off so fast that sums of
 * them pass that range, and Intel's CPUs take some 150 cycles for each number in it. The caller's mode and exception flags come back after a kernel.
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#ifndef MHAC_FLOAT_MODE_H
#define MHAC_FLOAT_MODE_H

#if defined(__SSE__)
#include <xmmintrin.h>
typedef unsigned mhac_float_mode;
static inline mhac_float_mode mhac_enter_float_mode(void) {
  mhac_float_mode callers = _mm_getcsr();
  _mm_setcsr(callers | _MM_FLUSH_ZERO_ON);

  return callers;
}
static inline void mhac_leave_float_mode(mhac_float_mode callers) { _mm_setcsr(callers); }
#else
/* Elsewhere numbers below the normal range cost nothing. */
typedef int mhac_float_mode;
static inline mhac_float_mode mhac_enter_float_mode(void) { return 0; }
static inline void mhac_leave_float_mode(mhac_float_mode callers) { (void)callers; }
#endif

#endif
