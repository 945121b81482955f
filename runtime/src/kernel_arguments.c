/* Reads and checks the argument struct of a generated function. Everything is checked before any memory is written.
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "kernel_arguments.h"

#include "context.h"
#include "standard.h"

int64_t mhac_saturating_add(int64_t a, int64_t b) { return a > INT64_MAX - b ? INT64_MAX : a + b; }

int64_t mhac_saturating_multiply(int64_t a, int64_t b) { return b != 0 && a > INT64_MAX / b ? INT64_MAX : a * b; }

/* ---- Reading ---- */

static int64_t read_int64(const void *args, int64_t offset) {
  int64_t value;
  memcpy(&value, (const char *)args + offset, sizeof(value));
  return value;
}

static void *read_pointer(const void *args, int64_t offset) {
  void *value;
  memcpy(&value, (const char *)args + offset, sizeof(value));
  return value;
}

static size_t read_size(const void *args, int64_t offset) {
  size_t value;
  memcpy(&value, (const char *)args + offset, sizeof(value));
  return value;
}

static int is_output(const mhac_argument *argument) { return (argument->flags & MHAC_ARGUMENT_OUTPUT) != 0; }

int64_t mhac_size_value(const mhac_entry *entry, const void *args, int64_t size) {
  const mhac_size *described = &entry->sizes[size];
  return described->offset < 0 ? described->minimum : read_int64(args, described->offset);
}

int64_t mhac_extent_value(const mhac_entry *entry, const void *args, const mhac_extent *extent) {
  int64_t value;
  if (extent->size < 0)
    return extent->factor;
  value = mhac_size_value(entry, args, extent->size);
  return mhac_saturating_multiply(value / extent->divisor + (value % extent->divisor != 0), extent->factor);
}

void mhac_view_tensor(const mhac_entry *entry, const void *args, const mhac_argument *argument, mhac_tensor_view *view) {
  int64_t dense = 1;
  int64_t dim;
  view->data = read_pointer(args, argument->offset);
  view->given_strides = argument->strides_offset < 0 ? NULL : (const int64_t *)read_pointer(args, argument->strides_offset);
  view->empty = 0;
  for (dim = argument->rank - 1; dim >= 0; --dim) {
    view->extents[dim] = mhac_extent_value(entry, args, &argument->dims[dim]);
    view->strides[dim] = view->given_strides != NULL ? view->given_strides[dim] : dense;
    view->empty |= view->extents[dim] == 0;
    dense = mhac_saturating_multiply(dense, view->extents[dim]);
  }
}

/* Looks at extents only: when the workspace is asked for there need be no tensors and no strides yet. */
int mhac_outputs_empty(const mhac_entry *entry, const void *args) {
  int64_t i, dim;
  for (i = 0; i < entry->argument_count; ++i) {
    const mhac_argument *argument = &entry->arguments[i];
    int empty = 0;
    if (!is_output(argument))
      continue;
    for (dim = 0; dim < argument->rank; ++dim)
      empty |= mhac_extent_value(entry, args, &argument->dims[dim]) == 0;
    if (!empty)
      return 0;
  }
  return 1;
}

const void *mhac_given_prepared(const mhac_entry *entry, const void *args) {
  return entry->prepared_count == 0 ? NULL : read_pointer(args, entry->prepared_offset);
}

void *mhac_given_workspace(const mhac_entry *entry, const void *args, size_t *bytes) {
  *bytes = read_size(args, entry->workspace_bytes_offset);
  return read_pointer(args, entry->workspace_offset);
}

/* ---- Sizes ---- */

mhac_status mhac_check_sizes(mhac_context *context, const mhac_entry *entry, const void *args) {
  int64_t i;
  size_t struct_size;
  if (args == NULL)
    return mhac_context_fail(context, MHAC_STATUS_NULL_ARGUMENT, entry->name, "argument 'args': found NULL, wanted a pointer to %s_args",
                             entry->name);
  /* Fields are only appended, so a longer struct comes from a newer header of the same function and means the same here. */
  struct_size = read_size(args, 0);
  if (struct_size < (size_t)entry->args_bytes)
    return mhac_context_fail(context, MHAC_STATUS_STRUCT_SIZE, entry->name, "argument 'struct_size': found %zu, wanted >= %" PRId64,
                             struct_size, entry->args_bytes);
  for (i = 0; i < entry->size_count; ++i) {
    const mhac_size *size = &entry->sizes[i];
    int64_t value = mhac_size_value(entry, args, i);
    if (value < 0)
      return mhac_context_fail(context, MHAC_STATUS_SIZE_NEGATIVE, entry->name, "argument '%s': found %" PRId64 ", wanted >= 0",
                               size->name, value);
    /* Kernels count in 32 bits; a bound of the spec that is smaller is the better explanation. */
    if (value > INT32_MAX && size->maximum >= INT32_MAX)
      return mhac_context_fail(context, MHAC_STATUS_SIZE_TOO_LARGE, entry->name, "argument '%s': found %" PRId64 ", wanted <= %d",
                               size->name, value, INT32_MAX);
    if (value < size->minimum || value > size->maximum)
      return mhac_context_fail(context, MHAC_STATUS_SIZE_BOUND, entry->name,
                               "argument '%s': found %" PRId64 ", wanted %" PRId64 " .. %" PRId64, size->name, value, size->minimum,
                               size->maximum);
  }
  return MHAC_STATUS_OK;
}

