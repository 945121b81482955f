/* A pool of POSIX threads that runs one loop at a time; tasks are handed out one by one from an atomic counter.
 *
 * A loop opens (OPEN in `state`), threads join it by counting themselves in, whoever finds no task left closes it, and the caller returns
 * when all who joined have left. A thread that wakes too late finds the loop closed and has no part in it, so nobody waits for it.
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#define _GNU_SOURCE /* sched_getaffinity */
#include "thread_pool.h"

#include "context.h"

#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <unistd.h>

enum {
  MAX_THREADS = 1024,
  SPINS = 1000, /* of a pause instruction each (5 to 40 ns): at most some 40 us before a thread sleeps */
  /* Bits of `state`. */
  JOINED = 0xffff, /* how many pool threads are inside the loop */
  OPEN = 1 << 16,  /* the loop may have tasks left */
  WAITED = 1 << 17, /* the caller sleeps until JOINED is 0 */
  STOP = 1 << 18   /* the threads end */
};

typedef struct pool_thread {
  mhac_thread_pool *pool;
  int worker; /* 1 .. threads - 1; the caller of a loop is worker 0 */
  pthread_t handle;
} pool_thread;

#define CACHE_LINE __attribute__((aligned(64)))

struct mhac_thread_pool {
  /* Constant after creation. */
  mhac_allocator allocator;
  size_t bytes;
  pid_t process;
  int threads; /* the caller's included */
  int spins;   /* 0 when there are more threads than CPUs: a thread that spins would keep another one from its CPU */
  pthread_mutex_t mutex;
  pthread_cond_t opened;
  pthread_cond_t left;
  /* The loop. Written by its caller before it opens, read by those who joined. */
  int64_t count;
  mhac_task task;
  void *closure;
  /* Atomics. */
  int busy CACHE_LINE; /* a loop runs; taken with acquire, given back with release */
  int sleepers;        /* threads in pthread_cond_wait or about to be */
  int failed;
  uint32_t state CACHE_LINE;
  uint64_t next CACHE_LINE; /* unsigned: exceeds `count` by as many as look for a task in vain */
  pool_thread workers[] CACHE_LINE;
};

static void spin_pause(void) {
#if defined(__x86_64__) || defined(__i386__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  __asm__ volatile("yield");
#endif
}

static int available_cpus(void) {
  long online;
#if defined(__linux__)
  cpu_set_t set;
  if (sched_getaffinity(0, sizeof(set), &set) == 0 && CPU_COUNT(&set) > 0)
    return CPU_COUNT(&set);
#endif
  online = sysconf(_SC_NPROCESSORS_ONLN);
  return online < 1 ? 1 : online > MAX_THREADS ? MAX_THREADS : (int)online;
}

/* ---- One loop, seen from a participant ---- */

/* Counts the calling thread in if the loop is open. Acquire: the fields of the loop are visible afterwards. */
static int join_loop(mhac_thread_pool *pool, uint32_t state) {
  while (state & OPEN)
    if (__atomic_compare_exchange_n(&pool->state, &state, state + 1, 1, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED))
      return 1;
  return 0;
}

/* Runs tasks until none is left, then closes the loop. */
static void run_tasks(mhac_thread_pool *pool, int worker) {
  for (;;) {
    uint64_t task = __atomic_fetch_add(&pool->next, 1, __ATOMIC_RELAXED);
    if (task >= (uint64_t)pool->count)
      break;
    if (pool->task(pool->closure, (int64_t)task, worker) != 0) {
      __atomic_store_n(&pool->failed, 1, __ATOMIC_RELAXED);
      __atomic_store_n(&pool->next, (uint64_t)pool->count, __ATOMIC_RELAXED); /* the rest need not run */
    }
  }
  __atomic_fetch_and(&pool->state, ~(uint32_t)OPEN, __ATOMIC_RELAXED);
}

/* Release: what the tasks wrote is visible to the caller once it has seen JOINED at 0. */
static void leave_loop(mhac_thread_pool *pool) {
  uint32_t before = __atomic_fetch_sub(&pool->state, 1, __ATOMIC_RELEASE);
  if ((before & WAITED) && (before & JOINED) == 1) {
    pthread_mutex_lock(&pool->mutex);
    pthread_cond_signal(&pool->left);
    pthread_mutex_unlock(&pool->mutex);
  }
}

