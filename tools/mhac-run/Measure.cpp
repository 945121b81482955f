// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Measure.h"

#include <mhac/runtime.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <thread>

#include <sys/mman.h>
#include <sys/resource.h>

namespace mhac::artefact {

using Clock = std::chrono::steady_clock;

static int64_t nanoseconds(Clock::time_point from, Clock::time_point to) {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(to - from).count();
}

VectorKind vectorKind(uint64_t features) {
  if (features & MHAC_CPU_AVX512F)
    return VectorKind::Avx512;
  return features & MHAC_CPU_AVX2 ? VectorKind::Avx2 : VectorKind::Sse;
}

namespace {

/// Runs body(thread) on all threads at once; the time from the common start to the end of the last, in ns.
template <typename F> int64_t runTogether(int threads, F body) {
  std::atomic<int> ready{0};
  std::atomic<bool> go{false};
  std::vector<std::thread> others;
  std::vector<Clock::time_point> ends(static_cast<size_t>(threads)); // before the threads are joined, which takes longer than some bodies
  for (int i = 1; i < threads; ++i)
    others.emplace_back([&, i] {
      ++ready;
      while (!go.load(std::memory_order_acquire))
        ;
      body(i);
      ends[size_t(i)] = Clock::now();
    });
  while (ready.load() < threads - 1)
    std::this_thread::yield();
  auto start = Clock::now();
  go.store(true, std::memory_order_release);
  body(0);
  ends[0] = Clock::now();
  for (std::thread &thread : others)
    thread.join();
  return nanoseconds(start, *std::max_element(ends.begin(), ends.end()));
}

#if defined(__x86_64__)
typedef float Lanes4 __attribute__((vector_size(16)));
typedef float Lanes8 __attribute__((vector_size(32)));
typedef float Lanes16 __attribute__((vector_size(64)));

// Twelve independent chains: more than latency times issue width on every machine. Inline assembly, so that the compiler can neither fold nor
// move them; each chain is a named register because an array would be spilled.
#define MHAC_EACH(X) X(0) X(1) X(2) X(3) X(4) X(5) X(6) X(7) X(8) X(9) X(10) X(11)
#define MHAC_DECLARE(j) Lanes a##j = c;
#define MHAC_FMA(j) asm volatile("vfmadd213ps %2, %1, %0" : "+v"(a##j) : "v"(m), "v"(c));
#define MHAC_MUL(j) asm volatile("mulps %1, %0" : "+x"(a##j) : "x"(m));
#define MHAC_ADD(j) asm volatile("addps %1, %0" : "+x"(a##j) : "x"(c));
#define MHAC_USE(j) asm volatile("" ::"x"(a##j));

/// Each returns the operations done in `trips` rounds.
__attribute__((target("avx512f"))) double chains512(int64_t trips) {
  using Lanes = Lanes16;
  Lanes m = {}, c = {};
  m += 0.999f, c += 0.001f;
  MHAC_EACH(MHAC_DECLARE)
  for (int64_t i = 0; i < trips; ++i) {
    MHAC_EACH(MHAC_FMA)
  }
  MHAC_EACH(MHAC_USE)
  return double(trips) * 12 * 16 * 2;
}
__attribute__((target("avx2,fma"))) double chains256(int64_t trips) {
  using Lanes = Lanes8;
  Lanes m = {}, c = {};
  m += 0.999f, c += 0.001f;
  MHAC_EACH(MHAC_DECLARE)
  for (int64_t i = 0; i < trips; ++i) {
    MHAC_EACH(MHAC_FMA)
  }
  MHAC_EACH(MHAC_USE)
  return double(trips) * 12 * 8 * 2;
}
double chains128(int64_t trips) {
  using Lanes = Lanes4;
  Lanes m = {}, c = {};
  m += 0.999f, c += 0.001f;
  MHAC_EACH(MHAC_DECLARE)
  for (int64_t i = 0; i < trips; ++i) {
    MHAC_EACH(MHAC_MUL)
    MHAC_EACH(MHAC_ADD)
  }
  MHAC_EACH(MHAC_USE)
  return double(trips) * 12 * 4 * 2;
}
#undef MHAC_EACH
#undef MHAC_DECLARE
#undef MHAC_FMA
#undef MHAC_MUL
#undef MHAC_ADD
#undef MHAC_USE

// One load a 64-byte line and register width; eight lines a round.
#define MHAC_READ(name, isa, type, width)                                                                                                  \
  __attribute__((target(isa))) void name(const char *data, size_t bytes) {                                                                 \
    for (size_t i = 0; i < bytes; i += 512)                                                                                                \
      for (size_t j = 0; j < 512; j += width) {                                                                                            \
        type value = *reinterpret_cast<const type *>(data + i + j);                                                                        \
        asm volatile("" ::"x"(value));                                                                                                     \
      }                                                                                                                                    \
  }
MHAC_READ(read512, "avx512f", Lanes16, 64)
MHAC_READ(read256, "avx2", Lanes8, 32)
MHAC_READ(read128, "sse2", Lanes4, 16)
#undef MHAC_READ

void readAll(VectorKind kind, const char *data, size_t bytes) {
  (kind == VectorKind::Avx512 ? read512 : kind == VectorKind::Avx2 ? read256 : read128)(data, bytes);
}

double chains(VectorKind kind, int64_t trips) {
  switch (kind) {
  case VectorKind::Avx512:
    return chains512(trips);
  case VectorKind::Avx2:
    return chains256(trips);
  case VectorKind::Sse:
    return chains128(trips);
  }
  return 0;
}
#else
double chains(VectorKind, int64_t trips) { // other machines: what the compiler makes of it
  float a[64] = {};
  for (int64_t i = 0; i < trips; ++i) {
    for (float &value : a)
      value = value * 0.999f + 0.001f;
    asm volatile("" ::"g"(a) : "memory");
  }
  return double(trips) * 64 * 2;
}
void readAll(VectorKind, const char *data, size_t bytes) {
  for (size_t i = 0; i < bytes; i += 16) {
    uint64_t first = *reinterpret_cast<const uint64_t *>(data + i), second = *reinterpret_cast<const uint64_t *>(data + i + 8);
    asm volatile("" ::"r"(first), "r"(second));
  }
}
#endif

} // namespace

double samplePeak(VectorKind kind, int threads) {
  const int64_t trips = 300000;
  double flops = chains(kind, trips) * 0; // wakes the wide units up before the clock starts
  std::vector<double> done(size_t(threads), 0.0);
  int64_t ns = runTogether(threads, [&](int thread) { done[size_t(thread)] = chains(kind, trips); });
  for (double part : done)
    flops += part;
  return flops / double(ns);
}

static constexpr size_t large_page = size_t(2) << 20;

BandwidthProbe::BandwidthProbe(size_t bytes) : size(bytes / large_page * large_page) {
  memory = static_cast<char *>(std::aligned_alloc(large_page, size));
  if (!memory)
    std::abort();
  madvise(memory, size, MADV_HUGEPAGE); // otherwise address translation is measured
  std::memset(memory, 1, size);
}

BandwidthProbe::~BandwidthProbe() { std::free(memory); }

double BandwidthProbe::sample(VectorKind kind, int threads) const {
  const size_t part = size / size_t(threads) / 4096 * 4096;
  int64_t ns = runTogether(threads, [&](int thread) { readAll(kind, memory + part * size_t(thread), part); });
  return double(part) * threads / double(ns);
}

Measurement measure(const MeasureOptions &options, const std::function<bool()> &call) {
  Measurement result;
  auto peak = [&] { result.peakGflops = std::max(result.peakGflops, samplePeak(options.vectors, options.threads)); };
  BandwidthProbe probe;
  bool good = call(); // warms caches up and makes the pool's threads run
  for (int series = 0; series < options.series && good; ++series) {
    result.bandwidthGbPerS = std::max(result.bandwidthGbPerS, probe.sample(options.vectors, options.threads));
    good = call(); // the probe has emptied the caches
    auto start = Clock::now();
    for (int i = 0; i < options.calls && good; ++i) {
      if (i % 10 == 0)
        peak();
      auto before = Clock::now();
      good = call();
      auto after = Clock::now();
      result.times.push_back(nanoseconds(before, after));
      if (i >= 2 && double(nanoseconds(start, after)) > options.seconds * 1e9)
        break;
    }
  }
  std::sort(result.times.begin(), result.times.end());
  return result;
}

int64_t peakResidentBytes() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return int64_t(usage.ru_maxrss) * 1024;
}

} // namespace mhac::artefact
