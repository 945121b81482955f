/* What the runtime uses of the standard library: the mem functions and names of formats. A freestanding compiler has no headers for them; the functions
 * are there all the same, because compilers call them by themselves.
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#ifndef MHAC_STANDARD_H
#define MHAC_STANDARD_H

#if __STDC_HOSTED__
#include <inttypes.h>
#include <string.h>
#else
#include <stddef.h>
#include <stdint.h>
#ifdef __cplusplus
extern "C" {
#endif
void *memcpy(void *to, const void *from, size_t bytes);
void *memset(void *to, int value, size_t bytes);
#ifdef __cplusplus
}
#endif
#if __SIZEOF_LONG__ == 8
#define PRId64 "ld"
#define PRIx64 "lx"
#else
#define PRId64 "lld"
#define PRIx64 "llx"
#endif
#endif

#endif