/* ---- The pool's threads ---- */

static int wait_for_loop(mhac_thread_pool *pool) {
  for (;;) {
    int spin;
    for (spin = 0; spin <= pool->spins; ++spin) {
      uint32_t state = __atomic_load_n(&pool->state, __ATOMIC_RELAXED);
      if (state & STOP)
        return 0;
      if (join_loop(pool, state))
        return 1;
      spin_pause();
    }
    /* Either this thread sees the opened loop here, or the caller that opened it sees the sleeper and takes the mutex to wake it: both
     * sides write one variable and then read the other, all sequentially consistent. */
    pthread_mutex_lock(&pool->mutex);
    __atomic_fetch_add(&pool->sleepers, 1, __ATOMIC_SEQ_CST);
    while (!(__atomic_load_n(&pool->state, __ATOMIC_SEQ_CST) & (OPEN | STOP)))
      pthread_cond_wait(&pool->opened, &pool->mutex);
    __atomic_fetch_sub(&pool->sleepers, 1, __ATOMIC_RELAXED);
    pthread_mutex_unlock(&pool->mutex);
  }
}

static void *thread_main(void *argument) {
  pool_thread *self = (pool_thread *)argument;
  while (wait_for_loop(self->pool)) {
    run_tasks(self->pool, self->worker);
    leave_loop(self->pool);
  }
  return NULL;
}

/* ---- The caller of a loop ---- */

static void open_loop(mhac_thread_pool *pool, int64_t count, mhac_task task, void *closure) {
  pool->count = count;
  pool->task = task;
  pool->closure = closure;
  __atomic_store_n(&pool->failed, 0, __ATOMIC_RELAXED);
  __atomic_store_n(&pool->next, 0, __ATOMIC_RELAXED);
  /* A plain store is right: nobody is inside and nobody changes the state of a closed loop. */
  __atomic_store_n(&pool->state, OPEN, __ATOMIC_SEQ_CST);
  if (__atomic_load_n(&pool->sleepers, __ATOMIC_SEQ_CST) != 0) {
    pthread_mutex_lock(&pool->mutex);
    pthread_cond_broadcast(&pool->opened);
    pthread_mutex_unlock(&pool->mutex);
  }
}

static void wait_for_threads(mhac_thread_pool *pool) {
  int spin;
  for (spin = 0; spin <= pool->spins; ++spin) {
    if ((__atomic_load_n(&pool->state, __ATOMIC_ACQUIRE) & JOINED) == 0)
      return;
    spin_pause();
  }
  pthread_mutex_lock(&pool->mutex);
  __atomic_fetch_or(&pool->state, WAITED, __ATOMIC_RELAXED);
  while ((__atomic_load_n(&pool->state, __ATOMIC_ACQUIRE) & JOINED) != 0)
    pthread_cond_wait(&pool->left, &pool->mutex);
  pthread_mutex_unlock(&pool->mutex);
}

static mhac_status run_serially(int64_t count, mhac_task task, void *closure) {
  int64_t i;
  for (i = 0; i < count; ++i)
    if (task(closure, i, 0) != 0)
      return MHAC_STATUS_INTERNAL;
  return MHAC_STATUS_OK;
}

static mhac_status pool_parallel_for(void *self, int64_t count, mhac_task task, void *closure) {
  mhac_thread_pool *pool = (mhac_thread_pool *)self;
  mhac_status status;
  if (pool->process != getpid())
    return MHAC_STATUS_FORKED;
  /* Busy: another thread's loop, or one that this loop is nested in. */
  if (count <= 1 || pool->threads == 1 || __atomic_exchange_n(&pool->busy, 1, __ATOMIC_ACQUIRE) != 0)
    return run_serially(count, task, closure);
  open_loop(pool, count, task, closure);
  run_tasks(pool, 0);
  wait_for_threads(pool);
  status = __atomic_load_n(&pool->failed, __ATOMIC_RELAXED) ? MHAC_STATUS_INTERNAL : MHAC_STATUS_OK;
  __atomic_store_n(&pool->busy, 0, __ATOMIC_RELEASE);
  return status;
}