/* ---- Tensors ---- */

static mhac_status check_pointer(mhac_context *context, const mhac_entry *entry, const mhac_argument *argument,
                                 const mhac_tensor_view *view) {
  unsigned misaligned;
  if (view->data == NULL && !view->empty)
    return mhac_context_fail(context, MHAC_STATUS_NULL_ARGUMENT, entry->name, "argument '%s': found NULL, wanted a pointer to elements",
                             argument->name);
  misaligned = (unsigned)((uintptr_t)view->data % (uintptr_t)argument->element_bytes);
  if (misaligned != 0)
    return mhac_context_fail(context, MHAC_STATUS_ALIGNMENT, entry->name,
                             "argument '%s': found an address %u past a multiple of %" PRId64
                             ", wanted one aligned to its element of %" PRId64 " bytes",
                             argument->name, misaligned, argument->element_bytes, argument->element_bytes);
  return MHAC_STATUS_OK;
}

static mhac_status check_given_strides(mhac_context *context, const mhac_entry *entry, const mhac_argument *argument,
                                       const mhac_tensor_view *view) {
  int64_t last = argument->rank - 1;
  int64_t dim;
  for (dim = 0; dim <= last; ++dim) {
    if (view->strides[dim] < 0)
      return mhac_context_fail(context, MHAC_STATUS_STRIDE, entry->name,
                               "argument '%s_strides': found stride %" PRId64 " in dimension %" PRId64 ", wanted >= 0", argument->name,
                               view->strides[dim], dim);
    if (view->strides[dim] > INT32_MAX)
      return mhac_context_fail(context, MHAC_STATUS_SIZE_TOO_LARGE, entry->name,
                               "argument '%s_strides': found stride %" PRId64 " in dimension %" PRId64 ", wanted <= %d", argument->name,
                               view->strides[dim], dim, INT32_MAX);
  }
  if (last >= 0 && view->extents[last] > 1 && view->strides[last] != 1)
    return mhac_context_fail(context, MHAC_STATUS_STRIDE, entry->name,
                             "argument '%s_strides': found stride %" PRId64 " in the innermost dimension %" PRId64 ", wanted 1",
                             argument->name, view->strides[last], last);
  return MHAC_STATUS_OK;
}

/* The distance between first and last element must be one that kernels can compute in 32 bits. */
static mhac_status check_span(mhac_context *context, const mhac_entry *entry, const mhac_argument *argument, const mhac_tensor_view *view) {
  int64_t span = 1;
  int64_t dim;
  for (dim = 0; dim < argument->rank; ++dim)
    span = mhac_saturating_add(span, mhac_saturating_multiply(view->extents[dim] - 1, view->strides[dim]));
  if (span > INT32_MAX)
    return mhac_context_fail(context, MHAC_STATUS_SIZE_TOO_LARGE, entry->name,
                             "argument '%s': found a span of %" PRId64 " elements, wanted <= %d", argument->name, span, INT32_MAX);
  return MHAC_STATUS_OK;
}

/* Two indices of an output must not name one element. Sufficient, and necessary for the layouts in use: taken from the smallest stride
 * on, each dimension steps over everything that the dimensions before it reach. */
static mhac_status check_overlap(mhac_context *context, const mhac_entry *entry, const mhac_argument *argument,
                                 const mhac_tensor_view *view) {
  int64_t order[MHAC_MAX_RANK];
  int64_t count = 0, reached = 1;
  int64_t dim, i;
  for (dim = argument->rank - 1; dim >= 0; --dim) {
    if (view->extents[dim] <= 1)
      continue;
    for (i = count++; i > 0 && view->strides[order[i - 1]] > view->strides[dim]; --i)
      order[i] = order[i - 1];
    order[i] = dim;
  }
  for (i = 0; i < count; ++i) {
    dim = order[i];
    if (view->strides[dim] < reached)
      return mhac_context_fail(context, MHAC_STATUS_STRIDE, entry->name,
                               "argument '%s_strides': found stride %" PRId64 " in dimension %" PRId64 ", wanted >= %" PRId64
                               ": the elements of an output must not overlap",
                               argument->name, view->strides[dim], dim, reached);
    reached += (view->extents[dim] - 1) * view->strides[dim]; /* below the checked span */
  }
  return MHAC_STATUS_OK;
}

