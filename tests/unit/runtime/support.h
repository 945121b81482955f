// Small owners for the tests of the runtime.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <mhac/runtime.h>

#include <cstdlib>
#include <memory>
#include <sys/wait.h>
#include <unistd.h>

struct context_deleter {
  void operator()(mhac_context *context) const { mhac_context_destroy(context); }
};
using context_owner = std::unique_ptr<mhac_context, context_deleter>;

inline context_owner make_context(const mhac_context_options &options = MHAC_CONTEXT_OPTIONS_INIT) {
  mhac_context *context = nullptr;
  mhac_context_create(&options, &context);
  return context_owner(context);
}

inline context_owner make_context(const mhac_parallel &parallel) {
  mhac_context_options options = MHAC_CONTEXT_OPTIONS_INIT;
  options.parallel = parallel;
  return make_context(options);
}

struct pool_deleter {
  void operator()(mhac_thread_pool *pool) const { mhac_thread_pool_destroy(pool); }
};
using pool_owner = std::unique_ptr<mhac_thread_pool, pool_deleter>;

inline pool_owner make_pool(int threads) {
  mhac_thread_pool *pool = nullptr;
  mhac_thread_pool_create(threads, nullptr, &pool);
  return pool_owner(pool);
}

// Counts, and fails from the given allocation on.
struct counting_allocator {
  int allocations = 0, releases = 0, allowed = 1 << 30;
  size_t live_bytes = 0, last_bytes = 0;
  mhac_allocator interface() { return {this, allocate, release}; }
  static void *allocate(void *self, size_t bytes, size_t alignment) {
    auto &counts = *static_cast<counting_allocator *>(self);
    void *memory = nullptr;
    if (counts.allocations >= counts.allowed || posix_memalign(&memory, alignment, bytes) != 0)
      return nullptr;
    ++counts.allocations;
    counts.live_bytes += bytes;
    counts.last_bytes = bytes;
    return memory;
  }
  static void release(void *self, void *memory, size_t bytes) {
    auto &counts = *static_cast<counting_allocator *>(self);
    ++counts.releases;
    counts.live_bytes -= bytes;
    free(memory);
  }
};

// What `body` returns in a child of fork(); -1 when the child did not end by itself. alarm() ends a child that hangs.
template <typename Body> int in_child(Body body) {
  pid_t child = fork();
  if (child == 0) {
    alarm(30);
    _exit(body());
  }
  int result = 0;
  if (waitpid(child, &result, 0) != child || !WIFEXITED(result))
    return -1;
  return WEXITSTATUS(result);
}
