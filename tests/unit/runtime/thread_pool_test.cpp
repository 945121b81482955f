// The thread pool: every task runs exactly once, on its own worker, whoever starts loops and from wherever. Also
// built with ThreadSanitizer.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "support.h"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <thread>
#include <vector>

namespace {

// A loop that notes how often each task ran and whether a worker was ever in use twice. `runs` is plain memory on purpose: tasks write what
// the caller reads afterwards without further synchronisation.
struct recorded_loop {
  explicit recorded_loop(int64_t count, int concurrency) : runs(count, 0), in_use(concurrency) {}
  std::vector<int> runs;
  std::vector<std::atomic<int>> in_use;
  std::atomic<int> violations{0};
  int64_t failing = -1;
  static int task(void *closure, int64_t task, int worker) {
    auto &loop = *static_cast<recorded_loop *>(closure);
    if (worker < 0 || worker >= static_cast<int>(loop.in_use.size()) || loop.in_use[worker].exchange(1) != 0)
      ++loop.violations;
    ++loop.runs[task];
    loop.in_use[worker] = 0;
    return task == loop.failing ? 1 : 0;
  }
  mhac_status run(const mhac_parallel &parallel) {
    return parallel.parallel_for(parallel.self, static_cast<int64_t>(runs.size()), task, this);
  }
  bool ran_each_once() const {
    for (int each : runs)
      if (each != 1)
        return false;
    return violations == 0;
  }
};

const int thread_counts[] = {1, 2, 3, 8};

TEST(ThreadPool, RunsEachTaskOnce) {
  int loops = 0;
  for (int threads : thread_counts) {
    auto pool = make_pool(threads);
    mhac_parallel parallel = mhac_thread_pool_parallel(pool.get());
    for (int64_t count : {0, 1, 2, 3, 7, 64, 1000, 20000}) {
      recorded_loop loop(count, threads);
      EXPECT_EQ(loop.run(parallel), MHAC_STATUS_OK);
      EXPECT_TRUE(loop.ran_each_once()) << threads << " threads, " << count << " tasks";
      ++loops;
    }
  }
  EXPECT_EQ(loops, 32);
}

TEST(ThreadPool, ManyShortLoopsFollowEachOther) {
  auto pool = make_pool(3);
  mhac_parallel parallel = mhac_thread_pool_parallel(pool.get());
  for (int i = 0; i < 2000; ++i) {
    recorded_loop loop(1 + i % 5, 3);
    ASSERT_EQ(loop.run(parallel), MHAC_STATUS_OK);
    ASSERT_TRUE(loop.ran_each_once()) << "loop " << i;
  }
}

// Two tasks that wait for each other: the loop ends only when two threads run it at the same time. The task of the pool's thread then takes
// long, so that its caller has to wait; each leaves a result in plain memory.
struct meeting {
  std::atomic<int> arrived{0};
  int results[2] = {0, 0};
  std::chrono::milliseconds late{0};
  bool held() const { return results[0] == 1 && results[1] == 2; }
  static int task(void *closure, int64_t task, int worker) {
    auto &met = *static_cast<meeting *>(closure);
    ++met.arrived;
    while (met.arrived < 2)
      std::this_thread::yield();
    if (worker != 0)
      std::this_thread::sleep_for(met.late);
    met.results[task] = static_cast<int>(task) + 1;
    return 0;
  }
};

TEST(ThreadPool, RunsTasksAtTheSameTimeAndWaitsForThem) {
  int loops = 0;
  for (int threads : {2, 3, 8}) // more threads than CPUs sleep and wake by other ways than few
    for (int late : {0, 3}) {
      auto pool = make_pool(threads);
      mhac_parallel parallel = mhac_thread_pool_parallel(pool.get());
      for (int i = 0; i < 10; ++i) {
        meeting met;
        met.late = std::chrono::milliseconds(late);
        ASSERT_EQ(parallel.parallel_for(parallel.self, 2, meeting::task, &met), MHAC_STATUS_OK);
        ASSERT_TRUE(met.held());
        ++loops;
      }
    }
  EXPECT_EQ(loops, 60);
}

TEST(ThreadPool, SleepingThreadsWakeUp) {
  auto pool = make_pool(2);
  mhac_parallel parallel = mhac_thread_pool_parallel(pool.get());
  for (int i = 0; i < 10; ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(5)); // longer than threads spin
    meeting met;
    EXPECT_EQ(parallel.parallel_for(parallel.self, 2, meeting::task, &met), MHAC_STATUS_OK);
    EXPECT_TRUE(met.held());
  }
}

TEST(ThreadPool, NestedLoopsRun) {
  struct nest {
    mhac_parallel parallel;
    std::vector<int> runs = std::vector<int>(10 * 20, 0);
  } outer;
  auto pool = make_pool(3);
  outer.parallel = mhac_thread_pool_parallel(pool.get());
  struct row {
    nest *outer;
    int64_t index;
  };
  auto outer_task = [](void *closure, int64_t task, int) -> int {
    row inner = {static_cast<nest *>(closure), task};
    auto inner_task = [](void *closure, int64_t task, int worker) {
      row &inner = *static_cast<row *>(closure);
      ++inner.outer->runs[inner.index * 20 + task];
      return worker == 0 ? 0 : 1; // the pool is busy: serial, as worker 0 of the inner loop
    };
    return inner.outer->parallel.parallel_for(inner.outer->parallel.self, 20, inner_task, &inner);
  };
  EXPECT_EQ(outer.parallel.parallel_for(outer.parallel.self, 10, outer_task, &outer), MHAC_STATUS_OK);
  EXPECT_EQ(outer.runs, std::vector<int>(200, 1));
}