static mhac_status check_tensor(mhac_context *context, const mhac_entry *entry, const void *args, const mhac_argument *argument) {
  mhac_tensor_view view;
  mhac_status status;
  int64_t dim;
  mhac_view_tensor(entry, args, argument, &view);
  for (dim = 0; dim < argument->rank; ++dim)
    if (view.extents[dim] > INT32_MAX)
      return mhac_context_fail(context, MHAC_STATUS_SIZE_TOO_LARGE, entry->name,
                               "argument '%s': found extent %" PRId64 " in dimension %" PRId64 ", wanted <= %d", argument->name,
                               view.extents[dim], dim, INT32_MAX);
  status = check_pointer(context, entry, argument, &view);
  if (status == MHAC_STATUS_OK && view.given_strides != NULL)
    status = check_given_strides(context, entry, argument, &view);
  if (status != MHAC_STATUS_OK || view.empty)
    return status;
  status = check_span(context, entry, argument, &view);
  if (status == MHAC_STATUS_OK && is_output(argument))
    status = check_overlap(context, entry, argument, &view);
  return status;
}

/* ---- Values inside integer tensors ---- */

/* Element number `index`, counted in the order of a dense tensor. */
static int64_t read_element(const mhac_argument *argument, const mhac_tensor_view *view, int64_t index) {
  int64_t offset = 0;
  int64_t dim;
  for (dim = argument->rank - 1; dim >= 0; --dim) {
    offset += index % view->extents[dim] * view->strides[dim];
    index /= view->extents[dim];
  }
  return ((const int64_t *)view->data)[offset];
}

static mhac_status check_values(mhac_context *context, const mhac_entry *entry, const void *args, const mhac_argument *argument) {
  const mhac_argument *other = argument->check == MHAC_CHECK_SUM ? &entry->arguments[argument->check_other] : NULL;
  const int is_position = argument->check == MHAC_CHECK_POSITION;
  const int64_t limit = is_position ? INT64_C(1) << 30 : mhac_size_value(entry, args, argument->check_size);
  const int64_t least = is_position ? -limit : 0;
  mhac_tensor_view view, other_view;
  int64_t elements = 1;
  int64_t i;
  mhac_view_tensor(entry, args, argument, &view);
  if (view.empty)
    return MHAC_STATUS_OK;
  if (other != NULL)
    mhac_view_tensor(entry, args, other, &other_view);
  for (i = 0; i < argument->rank; ++i)
    elements = mhac_saturating_multiply(elements, view.extents[i]);
  for (i = 0; i < elements; ++i) {
    int64_t value = read_element(argument, &view, i);
    if (value < least || value > limit)
      return mhac_context_fail(context, MHAC_STATUS_VALUE_RANGE, entry->name,
                               "argument '%s': found value %" PRId64 " at element %" PRId64 ", wanted %" PRId64 " .. %" PRId64, argument->name,
                               value, i, least, limit);
    if (other != NULL) {
      int64_t added = read_element(other, &other_view, i);
      if (added > limit - value)
        return mhac_context_fail(context, MHAC_STATUS_VALUE_RANGE, entry->name,
                                 "argument '%s': found value %" PRId64 " at element %" PRId64 " with %" PRId64
                                 " in '%s', wanted a sum <= %" PRId64,
                                 argument->name, value, i, added, other->name, limit);
    }
  }
  return MHAC_STATUS_OK;
}

mhac_status mhac_check_tensors(mhac_context *context, const mhac_entry *entry, const void *args) {
  mhac_status status = MHAC_STATUS_OK;
  int64_t i;
  for (i = 0; i < entry->argument_count && status == MHAC_STATUS_OK; ++i)
    status = check_tensor(context, entry, args, &entry->arguments[i]);
  /* Values only now: a check may read a second tensor, which must have passed its own. */
  for (i = 0; i < entry->argument_count && status == MHAC_STATUS_OK; ++i)
    if (entry->arguments[i].check != MHAC_CHECK_NONE)
      status = check_values(context, entry, args, &entry->arguments[i]);
  return status;
}
