/* The program that README.md shows: one layer of BERT-base, with made-up weights whose result is known; serially, then on two threads.
 * Exit code 0 when every element of y is what it must be.
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "bert_base.h"

#include <stdio.h>
#include <stdlib.h>

enum { BATCH = 2, TOKENS = 17, M = BERT_BASE_D_MODEL };

/* Weights as nn.Linear has them, [outputs, inputs]: the rows of wqkv are those of Wq, then of Wk, then of Wv. */
static float x[BATCH * TOKENS * M], wqkv[3 * M * M], bqkv[3 * M], wo[M * M], bo[M], y[BATCH * TOKENS * M];
static const int64_t key_lengths[BATCH] = {17, 5}; /* valid tokens of each row of the batch; what follows them is padding */

static int run(mhac_context *context) {
  bert_base_args args = BERT_BASE_ARGS_INIT;
  args.batch = BATCH;
  args.query = TOKENS;
  args.x = x;
  args.wqkv = wqkv;
  args.bqkv = bqkv;
  args.wo = wo;
  args.bo = bo;
  args.key_lengths = key_lengths;
  args.y = y;

  /* How much scratch memory depends on the sizes and on the threads of the context. Left out, each call takes it from the context's allocator. */
  mhac_status status = bert_base_workspace_bytes(context, &args, &args.workspace_bytes);
  if (status == MHAC_STATUS_OK && !(args.workspace = malloc(args.workspace_bytes)))
    status = MHAC_STATUS_OUT_OF_MEMORY;
  if (status == MHAC_STATUS_OK)
    status = bert_base(context, &args); /* as often as needed */
  if (status != MHAC_STATUS_OK)
    fprintf(stderr, "%s: %s\n", mhac_status_string(status), mhac_context_message(context));
  free(args.workspace);
  return status == MHAC_STATUS_OK;
}

/* V is 1 everywhere and wo the identity, so every weighted mean of values is 1, and so is y; also for padded queries. */
static int all_ones(void) {
  int good = 1;
  for (size_t i = 0; i < sizeof(y) / sizeof(y[0]); ++i) {
    good = good && y[i] > 0.9999f && y[i] < 1.0001f;
    y[i] = 0; /* for the next call */
  }
  return good;
}

int main(void) {
  for (int i = 0; i < M; ++i)
    bqkv[2 * M + i] = wo[i * M + i] = 1;

  /* Without options: malloc, and everything in the calling thread. */
  mhac_context *context = NULL;
  int good = mhac_context_create(NULL, &context) == MHAC_STATUS_OK && run(context) && all_ones();
  mhac_context_destroy(context);

  /* With a pool of two threads, the calling one included. A pool may be shared by contexts, a context is used by one thread at a time. */
  mhac_thread_pool *pool = NULL;
  mhac_context_options options = MHAC_CONTEXT_OPTIONS_INIT;
  context = NULL;
  if (mhac_thread_pool_create(2, NULL, &pool) == MHAC_STATUS_OK) {
    options.parallel = mhac_thread_pool_parallel(pool);
    good = good && mhac_context_create(&options, &context) == MHAC_STATUS_OK && run(context) && all_ones();
  } else {
    good = 0;
  }
  mhac_context_destroy(context);
  mhac_thread_pool_destroy(pool); /* after the contexts that use it */

  puts(good ? "y is right" : "y is wrong");
  return good ? 0 : 1;
}
