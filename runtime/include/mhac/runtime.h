/* Public interface of the mhac runtime: everything an application that links generated attention kernels needs.
 * C99 and C++. No globals, no printing, no abort, no environment variables; whatever the runtime needs from its
 * surroundings (memory, threads, a place for messages) is in a mhac_context that the application makes.
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#ifndef MHAC_RUNTIME_H
#define MHAC_RUNTIME_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif
/* The runtime is compiled with hidden symbols; what is declared here is visible also when it is linked into a shared library. */
#if defined(__GNUC__)
#pragma GCC visibility push(default)
#endif

/* Version of the binary interface between generated objects and this runtime. Every generated object refers to the symbol
 * mhac_runtime_abi_<version>, so that a mismatch is a link error. */
#define MHAC_ABI_VERSION 1
#define MHAC_RUNTIME_VERSION "0.1.0"

/* ---- Status ------------------------------------------------------------------------------------------------------- */

typedef enum mhac_status {
#define MHAC_STATUS(name, number, sentence) MHAC_STATUS_##name = number,
#include <mhac/status.def>
#undef MHAC_STATUS
  MHAC_STATUS_FORCE_INT = 0x7fffffff
} mhac_status;

/* The sentence that belongs to a status, "unknown status" for other numbers. Static storage; never NULL. */
const char *mhac_status_string(mhac_status status);
/* The name of a status without its prefix, for example "STRIDE"; "UNKNOWN" for other numbers. Static storage. */
const char *mhac_status_name(mhac_status status);

/* ---- What an application can plug in -------------------------------------------------------------------------------- */

/* Memory. `allocate` returns NULL when there is none; `alignment` is a power of two, at most 64. `release` gets back exactly what
 * `allocate` returned and the `bytes` it was asked for. Both may be called from the thread that calls a kernel only. */
typedef struct mhac_allocator {
  void *self;
  void *(*allocate)(void *self, size_t bytes, size_t alignment);
  void (*release)(void *self, void *memory, size_t bytes);
} mhac_allocator;

/* One task of a parallel loop: returns 0, or another number to say that the loop failed. */
typedef int (*mhac_task)(void *closure, int64_t task, int worker);

/* Threads. `parallel_for` runs task(closure, i, worker) for i in [0, count) and returns when all are done: MHAC_STATUS_OK, the status
 * that kept it from running at all (no task ran then), or MHAC_STATUS_INTERNAL when a task returned other than 0.
 * 0 <= worker < concurrency, and no two tasks run with one worker at the same time. Kernels never nest loops. */
typedef struct mhac_parallel {
  void *self;
  int concurrency;
  mhac_status (*parallel_for)(void *self, int64_t count, mhac_task task, void *closure);
} mhac_parallel;

/* Receives every message that a failing call leaves in its context, as one line of text without a newline. */
typedef struct mhac_log {
  void *self;
  void (*message)(void *self, mhac_status status, const char *text);
} mhac_log;

/* ---- Thread pool ---------------------------------------------------------------------------------------------------- */

/* A pool of POSIX threads that spin briefly before they sleep. It may be shared by contexts; concurrent and nested loops are safe:
 * a loop that finds the pool busy runs serially in the calling thread. After fork() the child gets MHAC_STATUS_FORKED from loops. */
typedef struct mhac_thread_pool mhac_thread_pool;

/* Makes a pool whose loops run on `threads` threads, the calling one included (1 .. 1024; 0 = the CPUs this process may run on).
 * `allocator` may be NULL (malloc). On failure *pool is NULL. Errors: NULL_ARGUMENT, INVALID_OPTION, OUT_OF_MEMORY,
 * THREAD, which a runtime that was built without threads always gives. */
mhac_status mhac_thread_pool_create(int threads, const mhac_allocator *allocator, mhac_thread_pool **pool);
/* Waits for running loops and ends the threads. NULL is allowed. No context may use the pool afterwards. */
void mhac_thread_pool_destroy(mhac_thread_pool *pool);
/* The pool as the interface that contexts take; valid as long as the pool. */
mhac_parallel mhac_thread_pool_parallel(mhac_thread_pool *pool);

