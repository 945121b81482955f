// State that is made once: bytes, checks, and what kernels see of it.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "halide_buffer.h"
#include "support.h"
#include "toy_entry.h"

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <memory>

namespace {

struct args {
  toy::args toy;
  const void *prepared;
};

// What the call's kernel saw of the state.
int32_t seen_extent;
float seen_first, seen_last;

/// table(p, row) = 100 row + p.
int prepare_kernel(void **argv) {
  auto *table = static_cast<mhac_buffer *>(argv[1]);
  auto *data = reinterpret_cast<float *>(table->host);
  for (int32_t row = 0; row < table->dim[1].extent; ++row)
    for (int32_t p = 0; p < table->dim[0].extent; ++p)
      data[row * table->dim[1].stride + p] = static_cast<float>(100 * row + p);
  return toy::return_code;
}

int call_kernel(void **argv) {
  auto *table = static_cast<mhac_buffer *>(argv[1]);
  auto *data = reinterpret_cast<float *>(table->host);
  seen_extent = table->dim[0].extent;
  seen_first = data[0];
  seen_last = seen_extent > 0 ? data[table->dim[1].stride + seen_extent - 1] : -1;
  return 0;
}

const mhac_operand table_operand[] = {{MHAC_OPERAND_PREPARED, 0}};
const mhac_kernel prepare_kernels[] = {{"prepare", prepare_kernel, 1, table_operand}};
const mhac_kernel call_kernels[] = {{"call", call_kernel, 1, table_operand}};
const mhac_workspace_buffer table = {4, 2 | 32 << 8 | 1 << 16, 2, {{MHAC_EXTENT_POSITIONS, 16, 16}, {-1, 1, 2}, {}, {}, {}, {}}};
const mhac_candidate candidate = {"baseline", 0, 0, nullptr, 0, nullptr, 1, call_kernels, 0, -1, 1, prepare_kernels};

mhac_entry make_entry() {
  mhac_entry entry = toy::entry;
  entry.args_bytes = sizeof(args);
  entry.candidate_count = 1;
  entry.candidates = &candidate;
  entry.prepared_offset = offsetof(args, prepared);
  entry.prepared_tag = 0x1234;
  entry.position_sizes = 1 << 1; // "width"
  entry.prepared_count = 1;
  entry.prepared = &table;
  return entry;
}

const mhac_entry entry = make_entry();

struct Free {
  void operator()(char *memory) const { std::free(memory); }
};

struct Prepared : testing::Test {
  toy::call call{2, 20};
  args arguments{};
  context_owner context = make_context();
  std::unique_ptr<char, Free> state;

  Prepared() {
    setWidth(20);
    arguments.toy.struct_size = sizeof(args);
  }
  /// Arguments of a call with so many positions.
  void setWidth(int64_t width) {
    call = toy::call(2, width);
    arguments.toy = call.arguments;
    arguments.toy.struct_size = sizeof(args);
  }
  size_t bytes() {
    size_t result = 1;
    EXPECT_EQ(mhac_kernel_prepared_bytes(context.get(), &entry, &arguments, &result), MHAC_STATUS_OK);
    return result;
  }
  void prepare() {
    state.reset(static_cast<char *>(std::aligned_alloc(64, bytes())));
    ASSERT_EQ(mhac_kernel_prepare(context.get(), &entry, &arguments, state.get()), MHAC_STATUS_OK) << mhac_context_message(context.get());
  }
  mhac_status run() { return mhac_kernel_call(context.get(), &entry, &arguments); }
  std::string message() { return mhac_context_message(context.get()); }
};

TEST_F(Prepared, HasOneMorePositionThanTheLongestSequence) {
  setWidth(15);
  EXPECT_EQ(bytes(), 64 + 16 * 2 * 4 + 2 * 64u); // header, table, two lines behind it
  setWidth(16);
  EXPECT_EQ(bytes(), 64 + 32 * 2 * 4 + 2 * 64u);
}

TEST_F(Prepared, IsSeenByKernels) {
  prepare();
  arguments.prepared = state.get();
  ASSERT_EQ(run(), MHAC_STATUS_OK) << message();
  EXPECT_EQ(seen_extent, 32);
  EXPECT_EQ(seen_first, 0);
  EXPECT_EQ(seen_last, 131);
}

TEST_F(Prepared, ServesShorterCallsWithItsOwnExtents) {
  prepare();
  setWidth(3);
  arguments.prepared = state.get();
  ASSERT_EQ(run(), MHAC_STATUS_OK) << message();
  EXPECT_EQ(seen_extent, 32);
}

TEST_F(Prepared, HasNoExtentWhereThereIsNone) {
  ASSERT_EQ(run(), MHAC_STATUS_OK) << message();
  EXPECT_EQ(seen_extent, 0);
}

TEST_F(Prepared, RefusesLongerCalls) {
  prepare();
  setWidth(21);
  arguments.prepared = state.get();
  EXPECT_EQ(run(), MHAC_STATUS_PREPARED);
  EXPECT_NE(message().find("found state for sequences of up to 20, wanted 21"), std::string::npos) << message();
}

TEST_F(Prepared, RefusesStateOfAnotherLayer) {
  prepare();
  state.get()[0] ^= 1;
  arguments.prepared = state.get();
  EXPECT_EQ(run(), MHAC_STATUS_PREPARED);
  EXPECT_NE(message().find("found a tag of 0x1235"), std::string::npos) << message();
}

TEST_F(Prepared, WantsAlignedMemory) {
  prepare();
  arguments.prepared = state.get() + 8;
  EXPECT_EQ(run(), MHAC_STATUS_ALIGNMENT);
  EXPECT_EQ(mhac_kernel_prepare(context.get(), &entry, &arguments, state.get() + 8), MHAC_STATUS_ALIGNMENT);
}

TEST_F(Prepared, ReportsWhatIsMissing) {
  EXPECT_EQ(mhac_kernel_prepare(context.get(), &entry, &arguments, nullptr), MHAC_STATUS_NULL_ARGUMENT);
  EXPECT_EQ(mhac_kernel_prepared_bytes(context.get(), &entry, &arguments, nullptr), MHAC_STATUS_NULL_ARGUMENT);
  arguments.toy.width = -1;
  size_t result = 1;
  EXPECT_EQ(mhac_kernel_prepared_bytes(context.get(), &entry, &arguments, &result), MHAC_STATUS_SIZE_NEGATIVE);
  EXPECT_EQ(result, 0u);
}

TEST_F(Prepared, RefusesTablesThatKernelsCannotAddress) {
  arguments.toy.width = int64_t(1) << 30;
  size_t result = 1;
  EXPECT_EQ(mhac_kernel_prepared_bytes(context.get(), &entry, &arguments, &result), MHAC_STATUS_SIZE_TOO_LARGE);
}

TEST_F(Prepared, IsNoStateAfterAFailure) {
  prepare();
  toy::return_code = 3;
  EXPECT_EQ(mhac_kernel_prepare(context.get(), &entry, &arguments, state.get()), MHAC_STATUS_INTERNAL);
  toy::return_code = 0;
  arguments.prepared = state.get();
  EXPECT_EQ(run(), MHAC_STATUS_PREPARED);
}

TEST_F(Prepared, WorksWithoutAContext) {
  prepare();
  EXPECT_EQ(mhac_kernel_prepare(nullptr, &entry, &arguments, state.get()), MHAC_STATUS_OK);
}

} // namespace
