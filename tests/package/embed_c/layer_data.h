/* Weights, input and output of the example's layer: BERT's self-attention block, weights as nn.Linear keeps them ([out, in], row-major).
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#ifndef LAYER_DATA_H
#define LAYER_DATA_H

#include "bert_base.h"

#include <stdint.h>

#define M BERT_BASE_D_MODEL
#define H BERT_BASE_HEADS
#define D BERT_BASE_HEAD_DIM

typedef struct layer_data {
  int64_t batch, tokens;
  float *x;      /* [batch, tokens, M] */
  float *wqkv;   /* [3 * M, M]: rows of Q, of K, of V, each head after head */
  float *bqkv;   /* [3 * M] */
  float *wo;     /* [M, M] */
  float *bo;     /* [M] */
  int64_t *key_lengths; /* [batch]: valid tokens of each row, the rest is padding */
  float *y;      /* [batch, tokens, M] */
} layer_data;

/* Fills a layer with reproducible numbers: x of unit variance, weights scaled as trained ones are. Returns 0 when memory is short. */
int layer_data_make(layer_data *data, int64_t batch, int64_t tokens);
void layer_data_free(layer_data *data);

/* The layer's output for one token by naive loops in double, into y[M]. Returns 0 when memory is short. */
int naive_token(const layer_data *data, int64_t row, int64_t token, double *y);

#endif