/* ---- CPU features ----------------------------------------------------------------------------------------------------- */

/* Bits of the feature masks. A bit is set when both the CPU and the operating system (saved registers) support the feature.
 * x86-64: */
#define MHAC_CPU_SSE41 (UINT64_C(1) << 0)
#define MHAC_CPU_AVX (UINT64_C(1) << 1)
#define MHAC_CPU_F16C (UINT64_C(1) << 2)
#define MHAC_CPU_FMA (UINT64_C(1) << 3)
#define MHAC_CPU_AVX2 (UINT64_C(1) << 4)
#define MHAC_CPU_AVX512F (UINT64_C(1) << 5)
#define MHAC_CPU_AVX512CD (UINT64_C(1) << 6)
#define MHAC_CPU_AVX512VL (UINT64_C(1) << 7)
#define MHAC_CPU_AVX512BW (UINT64_C(1) << 8)
#define MHAC_CPU_AVX512DQ (UINT64_C(1) << 9)
#define MHAC_CPU_BMI2 (UINT64_C(1) << 10)
#define MHAC_CPU_AVXVNNI (UINT64_C(1) << 11)
#define MHAC_CPU_AVX512VNNI (UINT64_C(1) << 12)
#define MHAC_CPU_AVX512BF16 (UINT64_C(1) << 13)
#define MHAC_CPU_AVX512IFMA (UINT64_C(1) << 14)
#define MHAC_CPU_AVX512VBMI (UINT64_C(1) << 15)
#define MHAC_CPU_AVX512VBMI2 (UINT64_C(1) << 16)
#define MHAC_CPU_AVX512BITALG (UINT64_C(1) << 17)
/* AArch64; the length of SVE's vectors is that of the calling thread's process: */
#define MHAC_CPU_ARM_DOTPROD (UINT64_C(1) << 32)
#define MHAC_CPU_ARM_FP16 (UINT64_C(1) << 33)
#define MHAC_CPU_ARM_BF16 (UINT64_C(1) << 34)
#define MHAC_CPU_ARM_I8MM (UINT64_C(1) << 35)
#define MHAC_CPU_ARM_SVE2 (UINT64_C(1) << 36)
#define MHAC_CPU_ARM_SVE_128 (UINT64_C(1) << 37) /* vectors of at least 128 bits */
#define MHAC_CPU_ARM_SVE_256 (UINT64_C(1) << 38)
#define MHAC_CPU_ARM_SVE_512 (UINT64_C(1) << 39)
/* RISC-V: */
#define MHAC_CPU_RISCV_V (UINT64_C(1) << 40)
#define MHAC_CPU_RISCV_V_128 (UINT64_C(1) << 41) /* vectors of at least 128 bits */
#define MHAC_CPU_RISCV_V_256 (UINT64_C(1) << 42)
#define MHAC_CPU_RISCV_V_512 (UINT64_C(1) << 43)
/* Everywhere; WebAssembly has no other, because its engines check a whole module before any of it runs: */
#define MHAC_CPU_DETECTED (UINT64_C(1) << 63) /* always set in the result of mhac_cpu_features */

/* The features of this machine. Takes microseconds in virtual machines; kernels keep the result. */
uint64_t mhac_cpu_features(void);

/* ---- Context ---------------------------------------------------------------------------------------------------------- */

/* Holds allocator, threads, log and the message of the last failing call. Used by one thread at a time. */
typedef struct mhac_context mhac_context;

typedef struct mhac_context_options {
  size_t struct_size;       /* set by MHAC_CONTEXT_OPTIONS_INIT */
  mhac_allocator allocator; /* allocate == NULL: malloc and free; a freestanding runtime has none, and needs an allocator */
  mhac_parallel parallel;   /* parallel_for == NULL: everything runs in the calling thread */
  mhac_log log;             /* message == NULL: messages are only kept in the context */
  uint64_t cpu_features;    /* kernels are chosen among those that need no feature outside this mask; 0: all of the machine */
} mhac_context_options;
#define MHAC_CONTEXT_OPTIONS_INIT {sizeof(mhac_context_options), {0, 0, 0}, {0, 0, 0}, {0, 0}, 0}

