/* The argument struct of a generated function, read through its descriptor: sizes, tensors and all checks on them.
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#ifndef MHAC_KERNEL_ARGUMENTS_H
#define MHAC_KERNEL_ARGUMENTS_H

#include "kernel_descriptor.h"

/* A tensor as the caller described it. Extents and strides in elements, outermost first, as in the header. */
typedef struct mhac_tensor_view {
  void *data;
  const int64_t *given_strides; /* NULL: dense */
  int64_t extents[MHAC_MAX_RANK];
  int64_t strides[MHAC_MAX_RANK];
  int empty; /* an extent is 0: nothing is ever read or written */
} mhac_tensor_view;

/* Sums and products of what is not negative; INT64_MAX when they do not fit. */
int64_t mhac_saturating_add(int64_t a, int64_t b);
int64_t mhac_saturating_multiply(int64_t a, int64_t b);

/* The struct is there and long enough, and every size is in its bounds. The functions below need this to hold. */
mhac_status mhac_check_sizes(mhac_context *context, const mhac_entry *entry, const void *args);
/* Every tensor can be read or written as the kernels will do it. Only reads: the struct, stride arrays, checked integer arguments. */
mhac_status mhac_check_tensors(mhac_context *context, const mhac_entry *entry, const void *args);

int64_t mhac_size_value(const mhac_entry *entry, const void *args, int64_t size);
int64_t mhac_extent_value(const mhac_entry *entry, const void *args, const mhac_extent *extent);
void mhac_view_tensor(const mhac_entry *entry, const void *args, const mhac_argument *argument, mhac_tensor_view *view);
/* No output has an element, so there is nothing to do. */
int mhac_outputs_empty(const mhac_entry *entry, const void *args);

/* The caller's prepared state; NULL when there is none. */
const void *mhac_given_prepared(const mhac_entry *entry, const void *args);
/* The caller's workspace; NULL when there is none. */
void *mhac_given_workspace(const mhac_entry *entry, const void *args, size_t *bytes);

#endif
