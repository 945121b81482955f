/* The tables that a generated object carries, one mhac_entry a public function. The compiler writes them as constant data
 * (compiler/emit/EntryShim.cpp); kernel_call.c interprets them: it checks the arguments, picks a candidate, lays out the workspace and
 * runs the kernels. Keeping this here and not in generated code makes objects small and the checks testable under sanitizers.
 * Every field is 8 bytes wide, so the layout needs no knowledge of padding; a change needs a new MHAC_ABI_VERSION.
 * Symbols that generated objects use carry the prefix mhac_kernel_ and are not for applications.
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#ifndef MHAC_KERNEL_DESCRIPTOR_H
#define MHAC_KERNEL_DESCRIPTOR_H

#include <mhac/runtime.h>

#ifdef __cplusplus
extern "C" {
#endif
#if defined(__GNUC__)
#pragma GCC visibility push(default)
#endif

#define MHAC_MAX_RANK 6

/* A run-time size of the entry, for example "batch". */
typedef struct mhac_size {
  const char *name;
  int64_t offset;  /* of its int64_t in the argument struct; -1: fixed, the value is `minimum` */
  int64_t minimum; /* allowed values, both ends included */
  int64_t maximum;
} mhac_size;

/* One extent: ceil(sizes[size] / divisor) * factor; size == -1: factor; size == MHAC_EXTENT_POSITIONS, in prepared buffers only: with the number of
 * positions in the place of the size. */
enum { MHAC_EXTENT_POSITIONS = -2 };
typedef struct mhac_extent {
  int64_t size;
  int64_t divisor;
  int64_t factor;
} mhac_extent;

enum { MHAC_ARGUMENT_OUTPUT = 1 };

/* Checks of the values inside an int64 argument. */
enum {
  MHAC_CHECK_NONE = 0,
  MHAC_CHECK_RANGE = 1, /* 0 <= value[i] <= sizes[check_size] */
  MHAC_CHECK_SUM = 2,   /* RANGE, and value[i] + other[i] <= sizes[check_size] with other = arguments[check_other] (same shape) */
  MHAC_CHECK_POSITION = 3 /* -2^30 <= value[i] <= 2^30 */
};

/* A tensor argument. Dimensions are in the order of the header, outermost first. */
typedef struct mhac_argument {
  const char *name;
  int64_t offset;         /* of the data pointer in the argument struct */
  int64_t strides_offset; /* of its `const int64_t *` (elements, one a dimension, NULL = dense); -1: always dense */
  int64_t element_bytes;
  int64_t type;           /* Halide type: code | bits << 8 | lanes << 16, with code 0 int, 1 uint, 2 float */
  int64_t flags;          /* MHAC_ARGUMENT_* */
  int64_t check;          /* MHAC_CHECK_* */
  int64_t check_size;
  int64_t check_other;
  int64_t rank;
  mhac_extent dims[MHAC_MAX_RANK];
} mhac_argument;

/* A dense intermediate of one candidate, 64-byte aligned in the workspace. Dimensions innermost first. */
typedef struct mhac_workspace_buffer {
  int64_t element_bytes;
  int64_t type; /* as in mhac_argument */
  int64_t rank;
  mhac_extent dims[MHAC_MAX_RANK];
} mhac_workspace_buffer;

enum {
  MHAC_OPERAND_ARGUMENT = 0,  /* arguments[index] as a buffer whose dimensions are those of the argument reversed (innermost first) */
  MHAC_OPERAND_WORKSPACE = 1, /* workspace[index] as a buffer */
  MHAC_OPERAND_SIZE = 2,      /* sizes[index] as an int32 scalar */
  MHAC_OPERAND_PREPARED = 3   /* prepared[index] as a buffer, whose extents are all 0 in a call without prepared state */
};
typedef struct mhac_operand {
  int64_t kind;
  int64_t index;
} mhac_operand;

/* Compiled pipeline in Halide's argv convention: argv[0] points to the user context pointer, then one pointer an operand
 * (to a halide_buffer_t or to a scalar). Returns 0 or an error code. */
typedef int (*mhac_kernel_function)(void **argv);

typedef struct mhac_kernel {
  const char *name;
  mhac_kernel_function function;
  int64_t operand_count;
  const mhac_operand *operands;
} mhac_kernel;

