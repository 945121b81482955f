/* The generated headers in strict C99, each included twice and both together.
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "tiny_a.h"
#include "tiny_a.h"
#include "tiny_b.h"

#include "abi_tables.h"

#define FIELD(name) {"tiny_a_args", #name, offsetof(tiny_a_args, name)}
const field_place abi_args_fields[] = {
    FIELD(struct_size), FIELD(batch), FIELD(x), FIELD(x_strides), FIELD(w), FIELD(counts), FIELD(y), FIELD(y_strides), FIELD(workspace),
    FIELD(workspace_bytes), {"tiny_a_args", "", sizeof(tiny_a_args)}, {NULL, NULL, 0}};

int abi_init_is_zero(void) {
  tiny_a_args args = TINY_A_ARGS_INIT;
  return args.struct_size == sizeof(args) && args.batch == 0 && !args.x && !args.x_strides && !args.w && !args.counts && !args.y &&
         !args.y_strides && !args.workspace && args.workspace_bytes == 0 && TINY_A_BATCH_MAX == 1000 && TINY_A_COLUMNS == 16;
}
