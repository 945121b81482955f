/* Makes, checks and describes prepared state. It holds no pointers, so it may be copied and shared by threads.
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "kernel_prepared.h"

#include "context.h"
#include "kernel_arguments.h"
#include "kernel_state.h"
#include "standard.h"

/* The first line of a state. */
typedef struct prepared_header {
  uint64_t tag;
  int64_t positions;
} prepared_header;

static int64_t round_to_line(int64_t bytes) {
  return bytes > INT64_MAX - MHAC_LINE_BYTES ? INT64_MAX : (bytes + MHAC_LINE_BYTES - 1) / MHAC_LINE_BYTES * MHAC_LINE_BYTES;
}

/* Positions of a call with these sizes: from 0 to the length of the longest sequence, the one behind its end included, which left padding
 * without any token reaches. */
static int64_t positions_of(const mhac_entry *entry, const void *args) {
  int64_t longest = 0;
  int64_t i;
  for (i = 0; i < entry->size_count; ++i)
    if ((entry->position_sizes >> i & 1) != 0 && mhac_size_value(entry, args, i) > longest)
      longest = mhac_size_value(entry, args, i);
  return longest + 1;
}

static int64_t prepared_extent(const mhac_extent *extent, int64_t positions) {
  if (extent->size != MHAC_EXTENT_POSITIONS)
    return extent->factor;
  return mhac_saturating_multiply(positions / extent->divisor + (positions % extent->divisor != 0), extent->factor);
}

static int64_t elements_of(const mhac_workspace_buffer *buffer, int64_t positions) {
  int64_t elements = 1;
  int64_t dim;
  for (dim = 0; dim < buffer->rank; ++dim)
    elements = mhac_saturating_multiply(elements, prepared_extent(&buffer->dims[dim], positions));
  return elements;
}

/* Header, buffers, and two lines behind them: kernels read a table by vectors of 16 tokens and make two of these at a time, so that positions of up to 31
 * tokens behind the last one are read. */
static int64_t bytes_of(const mhac_entry *entry, int64_t positions) {
  int64_t bytes = 3 * MHAC_LINE_BYTES;
  int64_t i;
  for (i = 0; i < entry->prepared_count; ++i)
    bytes = mhac_saturating_add(
        bytes, round_to_line(mhac_saturating_multiply(elements_of(&entry->prepared[i], positions), entry->prepared[i].element_bytes)));
  return bytes;
}

static mhac_status check_alignment(mhac_context *context, const mhac_entry *entry, const void *prepared) {
  unsigned misaligned = (unsigned)((uintptr_t)prepared % MHAC_LINE_BYTES);
  if (misaligned == 0)
    return MHAC_STATUS_OK;
  return mhac_context_fail(context, MHAC_STATUS_ALIGNMENT, entry->name,
                           "argument 'prepared': found an address %u past a multiple of %d, wanted one aligned to it", misaligned,
                           (int)MHAC_LINE_BYTES);
}

mhac_status mhac_check_prepared(mhac_context *context, const mhac_entry *entry, const void *args, mhac_prepared_view *view) {
  prepared_header header;
  mhac_status status;
  int64_t positions;
  view->memory = (const char *)mhac_given_prepared(entry, args);
  view->positions = 0;
  if (view->memory == NULL)
    return MHAC_STATUS_OK;
  status = check_alignment(context, entry, view->memory);
  if (status != MHAC_STATUS_OK)
    return status;
  memcpy(&header, view->memory, sizeof(header));
  if (header.tag != entry->prepared_tag)
    return mhac_context_fail(context, MHAC_STATUS_PREPARED, entry->name,
                             "argument 'prepared': found a tag of 0x%" PRIx64 ", wanted that of %s_prepare, 0x%" PRIx64, header.tag,
                             entry->name, entry->prepared_tag);
  positions = positions_of(entry, args);
  if (header.positions < positions)
    return mhac_context_fail(context, MHAC_STATUS_PREPARED, entry->name,
                             "argument 'prepared': found state for sequences of up to %" PRId64 ", wanted %" PRId64, header.positions - 1,
                             positions - 1);
  view->positions = header.positions;
  return MHAC_STATUS_OK;
}

void mhac_make_prepared_buffers(const mhac_entry *entry, const mhac_prepared_view *view, mhac_buffer_with_dims *made) {
  static const uint64_t nothing[MHAC_LINE_BYTES / sizeof(uint64_t)];
  const char *data = view->memory != NULL ? view->memory + MHAC_LINE_BYTES : (const char *)nothing;
  int64_t i, dim;
  for (i = 0; i < entry->prepared_count; ++i) {
    const mhac_workspace_buffer *buffer = &entry->prepared[i];
    int64_t stride = 1;
    memset(&made[i], 0, sizeof(made[i]));
    made[i].buffer.host = (uint8_t *)(uintptr_t)data;
    made[i].buffer.type = (uint32_t)buffer->type;
    made[i].buffer.dimensions = (int32_t)buffer->rank;
    made[i].buffer.dim = made[i].dims;
    if (view->memory == NULL)
      continue;
    for (dim = 0; dim < buffer->rank; ++dim) {
      int64_t extent = prepared_extent(&buffer->dims[dim], view->positions);
      made[i].dims[dim].extent = (int32_t)extent;
      made[i].dims[dim].stride = (int32_t)stride;
      stride *= extent;
    }
    data += round_to_line(stride * buffer->element_bytes);
  }
}

