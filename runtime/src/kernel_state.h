/* What a running call consists of: the record of the call and one state a worker. kernel_call.c makes them, kernel_hooks.c serves the
 * compiled kernels from them; a worker's state is the user_context of Halide's code, which spares thread-local storage.
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#ifndef MHAC_KERNEL_STATE_H
#define MHAC_KERNEL_STATE_H

#include "kernel_descriptor.h"

enum { MHAC_LINE_BYTES = 64 }; /* alignment of buffers and scratch; also a cache line, so that workers do not share one */

typedef struct mhac_call {
  const mhac_parallel *parallel; /* NULL: serial */
  int workers;
  char *first_worker;            /* mhac_worker of worker 0; the others follow every worker_bytes */
  int64_t worker_bytes;          /* the state's line, the arena, and the worker's frame when batch-major */
  mhac_status parallel_status;   /* of the last loop, when it was not OK */
  int task_code;                 /* of a task that failed, 0 when none did; relaxed atomic */
} mhac_call;

/* In front of every block of an arena, a line of its own. */
typedef struct mhac_block {
  struct mhac_block *previous;
  char *end; /* of the block's memory */
  int released;
} mhac_block;

/* The first line of a worker's memory; its arena follows. Worker 0 is also the calling thread outside of loops. */
typedef struct mhac_worker {
  mhac_call *call;
  mhac_block *last; /* the newest block not yet given back; NULL: the arena is empty */
  char *arena_end;
  int in_task; /* a parallel loop that starts now would be nested */
} mhac_worker;

#endif
