// Names of targets, and that the compiler and the runtime mean the same feature bits.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "targets/Target.h"

#include <mhac/runtime.h>

#include <gtest/gtest.h>

using namespace mhac;

namespace {

std::string whyNot(const char *text) {
  std::string reason;
  EXPECT_FALSE(findTarget(text, reason)) << text;
  return reason;
}

TEST(Target, FeaturesAreThoseOfTheRuntime) {
  std::string reason;
  const uint64_t v3 = MHAC_CPU_SSE41 | MHAC_CPU_AVX | MHAC_CPU_F16C | MHAC_CPU_FMA | MHAC_CPU_AVX2;
  const uint64_t v4 = v3 | MHAC_CPU_AVX512F | MHAC_CPU_AVX512CD | MHAC_CPU_AVX512VL | MHAC_CPU_AVX512BW | MHAC_CPU_AVX512DQ;
  EXPECT_EQ(findTarget("x86-64-v4", reason)->features, v4);
  EXPECT_EQ(findTarget("x86-64-v3", reason)->features, v3);
  EXPECT_EQ(findTarget("x86-64-v2", reason)->features, MHAC_CPU_SSE41);
  EXPECT_EQ(findTarget("x86-64", reason)->features, 0u);
}

TEST(Target, FeaturesOfOtherArchitecturesAreThoseOfTheRuntime) {
  std::string reason;
  const uint64_t v82 = MHAC_CPU_ARM_DOTPROD | MHAC_CPU_ARM_FP16, v86 = v82 | MHAC_CPU_ARM_BF16 | MHAC_CPU_ARM_I8MM;
  EXPECT_EQ(findTarget("aarch64", reason)->features, 0u);
  EXPECT_EQ(findTarget("aarch64-v82", reason)->features, v82);
  EXPECT_EQ(findTarget("aarch64-v86", reason)->features, v86);
  EXPECT_EQ(findTarget("aarch64-sve2-128", reason)->features, v86 | MHAC_CPU_ARM_SVE2 | MHAC_CPU_ARM_SVE_128);
  EXPECT_EQ(findTarget("arm-64-linux-sve2-vector_bits_256", reason)->features, MHAC_CPU_ARM_SVE2 | MHAC_CPU_ARM_SVE_128 | MHAC_CPU_ARM_SVE_256);
  EXPECT_EQ(findTarget("riscv64-v128", reason)->features, MHAC_CPU_RISCV_V | MHAC_CPU_RISCV_V_128);
  EXPECT_EQ(findTarget("riscv64-v256", reason)->features, MHAC_CPU_RISCV_V | MHAC_CPU_RISCV_V_128 | MHAC_CPU_RISCV_V_256);
  EXPECT_EQ(findTarget("riscv-64-linux-rvv-vector_bits_512", reason)->features,
            MHAC_CPU_RISCV_V | MHAC_CPU_RISCV_V_128 | MHAC_CPU_RISCV_V_256 | MHAC_CPU_RISCV_V_512);
  EXPECT_EQ(findTarget("wasm32", reason)->features, 0u);
}

TEST(Target, NamedOnesOfAnArchitectureAreTogetherAndBestFirst) {
  llvm::ArrayRef<Target> targets = namedTargets();
  std::vector<const Architecture *> seen;
  for (const Target &target : targets)
    if (seen.empty() || seen.back() != target.architecture)
      seen.push_back(target.architecture);
  EXPECT_EQ(seen.size(), architectures().size());
  for (size_t i = 1; i < targets.size(); ++i)
    for (size_t j = 0; j < i; ++j)
      EXPECT_FALSE(includes(targets[i], targets[j])) << targets[i].name << " runs " << targets[j].name << ", which stands before it";
  EXPECT_TRUE(includes(targets[0], targets[1]));
}

TEST(Target, ProductsOfNarrowNumbersAskForTheirInstructions) {
  std::string reason;
  const uint64_t bf16 = findTarget("x86-64-v4-bf16", reason)->features, vnni = findTarget("x86-64-v3-vnni", reason)->features;
  EXPECT_EQ(bf16 & (MHAC_CPU_AVX512BF16 | MHAC_CPU_AVX512VNNI), MHAC_CPU_AVX512BF16 | MHAC_CPU_AVX512VNNI);
  EXPECT_EQ(vnni & (MHAC_CPU_AVXVNNI | MHAC_CPU_AVX512F), MHAC_CPU_AVXVNNI);
}

TEST(Target, HostIsANamedTarget) {
  std::string reason;
  std::optional<Target> host = findTarget("host", reason);
  ASSERT_TRUE(host);
  EXPECT_TRUE(llvm::any_of(namedTargets(), [&](const Target &t) { return t.name == host->name; }));
  EXPECT_EQ(host->features & ~mhac_cpu_features(), 0u) << "the runtime would refuse what the compiler chose";
}

TEST(Target, HalidesStringsGetTheProperties) {
  std::string reason;
  std::optional<Target> target = findTarget("x86-64-linux-sse41-avx-f16c-fma-avx2", reason);
  ASSERT_TRUE(target);
  EXPECT_EQ(target->vectorLanes, 8);
  EXPECT_EQ(target->name, "x86-64-linux-sse41-avx-f16c-fma-avx2");
  target = findTarget("riscv-64-linux-rvv-vector_bits_512", reason);
  ASSERT_TRUE(target);
  EXPECT_EQ(target->vectorLanes, 16);
  EXPECT_EQ(target->vectorRegisters, 32);
}

TEST(Target, UnknownOnesSayWhy) {
  EXPECT_NE(whyNot("x86-64-linux-avx9").find("'avx9' is unknown"), std::string::npos);
  EXPECT_NE(whyNot("mips-64-linux").find("begin with one of x86-64-linux, arm-64-linux"), std::string::npos);
  EXPECT_NE(whyNot("arm-64-linux-avx").find("known: arm_dot_prod"), std::string::npos);
  EXPECT_NE(whyNot("arm-64-linux-sve2").find("need the length of their vectors"), std::string::npos);
  EXPECT_NE(whyNot("arm-64-linux-vector_bits_128").find("is for sve2 and rvv"), std::string::npos);
  EXPECT_NE(whyNot("arm-64-linux-sve2-vector_bits_128-vector_bits_256").find("one length of vectors"), std::string::npos);
  EXPECT_NE(whyNot("riscv-64-linux").find("riscv64 needs V"), std::string::npos);
  EXPECT_NE(whyNot("wasm-32-wasmrt").find("needs simd128"), std::string::npos);
  EXPECT_FALSE(whyNot("").empty());
}

} // namespace
