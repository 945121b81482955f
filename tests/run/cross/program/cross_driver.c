/* Calls one compiled layer on the machine that it was compiled for. Reads calls from standard input and writes their outputs to standard output, both as
 * cross_runner.cpp on the machine of the tests has them: 64-bit words, and bytes behind their number. LAYER is the entry's name.
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include <mhac/runtime.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define JOIN_(a, b) a##b
#define JOIN(a, b) JOIN_(a, b)
mhac_status LAYER(mhac_context *context, const void *args);
mhac_status JOIN(LAYER, _workspace_bytes)(mhac_context *context, const void *args, size_t *bytes);
void JOIN(LAYER, _info)(mhac_kernel_info *info);
#ifdef PREPARED
mhac_status JOIN(LAYER, _prepare)(mhac_context *context, const void *args, void *prepared);
mhac_status JOIN(LAYER, _prepared_bytes)(mhac_context *context, const void *args, size_t *bytes);
#endif

enum { MAX_FIELDS = 64 };
enum { NUMBER, MEMORY, OUTPUT }; /* Operands::Field::Kind */

typedef struct field {
  int64_t kind, offset, bytes;
  void *data;
} field;

static void die(const char *why) {
  fprintf(stderr, "cross_driver: %s\n", why);
  exit(3);
}

static void read_bytes(void *to, size_t bytes) {
  if (bytes != 0 && fread(to, 1, bytes, stdin) != bytes)
    die("the input ends too early");
}

static int64_t read_word(void) {
  int64_t word;
  read_bytes(&word, sizeof(word));
  return word;
}

static void write_bytes(const void *from, size_t bytes) {
  if (bytes != 0 && fwrite(from, 1, bytes, stdout) != bytes)
    die("the output cannot be written");
}

static void write_word(int64_t word) { write_bytes(&word, sizeof(word)); }

static void write_text(const char *text) {
  write_word((int64_t)strlen(text));
  write_bytes(text, strlen(text));
}

/* Bits that are NaN in every format; what a kernel must not depend on. */
static void *poisoned(size_t bytes) {
  void *memory = malloc(bytes + 64);
  if (memory == NULL)
    die("no memory");
  memset(memory, 0xff, bytes + 64);
  return memory;
}

static void put(char *args, int64_t offset, const void *value, size_t bytes) { memcpy(args + offset, value, bytes); }

#ifdef PREPARED
/* Again, with prepared state: the same bits. */
static mhac_status call_prepared(mhac_context *context, char *args, int64_t prepared_offset, field *fields, int64_t count) {
  size_t bytes = 0;
  char *state;
  void *aligned;
  int64_t i;
  mhac_status status = JOIN(LAYER, _prepared_bytes)(context, args, &bytes);
  if (status != MHAC_STATUS_OK)
    return status;
  state = (char *)poisoned(bytes + 64);
  aligned = state + (64 - (uintptr_t)state % 64) % 64;
  status = JOIN(LAYER, _prepare)(context, args, aligned);
  put(args, prepared_offset, &aligned, sizeof(aligned));
  for (i = 0; i < count && status == MHAC_STATUS_OK; ++i)
    if (fields[i].kind == OUTPUT) { /* the first call's results stay in `data` */
      void *fresh = poisoned((size_t)fields[i].bytes);
      put(args, fields[i].offset, &fresh, sizeof(fresh));
    }
  if (status == MHAC_STATUS_OK)
    status = LAYER(context, args);
  for (i = 0; i < count; ++i)
    if (fields[i].kind == OUTPUT) {
      void *fresh;
      memcpy(&fresh, args + fields[i].offset, sizeof(fresh));
      if (status == MHAC_STATUS_OK && memcmp(fresh, fields[i].data, (size_t)fields[i].bytes) != 0)
        die("a call with prepared state gave other bits");
      if (fresh != fields[i].data)
        free(fresh);
    }
  free(state);
  return status;
}
#endif

static void run_call(void) {
  mhac_context_options options = MHAC_CONTEXT_OPTIONS_INIT;
  mhac_context *context = NULL;
  mhac_thread_pool *pool = NULL;
  mhac_status status = MHAC_STATUS_OK;
  field fields[MAX_FIELDS];
  uint64_t features = (uint64_t)read_word();
  int threads = (int)read_word();
  int64_t args_bytes = read_word(), workspace_offset = read_word(), workspace_bytes_offset = read_word(), prepared_offset = read_word();
  int64_t count = read_word(), i;
  size_t struct_size = (size_t)args_bytes, workspace_bytes = 0;
  char *args = (char *)calloc(1, struct_size), *workspace;
  if (args == NULL || count > MAX_FIELDS)
    die("too many fields");
  put(args, 0, &struct_size, sizeof(struct_size));
  for (i = 0; i < count; ++i) {
    fields[i].kind = read_word();
    fields[i].offset = read_word();
    fields[i].bytes = read_word();
    fields[i].data = poisoned((size_t)fields[i].bytes);
    read_bytes(fields[i].data, (size_t)fields[i].bytes);
    if (fields[i].kind == NUMBER)
      put(args, fields[i].offset, fields[i].data, sizeof(int64_t));
    else
      put(args, fields[i].offset, &fields[i].data, sizeof(void *));
  }

  options.cpu_features = features;
  if (threads > 1)
    status = mhac_thread_pool_create(threads, NULL, &pool);
  if (pool != NULL)
    options.parallel = mhac_thread_pool_parallel(pool);
  if (status == MHAC_STATUS_OK)
    status = mhac_context_create(&options, &context);
  if (status == MHAC_STATUS_OK)
    status = JOIN(LAYER, _workspace_bytes)(context, args, &workspace_bytes);
  workspace = (char *)poisoned(workspace_bytes);
  put(args, workspace_offset, &workspace, sizeof(workspace));
  put(args, workspace_bytes_offset, &workspace_bytes, sizeof(workspace_bytes));
  if (status == MHAC_STATUS_OK)
    status = LAYER(context, args);
#ifdef PREPARED
  if (status == MHAC_STATUS_OK)
    status = call_prepared(context, args, prepared_offset, fields, count);
#else
  (void)prepared_offset;
#endif

  write_word(status);
  write_text(mhac_context_message(context));
  for (i = 0; i < count; ++i) {
    if (fields[i].kind == OUTPUT)
      write_bytes(fields[i].data, (size_t)fields[i].bytes);
    free(fields[i].data);
  }
  free(workspace);
  free(args);
  mhac_context_destroy(context);
  mhac_thread_pool_destroy(pool);
}

int main(void) {
  mhac_kernel_info info = {sizeof(info), NULL, NULL, NULL, NULL};
  int64_t calls = read_word(), i;
  JOIN(LAYER, _info)(&info);
  write_word((int64_t)mhac_cpu_features());
  write_text(info.selected != NULL ? info.selected : "");
  for (i = 0; i < calls; ++i)
    run_call();
  return 0;
}
