/* The inside of a context, shared by the files of the runtime.
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#ifndef MHAC_CONTEXT_H
#define MHAC_CONTEXT_H

#include <mhac/runtime.h>

enum { MHAC_MESSAGE_BYTES = 320 };

struct mhac_context {
  mhac_allocator allocator; /* always complete */
  mhac_parallel parallel;   /* parallel_for may be NULL; concurrency is 1 then */
  mhac_log log;             /* message may be NULL */
  uint64_t cpu_features;    /* allowed features; all bits set when the options do not restrict them */
  char message[MHAC_MESSAGE_BYTES];
};

/* Copies *allocator, or the malloc one when it is NULL or empty. INVALID_OPTION when only one of its two functions is there, or none and there is no
 * malloc (freestanding). */
mhac_status mhac_allocator_resolve(const mhac_allocator *allocator, mhac_allocator *resolved);

/* Forgets the message of an earlier call. NULL is allowed. */
void mhac_context_clear(mhac_context *context);

/* Leaves "<entry>: <formatted text>" in the context, hands it to the log, and returns `status`. Without a context only returns it. */
#if defined(__GNUC__)
__attribute__((format(printf, 4, 5)))
#endif
mhac_status mhac_context_fail(mhac_context *context, mhac_status status, const char *entry, const char *format, ...);

#endif
