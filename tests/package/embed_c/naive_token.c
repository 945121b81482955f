/* The textbook computation of one token: what the application compares the compiled layer with.
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "layer_data.h"

#include <math.h>
#include <stdlib.h>

/* Feature `row` of Wqkv applied to a token. */
static double project(const layer_data *data, const float *token, int64_t row) {
  double sum = data->bqkv[row];
  for (int64_t i = 0; i < M; ++i)
    sum += (double)token[i] * data->wqkv[row * M + i];
  return sum;
}

int naive_token(const layer_data *data, int64_t row, int64_t token, double *y) {
  int64_t keys = data->key_lengths[row];
  const float *x = data->x + row * data->tokens * M;
  double *score = malloc((size_t)(keys + 1) * sizeof(double));
  double *output = malloc(M * sizeof(double));
  for (int64_t h = 0; score && output && h < H; ++h) {
    double q[D], sum = 0, largest = -INFINITY;
    for (int64_t d = 0; d < D; ++d) {
      q[d] = project(data, x + token * M, h * D + d);
      output[h * D + d] = 0;
    }
    for (int64_t k = 0; k < keys; ++k) {
      score[k] = 0;
      for (int64_t d = 0; d < D; ++d)
        score[k] += q[d] * project(data, x + k * M, M + h * D + d) / sqrt(D);
      largest = fmax(largest, score[k]);
    }
    for (int64_t k = 0; k < keys; ++k)
      sum += score[k] = exp(score[k] - largest);
    for (int64_t k = 0; k < keys; ++k)
      for (int64_t d = 0; d < D; ++d)
        output[h * D + d] += score[k] / sum * project(data, x + k * M, 2 * M + h * D + d);
  }
  int ok = score && output;
  for (int64_t j = 0; ok && j < M; ++j) {
    y[j] = data->bo[j];
    for (int64_t i = 0; i < M; ++i)
      y[j] += output[i] * data->wo[j * M + i];
  }
  free(score);
  free(output);
  return ok;
}
