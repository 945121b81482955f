/* Calls of generated functions: picks the candidate, lays out the workspace, makes the buffers and runs the kernels.
 *
 * Workspace, from its first 64-byte boundary on: a frame (buffers, argument vector and sizes for the kernels, and the candidate's
 * intermediates), then a state and an arena for each worker. Batch-major candidates have a frame for each worker, behind its arena.
 * Everything a call needs lies there: with a caller's workspace nothing is allocated.
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "context.h"
#include "float_mode.h"
#include "halide_buffer.h"
#include "kernel_arguments.h"
#include "kernel_prepared.h"
#include "kernel_state.h"
#include "standard.h"
#include "thread_pool.h"

const int mhac_runtime_abi_1 = 1;

/* A call after all checks. */
typedef struct call_plan {
  mhac_context *context;
  const mhac_entry *entry;
  const void *args;
  const mhac_candidate *candidate;
  int workers;
  mhac_prepared_view prepared;
  int empty;               /* no output has an element: nothing is run and no workspace needed */
  int64_t vector_length;   /* pointers in the longest argument vector */
  int64_t header_bytes;    /* of a frame, in front of its intermediates; multiples of 64, this and the next two */
  int64_t frame_bytes;
  int64_t worker_bytes;
  int64_t workspace_bytes; /* with the slack for a start that is not aligned */
} call_plan;

static int64_t round_to_line(int64_t bytes) {
  return bytes > INT64_MAX - MHAC_LINE_BYTES ? INT64_MAX : (bytes + MHAC_LINE_BYTES - 1) / MHAC_LINE_BYTES * MHAC_LINE_BYTES;
}

/* ---- Choosing ---- */

/* The features of the machine, kept by the object. Racing first calls write the same value. */
static uint64_t machine_features(const mhac_entry *entry) {
  uint64_t features = __atomic_load_n(entry->cpu_features, __ATOMIC_RELAXED);
  if (features == 0) {
    features = mhac_cpu_features();
    __atomic_store_n(entry->cpu_features, features, __ATOMIC_RELAXED);
  }
  return features;
}

static int guards_hold(const call_plan *plan, const mhac_candidate *candidate) {
  int64_t i;
  for (i = 0; i < candidate->guard_count; ++i) {
    const mhac_guard *guard = &candidate->guards[i];
    int64_t value = guard->size < 0 ? plan->workers : mhac_size_value(plan->entry, plan->args, guard->size);
    if (guard->per_worker)
      value /= plan->workers;
    if (value < guard->minimum || value > guard->maximum)
      return 0;
  }
  return 1;
}

const mhac_candidate *mhac_first_candidate(mhac_context *context, const mhac_entry *entry) {
  uint64_t features = machine_features(entry) & (context != NULL ? context->cpu_features : UINT64_MAX);
  int64_t i;
  for (i = 0; i < entry->candidate_count; ++i)
    if ((entry->candidates[i].features & ~features) == 0)
      return &entry->candidates[i];
  return NULL;
}

static mhac_status choose_candidate(call_plan *plan) {
  const mhac_entry *entry = plan->entry;
  uint64_t features = machine_features(entry);
  int64_t i;
  if (plan->context != NULL)
    features &= plan->context->cpu_features;
  for (i = 0; i < entry->candidate_count; ++i) {
    const mhac_candidate *candidate = &entry->candidates[i];
    if ((candidate->features & ~features) == 0 && guards_hold(plan, candidate)) {
      plan->candidate = candidate;
      return MHAC_STATUS_OK;
    }
  }
  return mhac_context_fail(plan->context, MHAC_STATUS_UNSUPPORTED_CPU, entry->name,
                           "found no kernel for this CPU (features 0x%" PRIx64 ") among the targets %s", features, entry->targets);
}

/* ---- Workspace layout ---- */

/* Whether the extent is that of the batch and the candidate batch-major: kernels see one element of it. */
static int is_one_element(const call_plan *plan, const mhac_extent *extent) {
  return extent->size >= 0 && extent->size == plan->candidate->batch_size;
}

