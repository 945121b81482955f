/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "format.h"

#include <stdint.h>

typedef struct text {
  char *to;
  size_t length;
  size_t room; /* without the 0 at the end */
} text;

static void put(text *out, char character) {
  if (out->length < out->room)
    out->to[out->length++] = character;
}

static void put_string(text *out, const char *string) {
  for (; *string != '\0'; ++string)
    put(out, *string);
}

static void put_number(text *out, uint64_t number, unsigned base) {
  char digits[20]; /* of 2^64 - 1 */
  int count = 0;
  do {
    digits[count++] = "0123456789abcdef"[number % base];
    number /= base;
  } while (number != 0);
  while (count > 0)
    put(out, digits[--count]);
}

typedef enum length { LENGTH_INT, LENGTH_LONG, LENGTH_LONG_LONG, LENGTH_SIZE } length;

static length read_length(const char **format) {
  if (**format == 'z') {
    ++*format;
    return LENGTH_SIZE;
  }
  if (**format != 'l')
    return LENGTH_INT;
  ++*format;
  if (**format != 'l')
    return LENGTH_LONG;
  ++*format;
  return LENGTH_LONG_LONG;
}

size_t mhac_format(char *to, size_t bytes, const char *format, va_list arguments) {
  text out;
  out.to = to;
  out.length = 0;
  out.room = bytes - 1;
  for (; *format != '\0'; ++format) {
    length size;
    if (*format != '%') {
      put(&out, *format);
      continue;
    }
    ++format;
    size = read_length(&format);
    if (*format == 's') {
      put_string(&out, va_arg(arguments, const char *));
    } else if (*format == 'd') {
      int64_t number = size == LENGTH_INT    ? va_arg(arguments, int)
                       : size == LENGTH_LONG ? va_arg(arguments, long)
                                             : va_arg(arguments, long long);
      if (number < 0)
        put(&out, '-');
      put_number(&out, number < 0 ? -(uint64_t)number : (uint64_t)number, 10);
    } else if (*format == 'u' || *format == 'x') {
      uint64_t number = size == LENGTH_INT    ? va_arg(arguments, unsigned)
                        : size == LENGTH_LONG ? va_arg(arguments, unsigned long)
                        : size == LENGTH_SIZE ? va_arg(arguments, size_t)
                                              : va_arg(arguments, unsigned long long);
      put_number(&out, number, *format == 'x' ? 16 : 10);
    } else if (*format == '\0') {
      break;
    } else {
      put(&out, *format);
    }
  }
  to[out.length] = '\0';
  return out.length;
}
