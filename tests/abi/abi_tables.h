/* What C99 says about layouts, for abi_test.cpp.
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#ifndef ABI_TABLES_H
#define ABI_TABLES_H

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct field_place {
  const char *structure;
  const char *field; /* "" is the whole structure, with its size as offset */
  size_t offset;
} field_place;

/* Both end with structure == NULL. */
extern const field_place abi_args_fields[];       /* of the generated header */
extern const field_place abi_descriptor_fields[]; /* of runtime/src/kernel_descriptor.h */

/* The struct as the header's _INIT macro sets it: 1 when struct_size is set and everything else is zero. */
int abi_init_is_zero(void);

#ifdef __cplusplus
}
#endif
#endif
