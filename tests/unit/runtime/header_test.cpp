// The public header in C99 (header_c99.c), in strict C++11 (this file) and twice in one file; and the layouts that objects depend on.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <mhac/runtime.h>
#include <mhac/runtime.h>

#include "kernel_descriptor.h"

#include <gtest/gtest.h>

extern "C" mhac_status header_c99(mhac_context **context);

namespace {

TEST(Header, WorksInC99) {
  mhac_context *context = nullptr;
  EXPECT_EQ(header_c99(&context), MHAC_STATUS_OK);
  mhac_context_destroy(context);
}

TEST(Header, ConstantsBelongToTheAbi) {
  EXPECT_EQ(MHAC_ABI_VERSION, 1);
  EXPECT_EQ(mhac_runtime_abi_1, 1);
  EXPECT_STREQ(MHAC_RUNTIME_VERSION, "0.1.0");
  EXPECT_EQ(sizeof(mhac_status), 4u);
  EXPECT_EQ(MHAC_CPU_BMI2, 1024u);
}

// Every field is 8 bytes wide, so the sizes fix the number of fields; the compiler's emit stage counts them the same way.
TEST(Header, DescriptorsHaveTheLayoutThatObjectsAreWrittenIn) {
  EXPECT_EQ(sizeof(mhac_size), 4 * 8u);
  EXPECT_EQ(sizeof(mhac_extent), 3 * 8u);
  EXPECT_EQ(sizeof(mhac_argument), (10 + 6 * 3) * 8u);
  EXPECT_EQ(sizeof(mhac_workspace_buffer), (3 + 6 * 3) * 8u);
  EXPECT_EQ(sizeof(mhac_operand), 2 * 8u);
  EXPECT_EQ(sizeof(mhac_kernel), 4 * 8u);
  EXPECT_EQ(sizeof(mhac_guard), 4 * 8u);
  EXPECT_EQ(sizeof(mhac_candidate), 12 * 8u);
  EXPECT_EQ(sizeof(mhac_entry), 19 * 8u);
  EXPECT_EQ(sizeof(mhac_context_options), 10 * 8u);
  EXPECT_EQ(sizeof(mhac_kernel_info), 5 * 8u);
}

} // namespace
