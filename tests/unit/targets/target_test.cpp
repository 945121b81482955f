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

TEST(Target, NamedOnesAreBestFirst) {
  llvm::ArrayRef<Target> targets = namedTargets();
  ASSERT_EQ(targets.size(), 4u);
  for (size_t i = 1; i < targets.size(); ++i) {
    EXPECT_TRUE(includes(targets[i - 1], targets[i]));
    EXPECT_FALSE(includes(targets[i], targets[i - 1]));
  }
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
}

TEST(Target, UnknownOnesSayWhy) {
  EXPECT_NE(whyNot("x86-64-linux-avx9").find("'avx9' is unknown"), std::string::npos);
  EXPECT_NE(whyNot("arm-64-linux").find("begin with x86-64-linux"), std::string::npos);
  EXPECT_FALSE(whyNot("").empty());
}

} // namespace
