/* Which vector extensions can be used here: the CPU has them and the operating system saves their registers. This code decides whether
 * newer code may run, so it is compiled for the baseline itself.
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include <mhac/runtime.h>

/* Where Linux is not, nobody can be asked. */
#if defined(__linux__) && __STDC_HOSTED__ && (defined(__aarch64__) || defined(__riscv))
#define MHAC_HAS_AUXV 1
#include <sys/auxv.h>
#endif

#if defined(__x86_64__) || defined(__i386__)
#include <cpuid.h>

enum {
  XCR0_AVX = 0x06,    /* XMM and YMM */
  XCR0_AVX512 = 0xe6, /* and mask registers, upper halves of ZMM0-15, ZMM16-31 */
  LEAF7_1_AVXVNNI = 1 << 4, LEAF7_1_AVX512BF16 = 1 << 5 /* eax of leaf 7, subleaf 1, which not every cpuid.h names */
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
  uint32_t leaf7 = 0, leaf7_1 = 0, leaf7_ecx = 0, xcr0 = 0;

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

  if (__get_cpuid_count(7, 0, &eax, &ebx, &ecx, &edx)) {
    leaf7 = ebx, leaf7_ecx = ecx;
    if (eax >= 1 && __get_cpuid_count(7, 1, &eax, &ebx, &ecx, &edx)) /* eax of subleaf 0: the last subleaf */
      leaf7_1 = eax;
  }
  if (leaf7 & bit_BMI2)
    features |= MHAC_CPU_BMI2;
  if ((xcr0 & XCR0_AVX) == XCR0_AVX && (leaf7 & bit_AVX2))
    features |= MHAC_CPU_AVX2;
  if ((xcr0 & XCR0_AVX) == XCR0_AVX && (leaf7_1 & LEAF7_1_AVXVNNI))
    features |= MHAC_CPU_AVXVNNI;
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
    if (leaf7 & bit_AVX512IFMA)
      features |= MHAC_CPU_AVX512IFMA;
    if (leaf7_ecx & bit_AVX512VBMI)
      features |= MHAC_CPU_AVX512VBMI;
    if (leaf7_ecx & bit_AVX512VBMI2)
      features |= MHAC_CPU_AVX512VBMI2;
    if (leaf7_ecx & bit_AVX512BITALG)
      features |= MHAC_CPU_AVX512BITALG;
    if (leaf7_ecx & bit_AVX512VNNI)
      features |= MHAC_CPU_AVX512VNNI;
    if (leaf7_1 & LEAF7_1_AVX512BF16)
      features |= MHAC_CPU_AVX512BF16;
  }
  return features;
}

#elif defined(__aarch64__)

/* Bits of the auxiliary vector's AT_HWCAP and AT_HWCAP2 (Linux, arch/arm64). What the compiler may assume holds without asking, which is all that
 * is known where no operating system answers. */
enum {
  CAP_FPHP = 1 << 9,
  CAP_ASIMDHP = 1 << 10,
  CAP_ASIMDDP = 1 << 20,
  CAP2_SVE2 = 1 << 1,
  CAP2_I8MM = 1 << 13,
  CAP2_BF16 = 1 << 14
};

/* Only valid where there is SVE. `rdvl x0, 1`, as its bits, for assemblers that are told of no SVE. */
static uint64_t sve_bytes(void) {
  register uint64_t bytes __asm__("x0");
  __asm__ volatile(".inst 0x04bf5020" : "=r"(bytes));
  return bytes;
}

uint64_t mhac_cpu_features(void) {
  uint64_t features = MHAC_CPU_DETECTED, bytes;
#if MHAC_HAS_AUXV
  const unsigned long first = getauxval(AT_HWCAP), second = getauxval(AT_HWCAP2);
  const unsigned long fp16 = CAP_FPHP | CAP_ASIMDHP;
  if (first & CAP_ASIMDDP)
    features |= MHAC_CPU_ARM_DOTPROD;
  if ((first & fp16) == fp16)
    features |= MHAC_CPU_ARM_FP16;
  if (second & CAP2_BF16)
    features |= MHAC_CPU_ARM_BF16;
  if (second & CAP2_I8MM)
    features |= MHAC_CPU_ARM_I8MM;
  if (second & CAP2_SVE2)
    features |= MHAC_CPU_ARM_SVE2;
#endif
#ifdef __ARM_FEATURE_DOTPROD
  features |= MHAC_CPU_ARM_DOTPROD;
#endif
#ifdef __ARM_FEATURE_FP16_VECTOR_ARITHMETIC
  features |= MHAC_CPU_ARM_FP16;
#endif
#ifdef __ARM_FEATURE_BF16
  features |= MHAC_CPU_ARM_BF16;
#endif
#ifdef __ARM_FEATURE_MATMUL_INT8
  features |= MHAC_CPU_ARM_I8MM;
#endif
#ifdef __ARM_FEATURE_SVE2
  features |= MHAC_CPU_ARM_SVE2;
#endif
  bytes = features & MHAC_CPU_ARM_SVE2 ? sve_bytes() : 0;
  if (bytes >= 16)
    features |= MHAC_CPU_ARM_SVE_128;
  if (bytes >= 32)
    features |= MHAC_CPU_ARM_SVE_256;
  if (bytes >= 64)
    features |= MHAC_CPU_ARM_SVE_512;
  return features;
}

#elif defined(__riscv)

/* Only valid where there is V: the register vlenb, by its number for assemblers that are told of no V. */
static uint64_t vector_bytes(void) {
  uint64_t bytes;
  __asm__ volatile("csrr %0, 0xc22" : "=r"(bytes));
  return bytes;
}

uint64_t mhac_cpu_features(void) {
  uint64_t features = MHAC_CPU_DETECTED, bytes;
#if MHAC_HAS_AUXV
  if (getauxval(AT_HWCAP) & 1ul << ('V' - 'A'))
    features |= MHAC_CPU_RISCV_V;
#endif
#ifdef __riscv_v /* compiled for CPUs that have it */
  features |= MHAC_CPU_RISCV_V;
#endif
  bytes = features & MHAC_CPU_RISCV_V ? vector_bytes() : 0;
  if (bytes >= 16)
    features |= MHAC_CPU_RISCV_V_128;
  if (bytes >= 32)
    features |= MHAC_CPU_RISCV_V_256;
  if (bytes >= 64)
    features |= MHAC_CPU_RISCV_V_512;
  return features;
}

#else

uint64_t mhac_cpu_features(void) { return MHAC_CPU_DETECTED; }

#endif