/* Makes a context; `options` may be NULL. On failure *context is NULL.
 * Errors: NULL_ARGUMENT, STRUCT_SIZE, INVALID_OPTION (concurrency < 1, half an allocator), OUT_OF_MEMORY. */
mhac_status mhac_context_create(const mhac_context_options *options, mhac_context **context);
/* Frees a context; NULL is allowed. What the options point to stays the application's. */
void mhac_context_destroy(mhac_context *context);
/* What the last failing call with this context found: kernel, argument, found, wanted; "" after a successful one or for NULL. */
const char *mhac_context_message(const mhac_context *context);
/* How many workers a kernel called with this context uses: 1 for NULL. */
int mhac_context_concurrency(const mhac_context *context);

/* ---- Weights ---------------------------------------------------------------------------------------------------------- */

typedef enum mhac_weight_type {
#define MHAC_WEIGHT_TYPE(name, number, word, bits, exponent_bits, largest) MHAC_WEIGHT_##name = number,
#include <mhac/weight_types.def>
#undef MHAC_WEIGHT_TYPE
  MHAC_WEIGHT_FORCE_INT = 0x7fffffff
} mhac_weight_type;

typedef struct mhac_quantize_args {
  size_t struct_size;    /* set by MHAC_QUANTIZE_ARGS_INIT */
  mhac_weight_type type;
  int in_out;            /* 0: weights and numbers are [outputs, inputs]; 1: [inputs, outputs] */
  int64_t outputs;
  int64_t inputs;
  int64_t group;         /* inputs of an output that share a scale, a divisor of `inputs`; 0: all of them */
  const float *weights;  /* dense, finite */
  void *numbers;         /* dense rows; of int4 two numbers a byte, the first one in the low four bits, a row begins with a byte of its own */
  float *scales;         /* [outputs, inputs / group], or [outputs, 1] */
} mhac_quantize_args;
#define MHAC_QUANTIZE_ARGS_INIT {sizeof(mhac_quantize_args), MHAC_WEIGHT_INT8, 0, 0, 0, 0, 0, 0, 0}

/* Rounds weights to numbers times scales, as kernels with weights of that type take them. With m the largest |weight| of a group and L the largest
 * number of the type (<mhac/weight_types.def>): scale = m / L, and a number is the one nearest to weight / scale, ties to even; numbers of a type and its
 * negatives only, so that -128 and -8 do not occur. All divisions are those of float. A group whose scale is 0, because all of its weights are or
 * because m / L is too small for a float, has numbers 0. Nothing is written unless the status is OK; `context`, which may be NULL, gets the message.
 * Errors: NULL_ARGUMENT, STRUCT_SIZE, INVALID_OPTION (type, in_out), SIZE_NEGATIVE, SIZE_BOUND (group), SIZE_TOO_LARGE, ALIGNMENT, VALUE_RANGE (a
 * weight is NaN or infinite). */
mhac_status mhac_quantize_weights(mhac_context *context, const mhac_quantize_args *args);

/* ---- What a kernel tells about itself ----------------------------------------------------------------------------------- */

typedef struct mhac_kernel_info {
  size_t struct_size;     /* set by the caller, to sizeof(mhac_kernel_info) */
  const char *name;       /* entry name from the spec */
  const char *version;    /* of the compiler that generated it */
  const char *targets;    /* all targets in the object, comma separated, best first */
  const char *selected;   /* the one that runs on this CPU with a default context; NULL when none does */
} mhac_kernel_info;

#if defined(__GNUC__)
#pragma GCC visibility pop
#endif
#ifdef __cplusplus
}
#endif
#endif