/* The sizes are right and the state can be addressed; its bytes. */
static mhac_status plan_state(mhac_context *context, const mhac_entry *entry, const void *args, int64_t *positions, int64_t *bytes) {
  mhac_status status = mhac_check_sizes(context, entry, args);
  int64_t i;
  if (status != MHAC_STATUS_OK)
    return status;
  *positions = positions_of(entry, args);
  for (i = 0; i < entry->prepared_count; ++i)
    if (elements_of(&entry->prepared[i], *positions) > INT32_MAX)
      return mhac_context_fail(context, MHAC_STATUS_SIZE_TOO_LARGE, entry->name,
                               "prepared state: found a table of %" PRId64 " elements, wanted <= %d",
                               elements_of(&entry->prepared[i], *positions), INT32_MAX);
  *bytes = bytes_of(entry, *positions);
  return MHAC_STATUS_OK;
}

mhac_status mhac_kernel_prepared_bytes(mhac_context *context, const mhac_entry *entry, const void *args, size_t *bytes) {
  int64_t positions, needed;
  mhac_status status;
  mhac_context_clear(context);
  if (bytes == NULL)
    return mhac_context_fail(context, MHAC_STATUS_NULL_ARGUMENT, entry->name, "argument 'bytes': found NULL, wanted a pointer to a size_t");
  *bytes = 0;
  status = plan_state(context, entry, args, &positions, &needed);
  if (status == MHAC_STATUS_OK)
    *bytes = (size_t)needed;
  return status;
}

/* Kernels without scratch need a worker without an arena. */
static mhac_status run_prepare(mhac_context *context, const mhac_entry *entry, const void *args, const mhac_candidate *candidate,
                               const mhac_prepared_view *view) {
  enum { MAX_BUFFERS = 8, MAX_OPERANDS = 16, MAX_SIZES = 16 };
  mhac_buffer_with_dims buffers[MAX_BUFFERS];
  int32_t sizes[MAX_SIZES];
  mhac_call call;
  mhac_worker worker;
  void *user_context = &worker;
  int64_t i, k;
  if (entry->prepared_count > MAX_BUFFERS || entry->size_count > MAX_SIZES)
    return mhac_context_fail(context, MHAC_STATUS_INTERNAL, entry->name, "found %" PRId64 " prepared buffers, wanted <= %d",
                             entry->prepared_count, (int)MAX_BUFFERS);
  memset(&call, 0, sizeof(call));
  memset(&worker, 0, sizeof(worker));
  call.workers = 1;
  call.first_worker = (char *)&worker;
  worker.call = &call;
  worker.arena_end = (char *)&worker + sizeof(worker);
  mhac_make_prepared_buffers(entry, view, buffers);
  for (i = 0; i < entry->size_count; ++i)
    sizes[i] = (int32_t)mhac_size_value(entry, args, i);
  for (k = 0; k < candidate->prepare_count; ++k) {
    const mhac_kernel *kernel = &candidate->prepare[k];
    void *vector[1 + MAX_OPERANDS];
    int code = kernel->operand_count > MAX_OPERANDS;
    vector[0] = &user_context;
    for (i = 0; i < kernel->operand_count && code == 0; ++i)
      vector[1 + i] = kernel->operands[i].kind == MHAC_OPERAND_PREPARED ? (void *)&buffers[kernel->operands[i].index].buffer
                                                                        : (void *)&sizes[kernel->operands[i].index];
    if (code == 0)
      code = kernel->function(vector);
    if (code != 0)
      return mhac_context_fail(context, MHAC_STATUS_INTERNAL, entry->name, "kernel '%s': found return code %d, wanted 0", kernel->name, code);
  }
  return MHAC_STATUS_OK;
}

mhac_status mhac_kernel_prepare(mhac_context *context, const mhac_entry *entry, const void *args, void *prepared) {
  mhac_prepared_view view;
  prepared_header header;
  int64_t bytes;
  const mhac_candidate *candidate;
  mhac_status status;
  mhac_context_clear(context);
  status = plan_state(context, entry, args, &view.positions, &bytes);
  if (status != MHAC_STATUS_OK)
    return status;
  if (prepared == NULL)
    return mhac_context_fail(context, MHAC_STATUS_NULL_ARGUMENT, entry->name, "argument 'prepared': found NULL, wanted %" PRId64 " bytes", bytes);
  status = check_alignment(context, entry, prepared);
  if (status != MHAC_STATUS_OK)
    return status;
  candidate = mhac_first_candidate(context, entry);
  if (candidate == NULL)
    return mhac_context_fail(context, MHAC_STATUS_UNSUPPORTED_CPU, entry->name, "found no kernel for this CPU among the targets %s", entry->targets);
  view.memory = (const char *)prepared;
  memset(prepared, 0, MHAC_LINE_BYTES); /* no state until all of it is there */
  status = run_prepare(context, entry, args, candidate, &view);
  if (status != MHAC_STATUS_OK)
    return status;
  header.tag = entry->prepared_tag;
  header.positions = view.positions;
  memcpy(prepared, &header, sizeof(header));
  return MHAC_STATUS_OK;
}
