/* The floating-point mode of kernels: results below the smallest normal number, 2^-126, become 0. Weights of a softmax fall off so fast that sums of
 * them pass that range, and Intel's CPUs take some 150 cycles for each number in it. The caller's mode and exception flags come back after a kernel.
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#ifndef MHAC_FLOAT_MODE_H
#define MHAC_FLOAT_MODE_H

#if defined(__SSE__)
typedef unsigned mhac_float_mode; /* the register MXCSR; builtins, because its header wants the C library's */
static inline mhac_float_mode mhac_enter_float_mode(void) {
  const unsigned flush_to_zero = 0x8000;
  mhac_float_mode callers = __builtin_ia32_stmxcsr();
  __builtin_ia32_ldmxcsr(callers | flush_to_zero);
  return callers;
}
static inline void mhac_leave_float_mode(mhac_float_mode callers) { __builtin_ia32_ldmxcsr(callers); }
#else
/* Elsewhere numbers below the normal range cost nothing. */
typedef int mhac_float_mode;
static inline mhac_float_mode mhac_enter_float_mode(void) { return 0; }
static inline void mhac_leave_float_mode(mhac_float_mode callers) { (void)callers; }
#endif

#endif