mhac_parallel mhac_thread_pool_parallel(mhac_thread_pool *pool) {
  mhac_parallel parallel = {NULL, 0, NULL};
  if (pool != NULL) {
    parallel.self = pool;
    parallel.concurrency = pool->threads;
    parallel.parallel_for = pool_parallel_for;
  }
  return parallel;
}

mhac_status mhac_thread_pool_check(const mhac_parallel *parallel) {
  if (parallel->parallel_for == pool_parallel_for && ((const mhac_thread_pool *)parallel->self)->process != getpid())
    return MHAC_STATUS_FORKED;
  return MHAC_STATUS_OK;
}

/* ---- Creation and destruction ---- */

/* Starts threads 1 .. threads - 1 with all signals blocked: handlers of the application run on its own threads. Returns how many runs. */
static int start_threads(mhac_thread_pool *pool) {
  sigset_t all, before;
  int worker;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  for (worker = 1; worker < pool->threads; ++worker) {
    pool_thread *thread = &pool->workers[worker - 1];
    thread->pool = pool;
    thread->worker = worker;
    if (pthread_create(&thread->handle, NULL, thread_main, thread) != 0)
      break;
  }
  pthread_sigmask(SIG_SETMASK, &before, NULL);
  return worker - 1;
}

static void stop_threads(mhac_thread_pool *pool, int started) {
  int i;
  pthread_mutex_lock(&pool->mutex);
  __atomic_fetch_or(&pool->state, STOP, __ATOMIC_SEQ_CST);
  pthread_cond_broadcast(&pool->opened);
  pthread_mutex_unlock(&pool->mutex);
  for (i = 0; i < started; ++i)
    pthread_join(pool->workers[i].handle, NULL);
  pthread_cond_destroy(&pool->left);
  pthread_cond_destroy(&pool->opened);
  pthread_mutex_destroy(&pool->mutex);
}

static void release_pool(mhac_thread_pool *pool) {
  mhac_allocator allocator = pool->allocator;
  allocator.release(allocator.self, pool, pool->bytes);
}

mhac_status mhac_thread_pool_create(int threads, const mhac_allocator *allocator, mhac_thread_pool **pool) {
  mhac_allocator resolved;
  mhac_thread_pool *made;
  mhac_status status;
  size_t bytes;
  int cpus, started;

  if (pool == NULL)
    return MHAC_STATUS_NULL_ARGUMENT;
  *pool = NULL;
  if (threads < 0 || threads > MAX_THREADS)
    return MHAC_STATUS_INVALID_OPTION;
  status = mhac_allocator_resolve(allocator, &resolved);
  if (status != MHAC_STATUS_OK)
    return status;
  cpus = available_cpus();
  if (threads == 0)
    threads = cpus < MAX_THREADS ? cpus : MAX_THREADS;

  bytes = sizeof(mhac_thread_pool) + (size_t)(threads - 1) * sizeof(pool_thread);
  made = (mhac_thread_pool *)resolved.allocate(resolved.self, bytes, 64);
  if (made == NULL)
    return MHAC_STATUS_OUT_OF_MEMORY;
  made->allocator = resolved;
  made->bytes = bytes;
  made->process = getpid();
  made->threads = threads;
  made->spins = threads <= cpus ? SPINS : 0;
  made->busy = made->sleepers = made->failed = 0;
  made->state = 0;
  made->next = 0;
  pthread_mutex_init(&made->mutex, NULL);
  pthread_cond_init(&made->opened, NULL);
  pthread_cond_init(&made->left, NULL);

  started = start_threads(made);
  if (started != threads - 1) {
    stop_threads(made, started);
    release_pool(made);
    return MHAC_STATUS_THREAD;
  }
  *pool = made;
  return MHAC_STATUS_OK;
}

void mhac_thread_pool_destroy(mhac_thread_pool *pool) {
  if (pool == NULL)
    return;
  /* After fork() the threads do not exist here, and mutex and conditions may be in a state that only they could end. */
  if (pool->process == getpid()) {
    while (__atomic_exchange_n(&pool->busy, 1, __ATOMIC_ACQUIRE) != 0)
      sched_yield();
    stop_threads(pool, pool->threads - 1);
  }
  release_pool(pool);
}
