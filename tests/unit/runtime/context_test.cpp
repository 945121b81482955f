// Contexts: options, defaults, allocation and messages.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "support.h"
#include "toy_entry.h"

extern "C" {
#include "format.h"
}

#include <gtest/gtest.h>

#include <climits>
#include <cstdarg>
#include <string>
#include <vector>

namespace {

mhac_status no_loop(void *, int64_t, mhac_task, void *) { return MHAC_STATUS_OK; }

mhac_status create_status(const mhac_context_options &options) {
  mhac_context *context = reinterpret_cast<mhac_context *>(1);
  mhac_status status = mhac_context_create(&options, &context);
  EXPECT_EQ(context == nullptr, status != MHAC_STATUS_OK);
  if (status == MHAC_STATUS_OK)
    mhac_context_destroy(context);
  return status;
}

TEST(Context, DefaultsToOneThread) {
  mhac_context *context = nullptr;
  ASSERT_EQ(mhac_context_create(nullptr, &context), MHAC_STATUS_OK);
  EXPECT_EQ(mhac_context_concurrency(context), 1);
  EXPECT_STREQ(mhac_context_message(context), "");
  mhac_context_destroy(context);
}

TEST(Context, NullIsAnswered) {
  EXPECT_EQ(mhac_context_create(nullptr, nullptr), MHAC_STATUS_NULL_ARGUMENT);
  EXPECT_EQ(mhac_context_concurrency(nullptr), 1);
  EXPECT_STREQ(mhac_context_message(nullptr), "");
  mhac_context_destroy(nullptr);
}

TEST(Context, ChecksTheStructSize) {
  mhac_context_options options = MHAC_CONTEXT_OPTIONS_INIT;
  options.struct_size = 0;
  EXPECT_EQ(create_status(options), MHAC_STATUS_STRUCT_SIZE);
  options.struct_size = sizeof(options) - 8;
  EXPECT_EQ(create_status(options), MHAC_STATUS_STRUCT_SIZE);
  options.struct_size = sizeof(options) + 8; // from a newer header
  EXPECT_EQ(create_status(options), MHAC_STATUS_OK);
}

TEST(Context, ChecksTheConcurrency) {
  mhac_context_options options = MHAC_CONTEXT_OPTIONS_INIT;
  options.parallel = {nullptr, 0, no_loop};
  EXPECT_EQ(create_status(options), MHAC_STATUS_INVALID_OPTION);
  options.parallel.concurrency = 5;
  EXPECT_EQ(create_status(options), MHAC_STATUS_OK);
  EXPECT_EQ(mhac_context_concurrency(make_context(options).get()), 5);
  options.parallel.parallel_for = nullptr; // threads without a loop are none
  EXPECT_EQ(mhac_context_concurrency(make_context(options).get()), 1);
}

TEST(Context, RefusesHalfAnAllocator) {
  mhac_context_options options = MHAC_CONTEXT_OPTIONS_INIT;
  options.allocator = {nullptr, counting_allocator::allocate, nullptr};
  EXPECT_EQ(create_status(options), MHAC_STATUS_INVALID_OPTION);
  options.allocator = {nullptr, nullptr, counting_allocator::release};
  EXPECT_EQ(create_status(options), MHAC_STATUS_INVALID_OPTION);
}

TEST(Context, LivesInTheGivenAllocator) {
  counting_allocator memory;
  mhac_context_options options = MHAC_CONTEXT_OPTIONS_INIT;
  options.allocator = memory.interface();
  EXPECT_EQ(create_status(options), MHAC_STATUS_OK);
  EXPECT_EQ(memory.allocations, 1);
  EXPECT_EQ(memory.releases, 1);
  EXPECT_EQ(memory.live_bytes, 0u);
  memory.allowed = 1;
  EXPECT_EQ(create_status(options), MHAC_STATUS_OUT_OF_MEMORY);
}

TEST(Context, KeepsTheMessageUntilTheNextCall) {
  auto context = make_context();
  toy::call call(2, 3);
  call.arguments.batch = -7;
  EXPECT_EQ(call.run(context.get()), MHAC_STATUS_SIZE_NEGATIVE);
  EXPECT_STREQ(mhac_context_message(context.get()), "toy: argument 'batch': found -7, wanted >= 0");
  call.arguments.batch = 2;
  EXPECT_EQ(call.run(context.get()), MHAC_STATUS_OK);
  EXPECT_STREQ(mhac_context_message(context.get()), "");
}

TEST(Context, LogReceivesEveryMessage) {
  std::vector<std::string> lines;
  mhac_context_options options = MHAC_CONTEXT_OPTIONS_INIT;
  options.log = {&lines, [](void *self, mhac_status status, const char *text) {
                   static_cast<std::vector<std::string> *>(self)->push_back(std::string(mhac_status_name(status)) + " " + text);
                 }};
  auto context = make_context(options);
  toy::call call(2, 3);
  EXPECT_EQ(call.run(context.get()), MHAC_STATUS_OK);
  call.arguments.keys = 2000;
  EXPECT_EQ(call.run(context.get()), MHAC_STATUS_SIZE_BOUND);
  ASSERT_EQ(lines.size(), 1u);
  EXPECT_EQ(lines[0], "SIZE_BOUND toy: argument 'keys': found 2000, wanted 0 .. 1000");
}

TEST(Context, CutsAMessageThatIsTooLong) {
  std::string name(1000, 'n');
  mhac_entry renamed = toy::entry;
  renamed.name = name.c_str();
  auto context = make_context();
  toy::call call(2, 3);
  call.arguments.x = nullptr;
  EXPECT_EQ(call.run(context.get(), renamed), MHAC_STATUS_NULL_ARGUMENT);
  std::string message = mhac_context_message(context.get());
  EXPECT_GT(message.size(), 100u);
  EXPECT_EQ(message, name.substr(0, message.size()));
}

std::string formatted(size_t room, const char *format, ...) {
  std::string text(room, '?');
  va_list arguments;
  va_start(arguments, format);
  const size_t length = mhac_format(text.data(), room, format, arguments);
  va_end(arguments);
  EXPECT_EQ(text[length], 0);
  return text.substr(0, length);
}

TEST(Format, WritesWhatPrintfWould) {
  EXPECT_EQ(formatted(40, "%s %d %u %x %%", "a", -7, 7u, 255u), "a -7 7 ff %");
  EXPECT_EQ(formatted(90, "%ld %lld %zu %lx %d", LONG_MIN, LLONG_MAX, SIZE_MAX, 0xabcdef0123456789ul, 0),
            std::to_string(LONG_MIN) + " " + std::to_string(LLONG_MAX) + " " + std::to_string(SIZE_MAX) + " abcdef0123456789 0");
}

TEST(Format, CutsOff) {
  EXPECT_EQ(formatted(4, "%d", 123456), "123");
  EXPECT_EQ(formatted(1, "%s", "abc"), "");
}

} // namespace
