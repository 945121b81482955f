/* Text of messages, without the C library's printf, which a freestanding program does not have.
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#ifndef MHAC_FORMAT_H
#define MHAC_FORMAT_H

#include <stdarg.h>
#include <stddef.h>

/* Writes the text to `to`, cut off to bytes - 1 characters and ended by 0; bytes >= 1. Returns the characters written.
 * The format is printf's, of which this knows %s %d %u %x %% and the lengths l, ll and z. */
size_t mhac_format(char *to, size_t bytes, const char *format, va_list arguments);

#endif