static int64_t workspace_extent(const call_plan *plan, const mhac_extent *extent) {
  return is_one_element(plan, extent) ? extent->factor : mhac_extent_value(plan->entry, plan->args, extent);
}

/* Adds the intermediates to the frame. Kernels address them in 32 bits too. */
static mhac_status plan_buffers(call_plan *plan) {
  const mhac_candidate *candidate = plan->candidate;
  int64_t i, dim;
  for (i = 0; i < candidate->workspace_count; ++i) {
    const mhac_workspace_buffer *buffer = &candidate->workspace[i];
    int64_t elements = 1;
    for (dim = 0; dim < buffer->rank; ++dim)
      elements = mhac_saturating_multiply(elements, workspace_extent(plan, &buffer->dims[dim]));
    if (elements > INT32_MAX)
      return mhac_context_fail(plan->context, MHAC_STATUS_SIZE_TOO_LARGE, plan->entry->name,
                               "workspace: found an intermediate of %" PRId64 " elements, wanted <= %d", elements, INT32_MAX);
    plan->frame_bytes = mhac_saturating_add(plan->frame_bytes, round_to_line(elements * buffer->element_bytes));
  }
  return MHAC_STATUS_OK;
}

static mhac_status plan_workspace(call_plan *plan) {
  const mhac_entry *entry = plan->entry;
  const mhac_candidate *candidate = plan->candidate;
  mhac_status status;
  int64_t operands = 0;
  int64_t total, i;
  for (i = 0; i < candidate->kernel_count; ++i)
    if (candidate->kernels[i].operand_count > operands)
      operands = candidate->kernels[i].operand_count;
  plan->vector_length = 1 + operands;
  plan->header_bytes = round_to_line((entry->argument_count + candidate->workspace_count + entry->prepared_count) * (int64_t)sizeof(mhac_buffer_with_dims) +
                                     plan->vector_length * (int64_t)sizeof(void *) + entry->size_count * (int64_t)sizeof(int32_t));
  plan->frame_bytes = plan->header_bytes;
  status = plan_buffers(plan);
  if (status != MHAC_STATUS_OK)
    return status;
  plan->worker_bytes = mhac_saturating_add(MHAC_LINE_BYTES, round_to_line(candidate->arena_bytes));
  if (candidate->batch_size >= 0)
    plan->worker_bytes = mhac_saturating_add(plan->worker_bytes, plan->frame_bytes);
  total = mhac_saturating_multiply(plan->workers, plan->worker_bytes);
  if (candidate->batch_size < 0)
    total = mhac_saturating_add(total, plan->frame_bytes);
  total = mhac_saturating_add(total, MHAC_LINE_BYTES); /* for a start that is not aligned */
  plan->workspace_bytes = total;
  if ((uint64_t)total > SIZE_MAX / 2)
    return mhac_context_fail(plan->context, MHAC_STATUS_SIZE_TOO_LARGE, entry->name,
                             "workspace: found a need of %" PRId64 " bytes, wanted a size that can be addressed", total);
  return MHAC_STATUS_OK;
}

/* Everything up to the workspace. `with_tensors` is 0 for the question how large it must be, which is asked before there are tensors. */
static mhac_status plan_call(call_plan *plan, mhac_context *context, const mhac_entry *entry, const void *args, int with_tensors) {
  mhac_status status;
  mhac_context_clear(context);
  if (entry == NULL)
    return mhac_context_fail(context, MHAC_STATUS_NULL_ARGUMENT, "mhac_kernel_call", "argument 'entry': found NULL, wanted a descriptor");
  plan->context = context;
  plan->entry = entry;
  plan->args = args;
  plan->workers = mhac_context_concurrency(context);
  memset(&plan->prepared, 0, sizeof(plan->prepared));
  status = mhac_check_sizes(context, entry, args);
  if (status == MHAC_STATUS_OK && with_tensors)
    status = mhac_check_tensors(context, entry, args);
  if (status == MHAC_STATUS_OK && with_tensors)
    status = mhac_check_prepared(context, entry, args, &plan->prepared);
  if (status == MHAC_STATUS_OK)
    status = choose_candidate(plan);
  if (status != MHAC_STATUS_OK)
    return status;
  plan->empty = mhac_outputs_empty(entry, args);
  return plan->empty ? MHAC_STATUS_OK : plan_workspace(plan);
}

