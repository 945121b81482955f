/* Which vector extensions can be used here: the CPU has them and the operating system saves their registers. This code decides whether
 * newer code may run, so it is compiled for the baseline itself.
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include <mhac/runtime.h>

#if defined(__x86_64__) || defined(__i386__)
#include <cpuid.h>

enum {
  XCR0_AVX = 0x06,    /* XMM and YMM */
  XCR0_AVX512 = 0xe6  /* and mask registers, upper halves of ZMM0-15, ZMM16-31 */
};

/* The register states that the operating system saves. Only valid when CPUID says OSXSAVE. */
static uint32_t read_xcr0(void) {
  uint32_t low, high;
  __asm__ volatile("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
  (void)high;
  return low;
}

uint64_t mhac_cpu_features(void) {
  uint64_t features = MHAC_CPU_DETECTED;
  uint32_t eax, ebx, ecx, edx;
  uint32_t leaf7 = 0, xcr0 = 0;

  if (!__get_cpuid(1, &eax, &ebx, &ecx, &edx))
    return features;
  if (ecx & bit_OSXSAVE)
    xcr0 = read_xcr0();
  if (ecx & bit_SSE4_1)
    features |= MHAC_CPU_SSE41;
  if ((xcr0 & XCR0_AVX) == XCR0_AVX) {
    if (ecx & bit_AVX)
      features |= MHAC_CPU_AVX;
    if (ecx & bit_F16C)
      features |= MHAC_CPU_F16C;
    if (ecx & bit_FMA)
      features |= MHAC_CPU_FMA;
  }

  if (__get_cpuid_count(7, 0, &eax, &ebx, &ecx, &edx))
    leaf7 = ebx;
  if (leaf7 & bit_BMI2)
    features |= MHAC_CPU_BMI2;
  if ((xcr0 & XCR0_AVX) == XCR0_AVX && (leaf7 & bit_AVX2))
    features |= MHAC_CPU_AVX2;
  if ((xcr0 & XCR0_AVX512) == XCR0_AVX512) {
    if (leaf7 & bit_AVX512F)
      features |= MHAC_CPU_AVX512F;
    if (leaf7 & bit_AVX512CD)
      features |= MHAC_CPU_AVX512CD;
    if (leaf7 & bit_AVX512VL)
      features |= MHAC_CPU_AVX512VL;
    if (leaf7 & bit_AVX512BW)
      features |= MHAC_CPU_AVX512BW;
    if (leaf7 & bit_AVX512DQ)
      features |= MHAC_CPU_AVX512DQ;
  }
  return features;
}

#else

uint64_t mhac_cpu_features(void) { return MHAC_CPU_DETECTED; }

#endif
