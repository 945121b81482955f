// Times and the limits of the machine they are compared with, measured in the same process: the rate of fused multiply-adds in registers and the
// rate at which memory can be read, for the same number of threads.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

namespace mhac::artefact {

/// The widest vectors that a target may use. Sse multiplies and adds in two instructions.
enum class VectorKind { Sse, Avx2, Avx512 };
VectorKind vectorKind(uint64_t features);

/// One sample of about a millisecond: GFLOP/s in f32 of `threads` threads together.
double samplePeak(VectorKind kind, int threads);

/// Memory to read in bandwidth samples; larger than caches are for one program, touched when made.
class BandwidthProbe {
public:
  explicit BandwidthProbe(size_t bytes = size_t(512) << 20);
  ~BandwidthProbe();
  BandwidthProbe(const BandwidthProbe &) = delete;
  BandwidthProbe &operator=(const BandwidthProbe &) = delete;
  /// One pass over the memory: GB/s of `threads` threads together.
  double sample(VectorKind kind, int threads) const;

private:
  char *memory;
  size_t size;
};

struct MeasureOptions {
  int series = 3;
  int calls = 60;              // a series
  double seconds = 2;          // a series ends early after this time, but not before its third call
  int threads = 1;
  VectorKind vectors = VectorKind::Avx2;
};

struct Measurement {
  std::vector<int64_t> times; // ns, sorted
  double peakGflops = 0, bandwidthGbPerS = 0; // the best samples taken between the calls
  int64_t minimum() const { return times.front(); }
  int64_t median() const { return times[times.size() / 2]; }
};

/// Calls `call` many times, with samples of the limits in between so that they see the same clock and neighbours. `call` returns false when it
/// failed; then the measurement stops and has the times so far.
Measurement measure(const MeasureOptions &options, const std::function<bool()> &call);

/// Largest resident set of this process so far, in bytes.
int64_t peakResidentBytes();

} // namespace mhac::artefact
