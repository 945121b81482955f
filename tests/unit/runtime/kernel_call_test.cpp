// Calls of a function: which candidate runs, where its memory comes from, on which threads, and what is left in the context.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "support.h"
#include "toy_entry.h"

#include <gtest/gtest.h>

#include <atomic>
#include <cstring>
#include <string>
#include <thread>
#include <vector>

namespace {

// ---- Candidates ----

struct choice {
  uint64_t machine, mask;
  int workers;
  int64_t width;
  toy::candidate want;
};

constexpr uint64_t detected = MHAC_CPU_DETECTED, v4_machine = detected | toy::v3_features | toy::v4_features,
                   v3_machine = detected | toy::v3_features;

const choice choices[] = {{v4_machine, 0, 1, 3, toy::v4},
                          {v4_machine, 0, 2, 3, toy::v4_two_workers},
                          {v4_machine, 0, 3, 3, toy::baseline}, // v4 has guards for one and two workers, v3 for wide calls only
                          {v4_machine, 0, 3, 100, toy::v3_wide},
                          {v4_machine, toy::v3_features, 1, 100, toy::v3_wide},
                          {v4_machine, toy::v3_features, 1, 99, toy::baseline},
                          {v4_machine, MHAC_CPU_AVX2, 1, 100, toy::baseline}, // half of v3 is not v3
                          {v4_machine, detected, 1, 100, toy::baseline},
                          {v3_machine, ~UINT64_C(0), 1, 100, toy::v3_wide}, // a mask never adds what the machine lacks
                          {v3_machine, 0, 2, 5, toy::baseline},
                          {detected, 0, 2, 100, toy::baseline}};

TEST(KernelCall, RunsTheFirstCandidateThatFits) {
  int cases = 0;
  for (const choice &each : choices) {
    auto pool = make_pool(each.workers);
    mhac_context_options options = MHAC_CONTEXT_OPTIONS_INIT;
    options.parallel = mhac_thread_pool_parallel(pool.get());
    options.cpu_features = each.mask;
    auto context = make_context(options);
    toy::call call(2, each.width);
    toy::features_cache = each.machine;
    EXPECT_EQ(call.run(context.get()), MHAC_STATUS_OK) << cases;
    EXPECT_EQ(toy::ran, each.want) << cases;
    EXPECT_TRUE(call.right()) << cases;
    ++cases;
  }
  EXPECT_EQ(cases, 11);
}

TEST(KernelCall, NoCandidateNamesTheTargets) {
  auto context = make_context();
  toy::call call(2, 3);
  toy::features_cache = v3_machine;
  EXPECT_EQ(call.run(context.get(), toy::entry_v4_only), MHAC_STATUS_UNSUPPORTED_CPU);
  EXPECT_STREQ(mhac_context_message(context.get()),
               "toy: found no kernel for this CPU (features 0x8000000000000018) among the targets v4");
}

TEST(KernelCall, KeepsTheFeaturesInTheObject) {
  toy::call call(2, 3);
  EXPECT_EQ(call.run(make_context().get()), MHAC_STATUS_OK);
  EXPECT_EQ(toy::features_cache, mhac_cpu_features());
}

TEST(KernelCall, DescribesTheEntry) {
  toy::call reset(1, 1);
  toy::features_cache = v3_machine;
  mhac_kernel_info info = {sizeof(info), nullptr, nullptr, nullptr, nullptr};
  mhac_kernel_describe(&toy::entry, &info);
  EXPECT_EQ(info.struct_size, sizeof(info));
  EXPECT_EQ(std::string(info.name) + " " + info.version + " " + info.targets + " " + info.selected, "toy 0.0.1 v4,v3,baseline v3");
  mhac_kernel_describe(&toy::entry_v4_only, &info);
  EXPECT_EQ(info.selected, nullptr);
  mhac_kernel_info older = {offsetof(mhac_kernel_info, targets), nullptr, nullptr, "kept", "kept"};
  mhac_kernel_describe(&toy::entry, &older);
  EXPECT_STREQ(older.version, "0.0.1");
  EXPECT_STREQ(older.targets, "kept");
  mhac_kernel_describe(&toy::entry, nullptr);
}

// ---- Empty calls ----

TEST(KernelCall, EmptyOutputsNeedNothing) {
  toy::call call(0, 3);
  EXPECT_EQ(call.workspace_bytes(nullptr), 0u);
  EXPECT_EQ(call.run(nullptr), MHAC_STATUS_OK);
  EXPECT_EQ(toy::ran, toy::none);
}

TEST(KernelCall, EmptyOutputsAreStillChecked) {
  toy::call call(0, 3);
  call.arguments.keys = -1;
  EXPECT_EQ(call.run(nullptr), MHAC_STATUS_SIZE_NEGATIVE);
}

TEST(KernelCall, NoKeysStillRun) {
  toy::call call(2, 3, 0);
  EXPECT_EQ(call.run(make_context().get()), MHAC_STATUS_OK);
  EXPECT_NE(toy::ran, toy::none);
  EXPECT_TRUE(call.right());
}

// ---- Workspace ----

mhac_status no_loop(void *, int64_t, mhac_task, void *) { return MHAC_STATUS_INTERNAL; }
context_owner context_with_workers(int workers) { return make_context(mhac_parallel{nullptr, workers, no_loop}); }

TEST(KernelWorkspace, GrowsByTheFormula) {
  toy::call small(1, 16), large(3, 33);
  toy::features_cache = detected; // one candidate for every number of workers
  auto one = context_with_workers(1), five = context_with_workers(5);
  // Intermediate: batch * width rounded up to 16 * depth floats.
  EXPECT_EQ(large.workspace_bytes(one.get()) - small.workspace_bytes(one.get()), (3 * 48 - 16) * toy::depth * sizeof(float));
  EXPECT_EQ(small.workspace_bytes(five.get()) - small.workspace_bytes(one.get()), 4u * (64 + toy::arena_bytes));
  EXPECT_EQ(small.workspace_bytes(nullptr), small.workspace_bytes(one.get()));
}

TEST(KernelWorkspace, NeedsNoTensors) {
  toy::call call(2, 3);
  size_t with = call.workspace_bytes(nullptr);
  toy::args sizes_only = {sizeof(toy::args), 2, 3, 3, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr, 0};
  size_t without = 0;
  EXPECT_EQ(mhac_kernel_workspace_bytes(nullptr, &toy::entry, &sizes_only, &without), MHAC_STATUS_OK);
  EXPECT_EQ(without, with);
}

TEST(KernelWorkspace, AsksForCheckedSizes) {
  toy::call call(2, 3);
  size_t bytes = 99;
  auto context = make_context();
  EXPECT_EQ(mhac_kernel_workspace_bytes(context.get(), &toy::entry, &call.arguments, nullptr), MHAC_STATUS_NULL_ARGUMENT);
  call.arguments.width = INT32_MAX; // the intermediate would not be addressable
  EXPECT_EQ(mhac_kernel_workspace_bytes(context.get(), &toy::entry, &call.arguments, &bytes), MHAC_STATUS_SIZE_TOO_LARGE);
  EXPECT_EQ(bytes, 0u);
  EXPECT_STREQ(mhac_context_message(context.get()),
               "toy: workspace: found an intermediate of 17179869184 elements, wanted <= 2147483647");
  call.arguments.width = -1;
  EXPECT_EQ(mhac_kernel_workspace_bytes(context.get(), &toy::entry, &call.arguments, &bytes), MHAC_STATUS_SIZE_NEGATIVE);
}

// Every task on the last worker, whose arena ends the workspace.
mhac_status loop_on_last_worker(void *, int64_t count, mhac_task task, void *closure) {
  for (int64_t i = 0; i < count; ++i)
    if (task(closure, i, 2) != 0)
      return MHAC_STATUS_INTERNAL;
  return MHAC_STATUS_OK;
}

TEST(KernelWorkspace, MayStartAnywhereAndIsNotExceeded) {
  auto context = make_context(mhac_parallel{nullptr, 3, loop_on_last_worker});
  for (size_t shift = 0; shift < 64; ++shift) {
    toy::call call(3, 5);
    size_t bytes = call.workspace_bytes(context.get());
    std::vector<char> memory(shift + bytes + 64, 'c');
    call.arguments.workspace = memory.data() + shift;
    call.arguments.workspace_bytes = bytes;
    ASSERT_EQ(call.run(context.get()), MHAC_STATUS_OK);
    ASSERT_TRUE(call.right());
    ASSERT_EQ(std::string(memory.data(), shift), std::string(shift, 'c'));
    ASSERT_EQ(std::string(memory.data() + shift + bytes, 64), std::string(64, 'c'));
  }
}

TEST(KernelWorkspace, TooSmallIsSaidWithBothSizes) {
  auto context = make_context();
  toy::call call(2, 3);
  call.give_workspace(context.get());
  call.arguments.workspace_bytes = 100;
  EXPECT_EQ(call.run(context.get()), MHAC_STATUS_WORKSPACE_SIZE);
  EXPECT_EQ(std::string(mhac_context_message(context.get())),
            "toy: argument 'workspace_bytes': found 100, wanted >= " + std::to_string(call.workspace.size()));
  EXPECT_TRUE(call.untouched());
}

TEST(KernelWorkspace, OfTheCallerMeansNoAllocation) {
  counting_allocator memory;
  auto pool = make_pool(2);
  mhac_context_options options = MHAC_CONTEXT_OPTIONS_INIT;
  options.allocator = memory.interface();
  options.parallel = mhac_thread_pool_parallel(pool.get());
  auto context = make_context(options);
  toy::call call(4, 9);
  call.give_workspace(context.get());
  memory.allocations = memory.allowed = 0;
  for (int i = 0; i < 10; ++i)
    EXPECT_EQ(call.run(context.get()), MHAC_STATUS_OK);
  EXPECT_TRUE(call.right());
  EXPECT_EQ(memory.allocations, 0);
}

TEST(KernelWorkspace, OfTheContextIsOneAllocationGivenBack) {
  counting_allocator memory;
  mhac_context_options options = MHAC_CONTEXT_OPTIONS_INIT;
  options.allocator = memory.interface();
  auto context = make_context(options);
  size_t before = memory.live_bytes;
  toy::call call(4, 9);
  for (int code : {0, 1}) { // also when the kernel fails
    toy::return_code = code;
    memory.allocations = memory.releases = 0;
    EXPECT_EQ(call.run(context.get()), code == 0 ? MHAC_STATUS_OK : MHAC_STATUS_INTERNAL);
    EXPECT_EQ(memory.allocations, 1);
    EXPECT_EQ(memory.releases, 1);
    EXPECT_EQ(memory.last_bytes, call.workspace_bytes(context.get()));
    EXPECT_EQ(memory.live_bytes, before);
  }
}

// ---- Threads ----

TEST(KernelCall, WithoutContextRunsSeriallyInTheWorkspace) {
  toy::call call(5, 17);
  call.give_workspace(nullptr);
  EXPECT_EQ(call.run(nullptr), MHAC_STATUS_OK);
  EXPECT_TRUE(call.right());
}

// A pool as an application would write it: a thread a worker.
mhac_status thread_a_worker(void *self, int64_t count, mhac_task task, void *closure) {
  std::atomic<int64_t> next{0};
  std::atomic<bool> failed{false};
  std::vector<std::thread> threads;
  for (int worker = 0; worker < *static_cast<int *>(self); ++worker)
    threads.emplace_back([&, worker] {
      for (int64_t i = next++; i < count; i = next++)
        if (task(closure, i, worker) != 0)
          failed = true;
    });
  for (std::thread &thread : threads)
    thread.join();
  return failed ? MHAC_STATUS_INTERNAL : MHAC_STATUS_OK;
}

TEST(KernelCall, RunsOnAnApplicationsThreads) {
  int workers = 3;
  auto context = make_context(mhac_parallel{&workers, workers, thread_a_worker});
  for (int64_t batch : {1, 2, 64}) {
    toy::call call(batch, 7);
    EXPECT_EQ(call.run(context.get()), MHAC_STATUS_OK);
    EXPECT_TRUE(call.right());
  }
}

TEST(KernelCall, ContextsShareAPool) {
  auto pool = make_pool(2);
  std::atomic<int> wrong{0};
  std::vector<std::unique_ptr<toy::call>> calls;
  for (int i = 0; i < 4; ++i)
    calls.push_back(std::make_unique<toy::call>(16, 7));
  toy::features_cache = detected;
  std::vector<std::thread> callers;
  for (auto &call : calls)
    callers.emplace_back([&wrong, &pool, &call] {
      auto context = make_context(mhac_thread_pool_parallel(pool.get()));
      for (int i = 0; i < 100; ++i)
        wrong += call->run(context.get()) != MHAC_STATUS_OK || !call->right();
    });
  for (std::thread &each : callers)
    each.join();
  EXPECT_EQ(wrong, 0);
}

// ---- Failures inside ----

TEST(KernelCall, NamesTheKernelThatFailed) {
  auto context = make_context();
  toy::call call(2, 3);
  toy::return_code = -3;
  EXPECT_EQ(call.run(context.get()), MHAC_STATUS_INTERNAL);
  EXPECT_STREQ(mhac_context_message(context.get()), "toy: kernel 'sum': found return code -3, wanted 0");
}

TEST(KernelCall, TaskFailureReachesTheCaller) {
  for (int threads : {1, 2}) {
    auto pool = make_pool(threads);
    auto context = make_context(mhac_thread_pool_parallel(pool.get()));
    toy::call call(20, 3);
    toy::failing_row = 11;
    EXPECT_EQ(call.run(context.get()), MHAC_STATUS_INTERNAL);
    EXPECT_STREQ(mhac_context_message(context.get()), "toy: kernel 'double': found return code 77, wanted 0");
    EXPECT_TRUE(call.untouched());
  }
}

TEST(KernelCall, StatusOfAnApplicationsPoolReachesTheCaller) {
  auto context = make_context(mhac_parallel{nullptr, 2, [](void *, int64_t, mhac_task, void *) { return MHAC_STATUS_THREAD; }});
  toy::call call(2, 3);
  EXPECT_EQ(call.run(context.get()), MHAC_STATUS_THREAD);
  EXPECT_STREQ(mhac_context_message(context.get()),
               "toy: kernel 'double': the parallel loop could not run: a thread could not be started");
  EXPECT_TRUE(call.untouched());
}

TEST(KernelCall, AfterForkIsAnsweredBeforeAnythingIsWritten) {
  auto pool = make_pool(2);
  auto context = make_context(mhac_thread_pool_parallel(pool.get()));
  toy::call call(1, 3); // one task: would not even reach the pool
  EXPECT_EQ(in_child([&] { return call.run(context.get()) == MHAC_STATUS_FORKED && call.untouched() ? 0 : 1; }), 0);
  EXPECT_EQ(call.run(context.get()), MHAC_STATUS_OK);
}

} // namespace
