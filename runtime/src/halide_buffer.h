/* Halide 21's halide_buffer_t, whose layout compiled kernels rely on. Written out here because the runtime builds without Halide;
 * a test compares it with Halide's own header where that is installed.
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#ifndef MHAC_HALIDE_BUFFER_H
#define MHAC_HALIDE_BUFFER_H

#include "kernel_descriptor.h"

typedef struct mhac_dimension {
  int32_t min;
  int32_t extent;
  int32_t stride;
  uint32_t flags;
} mhac_dimension;

typedef struct mhac_buffer {
  uint64_t device;
  const void *device_interface;
  uint8_t *host;
  uint64_t flags;
  uint32_t type; /* code | bits << 8 | lanes << 16 */
  int32_t dimensions;
  mhac_dimension *dim; /* innermost first */
  void *padding;
} mhac_buffer;

typedef struct mhac_buffer_with_dims {
  mhac_buffer buffer;
  mhac_dimension dims[MHAC_MAX_RANK];
} mhac_buffer_with_dims;

typedef char mhac_dimension_has_16_bytes[sizeof(mhac_dimension) == 16 ? 1 : -1];
typedef char mhac_buffer_has_56_bytes[sizeof(void *) != 8 || sizeof(mhac_buffer) == 56 ? 1 : -1];

#endif
