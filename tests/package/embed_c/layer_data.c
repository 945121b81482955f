/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "layer_data.h"

#include <math.h>
#include <stdlib.h>

/* xorshift64*: the same numbers on every machine. */
static double uniform(uint64_t *state) {
  *state ^= *state >> 12;
  *state ^= *state << 25;
  *state ^= *state >> 27;
  return (double)((*state * UINT64_C(2685821657736338717)) >> 11) / 9007199254740992.0;
}

/* Uniform numbers with the given standard deviation. */
static float *numbers(int64_t count, double deviation, uint64_t seed) {
  float *values = malloc((size_t)count * sizeof(float));
  uint64_t state = seed;
  for (int64_t i = 0; values && i < count; ++i)
    values[i] = (float)((uniform(&state) - 0.5) * sqrt(12.0) * deviation);
  return values;
}

int layer_data_make(layer_data *data, int64_t batch, int64_t tokens) {
  data->batch = batch;
  data->tokens = tokens;
  data->x = numbers(batch * tokens * M, 1.0, 1);
  data->wqkv = numbers(3 * M * M, 1.0 / sqrt(M), 2);
  data->bqkv = numbers(3 * M, 0.1, 3);
  data->wo = numbers(M * M, 1.0 / sqrt(M), 4);
  data->bo = numbers(M, 0.1, 5);
  data->key_lengths = malloc((size_t)batch * sizeof(int64_t));
  data->y = malloc((size_t)(batch * tokens * M) * sizeof(float));
  for (int64_t b = 0; data->key_lengths && b < batch; ++b)
    data->key_lengths[b] = tokens - (b == 0 ? 0 : tokens / 4); /* all rows but the first are padded */
  return data->x && data->wqkv && data->bqkv && data->wo && data->bo && data->key_lengths && data->y;
}

void layer_data_free(layer_data *data) {
  free(data->x);
  free(data->wqkv);
  free(data->bqkv);
  free(data->wo);
  free(data->bo);
  free(data->key_lengths);
  free(data->y);
}
