// Calls in which one task runs all kernels for one element of the batch.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "support.h"
#include "toy_entry.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

namespace {

const mhac_entry &entry = toy::entry_batch_major;

TEST(BatchMajor, WantsFourElementsAWorker) {
  int cases = 0;
  for (int workers : {1, 2, 3}) {
    auto pool = make_pool(workers);
    auto context = make_context(mhac_thread_pool_parallel(pool.get()));
    for (int64_t batch : {1, 3, 4, 7, 8, 9, 11, 12, 13, 64}) { // mostly no multiple of the workers
      toy::call call(batch, 17);
      EXPECT_EQ(call.run(context.get(), entry), MHAC_STATUS_OK) << mhac_context_message(context.get());
      EXPECT_EQ(toy::ran, batch / workers >= 4 ? toy::batch_major : toy::baseline) << batch << " on " << workers;
      EXPECT_TRUE(call.right()) << batch << " on " << workers;
      ++cases;
    }
  }
  EXPECT_EQ(cases, 30);
}

// A pool of three that runs every task on the last worker, whose frame ends the workspace, and counts.
struct counting_pool {
  std::vector<int64_t> loops; // their numbers of tasks
  mhac_status status = MHAC_STATUS_OK;
  mhac_parallel interface() { return {this, 3, run}; }
  static mhac_status run(void *self, int64_t count, mhac_task task, void *closure) {
    auto &pool = *static_cast<counting_pool *>(self);
    pool.loops.push_back(count);
    if (pool.status != MHAC_STATUS_OK)
      return pool.status;
    for (int64_t i = 0; i < count; ++i)
      if (task(closure, i, 2) != 0)
        return MHAC_STATUS_INTERNAL;
    return MHAC_STATUS_OK;
  }
};

TEST(BatchMajor, IsOneLoopOverTheBatch) {
  counting_pool pool;
  toy::call call(14, 5);
  EXPECT_EQ(call.run(make_context(pool.interface()).get(), entry), MHAC_STATUS_OK);
  EXPECT_EQ(pool.loops, std::vector<int64_t>{14}); // those of the kernels are nested
  EXPECT_TRUE(call.right());
}

TEST(BatchMajor, FollowsStrides) {
  const int64_t batch = 5, width = 3, apart = 40;
  toy::call call(batch, width);
  std::vector<float> x(batch * apart, -1.0f), y(batch * apart, -1.0f);
  for (int64_t b = 0; b < batch; ++b)
    std::copy_n(call.x.begin() + b * width * toy::depth, width * toy::depth, x.begin() + b * apart);
  const int64_t strides[] = {apart, toy::depth, 1};
  call.arguments.x = x.data(), call.arguments.y = y.data();
  call.arguments.x_strides = call.arguments.y_strides = strides;
  EXPECT_EQ(call.run(make_context().get(), entry), MHAC_STATUS_OK);
  EXPECT_EQ(toy::ran, toy::batch_major);
  for (int64_t b = 0; b < batch; ++b) {
    std::copy_n(y.begin() + b * apart, width * toy::depth, call.y.begin() + b * width * toy::depth);
    for (int64_t i = width * toy::depth; i < apart; ++i)
      ASSERT_EQ(y[b * apart + i], -1.0f) << "written between the rows";
  }
  EXPECT_TRUE(call.right());
}

TEST(BatchMajor, WorkspaceIsThatOfOneElementAWorker) {
  counting_pool pool;
  auto one = make_context(), three = make_context(pool.interface());
  toy::call small(12, 16), wide(12, 17), large(60, 16);
  const size_t small_bytes = small.workspace_bytes(three.get(), entry);
  EXPECT_EQ(large.workspace_bytes(three.get(), entry), small_bytes);
  EXPECT_EQ(wide.workspace_bytes(three.get(), entry) - small_bytes, 3 * 16 * toy::depth * sizeof(float));
  EXPECT_EQ((small_bytes - 64) % 3, 0u);
  EXPECT_EQ(small.workspace_bytes(one.get(), entry) - 64, (small_bytes - 64) / 3);
}

TEST(BatchMajor, WorkspaceOfTheCallerIsNotExceeded) {
  counting_allocator memory;
  counting_pool pool;
  mhac_context_options options = MHAC_CONTEXT_OPTIONS_INIT;
  options.allocator = memory.interface();
  options.parallel = pool.interface();
  auto context = make_context(options);
  memory.allowed = 0;
  for (size_t shift = 0; shift < 64; ++shift) {
    toy::call call(13, 5);
    const size_t bytes = call.workspace_bytes(context.get(), entry);
    std::vector<char> workspace(shift + bytes + 64, 'c');
    call.arguments.workspace = workspace.data() + shift;
    call.arguments.workspace_bytes = bytes;
    ASSERT_EQ(call.run(context.get(), entry), MHAC_STATUS_OK);
    ASSERT_TRUE(call.right());
    ASSERT_EQ(std::string(workspace.data(), shift), std::string(shift, 'c'));
    ASSERT_EQ(std::string(workspace.data() + shift + bytes, 64), std::string(64, 'c'));
  }
}

TEST(BatchMajor, EmptyBatchRunsNothing) {
  mhac_entry only = entry;
  const mhac_candidate candidate = [&] {
    mhac_candidate unguarded = entry.candidates[0];
    unguarded.guard_count = 0;
    return unguarded;
  }();
  only.candidate_count = 1;
  only.candidates = &candidate;
  toy::call call(0, 3);
  EXPECT_EQ(call.workspace_bytes(nullptr, only), 0u);
  EXPECT_EQ(call.run(nullptr, only), MHAC_STATUS_OK);
  EXPECT_EQ(toy::ran, toy::none);
}

TEST(BatchMajor, KernelFailureReachesTheCaller) {
  for (int threads : {1, 2}) {
    auto pool = make_pool(threads);
    auto context = make_context(mhac_thread_pool_parallel(pool.get()));
    toy::call first(20, 3), second(20, 3);
    toy::failing_row = 11;
    EXPECT_EQ(first.run(context.get(), entry), MHAC_STATUS_INTERNAL);
    EXPECT_STREQ(mhac_context_message(context.get()), "toy: kernel 'double': found return code 77, wanted 0");
    toy::failing_row = -1;
    toy::return_code = -3;
    EXPECT_EQ(second.run(context.get(), entry), MHAC_STATUS_INTERNAL);
    EXPECT_STREQ(mhac_context_message(context.get()), "toy: kernel 'sum': found return code -3, wanted 0");
    EXPECT_TRUE(second.untouched());
  }
}

TEST(BatchMajor, StatusOfAnApplicationsPoolReachesTheCaller) {
  counting_pool pool;
  pool.status = MHAC_STATUS_THREAD;
  auto context = make_context(pool.interface());
  toy::call call(20, 3);
  EXPECT_EQ(call.run(context.get(), entry), MHAC_STATUS_THREAD);
  EXPECT_STREQ(mhac_context_message(context.get()), "toy: size 'batch': the parallel loop could not run: a thread could not be started");
  EXPECT_TRUE(call.untouched());
}

} // namespace