/* ---- Running ---- */

static void set_buffer(mhac_buffer_with_dims *described, void *data, int64_t type, int64_t rank) {
  memset(described, 0, sizeof(*described));
  described->buffer.host = (uint8_t *)data;
  described->buffer.type = (uint32_t)type;
  described->buffer.dimensions = (int32_t)rank;
  described->buffer.dim = described->dims;
}

/* Strides of empty tensors may be beyond 32 bits when they are dense; they are never used. */
static int32_t clamp_stride(int64_t stride) { return stride > INT32_MAX ? INT32_MAX : (int32_t)stride; }

/* What empty tensors point to: kernels clamp indices to a tensor, and one without elements is read at 0. Never written. */
static const uint64_t nothing[1] = {0};

/* Batch-major: of one element, which is described as a batch of one. */
static void make_argument_buffer(const call_plan *plan, const mhac_argument *argument, int64_t element, mhac_buffer_with_dims *made) {
  mhac_tensor_view view;
  int64_t dim;
  mhac_view_tensor(plan->entry, plan->args, argument, &view);
  set_buffer(made, view.data, argument->type, argument->rank);
  for (dim = 0; dim < argument->rank; ++dim) {
    mhac_dimension *to = &made->dims[argument->rank - 1 - dim];
    to->extent = (int32_t)view.extents[dim];
    to->stride = clamp_stride(view.strides[dim]);
  }
  if (view.empty) { /* a kernel may look at an element whose value does not matter */
    made->buffer.host = (uint8_t *)(uintptr_t)nothing;
    for (dim = 0; dim < argument->rank; ++dim)
      made->dims[dim].stride = dim == 0 ? 1 : 0;
  }
  if (argument->rank == 0 || !is_one_element(plan, &argument->dims[0]))
    return;
  made->dims[argument->rank - 1].extent = 1;
  if (!view.empty) /* there may be no memory */
    made->buffer.host += element * view.strides[0] * argument->element_bytes;
}

/* Returns the bytes that the intermediate takes. */
static int64_t make_workspace_buffer(const call_plan *plan, const mhac_workspace_buffer *buffer, void *data, mhac_buffer_with_dims *made) {
  int64_t elements = 1;
  int64_t dim;
  set_buffer(made, data, buffer->type, buffer->rank);
  for (dim = 0; dim < buffer->rank; ++dim) {
    int64_t extent = workspace_extent(plan, &buffer->dims[dim]);
    made->dims[dim].extent = (int32_t)extent;
    made->dims[dim].stride = clamp_stride(elements);
    elements = mhac_saturating_multiply(elements, extent);
  }
  return round_to_line(elements * buffer->element_bytes);
}

static void make_workers(const call_plan *plan, mhac_call *call, char *memory) {
  int i;
  call->parallel = plan->context != NULL && plan->context->parallel.parallel_for != NULL ? &plan->context->parallel : NULL;
  call->workers = plan->workers;
  call->first_worker = memory;
  call->worker_bytes = plan->worker_bytes;
  call->parallel_status = MHAC_STATUS_OK;
  call->task_code = 0;
  for (i = 0; i < plan->workers; ++i) {
    mhac_worker *worker = (mhac_worker *)(void *)(memory + i * plan->worker_bytes);
    worker->call = call;
    worker->last = NULL;
    worker->arena_end = (char *)worker + MHAC_LINE_BYTES + round_to_line(plan->candidate->arena_bytes);
    worker->in_task = 0;
  }
}

/* Makes a frame at `memory` and runs the candidate's kernels in it, one after the other, for the whole call or for one element of the
 * batch. Returns 0, or the code of the kernel that failed. */