TEST(ThreadPool, ConcurrentLoopsOfManyThreadsRun) {
  auto pool = make_pool(2);
  mhac_parallel parallel = mhac_thread_pool_parallel(pool.get());
  std::atomic<int> wrong{0};
  auto caller = [&] {
    for (int i = 0; i < 200; ++i) {
      recorded_loop loop(50, 2);
      if (loop.run(parallel) != MHAC_STATUS_OK || !loop.ran_each_once())
        ++wrong;
    }
  };
  std::vector<std::thread> callers;
  for (int i = 0; i < 4; ++i)
    callers.emplace_back(caller);
  for (std::thread &each : callers)
    each.join();
  EXPECT_EQ(wrong, 0);
}

TEST(ThreadPool, FailingTaskFailsTheLoopAndNotTheNext) {
  for (int threads : thread_counts) {
    auto pool = make_pool(threads);
    mhac_parallel parallel = mhac_thread_pool_parallel(pool.get());
    recorded_loop bad(100, threads), good(100, threads);
    bad.failing = 40;
    EXPECT_EQ(bad.run(parallel), MHAC_STATUS_INTERNAL) << threads;
    EXPECT_EQ(bad.violations, 0);
    EXPECT_EQ(good.run(parallel), MHAC_STATUS_OK) << threads;
    EXPECT_TRUE(good.ran_each_once());
  }
}

TEST(ThreadPool, ForkedChildGetsAStatusAndCanDestroy) {
  mhac_thread_pool *pool = nullptr;
  ASSERT_EQ(mhac_thread_pool_create(3, nullptr, &pool), MHAC_STATUS_OK);
  mhac_parallel parallel = mhac_thread_pool_parallel(pool);
  recorded_loop before(100, 3);
  EXPECT_EQ(before.run(parallel), MHAC_STATUS_OK);
  std::this_thread::sleep_for(std::chrono::milliseconds(5)); // the threads sleep: the child must not wait for them on their condition
  int result = in_child([&] {
    recorded_loop loop(10, 3);
    bool refused = loop.run(parallel) == MHAC_STATUS_FORKED && loop.runs == std::vector<int>(10, 0);
    mhac_thread_pool_destroy(pool);
    return refused ? 0 : 1;
  });
  EXPECT_EQ(result, 0);
  recorded_loop after(100, 3); // the parent's pool is as before
  EXPECT_EQ(after.run(parallel), MHAC_STATUS_OK);
  EXPECT_TRUE(after.ran_each_once());
  mhac_thread_pool_destroy(pool);
}

TEST(ThreadPool, IsCreatedAndDestroyedWithoutLoops) {
  for (int i = 0; i < 50; ++i)
    EXPECT_NE(make_pool(1 + i % 4), nullptr);
  mhac_thread_pool_destroy(nullptr);
}

TEST(ThreadPool, ChecksItsOptions) {
  mhac_thread_pool *pool = reinterpret_cast<mhac_thread_pool *>(1);
  mhac_allocator half = {nullptr, counting_allocator::allocate, nullptr};
  EXPECT_EQ(mhac_thread_pool_create(2, nullptr, nullptr), MHAC_STATUS_NULL_ARGUMENT);
  EXPECT_EQ(mhac_thread_pool_create(1025, nullptr, &pool), MHAC_STATUS_INVALID_OPTION);
  EXPECT_EQ(pool, nullptr);
  EXPECT_EQ(mhac_thread_pool_create(2, &half, &pool), MHAC_STATUS_INVALID_OPTION);
}

TEST(ThreadPool, ZeroThreadsMeansTheCpusOfTheProcess) {
  auto pool = make_pool(0);
  int concurrency = mhac_thread_pool_parallel(pool.get()).concurrency;
  EXPECT_GE(concurrency, 1);
  EXPECT_LE(concurrency, 1024);
  EXPECT_EQ(mhac_thread_pool_parallel(nullptr).parallel_for, nullptr);
}

TEST(ThreadPool, LivesInTheGivenAllocator) {
  counting_allocator memory;
  mhac_allocator allocator = memory.interface();
  mhac_thread_pool *pool = nullptr;
  ASSERT_EQ(mhac_thread_pool_create(2, &allocator, &pool), MHAC_STATUS_OK);
  recorded_loop loop(100, 2);
  EXPECT_EQ(loop.run(mhac_thread_pool_parallel(pool)), MHAC_STATUS_OK);
  mhac_thread_pool_destroy(pool);
  EXPECT_EQ(memory.allocations, 1);
  EXPECT_EQ(memory.live_bytes, 0u);
  memory.allowed = 1;
  EXPECT_EQ(mhac_thread_pool_create(2, &allocator, &pool), MHAC_STATUS_OUT_OF_MEMORY);
}

} // namespace
