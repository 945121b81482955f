/* Contexts: what the application plugs in (memory, threads, log) and the message of the last failing call.
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#define _POSIX_C_SOURCE 200112L
#include "context.h"

#include "format.h"

#include <stdarg.h>
#if __STDC_HOSTED__
#include <stdlib.h>

static void *default_allocate(void *self, size_t bytes, size_t alignment) {
  void *memory = NULL;
  (void)self;
  if (alignment < sizeof(void *))
    alignment = sizeof(void *);
  return posix_memalign(&memory, alignment, bytes) == 0 ? memory : NULL;
}

static void default_release(void *self, void *memory, size_t bytes) {
  (void)self;
  (void)bytes;
  free(memory);
}
#endif

mhac_status mhac_allocator_resolve(const mhac_allocator *allocator, mhac_allocator *resolved) {
#if __STDC_HOSTED__
  if (allocator == NULL || (allocator->allocate == NULL && allocator->release == NULL)) {
    resolved->self = NULL;
    resolved->allocate = default_allocate;
    resolved->release = default_release;
    return MHAC_STATUS_OK;
  }
#endif
  if (allocator == NULL || allocator->allocate == NULL || allocator->release == NULL)
    return MHAC_STATUS_INVALID_OPTION;
  *resolved = *allocator;
  return MHAC_STATUS_OK;
}

mhac_status mhac_context_create(const mhac_context_options *options, mhac_context **context) {
  static const mhac_context_options defaults = MHAC_CONTEXT_OPTIONS_INIT;
  mhac_allocator allocator;
  mhac_context *made;
  mhac_status status;

  if (context == NULL)
    return MHAC_STATUS_NULL_ARGUMENT;
  *context = NULL;
  if (options == NULL)
    options = &defaults;
  if (options->struct_size < sizeof(mhac_context_options))
    return MHAC_STATUS_STRUCT_SIZE;
  if (options->parallel.parallel_for != NULL && options->parallel.concurrency < 1)
    return MHAC_STATUS_INVALID_OPTION;
  status = mhac_allocator_resolve(&options->allocator, &allocator);
  if (status != MHAC_STATUS_OK)
    return status;

  made = (mhac_context *)allocator.allocate(allocator.self, sizeof(mhac_context), 64);
  if (made == NULL)
    return MHAC_STATUS_OUT_OF_MEMORY;
  made->allocator = allocator;
  made->parallel = options->parallel;
  if (made->parallel.parallel_for == NULL)
    made->parallel.concurrency = 1;
  made->log = options->log;
  made->cpu_features = options->cpu_features != 0 ? options->cpu_features : ~UINT64_C(0);
  made->message[0] = '\0';
  *context = made;
  return MHAC_STATUS_OK;
}

void mhac_context_destroy(mhac_context *context) {
  mhac_allocator allocator;
  if (context == NULL)
    return;
  allocator = context->allocator;
  allocator.release(allocator.self, context, sizeof(mhac_context));
}

const char *mhac_context_message(const mhac_context *context) { return context != NULL ? context->message : ""; }

int mhac_context_concurrency(const mhac_context *context) { return context != NULL ? context->parallel.concurrency : 1; }

void mhac_context_clear(mhac_context *context) {
  if (context != NULL)
    context->message[0] = '\0';
}

static size_t write_text(char *to, size_t bytes, const char *format, ...) {
  va_list arguments;
  size_t length;
  va_start(arguments, format);
  length = mhac_format(to, bytes, format, arguments);
  va_end(arguments);
  return length;
}

mhac_status mhac_context_fail(mhac_context *context, mhac_status status, const char *entry, const char *format, ...) {
  va_list arguments;
  size_t length;
  if (context == NULL)
    return status;
  length = write_text(context->message, sizeof(context->message), "%s: ", entry);
  va_start(arguments, format);
  mhac_format(context->message + length, sizeof(context->message) - length, format, arguments);
  va_end(arguments);
  if (context->log.message != NULL)
    context->log.message(context->log.self, status, context->message);
  return status;
}
