// The runtime's own copy of Halide's buffer layout against Halide's header.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <HalideRuntime.h>

#include "halide_buffer.h"

#include <gtest/gtest.h>

#include <cstddef>
#include <cstring>

namespace {

#define EXPECT_SAME_FIELD(ours, theirs, field)                  \
  EXPECT_EQ(offsetof(ours, field), offsetof(theirs, field));    \
  EXPECT_EQ(sizeof(ours::field), sizeof(theirs::field))

TEST(HalideLayout, BuffersAreHalides) {
  EXPECT_EQ(sizeof(mhac_buffer), sizeof(halide_buffer_t));
  EXPECT_SAME_FIELD(mhac_buffer, halide_buffer_t, device);
  EXPECT_SAME_FIELD(mhac_buffer, halide_buffer_t, device_interface);
  EXPECT_SAME_FIELD(mhac_buffer, halide_buffer_t, host);
  EXPECT_SAME_FIELD(mhac_buffer, halide_buffer_t, flags);
  EXPECT_SAME_FIELD(mhac_buffer, halide_buffer_t, type);
  EXPECT_SAME_FIELD(mhac_buffer, halide_buffer_t, dimensions);
  EXPECT_SAME_FIELD(mhac_buffer, halide_buffer_t, dim);
}

TEST(HalideLayout, DimensionsAreHalides) {
  EXPECT_EQ(sizeof(mhac_dimension), sizeof(halide_dimension_t));
  EXPECT_SAME_FIELD(mhac_dimension, halide_dimension_t, min);
  EXPECT_SAME_FIELD(mhac_dimension, halide_dimension_t, extent);
  EXPECT_SAME_FIELD(mhac_dimension, halide_dimension_t, stride);
  EXPECT_SAME_FIELD(mhac_dimension, halide_dimension_t, flags);
}

TEST(HalideLayout, TypesArePackedAsHalideDoes) {
  halide_type_t type(halide_type_float, 32);
  uint32_t packed;
  memcpy(&packed, &type, sizeof(packed));
  EXPECT_EQ(packed, 2u | 32u << 8 | 1u << 16);
}

} // namespace
