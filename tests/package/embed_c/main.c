/* An application with one attention layer of BERT-base: makes weights and an input, a context with a thread pool, calls the layer, compares
 * one token with the textbook computation and prints shapes, time a call and GFLOP/s. Exit code 0 when the comparison holds.
 * Usage: embed_c [tokens [batch [threads]]]; default 128 tokens, 1 row, one thread.
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "layer_data.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static double now_ns(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (double)time.tv_sec * 1e9 + (double)time.tv_nsec;
}

/* Useful floating point operations of a call: a multiplication and an addition each. */
static double flops(const layer_data *data) {
  double sum = 0;
  for (int64_t b = 0; b < data->batch; ++b)
    sum += 2.0 * (double)data->tokens * (4.0 * M * M) + 4.0 * (double)data->tokens * (double)data->key_lengths[b] * H * D;
  return sum;
}

/* Largest difference to the textbook in the last valid token of each row. */
static double max_error(const layer_data *data) {
  static double expected[M];
  double error = 0;
  for (int64_t b = 0; b < data->batch; ++b) {
    int64_t token = data->key_lengths[b] - 1;
    if (token < 0)
      continue;
    if (!naive_token(data, b, token, expected))
      return INFINITY;
    for (int64_t j = 0; j < M; ++j) {
      double difference = fabs(data->y[(b * data->tokens + token) * M + j] - expected[j]);
      if (!(difference <= error)) /* also when it is NaN */
        error = difference;
    }
  }
  return error;
}

static int run(layer_data *data, mhac_context *context) {
  bert_base_args args = BERT_BASE_ARGS_INIT;
  args.batch = data->batch;
  args.query = data->tokens;
  args.x = data->x;
  args.wqkv = data->wqkv;
  args.bqkv = data->bqkv;
  args.wo = data->wo;
  args.bo = data->bo;
  args.key_lengths = data->key_lengths;
  args.y = data->y;
  /* With a workspace of our own the calls allocate nothing. */
  mhac_status status = bert_base_workspace_bytes(context, &args, &args.workspace_bytes);
  if (status == MHAC_STATUS_OK && !(args.workspace = malloc(args.workspace_bytes + 1)))
    status = MHAC_STATUS_OUT_OF_MEMORY;

  double best = INFINITY, begin = now_ns();
  int calls = 0;
  for (; status == MHAC_STATUS_OK && calls < 200 && now_ns() - begin < 1e9; ++calls) {
    double start = now_ns();
    status = bert_base(context, &args);
    best = fmin(best, now_ns() - start);
  }
  free(args.workspace);
  if (status != MHAC_STATUS_OK) {
    fprintf(stderr, "bert_base: %s: %s\n", mhac_status_string(status), mhac_context_message(context));
    return 1;
  }
  mhac_kernel_info info = {sizeof(info), 0, 0, 0, 0};
  bert_base_info(&info);
  double error = max_error(data);
  printf("layer:       %s, %d heads of %d, compiled for %s, running %s\n", info.name, H, D, info.targets, info.selected);
  printf("shapes:      x [%ld, %ld, %d] -> y [%ld, %ld, %d], workspace %zu bytes\n", (long)data->batch, (long)data->tokens, M,
         (long)data->batch, (long)data->tokens, M, args.workspace_bytes);
  printf("threads:     %d\n", mhac_context_concurrency(context));
  printf("time a call: %.3f ms, best of %d\n", best / 1e6, calls);
  printf("speed:       %.1f GFLOP/s\n", flops(data) / best);
  printf("max error:   %.3g against the textbook in double\n", error);
  return error < 1e-4 ? 0 : 1;
}

int main(int argc, char **argv) {
  int64_t tokens = argc > 1 ? atoll(argv[1]) : 128, batch = argc > 2 ? atoll(argv[2]) : 1;
  int threads = argc > 3 ? atoi(argv[3]) : 1;
  if (tokens < 0 || batch < 0) {
    fprintf(stderr, "usage: embed_c [tokens [batch [threads]]]\n");
    return 2;
  }
  layer_data data;
  mhac_thread_pool *pool = NULL;
  mhac_context *context = NULL;
  mhac_context_options options = MHAC_CONTEXT_OPTIONS_INIT;
  int result = 1;
  if (mhac_thread_pool_create(threads, NULL, &pool) == MHAC_STATUS_OK) {
    options.parallel = mhac_thread_pool_parallel(pool);
    if (mhac_context_create(&options, &context) == MHAC_STATUS_OK) {
      if (layer_data_make(&data, batch, tokens))
        result = run(&data, context);
      layer_data_free(&data);
    }
  }
  mhac_context_destroy(context);
  mhac_thread_pool_destroy(pool);
  return result;
}
