/* An artefact written by hand: causal attention over right-padded keys behind the same tables that the compiler emits, so that mhac-run and
 * mhac_call.py can be tested without the compiler, and above all be shown mistakes. LAYER_MISTAKE chooses one:
 * 0 none; 1 a wrong scale; 2 masked keys get weight 0 instead of being skipped, so that their NaN passes; 3 a write behind the output;
 * 4 a write between the elements of a strided output; 5 lse of a masked row is a large negative number; 6 a write behind the workspace.
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "halide_buffer.h"

#include <math.h>

#ifndef LAYER_MISTAKE
#define LAYER_MISTAKE 0
#endif

#define F32 (2 | 32 << 8 | 1 << 16)
#define I64 (0 | 64 << 8 | 1 << 16)

/* dims: innermost first, so index (b, s, h, i) has the strides 3, 2, 1, 0. */
static float *at(const mhac_buffer *t, int b, int s, int h, int i) {
  return (float *)t->host + (int64_t)b * t->dim[3].stride + (int64_t)s * t->dim[2].stride + (int64_t)h * t->dim[1].stride + i * t->dim[0].stride;
}

static void attend(const mhac_buffer *const *t, int b, int h, int row, float *scores) {
  const mhac_buffer *q = t[0], *k = t[1], *v = t[2], *y = t[4], *lse = t[5];
  const int d = q->dim[0].extent, queries = q->dim[2].extent, keys = k->dim[2].extent;
  const float scale = (LAYER_MISTAKE == 1 ? 1.01f : 1.f) / sqrtf((float)d);
  int64_t length = ((const int64_t *)t[3]->host)[b];
  float maximum = -INFINITY, sum = 0;
  int i, key, visible = 0;
  for (key = 0; key < keys; ++key) {
    int hidden = key >= length || key > row + keys - queries;
    scores[key] = -INFINITY;
    if (hidden)
      continue;
    scores[key] = 0;
    for (i = 0; i < d; ++i)
      scores[key] += scale * *at(q, b, row, h, i) * *at(k, b, key, h, i);
    maximum = fmaxf(maximum, scores[key]);
    visible = 1;
  }
  for (i = 0; i < v->dim[0].extent; ++i)
    *at(y, b, row, h, i) = 0;
  for (key = 0; key < keys && visible; ++key) {
    float weight = expf(scores[key] - maximum);
    if (weight == 0 && LAYER_MISTAKE != 2)
      continue;
    sum += weight;
    for (i = 0; i < v->dim[0].extent; ++i)
      *at(y, b, row, h, i) += weight * *at(v, b, key, h, i);
  }
  for (i = 0; i < v->dim[0].extent && visible; ++i)
    *at(y, b, row, h, i) /= sum;
  ((float *)lse->host)[b * lse->dim[2].stride + h * lse->dim[1].stride + row * lse->dim[0].stride] =
      visible ? maximum + logf(sum) : LAYER_MISTAKE == 5 ? -1e30f : -INFINITY;
}

/* Operands: q, k, v, key_lengths, y, lse, then one row of scores in the workspace. */
static int run(void **argv) {
  const mhac_buffer *const *t = (const mhac_buffer *const *)argv + 1;
  const mhac_buffer *y = t[4];
  float *scores = (float *)t[6]->host;
  int b, h, row;
  for (b = 0; b < y->dim[3].extent; ++b)
    for (h = 0; h < y->dim[1].extent; ++h)
      for (row = 0; row < y->dim[2].extent; ++row)
        attend(t, b, h, row, scores);
  if (LAYER_MISTAKE == 3)
    *(at(y, y->dim[3].extent - 1, y->dim[2].extent - 1, y->dim[1].extent - 1, y->dim[0].extent)) = 0;
  if (LAYER_MISTAKE == 4 && y->dim[1].stride > y->dim[0].extent && y->dim[2].stride > y->dim[0].extent &&
      y->dim[3].stride > y->dim[0].extent)
    *(at(y, 0, 0, 0, y->dim[0].extent)) = 0;
  if (LAYER_MISTAKE == 6)
    scores[t[6]->dim[0].extent + 64] = 0;
  return 0;
}

static uint64_t cpu_features;
static const mhac_size sizes[] = {{"batch", 8, 0, 2147483647}, {"query", 16, 0, 2147483647}, {"key", 24, 0, 2147483647}};
#define HEADS {-1, 1, 3}
#define TOKENS(size, width) {{0, 1, 1}, {size, 1, 1}, HEADS, {-1, 1, width}}
static const mhac_argument arguments[] = {
    {"q", 32, 40, 4, F32, 0, MHAC_CHECK_NONE, -1, -1, 4, TOKENS(1, 4)},
    {"k", 48, 56, 4, F32, 0, MHAC_CHECK_NONE, -1, -1, 4, TOKENS(2, 4)},
    {"v", 64, 72, 4, F32, 0, MHAC_CHECK_NONE, -1, -1, 4, TOKENS(2, 5)},
    {"key_lengths", 80, -1, 8, I64, 0, MHAC_CHECK_RANGE, 2, -1, 1, {{0, 1, 1}}},
    {"y", 88, 96, 4, F32, MHAC_ARGUMENT_OUTPUT, MHAC_CHECK_NONE, -1, -1, 4, TOKENS(1, 5)},
    {"lse", 104, -1, 4, F32, MHAC_ARGUMENT_OUTPUT, MHAC_CHECK_NONE, -1, -1, 3, {{0, 1, 1}, HEADS, {1, 1, 1}}},
};
static const mhac_operand operands[] = {{MHAC_OPERAND_ARGUMENT, 0}, {MHAC_OPERAND_ARGUMENT, 1}, {MHAC_OPERAND_ARGUMENT, 2}, {MHAC_OPERAND_ARGUMENT, 3},
                                        {MHAC_OPERAND_ARGUMENT, 4}, {MHAC_OPERAND_ARGUMENT, 5}, {MHAC_OPERAND_WORKSPACE, 0}};
static const mhac_workspace_buffer workspace[] = {{4, F32, 1, {{2, 1, 1}}}};
static const mhac_kernel kernels[] = {{"attend", run, 7, operands}};
static const mhac_candidate candidates[] = {{"by_hand", 0, 0, 0, 1, workspace, 1, kernels, 0}};
static const mhac_entry entry = {&mhac_runtime_abi_1, "layer", "0", "by_hand", &cpu_features, 128, 112, 120, 3, sizes, 6, arguments, 1, candidates};

mhac_status layer(mhac_context *context, const void *args) { return mhac_kernel_call(context, &entry, args); }
mhac_status layer_workspace_bytes(mhac_context *context, const void *args, size_t *bytes) {
  return mhac_kernel_workspace_bytes(context, &entry, args, bytes);
}
void layer_info(mhac_kernel_info *info) { mhac_kernel_describe(&entry, info); }
