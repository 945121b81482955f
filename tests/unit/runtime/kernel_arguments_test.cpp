// The checks of the argument struct: status and message of each, and that legal unusual arguments pass.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "support.h"
#include "toy_entry.h"

#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <vector>

namespace {

struct wrong_case {
  std::function<void(toy::call &)> change;
  mhac_status status;
  const char *message;
};

using strides = int64_t[3];
const strides negative = {12, -3, 1}, inner_two = {24, 8, 2}, inner_zero = {12, 4, 0}, huge = {INT64_C(1) << 31, 4, 1},
              enormous = {INT64_MAX, INT64_MAX, 1}, wide_span = {INT32_MAX, 4, 1}, broadcast = {0, 0, 1}, rows_overlap = {11, 4, 1},
              same = {4, 4, 1}, transposed = {4, 8, 1};

#define CHANGE(statement) [](toy::call &call) { toy::args &a = call.arguments; (void)a; statement; }

const wrong_case wrong_cases[] = {
    {CHANGE(a.struct_size = 0), MHAC_STATUS_STRUCT_SIZE, "argument 'struct_size': found 0, wanted >= 104"},
    {CHANGE(a.batch = -1), MHAC_STATUS_SIZE_NEGATIVE, "argument 'batch': found -1, wanted >= 0"},
    {CHANGE(a.width = INT64_MIN), MHAC_STATUS_SIZE_NEGATIVE, "argument 'width': found -9223372036854775808, wanted >= 0"},
    {CHANGE(a.width = 0), MHAC_STATUS_SIZE_BOUND, "argument 'width': found 0, wanted 1 .. 9223372036854775807"},
    {CHANGE(a.batch = 65), MHAC_STATUS_SIZE_BOUND, "argument 'batch': found 65, wanted 0 .. 64"},
    {CHANGE(a.batch = INT64_MAX), MHAC_STATUS_SIZE_BOUND, "argument 'batch': found 9223372036854775807, wanted 0 .. 64"},
    {CHANGE(a.width = INT64_MAX), MHAC_STATUS_SIZE_TOO_LARGE, "argument 'width': found 9223372036854775807, wanted <= 2147483647"},
    {CHANGE(a.width = 1 << 30), MHAC_STATUS_SIZE_TOO_LARGE, "argument 'x': found a span of 8589934592 elements, wanted <= 2147483647"},
    {CHANGE(a.x = nullptr), MHAC_STATUS_NULL_ARGUMENT, "argument 'x': found NULL, wanted a pointer to elements"},
    {CHANGE(a.lengths = nullptr), MHAC_STATUS_NULL_ARGUMENT, "argument 'lengths': found NULL, wanted a pointer to elements"},
    {CHANGE(a.y = nullptr), MHAC_STATUS_NULL_ARGUMENT, "argument 'y': found NULL, wanted a pointer to elements"},
    {CHANGE(a.x = reinterpret_cast<float *>(reinterpret_cast<char *>(call.x.data()) + 1)), MHAC_STATUS_ALIGNMENT,
     "argument 'x': found an address 1 past a multiple of 4, wanted one aligned to its element of 4 bytes"},
    {CHANGE(a.starts = reinterpret_cast<int64_t *>(reinterpret_cast<char *>(call.starts.data()) + 4)), MHAC_STATUS_ALIGNMENT,
     "argument 'starts': found an address 4 past a multiple of 8, wanted one aligned to its element of 8 bytes"},
    {CHANGE(a.x_strides = negative), MHAC_STATUS_STRIDE, "argument 'x_strides': found stride -3 in dimension 1, wanted >= 0"},
    {CHANGE(a.x_strides = inner_two), MHAC_STATUS_STRIDE, "argument 'x_strides': found stride 2 in the innermost dimension 2, wanted 1"},
    {CHANGE(a.x_strides = inner_zero), MHAC_STATUS_STRIDE, "argument 'x_strides': found stride 0 in the innermost dimension 2, wanted 1"},
    {CHANGE(a.x_strides = huge), MHAC_STATUS_SIZE_TOO_LARGE,
     "argument 'x_strides': found stride 2147483648 in dimension 0, wanted <= 2147483647"},
    {CHANGE(a.x_strides = enormous), MHAC_STATUS_SIZE_TOO_LARGE,
     "argument 'x_strides': found stride 9223372036854775807 in dimension 0, wanted <= 2147483647"},
    {CHANGE(a.y_strides = wide_span), MHAC_STATUS_SIZE_TOO_LARGE,
     "argument 'y': found a span of 2147483659 elements, wanted <= 2147483647"},
    {CHANGE(a.y_strides = broadcast), MHAC_STATUS_STRIDE,
     "argument 'y_strides': found stride 0 in dimension 1, wanted >= 1: the elements of an output must not overlap"},
    {CHANGE(a.y_strides = rows_overlap), MHAC_STATUS_STRIDE,
     "argument 'y_strides': found stride 11 in dimension 0, wanted >= 12: the elements of an output must not overlap"},
    {CHANGE(a.y_strides = same), MHAC_STATUS_STRIDE,
     "argument 'y_strides': found stride 4 in dimension 0, wanted >= 12: the elements of an output must not overlap"},
    {CHANGE(call.starts[1] = -1), MHAC_STATUS_VALUE_RANGE, "argument 'starts': found value -1 at element 1, wanted 0 .. 3"},
    {CHANGE(call.starts[0] = 4), MHAC_STATUS_VALUE_RANGE, "argument 'starts': found value 4 at element 0, wanted 0 .. 3"},
    {CHANGE(call.starts[0] = 2), MHAC_STATUS_VALUE_RANGE,
     "argument 'lengths': found value 2 at element 0 with 2 in 'starts', wanted a sum <= 3"},
    {CHANGE(call.lengths[1] = INT64_MAX), MHAC_STATUS_VALUE_RANGE,
     "argument 'lengths': found value 9223372036854775807 at element 1, wanted 0 .. 3"}};

TEST(KernelArguments, WrongOnesAreNamedAndNothingIsWritten) {
  auto context = make_context();
  int cases = 0;
  for (const wrong_case &each : wrong_cases) {
    toy::call call(2, 3);
    each.change(call);
    EXPECT_EQ(call.run(context.get()), each.status) << each.message;
    EXPECT_EQ(std::string(mhac_context_message(context.get())), std::string("toy: ") + each.message);
    EXPECT_TRUE(call.untouched()) << each.message;
    EXPECT_EQ(toy::ran, toy::none) << each.message;
    ++cases;
  }
  EXPECT_EQ(cases, 26);
}

TEST(KernelArguments, NullStructIsAnswered) {
  auto context = make_context();
  EXPECT_EQ(mhac_kernel_call(context.get(), &toy::entry, nullptr), MHAC_STATUS_NULL_ARGUMENT);
  EXPECT_STREQ(mhac_context_message(context.get()), "toy: argument 'args': found NULL, wanted a pointer to toy_args");
  toy::call call(1, 1);
  EXPECT_EQ(mhac_kernel_call(context.get(), nullptr, &call.arguments), MHAC_STATUS_NULL_ARGUMENT);
  EXPECT_EQ(mhac_kernel_call(nullptr, nullptr, nullptr), MHAC_STATUS_NULL_ARGUMENT);
}

// An extent that is a multiple of a size can leave 32 bits although every size fits, also when the tensor is empty.
TEST(KernelArguments, ExtentsMustFitWhateverTheOthersAre) {
  std::vector<mhac_argument> arguments(toy::entry.arguments, toy::entry.arguments + toy::entry.argument_count);
  arguments[0].dims[1].factor = 8;
  mhac_entry wider = toy::entry;
  wider.arguments = arguments.data();
  auto context = make_context();
  toy::call call(0, 1);
  call.arguments.width = INT32_MAX;
  EXPECT_EQ(call.run(context.get(), wider), MHAC_STATUS_SIZE_TOO_LARGE);
  EXPECT_STREQ(mhac_context_message(context.get()), "toy: argument 'x': found extent 17179869176 in dimension 1, wanted <= 2147483647");
  EXPECT_EQ(call.run(context.get()), MHAC_STATUS_OK);
}

TEST(KernelArguments, LongerStructOfANewerHeaderPasses) {
  toy::call call(2, 3);
  call.arguments.struct_size += 16;
  EXPECT_EQ(call.run(make_context().get()), MHAC_STATUS_OK);
  EXPECT_TRUE(call.right());
}

TEST(KernelArguments, ZeroStridesOfInputsBroadcast) {
  toy::call call(2, 3);
  call.arguments.x_strides = broadcast;
  EXPECT_EQ(call.run(make_context().get()), MHAC_STATUS_OK);
  for (size_t i = 4; i < call.x.size(); ++i)
    call.x[i] = call.x[i % 4];
  EXPECT_TRUE(call.right());
}

TEST(KernelArguments, OutputStridesMayHaveAnyOrder) {
  toy::call call(2, 3); // dimensions batch 2, width 3: rows of 4 at 4 * batch + 8 * width
  call.arguments.y_strides = transposed;
  EXPECT_EQ(call.run(make_context().get()), MHAC_STATUS_OK);
  std::vector<float> seen = call.y;
  for (int64_t b = 0; b < 2; ++b)
    for (int64_t w = 0; w < 3; ++w)
      for (int64_t d = 0; d < 4; ++d)
        call.y[(b * 3 + w) * 4 + d] = seen[b * 4 + w * 8 + d];
  EXPECT_TRUE(call.right());
}

TEST(KernelArguments, StridesOfSingleIndicesDoNotMatter) {
  static const int64_t single[] = {1, 0, 1};
  toy::call call(1, 1);
  call.arguments.y_strides = call.arguments.x_strides = single;
  EXPECT_EQ(call.run(make_context().get()), MHAC_STATUS_OK);
  EXPECT_TRUE(call.right());
}

TEST(KernelArguments, PositionsHaveThirtyOneBits) {
  mhac_argument list[5];
  std::copy(toy::entry.arguments, toy::entry.arguments + 5, list);
  list[2].check = MHAC_CHECK_POSITION; // "starts"
  list[3].check = MHAC_CHECK_NONE;
  mhac_entry entry = toy::entry;
  entry.arguments = list;
  toy::call call(2, 3);
  auto context = make_context();
  for (int64_t value : {INT64_C(-1) << 30, INT64_C(0), INT64_C(1) << 30}) {
    call.starts[1] = value;
    EXPECT_EQ(call.run(context.get(), entry), MHAC_STATUS_OK) << mhac_context_message(context.get());
  }
  for (int64_t value : {(INT64_C(-1) << 30) - 1, (INT64_C(1) << 30) + 1, INT64_MIN, INT64_MAX}) {
    call.starts[1] = value;
    EXPECT_EQ(call.run(context.get(), entry), MHAC_STATUS_VALUE_RANGE);
    EXPECT_NE(std::string(mhac_context_message(context.get())).find("at element 1, wanted -1073741824 .. 1073741824"), std::string::npos);
  }
}

TEST(KernelArguments, EmptyTensorsMayBeNull) {
  toy::call call(2, 3, 0);
  call.arguments.bias = nullptr;
  EXPECT_EQ(call.run(make_context().get()), MHAC_STATUS_OK);
  EXPECT_NE(toy::ran, toy::none); // no keys: the outputs must be written all the same
  EXPECT_TRUE(call.right());
}

} // namespace