static int run_kernels(const call_plan *plan, char *memory, int64_t element, void *user_context, const mhac_kernel **failed) {
  const mhac_entry *entry = plan->entry;
  const mhac_candidate *candidate = plan->candidate;
  char *data = memory + plan->header_bytes;
  mhac_buffer_with_dims *arguments = (mhac_buffer_with_dims *)(void *)memory;
  mhac_buffer_with_dims *intermediates = arguments + entry->argument_count;
  mhac_buffer_with_dims *prepared = intermediates + candidate->workspace_count;
  void **vector = (void **)(void *)(prepared + entry->prepared_count);
  int32_t *sizes = (int32_t *)(void *)(vector + plan->vector_length);
  int64_t i, k;

  for (i = 0; i < entry->argument_count; ++i)
    make_argument_buffer(plan, &entry->arguments[i], element, &arguments[i]);
  for (i = 0; i < candidate->workspace_count; ++i)
    data += make_workspace_buffer(plan, &candidate->workspace[i], data, &intermediates[i]);
  mhac_make_prepared_buffers(entry, &plan->prepared, prepared);
  for (i = 0; i < entry->size_count; ++i)
    sizes[i] = i == candidate->batch_size ? 1 : (int32_t)mhac_size_value(entry, plan->args, i);

  for (k = 0; k < candidate->kernel_count; ++k) {
    const mhac_kernel *kernel = &candidate->kernels[k];
    mhac_float_mode callers_mode;
    int code;
    vector[0] = &user_context;
    for (i = 0; i < kernel->operand_count; ++i) {
      const mhac_operand *operand = &kernel->operands[i];
      vector[1 + i] = operand->kind == MHAC_OPERAND_ARGUMENT    ? (void *)&arguments[operand->index].buffer
                      : operand->kind == MHAC_OPERAND_WORKSPACE ? (void *)&intermediates[operand->index].buffer
                      : operand->kind == MHAC_OPERAND_PREPARED  ? (void *)&prepared[operand->index].buffer
                                                                : (void *)&sizes[operand->index];
    }
    callers_mode = mhac_enter_float_mode();
    code = kernel->function(vector);
    mhac_leave_float_mode(callers_mode);
    if (code != 0) {
      *failed = kernel;
      return code;
    }
  }
  return 0;
}

typedef struct batch_loop {
  const call_plan *plan;
  const mhac_kernel *failed; /* of the first element that failed; atomic */
  int code;                  /* its code */
} batch_loop;

/* Loops that start in here find themselves nested, and run serially in the worker's arena. */
static int run_element(void *user_context, int element, uint8_t *closure) {
  batch_loop *loop = (batch_loop *)(void *)closure;
  const mhac_worker *worker = (const mhac_worker *)user_context;
  const mhac_kernel *failed = NULL, *none = NULL;
  int code = run_kernels(loop->plan, worker->arena_end, element, user_context, &failed);
  if (code != 0 && __atomic_compare_exchange_n(&loop->failed, &none, failed, 0, __ATOMIC_RELAXED, __ATOMIC_RELAXED))
    loop->code = code;
  return code;
}

static mhac_status run_candidate(const call_plan *plan, void *workspace) {
  const mhac_entry *entry = plan->entry;
  int64_t batch_size = plan->candidate->batch_size;
  uintptr_t misaligned = (uintptr_t)workspace % MHAC_LINE_BYTES;
  char *base = (char *)workspace + (misaligned != 0 ? MHAC_LINE_BYTES - misaligned : 0);
  const mhac_kernel *failed = NULL;
  mhac_call call;
  int code;

  if (batch_size < 0) {
    make_workers(plan, &call, base + plan->frame_bytes);
    code = run_kernels(plan, base, 0, call.first_worker, &failed);
  } else {
    batch_loop loop = {plan, NULL, 0};
    int count = (int)mhac_size_value(entry, plan->args, batch_size);
    make_workers(plan, &call, base);
    code = mhac_kernel_parallel_for(call.first_worker, run_element, 0, count, (uint8_t *)&loop);
    failed = loop.failed;
    code = failed != NULL ? loop.code : code;
  }
  if (code == 0)
    return MHAC_STATUS_OK;
  if (call.parallel_status != MHAC_STATUS_OK && call.task_code == 0)
    return mhac_context_fail(plan->context, call.parallel_status, entry->name, "%s '%s': the parallel loop could not run: %s",
                             failed != NULL ? "kernel" : "size", failed != NULL ? failed->name : entry->sizes[batch_size].name,
                             mhac_status_string(call.parallel_status));
  return mhac_context_fail(plan->context, MHAC_STATUS_INTERNAL, entry->name, "kernel '%s': found return code %d, wanted 0", failed->name,
                           code);
}

