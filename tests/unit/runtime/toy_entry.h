// A hand-written entry as a generated object would carry it, with C++ functions as its kernels: what the runtime's tests call.
// y[b, w, d] = 2 * x[b, w, d] + sum(bias) for starts[b] <= w < starts[b] + lengths[b], else 0; d < 4.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "kernel_descriptor.h"

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace toy {

constexpr int64_t depth = 4;
constexpr int64_t max_batch = 64;
constexpr int64_t min_keys = 0, max_keys = 1000;
constexpr int64_t arena_bytes = 2 * (64 + 64); // two allocations of at most a line, a header each
constexpr uint64_t v4_features = MHAC_CPU_AVX512F | MHAC_CPU_AVX512VL;
constexpr uint64_t v3_features = MHAC_CPU_AVX2 | MHAC_CPU_FMA;

// The generated argument struct.
struct args {
  size_t struct_size;
  int64_t batch, width, keys;
  const float *x;
  const int64_t *x_strides;
  const float *bias;
  const int64_t *starts, *lengths;
  float *y;
  const int64_t *y_strides;
  void *workspace;
  size_t workspace_bytes;
};

// Candidates in order; the numbers name them in `ran`.
enum candidate { v4 = 0, v4_two_workers = 1, v3_wide = 2, baseline = 3, batch_major = 4, none = -1 };

extern const mhac_entry entry;
extern const mhac_entry entry_v4_only;     // has no candidate for older CPUs
extern const mhac_entry entry_batch_major; // `batch_major` when every worker has four rows, else `baseline`

// What the kernels do and did. Reset by every toy::call.
extern uint64_t features_cache; // the object's cache: a test may set it to pose as another machine
extern int return_code;         // of the second kernel
extern int failing_row;         // of the batch, in the first kernel, if x is dense; -1: none
extern std::atomic<candidate> ran;

// Arguments with memory behind them. Outputs hold a value that no kernel writes.
struct call {
  call(int64_t batch, int64_t width, int64_t keys = 3);
  mhac_status run(mhac_context *context, const mhac_entry &called = entry) { return mhac_kernel_call(context, &called, &arguments); }
  size_t workspace_bytes(mhac_context *context, const mhac_entry &called = entry);
  void give_workspace(mhac_context *context, const mhac_entry &called = entry); // of exactly the size asked for
  bool untouched() const;                     // no output was written
  bool right() const;                         // y is what the formula says; dense outputs
  args arguments;
  std::vector<float> x, bias, y;
  std::vector<int64_t> starts, lengths;
  std::vector<char> workspace;
};

} // namespace toy