/* A size (or the number of workers: size == -1) must lie in [minimum, maximum]. */
typedef struct mhac_guard {
  int64_t size;
  int64_t minimum;
  int64_t maximum;
  int64_t per_worker; /* 1: size / workers, rounded down, instead of the size */
} mhac_guard;

/* One body of an entry. The first whose features and guards fit is run. */
typedef struct mhac_candidate {
  const char *target;
  uint64_t features; /* MHAC_CPU_* bits it needs */
  int64_t guard_count;
  const mhac_guard *guards;
  int64_t workspace_count;
  const mhac_workspace_buffer *workspace;
  int64_t kernel_count;
  const mhac_kernel *kernels;
  /* Scratch that one worker needs at most inside any kernel: the sum, over its allocations, of 64 bytes for the block's header
   * and the allocation rounded up to 64. The calling thread outside of loops counts as worker 0. */
  int64_t arena_bytes;
  /* -1: a kernel runs for the whole call. Otherwise batch-major: one parallel loop over sizes[batch_size], whose tasks run all kernels for one
   * element. To them the size is 1, in intermediates and operands; an argument whose outermost extent is the size is one element of it. */
  int64_t batch_size;
  /* Make the entry's prepared buffers: operands are these only, and sizes; they run one after the other in the calling thread, without scratch. The
   * same for all candidates of a target; every target makes the same bits. */
  int64_t prepare_count;
  const mhac_kernel *prepare;
} mhac_candidate;

typedef struct mhac_entry {
  const int *abi;               /* &mhac_runtime_abi_1: makes a mismatch a link error */
  const char *name;
  const char *version;
  const char *targets;
  uint64_t *cpu_features;       /* the object's cache of mhac_cpu_features(), 0 at first; relaxed atomic, its only mutable data */
  int64_t args_bytes;           /* sizeof the argument struct; struct_size is its first field */
  int64_t workspace_offset;     /* of `void *workspace` in the argument struct */
  int64_t workspace_bytes_offset; /* of `size_t workspace_bytes` */
  int64_t size_count;
  const mhac_size *sizes;
  int64_t argument_count;
  const mhac_argument *arguments;
  int64_t candidate_count;
  const mhac_candidate *candidates;
  int64_t prepared_offset;      /* of `const void *prepared` in the argument struct; without meaning when prepared_count is 0: no prepared state */
  uint64_t prepared_tag;        /* differs between entries whose prepared state differs; written into it and compared by calls */
  uint64_t position_sizes;      /* bit i: sizes[i] counts positions. A state has one position more than the largest of them at f_prepare */
  int64_t prepared_count;
  const mhac_workspace_buffer *prepared; /* in the state one after the other, behind its header, each at a multiple of 64 bytes */
} mhac_entry;

extern const int mhac_runtime_abi_1;

/* Behind <name>, <name>_workspace_bytes and <name>_info. `args` is the generated argument struct. The workspace question looks at the
 * sizes only (tensors and strides may still be missing) and answers 0 when no output has an element, for nothing is run then. */
mhac_status mhac_kernel_call(mhac_context *context, const mhac_entry *entry, const void *args);
mhac_status mhac_kernel_workspace_bytes(mhac_context *context, const mhac_entry *entry, const void *args, size_t *bytes);
/* Behind <name>_prepare and <name>_prepared_bytes. Both look at the sizes in `args` only; `prepared` has prepared_bytes bytes, 64-byte aligned. */
mhac_status mhac_kernel_prepare(mhac_context *context, const mhac_entry *entry, const void *args, void *prepared);
mhac_status mhac_kernel_prepared_bytes(mhac_context *context, const mhac_entry *entry, const void *args, size_t *bytes);
void mhac_kernel_describe(const mhac_entry *entry, mhac_kernel_info *info);

/* Halide's hooks under private names. `user_context` is the per-worker state that mhac_kernel_call made. */
void *mhac_kernel_alloc(void *user_context, size_t bytes);
void mhac_kernel_free(void *user_context, void *memory);
int mhac_kernel_parallel_for(void *user_context, int (*body)(void *user_context, int task, uint8_t *closure), int first, int count,
                             uint8_t *closure);

#if defined(__GNUC__)
#pragma GCC visibility pop
#endif
#ifdef __cplusplus
}
#endif
#endif