static mhac_status run_in_given_workspace(const call_plan *plan, void *workspace, size_t bytes) {
  if (bytes < (uint64_t)plan->workspace_bytes)
    return mhac_context_fail(plan->context, MHAC_STATUS_WORKSPACE_SIZE, plan->entry->name,
                             "argument 'workspace_bytes': found %zu, wanted >= %" PRId64, bytes, plan->workspace_bytes);
  return run_candidate(plan, workspace);
}

static mhac_status run_in_own_workspace(const call_plan *plan) {
  const mhac_allocator *allocator;
  size_t bytes = (size_t)plan->workspace_bytes;
  mhac_status status;
  void *workspace;
  if (plan->context == NULL)
    return MHAC_STATUS_WORKSPACE_MISSING;
  allocator = &plan->context->allocator;
  workspace = allocator->allocate(allocator->self, bytes, MHAC_LINE_BYTES);
  if (workspace == NULL)
    return mhac_context_fail(plan->context, MHAC_STATUS_OUT_OF_MEMORY, plan->entry->name,
                             "workspace: found no memory, wanted %" PRId64 " bytes", plan->workspace_bytes);
  status = run_candidate(plan, workspace);
  allocator->release(allocator->self, workspace, bytes);
  return status;
}

/* ---- Interface of generated code ---- */

mhac_status mhac_kernel_call(mhac_context *context, const mhac_entry *entry, const void *args) {
  call_plan plan;
  void *workspace;
  size_t bytes;
  mhac_status status = plan_call(&plan, context, entry, args, 1);
  if (status != MHAC_STATUS_OK || plan.empty)
    return status;
  if (context != NULL && mhac_thread_pool_check(&context->parallel) != MHAC_STATUS_OK)
    return mhac_context_fail(context, MHAC_STATUS_FORKED, entry->name,
                             "found a thread pool of the parent process, wanted one of this process");
  workspace = mhac_given_workspace(entry, args, &bytes);
  return workspace != NULL ? run_in_given_workspace(&plan, workspace, bytes) : run_in_own_workspace(&plan);
}

mhac_status mhac_kernel_workspace_bytes(mhac_context *context, const mhac_entry *entry, const void *args, size_t *bytes) {
  call_plan plan;
  mhac_status status;
  if (bytes == NULL) {
    mhac_context_clear(context);
    return mhac_context_fail(context, MHAC_STATUS_NULL_ARGUMENT, entry != NULL ? entry->name : "mhac_kernel_workspace_bytes",
                             "argument 'bytes': found NULL, wanted a pointer to a size_t");
  }
  *bytes = 0;
  status = plan_call(&plan, context, entry, args, 0);
  if (status == MHAC_STATUS_OK && !plan.empty)
    *bytes = (size_t)plan.workspace_bytes;
  return status;
}

void mhac_kernel_describe(const mhac_entry *entry, mhac_kernel_info *info) {
  mhac_kernel_info known;
  size_t bytes;
  int64_t i;
  if (entry == NULL || info == NULL)
    return;
  known.struct_size = info->struct_size;
  known.name = entry->name;
  known.version = entry->version;
  known.targets = entry->targets;
  known.selected = NULL;
  for (i = entry->candidate_count - 1; i >= 0; --i)
    if ((entry->candidates[i].features & ~machine_features(entry)) == 0)
      known.selected = entry->candidates[i].target;
  /* Only whole fields that the caller's version of the struct has. */
  bytes = info->struct_size < sizeof(known) ? info->struct_size / sizeof(void *) * sizeof(void *) : sizeof(known);
  memcpy(info, &known, bytes);
}
