// The hooks that compiled kernels call: scratch memory and parallel loops. The kernel here is a callback, which
// reaches the hooks as generated code does.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "support.h"
#include "toy_entry.h"

#include <gtest/gtest.h>

#include <atomic>
#include <cstring>
#include <functional>
#include <thread>

namespace {

std::function<int(void *user_context)> body; // of the kernel below
int callback_kernel(void **argv) { return body(*static_cast<void **>(argv[0])); }

// Calls `kernel` with arenas of `arena_bytes` on `parallel`'s threads.
mhac_status call_kernel(int64_t arena_bytes, const mhac_parallel &parallel, std::function<int(void *)> kernel) {
  body = std::move(kernel);
  const mhac_kernel kernels[] = {{"callback", callback_kernel, 0, nullptr}};
  const mhac_candidate candidate = {"any", 0, 0, nullptr, 0, nullptr, 1, kernels, arena_bytes, -1};
  mhac_entry entry = toy::entry;
  entry.candidate_count = 1;
  entry.candidates = &candidate;
  toy::call call(1, 1);
  return call.run(make_context(parallel).get(), entry);
}

const mhac_parallel serial = {nullptr, 0, nullptr};

bool aligned(void *memory) { return memory && reinterpret_cast<uintptr_t>(memory) % 64 == 0; }

TEST(KernelAlloc, GivesWhatTheArenaWasPlannedFor) {
  mhac_status status = call_kernel((64 + 64) + (64 + 128) + (64 + 0), serial, [](void *context) {
    void *a = mhac_kernel_alloc(context, 1), *b = mhac_kernel_alloc(context, 65), *c = mhac_kernel_alloc(context, 0);
    EXPECT_TRUE(aligned(a) && aligned(b) && aligned(c));
    memset(a, 1, 1);
    memset(b, 2, 65);
    EXPECT_EQ(*static_cast<char *>(a), 1);
    EXPECT_EQ(mhac_kernel_alloc(context, 0), nullptr);
    mhac_kernel_free(context, c);
    mhac_kernel_free(context, b);
    mhac_kernel_free(context, a);
    return 0;
  });
  EXPECT_EQ(status, MHAC_STATUS_OK);
}

TEST(KernelAlloc, ReusesMemoryFreedInAnyOrder) {
  const int orders[6][3] = {{0, 1, 2}, {0, 2, 1}, {1, 0, 2}, {1, 2, 0}, {2, 0, 1}, {2, 1, 0}};
  mhac_status status = call_kernel(3 * 128, serial, [&](void *context) {
    for (const auto &order : orders) {
      void *blocks[3];
      for (void *&block : blocks)
        block = mhac_kernel_alloc(context, 64);
      if (!aligned(blocks[0]) || !aligned(blocks[1]) || !aligned(blocks[2]))
        return 1;
      for (int which : order)
        mhac_kernel_free(context, blocks[which]);
    }
    return 0;
  });
  EXPECT_EQ(status, MHAC_STATUS_OK);
}

TEST(KernelAlloc, KeepsLiveBlocksWhenOlderOnesGo) {
  mhac_status status = call_kernel(3 * 128, serial, [](void *context) {
    void *a = mhac_kernel_alloc(context, 64), *b = mhac_kernel_alloc(context, 64);
    mhac_kernel_free(context, a);
    void *c = mhac_kernel_alloc(context, 64);
    EXPECT_NE(b, c); // b is alive, so only the room above it is free
    EXPECT_EQ(mhac_kernel_alloc(context, 64), nullptr);
    mhac_kernel_free(context, b);
    mhac_kernel_free(context, c);
    EXPECT_EQ(mhac_kernel_alloc(context, 64), a);
    return 0;
  });
  EXPECT_EQ(status, MHAC_STATUS_OK);
}

TEST(KernelAlloc, RefusesWhatDoesNotFit) {
  mhac_status status = call_kernel(128, serial, [](void *context) {
    EXPECT_EQ(mhac_kernel_alloc(context, 65), nullptr);
    EXPECT_EQ(mhac_kernel_alloc(context, SIZE_MAX), nullptr);
    EXPECT_EQ(mhac_kernel_alloc(context, SIZE_MAX - 63), nullptr);
    mhac_kernel_free(context, nullptr);
    EXPECT_NE(mhac_kernel_alloc(context, 64), nullptr);
    return 0;
  });
  EXPECT_EQ(status, MHAC_STATUS_OK);
  EXPECT_EQ(call_kernel(0, serial, [](void *context) { return mhac_kernel_alloc(context, 0) == nullptr ? 0 : 1; }), MHAC_STATUS_OK);
}

struct counted {
  std::atomic<int> tasks[100];
  std::atomic<int> refused{0};
  int failing = -1;
};

// Fills the whole arena of its worker and checks that nobody else writes there.
int filling_task(void *user_context, int task, uint8_t *closure) {
  counted &count = *reinterpret_cast<counted *>(closure);
  auto *memory = static_cast<unsigned char *>(mhac_kernel_alloc(user_context, 4096));
  if (!memory)
    return ++count.refused;
  memset(memory, task, 4096);
  ++count.tasks[task];
  for (int i = 0; i < 4096; ++i)
    if (memory[i] != static_cast<unsigned char>(task))
      ++count.refused;
  mhac_kernel_free(user_context, memory);
  return task == count.failing ? 5 : 0;
}

TEST(KernelParallelFor, GivesEachWorkerItsArena) {
  for (int threads : {1, 4}) {
    auto pool = make_pool(threads);
    counted count = {};
    mhac_status status = call_kernel(64 + 4096, mhac_thread_pool_parallel(pool.get()), [&](void *context) {
      return mhac_kernel_parallel_for(context, filling_task, 10, 90, reinterpret_cast<uint8_t *>(&count));
    });
    EXPECT_EQ(status, MHAC_STATUS_OK);
    EXPECT_EQ(count.refused, 0);
    for (int task = 0; task < 100; ++task)
      EXPECT_EQ(count.tasks[task], task < 10 ? 0 : 1) << task;
  }
}

struct nest {
  std::atomic<int> arrived{0}, moved{0}, inner{0};
  void *contexts[2];
};

// Two outer tasks that wait for each other, so that they run on two threads; their inner loops must stay on the task's own worker.
int nesting_task(void *user_context, int task, uint8_t *closure) {
  nest &outer = *reinterpret_cast<nest *>(closure);
  outer.contexts[task] = user_context;
  ++outer.arrived;
  while (outer.arrived < 2)
    std::this_thread::yield();
  struct row {
    nest *outer;
    void *context;
  } inner = {&outer, user_context};
  auto inner_task = [](void *user_context, int, uint8_t *closure) {
    row &inner = *reinterpret_cast<row *>(closure);
    inner.outer->moved += user_context != inner.context;
    ++inner.outer->inner;
    return 0;
  };
  return mhac_kernel_parallel_for(user_context, inner_task, 0, 100, reinterpret_cast<uint8_t *>(&inner));
}

#if defined(__SSE__)
// The product of the smallest normal number and a half, made where the compiler cannot make it.
float below_normal() {
  volatile float smallest = 1.17549435e-38f, half = 0.5f;
  return smallest * half;
}

TEST(KernelFloatMode, FlushesInKernelsAndTasksOnly) {
  ASSERT_GT(below_normal(), 0.f);
  auto pool = make_pool(2);
  std::atomic<int> tasks_that_flush{0};
  auto task = [](void *, int, uint8_t *counter) {
    *reinterpret_cast<std::atomic<int> *>(counter) += below_normal() == 0.f;
    return 0;
  };
  mhac_status status = call_kernel(0, mhac_thread_pool_parallel(pool.get()), [&](void *context) {
    EXPECT_EQ(below_normal(), 0.f);
    return mhac_kernel_parallel_for(context, task, 0, 64, reinterpret_cast<uint8_t *>(&tasks_that_flush));
  });
  EXPECT_EQ(status, MHAC_STATUS_OK);
  EXPECT_EQ(tasks_that_flush, 64);
  EXPECT_GT(below_normal(), 0.f);
}
#endif

TEST(KernelParallelFor, NestedLoopsStayOnTheirWorker) {
  auto pool = make_pool(3);
  nest outer;
  mhac_status status = call_kernel(0, mhac_thread_pool_parallel(pool.get()), [&](void *context) {
    return mhac_kernel_parallel_for(context, nesting_task, 0, 2, reinterpret_cast<uint8_t *>(&outer));
  });
  EXPECT_EQ(status, MHAC_STATUS_OK);
  EXPECT_EQ(outer.moved, 0);
  EXPECT_EQ(outer.inner, 200);
  EXPECT_NE(outer.contexts[0], outer.contexts[1]);
}

TEST(KernelParallelFor, NegativeAndZeroCountsRunNothing) {
  auto run = [](void *context) {
    counted count = {};
    auto *closure = reinterpret_cast<uint8_t *>(&count);
    int code = mhac_kernel_parallel_for(context, filling_task, 0, 0, closure);
    code += mhac_kernel_parallel_for(context, filling_task, 0, -3, closure);
    return code + count.tasks[0];
  };
  EXPECT_EQ(call_kernel(64 + 4096, mhac_thread_pool_parallel(make_pool(2).get()), run), MHAC_STATUS_OK);
}

TEST(KernelParallelFor, CodeOfAFailingTaskIsReturned) {
  for (int threads : {1, 3}) {
    auto pool = make_pool(threads);
    counted count = {};
    count.failing = 42;
    mhac_status status = call_kernel(64 + 4096, mhac_thread_pool_parallel(pool.get()), [&](void *context) {
      int code = mhac_kernel_parallel_for(context, filling_task, 0, 100, reinterpret_cast<uint8_t *>(&count));
      EXPECT_EQ(code, 5);
      return code;
    });
    EXPECT_EQ(status, MHAC_STATUS_INTERNAL);
  }
}

TEST(KernelParallelFor, PoolWithAWrongWorkerIsRefused) {
  auto wrong = [](void *, int64_t, mhac_task task, void *closure) {
    return task(closure, 0, 2) == 0 ? MHAC_STATUS_OK : MHAC_STATUS_INTERNAL;
  };
  counted count = {};
  mhac_status status = call_kernel(64 + 4096, {nullptr, 2, wrong}, [&](void *context) {
    return mhac_kernel_parallel_for(context, filling_task, 0, 2, reinterpret_cast<uint8_t *>(&count));
  });
  EXPECT_EQ(status, MHAC_STATUS_INTERNAL);
  EXPECT_EQ(count.tasks[0], 0);
}

} // namespace
