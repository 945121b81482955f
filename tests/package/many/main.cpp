// Calls two layers without threads or context, and foreign Halide code with its own runtime.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "first_layer.h"
#include "foreign.h"
#include "second_layer.h"

#include <HalideBuffer.h>

#include <cmath>
#include <cstdio>
#include <vector>

static int failures = 0;

static void expect(bool ok, const char *what) {
  std::printf("%s: %s\n", ok ? "ok" : "FAILED", what);
  failures += ok ? 0 : 1;
}

/// With zero weights the output is the bias.
static void callFirst() {
  constexpr int64_t m = FIRST_LAYER_D_MODEL, tokens = 5;
  std::vector<float> x(tokens * m, 1.f), wqkv(3 * m * m), bqkv(3 * m), wo(m * m), bo(m, 0.25f), y(tokens * m);
  std::vector<int64_t> lengths = {3};
  first_layer_args args = FIRST_LAYER_ARGS_INIT;
  args.batch = 1;
  args.query = tokens;
  args.x = x.data();
  args.wqkv = wqkv.data();
  args.bqkv = bqkv.data();
  args.wo = wo.data();
  args.bo = bo.data();
  args.key_lengths = lengths.data();
  args.y = y.data();
  expect(first_layer(nullptr, &args) == MHAC_STATUS_WORKSPACE_MISSING, "without a context a workspace is asked for");
  expect(first_layer_workspace_bytes(nullptr, &args, &args.workspace_bytes) == MHAC_STATUS_OK, "its size");
  std::vector<char> workspace(args.workspace_bytes + 1);
  args.workspace = workspace.data();
  expect(first_layer(nullptr, &args) == MHAC_STATUS_OK, "the first layer runs");
  expect(y == std::vector<float>(tokens * m, 0.25f), "and gives its bias");
}

/// Identity weights and one token: attention returns the token.
static void callSecond() {
  constexpr int64_t m = SECOND_ATTENTION_D_MODEL;
  std::vector<float> x(m), identity(m * m), wqkv(3 * m * m), y(m);
  for (int64_t i = 0; i < m; ++i) {
    x[i] = static_cast<float>(i);
    identity[i * m + i] = 1.f;
    wqkv[(2 * m + i) * m + i] = 1.f; // V
  }
  second_attention_args args = SECOND_ATTENTION_ARGS_INIT;
  args.batch = args.query = 1;
  args.x = x.data();
  args.wqkv = wqkv.data();
  args.wo = identity.data();
  args.y = y.data();
  mhac_context *context = nullptr;
  expect(mhac_context_create(nullptr, &context) == MHAC_STATUS_OK, "a context");
  bool ok = second_attention(context, &args) == MHAC_STATUS_OK;
  expect(ok, ok ? "the second layer runs" : mhac_context_message(context));
  mhac_context_destroy(context);
  bool same = true;
  for (int64_t i = 0; i < m; ++i)
    same = same && std::fabs(y[i] - x[i]) < 1e-5f;
  expect(same, "and returns its token");
}

int main() {
  callFirst();
  callSecond();
  Halide::Runtime::Buffer<int> out(64);
  expect(foreign(out) == 0 && out(63) == 63 * 6 + 3, "foreign Halide code runs");
  return failures;
}
