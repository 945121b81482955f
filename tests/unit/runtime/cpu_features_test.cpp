// The detected features agree with the compiler's own detection and are consistent in themselves.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <mhac/runtime.h>

#include <gtest/gtest.h>

namespace {

bool has(uint64_t bit) { return (mhac_cpu_features() & bit) != 0; }

TEST(CpuFeatures, AlwaysSayThatTheyWereDetected) { EXPECT_TRUE(has(MHAC_CPU_DETECTED)); }

TEST(CpuFeatures, AreTheSameEveryTime) { EXPECT_EQ(mhac_cpu_features(), mhac_cpu_features()); }

TEST(CpuFeatures, HaveNoUndocumentedBit) {
  uint64_t documented = MHAC_CPU_DETECTED | ((MHAC_CPU_AVX512BITALG << 1) - 1) | ((MHAC_CPU_RISCV_V_512 << 1) - MHAC_CPU_ARM_DOTPROD);
  EXPECT_EQ(mhac_cpu_features() & ~documented, 0u);
}

#if defined(__x86_64__)
TEST(CpuFeatures, AgreeWithTheCompilersDetection) {
  __builtin_cpu_init();
  EXPECT_EQ(has(MHAC_CPU_SSE41), __builtin_cpu_supports("sse4.1") != 0);
  EXPECT_EQ(has(MHAC_CPU_AVX), __builtin_cpu_supports("avx") != 0);
  EXPECT_EQ(has(MHAC_CPU_F16C), __builtin_cpu_supports("f16c") != 0);
  EXPECT_EQ(has(MHAC_CPU_FMA), __builtin_cpu_supports("fma") != 0);
  EXPECT_EQ(has(MHAC_CPU_AVX2), __builtin_cpu_supports("avx2") != 0);
  EXPECT_EQ(has(MHAC_CPU_AVX512F), __builtin_cpu_supports("avx512f") != 0);
  EXPECT_EQ(has(MHAC_CPU_AVX512CD), __builtin_cpu_supports("avx512cd") != 0);
  EXPECT_EQ(has(MHAC_CPU_AVX512VL), __builtin_cpu_supports("avx512vl") != 0);
  EXPECT_EQ(has(MHAC_CPU_AVX512BW), __builtin_cpu_supports("avx512bw") != 0);
  EXPECT_EQ(has(MHAC_CPU_AVX512DQ), __builtin_cpu_supports("avx512dq") != 0);
  EXPECT_EQ(has(MHAC_CPU_BMI2), __builtin_cpu_supports("bmi2") != 0);
  EXPECT_EQ(has(MHAC_CPU_AVXVNNI), __builtin_cpu_supports("avxvnni") != 0);
  EXPECT_EQ(has(MHAC_CPU_AVX512VNNI), __builtin_cpu_supports("avx512vnni") != 0);
  EXPECT_EQ(has(MHAC_CPU_AVX512BF16), __builtin_cpu_supports("avx512bf16") != 0);
  EXPECT_EQ(has(MHAC_CPU_AVX512IFMA), __builtin_cpu_supports("avx512ifma") != 0);
  EXPECT_EQ(has(MHAC_CPU_AVX512VBMI), __builtin_cpu_supports("avx512vbmi") != 0);
  EXPECT_EQ(has(MHAC_CPU_AVX512VBMI2), __builtin_cpu_supports("avx512vbmi2") != 0);
  EXPECT_EQ(has(MHAC_CPU_AVX512BITALG), __builtin_cpu_supports("avx512bitalg") != 0);
}
#else
TEST(CpuFeatures, HaveNoX86BitElsewhere) { EXPECT_EQ(mhac_cpu_features() & ((MHAC_CPU_AVX512BITALG << 1) - 1), 0u); }
#endif

} // namespace
