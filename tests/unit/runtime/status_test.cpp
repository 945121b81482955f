// Every status code, provoked through the interface that applications use; no output is written on the way.
// pthread_create is wrapped by the linker (see CMakeLists.txt), so that a thread can fail to start.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "support.h"
#include "toy_entry.h"

#include <gtest/gtest.h>

#include <cerrno>
#include <cstddef>
#include <functional>
#include <pthread.h>
#include <set>
#include <string>

static int threads_allowed = 1 << 30; // further ones fail to start
extern "C" int __real_pthread_create(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *);
extern "C" int __wrap_pthread_create(pthread_t *thread, const pthread_attr_t *attributes, void *(*body)(void *), void *argument) {
  return threads_allowed-- <= 0 ? EAGAIN : __real_pthread_create(thread, attributes, body, argument);
}

namespace {

constexpr mhac_status untouched_failed = static_cast<mhac_status>(1000);

// The status of a call after `change`, in a plain context.
mhac_status status_after(const std::function<void(toy::call &)> &change, const mhac_context_options &options = MHAC_CONTEXT_OPTIONS_INIT) {
  toy::call call(2, 3);
  change(call);
  auto context = make_context(options);
  mhac_status status = call.run(context.get());
  if (status != MHAC_STATUS_OK && (!call.untouched() || std::string(mhac_context_message(context.get())).rfind("toy: ", 0) != 0))
    return untouched_failed;
  return status;
}

mhac_status out_of_memory() {
  counting_allocator memory;
  memory.allowed = 1; // the context itself
  mhac_context_options options = MHAC_CONTEXT_OPTIONS_INIT;
  options.allocator = memory.interface();
  return status_after([](toy::call &) {}, options);
}

mhac_status unsupported_cpu() {
  mhac_context_options options = MHAC_CONTEXT_OPTIONS_INIT;
  options.cpu_features = MHAC_CPU_AVX;
  auto context = make_context(options);
  toy::call call(2, 3);
  mhac_status status = call.run(context.get(), toy::entry_v4_only);
  return call.untouched() ? status : untouched_failed;
}

mhac_status forked() {
  auto pool = make_pool(2);
  auto context = make_context(mhac_thread_pool_parallel(pool.get()));
  toy::call call(2, 3);
  int result = in_child([&] {
    mhac_status status = call.run(context.get());
    return call.untouched() ? status : 255;
  });
  return static_cast<mhac_status>(result);
}

mhac_status thread() {
  mhac_thread_pool *pool = nullptr;
  threads_allowed = 1; // of two: the one that runs must be ended again
  mhac_status status = mhac_thread_pool_create(3, nullptr, &pool);
  threads_allowed = 1 << 30;
  return pool == nullptr ? status : untouched_failed;
}

mhac_status invalid_option() {
  mhac_thread_pool *pool = nullptr;
  return mhac_thread_pool_create(-1, nullptr, &pool);
}

mhac_status workspace_missing() {
  toy::call call(2, 3);
  mhac_status status = call.run(nullptr);
  return call.untouched() ? status : untouched_failed;
}

mhac_status prepared() {
  alignas(64) static char state[4096]; // of no entry
  static const mhac_workspace_buffer table = {4, 2 | 32 << 8 | 1 << 16, 1, {{MHAC_EXTENT_POSITIONS, 1, 1}}};
  mhac_entry entry = toy::entry;
  entry.prepared_offset = offsetof(toy::args, workspace);
  entry.prepared_tag = 1;
  entry.prepared_count = 1;
  entry.prepared = &table;
  toy::call call(2, 3);
  call.arguments.workspace = state;
  call.arguments.workspace_bytes = sizeof(state);
  mhac_status status = call.run(make_context().get(), entry);
  return call.untouched() ? status : untouched_failed;
}

struct provocation {
  mhac_status status;
  std::function<mhac_status()> provoke;
};

std::vector<provocation> provocations() {
  static const int64_t overlapping[] = {4, 4, 1};
  auto after = [](auto change) { return [change] { return status_after(change); }; };
  return {{MHAC_STATUS_OK, after([](toy::call &) {})},
          {MHAC_STATUS_NULL_ARGUMENT, after([](toy::call &call) { call.arguments.x = nullptr; })},
          {MHAC_STATUS_STRUCT_SIZE, after([](toy::call &call) { call.arguments.struct_size -= 8; })},
          {MHAC_STATUS_SIZE_NEGATIVE, after([](toy::call &call) { call.arguments.batch = -1; })},
          {MHAC_STATUS_SIZE_BOUND, after([](toy::call &call) { call.arguments.batch = toy::max_batch + 1; })},
          {MHAC_STATUS_SIZE_TOO_LARGE, after([](toy::call &call) { call.arguments.width = INT64_C(1) << 32; })},
          {MHAC_STATUS_STRIDE, after([](toy::call &call) { call.arguments.y_strides = overlapping; })},
          {MHAC_STATUS_ALIGNMENT, after([](toy::call &call) {
             call.arguments.y = reinterpret_cast<float *>(reinterpret_cast<char *>(call.y.data()) + 2);
           })},
          {MHAC_STATUS_VALUE_RANGE, after([](toy::call &call) { call.lengths[1] = 4; })},
          {MHAC_STATUS_WORKSPACE_SIZE, after([](toy::call &call) {
             call.give_workspace(nullptr);
             --call.arguments.workspace_bytes;
           })},
          {MHAC_STATUS_WORKSPACE_MISSING, workspace_missing},
          {MHAC_STATUS_OUT_OF_MEMORY, out_of_memory},
          {MHAC_STATUS_UNSUPPORTED_CPU, unsupported_cpu},
          {MHAC_STATUS_FORKED, forked},
          {MHAC_STATUS_THREAD, thread},
          {MHAC_STATUS_INVALID_OPTION, invalid_option},
          {MHAC_STATUS_INTERNAL, after([](toy::call &) { toy::return_code = -3; })},
          {MHAC_STATUS_PREPARED, prepared}};
}

TEST(Status, EveryCodeCanBeProvokedAndWritesNoOutput) {
  std::set<int> seen, all;
  for (const provocation &each : provocations()) {
    EXPECT_EQ(each.provoke(), each.status) << mhac_status_name(each.status);
    seen.insert(each.status);
  }
#define MHAC_STATUS(name, number, sentence) all.insert(number);
#include <mhac/status.def>
#undef MHAC_STATUS
  EXPECT_EQ(seen, all);
  EXPECT_EQ(provocations().size(), 18u);
}

TEST(Status, EveryCodeHasItsNameAndSentence) {
#define MHAC_STATUS(name, number, sentence)                          \
  EXPECT_STREQ(mhac_status_name(MHAC_STATUS_##name), #name);         \
  EXPECT_STREQ(mhac_status_string(MHAC_STATUS_##name), sentence);    \
  EXPECT_EQ(MHAC_STATUS_##name, number);
#include <mhac/status.def>
#undef MHAC_STATUS
}

TEST(Status, UnknownNumbersAreAnswered) {
  EXPECT_STREQ(mhac_status_name(static_cast<mhac_status>(1 << 20)), "UNKNOWN");
  EXPECT_STREQ(mhac_status_string(static_cast<mhac_status>(1 << 20)), "unknown status");
}

} // namespace
