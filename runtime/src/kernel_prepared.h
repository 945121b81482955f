/* State that is made once and read by any number of calls: a line with a header, then the entry's prepared buffers.
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#ifndef MHAC_KERNEL_PREPARED_H
#define MHAC_KERNEL_PREPARED_H

#include "halide_buffer.h"
#include "kernel_descriptor.h"

/* A state as a call sees it. */
typedef struct mhac_prepared_view {
  const char *memory; /* NULL: none */
  int64_t positions;
} mhac_prepared_view;

/* The state in the arguments, after all checks: alignment, that it is one of this entry, and that it has the positions of this call. */
mhac_status mhac_check_prepared(mhac_context *context, const mhac_entry *entry, const void *args, mhac_prepared_view *view);

/* Describes the entry's prepared buffers; extents are 0 without a state. */
void mhac_make_prepared_buffers(const mhac_entry *entry, const mhac_prepared_view *view, mhac_buffer_with_dims *made);

/* The first candidate, whatever its guards, that this CPU and context can run; NULL: none (kernel_call.c). */
const mhac_candidate *mhac_first_candidate(mhac_context *context, const mhac_entry *entry);

#endif
