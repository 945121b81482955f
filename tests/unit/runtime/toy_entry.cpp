// The toy entry's tables and kernels.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "toy_entry.h"

#include <algorithm>
#include <cstring>
#include <numeric>

namespace toy {

uint64_t features_cache = 0;
int return_code = 0;
int failing_row = -1;
std::atomic<candidate> ran{none};

namespace {

constexpr float unwritten = -12345.0f;

// Halide's layout, written down a second time on purpose: what the runtime lays out is read through other eyes.
struct dimension {
  int32_t min, extent, stride;
  uint32_t flags;
};
struct buffer {
  uint64_t device;
  void *device_interface;
  uint8_t *host;
  uint64_t flags;
  uint8_t code, bits;
  uint16_t lanes;
  int32_t dimensions;
  dimension *dim;
  void *padding;
  bool is(int want_code, int want_bits, int rank) const {
    return code == want_code && bits == want_bits && lanes == 1 && dimensions == rank;
  }
  template <typename T> T &at(int64_t i, int64_t j = 0, int64_t k = 0) const {
    int64_t offset = i * dim[0].stride + (dimensions > 1 ? j * dim[1].stride : 0) + (dimensions > 2 ? k * dim[2].stride : 0);
    return reinterpret_cast<T *>(host)[offset];
  }
};

struct double_loop {
  const buffer *x, *t;
  int32_t width;
};

// One batch row: t = 2 * x, through scratch memory as a compiled kernel would use it.
int double_row(void *user_context, int row, uint8_t *closure) {
  const double_loop &loop = *reinterpret_cast<double_loop *>(closure);
  if (loop.x->at<float>(0, 0, row) == static_cast<float>(1 + failing_row * loop.width * depth)) // x counts from 1
    return 77;
  auto *scratch = static_cast<float *>(mhac_kernel_alloc(user_context, depth * sizeof(float)));
  auto *more = static_cast<float *>(mhac_kernel_alloc(user_context, 64));
  if (!scratch || !more || reinterpret_cast<uintptr_t>(scratch) % 64 || reinterpret_cast<uintptr_t>(more) % 64)
    return 78;
  memset(more, 0, 64);
  for (int64_t w = 0; w < loop.width; ++w) {
    for (int64_t d = 0; d < depth; ++d)
      scratch[d] = 2 * loop.x->at<float>(d, w, row);
    for (int64_t d = 0; d < depth; ++d)
      loop.t->at<float>(d, w, row) = scratch[d];
  }
  mhac_kernel_free(user_context, more);
  mhac_kernel_free(user_context, scratch);
  return 0;
}

int double_kernel(void **argv) {
  void *user_context = *static_cast<void **>(argv[0]);
  double_loop loop = {static_cast<buffer *>(argv[1]), static_cast<buffer *>(argv[2]), *static_cast<int32_t *>(argv[3])};
  if (!loop.x->is(2, 32, 3) || !loop.t->is(2, 32, 3) || reinterpret_cast<uintptr_t>(loop.t->host) % 64 ||
      loop.t->dim[2].extent != loop.x->dim[2].extent || loop.x->dim[2].extent != *static_cast<int32_t *>(argv[4]))
    return 79;
  return mhac_kernel_parallel_for(user_context, double_row, 0, loop.x->dim[2].extent, reinterpret_cast<uint8_t *>(&loop));
}

template <candidate which> int sum_kernel(void **argv) {
  const auto *bias = static_cast<buffer *>(argv[1]), *t = static_cast<buffer *>(argv[2]), *starts = static_cast<buffer *>(argv[3]),
             *lengths = static_cast<buffer *>(argv[4]), *y = static_cast<buffer *>(argv[5]);
  ran = which;
  if (return_code != 0)
    return return_code;
  if (!starts->is(0, 64, 1) || !y->is(2, 32, 3) || y->dim[0].extent != depth)
    return 80;
  float sum = 0;
  for (int32_t k = 0; k < bias->dim[0].extent; ++k)
    sum += bias->at<float>(k);
  for (int32_t b = 0; b < y->dim[2].extent; ++b)
    for (int32_t w = 0; w < y->dim[1].extent; ++w)
      for (int32_t d = 0; d < depth; ++d) {
        int64_t place = w - starts->at<int64_t>(b);
        y->at<float>(d, w, b) = place >= 0 && place < lengths->at<int64_t>(b) ? t->at<float>(d, w, b) + sum : 0;
      }
  return 0;
}

enum { size_batch, size_width, size_keys, size_depth };
enum { argument_x, argument_bias, argument_starts, argument_lengths, argument_y };
#define AT(field) static_cast<int64_t>(offsetof(args, field))

const mhac_size sizes[] = {{"batch", AT(batch), 0, max_batch},
                           {"width", AT(width), 1, INT64_MAX},
                           {"keys", AT(keys), min_keys, max_keys},
                           {"depth", -1, depth, depth}};

constexpr int64_t type_float = 2 | 32 << 8 | 1 << 16, type_int64 = 0 | 64 << 8 | 1 << 16;
#define BATCH_WIDTH_DEPTH {{size_batch, 1, 1}, {size_width, 1, 1}, {size_depth, 1, 1}, {}, {}, {}}

const mhac_argument arguments[] = {
    {"x", AT(x), AT(x_strides), 4, type_float, 0, MHAC_CHECK_NONE, 0, 0, 3, BATCH_WIDTH_DEPTH},
    {"bias", AT(bias), -1, 4, type_float, 0, MHAC_CHECK_NONE, 0, 0, 1, {{size_keys, 1, 1}}},
    {"starts", AT(starts), -1, 8, type_int64, 0, MHAC_CHECK_RANGE, size_width, 0, 1, {{size_batch, 1, 1}}},
    {"lengths", AT(lengths), -1, 8, type_int64, 0, MHAC_CHECK_SUM, size_width, argument_starts, 1, {{size_batch, 1, 1}}},
    {"y", AT(y), AT(y_strides), 4, type_float, MHAC_ARGUMENT_OUTPUT, MHAC_CHECK_NONE, 0, 0, 3, BATCH_WIDTH_DEPTH}};

// The intermediate's width is rounded up to 16, to see extents with a divisor and a factor.
const mhac_workspace_buffer intermediates[] = {{4, type_float, 3, {{-1, 1, depth}, {size_width, 16, 16}, {size_batch, 1, 1}, {}, {}, {}}}};

const mhac_operand double_operands[] = {{MHAC_OPERAND_ARGUMENT, argument_x}, {MHAC_OPERAND_WORKSPACE, 0}, {MHAC_OPERAND_SIZE, size_width},
                                        {MHAC_OPERAND_SIZE, size_batch}};
const mhac_operand sum_operands[] = {{MHAC_OPERAND_ARGUMENT, argument_bias},
                                     {MHAC_OPERAND_WORKSPACE, 0},
                                     {MHAC_OPERAND_ARGUMENT, argument_starts},
                                     {MHAC_OPERAND_ARGUMENT, argument_lengths},
                                     {MHAC_OPERAND_ARGUMENT, argument_y}};

template <candidate which>
const mhac_kernel kernels[] = {{"double", double_kernel, 4, double_operands}, {"sum", sum_kernel<which>, 5, sum_operands}};

const mhac_guard one_worker[] = {{-1, 1, 1}}, two_workers[] = {{-1, 2, 2}}, wide[] = {{size_width, 100, INT64_MAX}},
                 four_rows_a_worker[] = {{size_batch, 4, max_batch, 1}};

#define BODY(which) 1, intermediates, 2, kernels<which>, arena_bytes, which == batch_major ? size_batch : -1
const mhac_candidate candidates[] = {{"v4", v4_features, 1, one_worker, BODY(v4)},
                                     {"v4", v4_features, 1, two_workers, BODY(v4_two_workers)},
                                     {"v3", v3_features, 1, wide, BODY(v3_wide)},
                                     {"baseline", 0, 0, nullptr, BODY(baseline)}};
const mhac_candidate batch_candidates[] = {{"baseline", 0, 1, four_rows_a_worker, BODY(batch_major)}, {"baseline", 0, 0, nullptr, BODY(baseline)}};

mhac_entry make_entry(const char *targets, int64_t candidate_count, const mhac_candidate *list = candidates) {
  return {&mhac_runtime_abi_1, "toy", "0.0.1", targets, &features_cache, sizeof(args), AT(workspace), AT(workspace_bytes), 4, sizes, 5,
          arguments, candidate_count, list};
}

} // namespace

const mhac_entry entry = make_entry("v4,v3,baseline", 4);
const mhac_entry entry_v4_only = make_entry("v4", 1);
const mhac_entry entry_batch_major = make_entry("baseline", 2, batch_candidates);

call::call(int64_t batch, int64_t width, int64_t keys)
    : x(batch * width * depth), bias(keys, 0.5f), y(batch * width * depth, unwritten), starts(batch, 0), lengths(batch, width) {
  features_cache = 0;
  return_code = 0;
  failing_row = -1;
  ran = none;
  std::iota(x.begin(), x.end(), 1.0f);
  if (batch > 0 && width > 1) {
    starts[0] = 1;
    lengths[0] = width - 1;
  }
  arguments = {sizeof(args),   batch,          width,    keys,    x.data(), nullptr, bias.data(),
               starts.data(), lengths.data(), y.data(), nullptr, nullptr,  0};
}

size_t call::workspace_bytes(mhac_context *context, const mhac_entry &called) {
  size_t bytes = 0;
  return mhac_kernel_workspace_bytes(context, &called, &arguments, &bytes) == MHAC_STATUS_OK ? bytes : SIZE_MAX;
}

void call::give_workspace(mhac_context *context, const mhac_entry &called) {
  workspace.resize(workspace_bytes(context, called));
  arguments.workspace = workspace.data();
  arguments.workspace_bytes = workspace.size();
}

bool call::untouched() const {
  return std::all_of(y.begin(), y.end(), [](float value) { return value == unwritten; });
}

bool call::right() const {
  float sum = 0.5f * static_cast<float>(bias.size());
  for (int64_t i = 0; i < static_cast<int64_t>(y.size()); ++i) {
    int64_t row = i / (arguments.width * depth), place = i / depth % arguments.width - starts[row];
    float want = place >= 0 && place < lengths[row] ? 2 * x[i] + sum : 0;
    if (y[i] != want)
      return false;
  }
  return true;
}

} // namespace toy
