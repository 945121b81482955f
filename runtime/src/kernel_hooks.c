/* Halide's hooks: memory from the worker's arena and parallel loops on the context's threads.
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "float_mode.h"
#include "kernel_state.h"

typedef char state_fits_its_line[sizeof(mhac_worker) <= MHAC_LINE_BYTES ? 1 : -1];
typedef char header_fits_its_line[sizeof(mhac_block) <= MHAC_LINE_BYTES ? 1 : -1];

/* ---- Memory: a stack of blocks. Halide frees mostly in reverse order; a block freed early goes when those above it are gone. ---- */

void *mhac_kernel_alloc(void *user_context, size_t bytes) {
  mhac_worker *worker = (mhac_worker *)user_context;
  char *begin = worker->last != NULL ? worker->last->end : (char *)worker + MHAC_LINE_BYTES;
  size_t room = (size_t)(worker->arena_end - begin);
  mhac_block *block = (mhac_block *)(void *)begin;
  if (room < MHAC_LINE_BYTES || bytes > room - MHAC_LINE_BYTES)
    return NULL;
  /* The arena's size is a multiple of the line, so the rounded size fits when the size does. */
  bytes = (bytes + MHAC_LINE_BYTES - 1) & ~(size_t)(MHAC_LINE_BYTES - 1);
  block->previous = worker->last;
  block->end = begin + MHAC_LINE_BYTES + bytes;
  block->released = 0;
  worker->last = block;
  return begin + MHAC_LINE_BYTES;
}

void mhac_kernel_free(void *user_context, void *memory) {
  mhac_worker *worker = (mhac_worker *)user_context;
  if (memory == NULL)
    return;
  ((mhac_block *)(void *)((char *)memory - MHAC_LINE_BYTES))->released = 1;
  while (worker->last != NULL && worker->last->released)
    worker->last = worker->last->previous;
}

/* ---- Threads ---- */

typedef int (*loop_body)(void *user_context, int task, uint8_t *closure);

typedef struct parallel_loop {
  mhac_call *call;
  loop_body body;
  uint8_t *closure;
  int first;
} parallel_loop;

static int run_task(void *closure, int64_t task, int worker_index) {
  parallel_loop *loop = (parallel_loop *)closure;
  mhac_call *call = loop->call;
  mhac_worker *worker;
  mhac_float_mode callers_mode;
  int code;
  /* An application's pool that breaks the contract would otherwise corrupt memory. */
  if (worker_index < 0 || worker_index >= call->workers)
    return 1;
  worker = (mhac_worker *)(void *)(call->first_worker + worker_index * call->worker_bytes);
  worker->in_task = 1;
  callers_mode = mhac_enter_float_mode();
  code = loop->body(worker, (int)(loop->first + task), loop->closure);
  mhac_leave_float_mode(callers_mode);
  worker->in_task = 0;
  if (code != 0)
    __atomic_store_n(&call->task_code, code, __ATOMIC_RELAXED);
  return code;
}

int mhac_kernel_parallel_for(void *user_context, loop_body body, int first, int count, uint8_t *closure) {
  mhac_worker *worker = (mhac_worker *)user_context;
  mhac_call *call = worker->call;
  mhac_status status;
  int code;
  parallel_loop loop;

  if (call->parallel == NULL || call->workers == 1 || worker->in_task || count <= 1) {
    int task;
    for (task = 0; task < count; ++task) {
      code = body(worker, first + task, closure);
      if (code != 0)
        return code;
    }
    return 0;
  }

  loop.call = call;
  loop.body = body;
  loop.closure = closure;
  loop.first = first;
  status = call->parallel->parallel_for(call->parallel->self, count, run_task, &loop);
  code = __atomic_load_n(&call->task_code, __ATOMIC_RELAXED);
  if (status != MHAC_STATUS_OK)
    call->parallel_status = status;
  /* A pool that does not pass a task's failure on must not turn it into success. */
  return code != 0 ? code : status != MHAC_STATUS_OK ? -1 : 0;
}
