// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "targets/Target.h"

#include "targets/ScheduleRule.h"

#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/TargetParser/Host.h"
#include "llvm/TargetParser/Triple.h"

#include <utility>

namespace mhac {
namespace {

enum ArchitectureIndex { X86, Arm, Riscv, Wasm };
const Architecture architectureTable[] = {{"x86-64", "x86-64-linux", x86Rules},
                                          {"aarch64", "arm-64-linux", armRules},
                                          {"riscv64", "riscv-64-linux", riscvRules},
                                          {"wasm32", "wasm-32-wasmrt", wasmRules}};

constexpr uint64_t bit(int number) { return uint64_t(1) << number; }

/// What a word of Halide's target strings asks of a CPU: bits as in runtime/include/mhac/runtime.h, names as LLVM gives them.
struct Feature {
  ArchitectureIndex architecture;
  llvm::StringLiteral halide;
  uint64_t bits;
  llvm::StringLiteral llvmNames; // comma separated; "": LLVM does not say whether this machine has it
  int vectorBits = 0;            // the shortest vectors that the code is right for
};
const Feature featureTable[] = {
    {X86, "sse41", bit(0), "sse4.1"},
    {X86, "avx", bit(1), "avx"},
    {X86, "f16c", bit(2), "f16c"},
    {X86, "fma", bit(3), "fma"},
    {X86, "avx2", bit(4), "avx2"},
    {X86, "avx512", bit(5) | bit(6), "avx512f,avx512cd"},
    {X86, "avx512_skylake", bit(5) | bit(6) | bit(7) | bit(8) | bit(9), "avx512f,avx512cd,avx512vl,avx512bw,avx512dq"},
    {X86, "avxvnni", bit(11), "avxvnni"},
    {X86, "avx512_zen4", 0x1f << 5 | 0x3f << 12, "avx512f,avx512cd,avx512vl,avx512bw,avx512dq,avx512vnni,avx512bf16,avx512ifma,avx512vbmi,avx512vbmi2,avx512bitalg"},
    {Arm, "arm_dot_prod", bit(32), "dotprod"},
    {Arm, "arm_fp16", bit(33), "fullfp16"},
    {Arm, "armv86a", bit(32) | bit(34) | bit(35), "dotprod,bf16,i8mm"},
    {Arm, "sve2", bit(36), "sve2"},
    {Arm, "vector_bits_128", bit(37), "", 128},
    {Arm, "vector_bits_256", bit(37) | bit(38), "", 256},
    {Arm, "vector_bits_512", bit(37) | bit(38) | bit(39), "", 512},
    {Riscv, "rvv", bit(40), "v"},
    {Riscv, "vector_bits_128", bit(41), "", 128},
    {Riscv, "vector_bits_256", bit(41) | bit(42), "", 256},
    {Riscv, "vector_bits_512", bit(41) | bit(42) | bit(43), "", 512},
    {Wasm, "wasm_simd128", 0, ""},
};

/// Vectors of a length that the CPU chooses: code is for a length that is said.
constexpr uint64_t scalableVectors = bit(36) | bit(40);

/// Fills architecture, features and the length of vectors from Halide's string; the reason why not on failure.
std::string readFeatures(llvm::StringRef text, Target &target) {
  std::string known;
  for (const Architecture &row : architectureTable) {
    if (text == row.halide || text.starts_with((row.halide + "-").str()))
      target.architecture = &row;
    known += (known.empty() ? "" : ", ") + row.halide.str();
  }
  if (!target.architecture)
    return "Halide's strings begin with one of " + known + " here";
  llvm::SmallVector<llvm::StringRef> words;
  text.drop_front(target.architecture->halide.size()).split(words, '-', -1, /*KeepEmpty=*/false);
  bool hasLength = false;
  for (llvm::StringRef word : words) {
    const Feature *found = nullptr;
    known.clear();
    for (const Feature &feature : featureTable) {
      if (&architectureTable[feature.architecture] != target.architecture)
        continue;
      found = feature.halide == word ? &feature : found;
      known += (known.empty() ? "" : ", ") + feature.halide.str();
    }
    if (!found)
      return "the feature '" + word.str() + "' is unknown; known: " + known;
    if (found->vectorBits && std::exchange(hasLength, true))
      return "one length of vectors at a time, found '" + word.str() + "' as well";
    target.features |= found->bits;
    if (found->vectorBits)
      target.vectorLanes = found->vectorBits / 32;
  }
  if (hasLength != bool(target.features & scalableVectors))
    return hasLength ? "a length of vectors is for sve2 and rvv" : "sve2 and rvv need the length of their vectors, for example vector_bits_128";
  if (target.architecture == &architectureTable[Riscv] && !hasLength)
    return "riscv64 needs V: rvv with a length of vectors";
  if (target.architecture == &architectureTable[Wasm] && words.empty())
    return "wasm32 needs simd128: wasm_simd128";
  return "";
}

bool hostHas(const Target &target) {
  static const llvm::StringMap<bool> host = llvm::sys::getHostCPUFeatures();
  if (target.architecture != hostArchitecture())
    return false;
  for (const Feature &feature : featureTable) {
    if (&architectureTable[feature.architecture] != target.architecture || (feature.bits & target.features) != feature.bits)
      continue;
    llvm::SmallVector<llvm::StringRef> names;
    feature.llvmNames.split(names, ',');
    if (!llvm::all_of(names, [&](llvm::StringRef name) { return host.lookup(name); }))
      return false;
  }
  return true;
}

} // namespace

llvm::ArrayRef<Target> namedTargets() {
  static const std::vector<Target> table = [] {
    std::vector<Target> rows = {
#define MHAC_TARGET(name, halide, registers, lanes, l1, l2, sentence) {name, halide, nullptr, 0, registers, lanes, l1, l2, sentence},
#include "targets/Targets.def"
#undef MHAC_TARGET
    };
    for (Target &row : rows)
      readFeatures(row.halide, row);
    return rows;
  }();
  return table;
}

llvm::ArrayRef<Architecture> architectures() { return architectureTable; }

const Architecture *hostArchitecture() {
  const llvm::Triple host(llvm::sys::getProcessTriple());
  return host.getArch() == llvm::Triple::x86_64    ? &architectureTable[X86]
         : host.getArch() == llvm::Triple::aarch64 ? &architectureTable[Arm]
         : host.getArch() == llvm::Triple::riscv64 ? &architectureTable[Riscv]
                                                   : nullptr;
}

bool includes(const Target &other, const Target &target) {
  return other.architecture == target.architecture && (other.features & target.features) == target.features;
}

std::optional<Target> findTarget(llvm::StringRef text, std::string &reason) {
  for (const Target &target : namedTargets())
    if (text == target.name || (text == "host" && hostHas(target)))
      return target;
  Target own;
  own.name = own.halide = text.str();
  reason = readFeatures(text, own);
  if (!reason.empty())
    return std::nullopt;
  // Registers and caches as the best named target that it includes.
  for (const Target &target : namedTargets())
    if (includes(own, target)) {
      own.vectorRegisters = target.vectorRegisters, own.vectorLanes = std::max(own.vectorLanes, target.vectorLanes);
      own.l1Bytes = target.l1Bytes, own.l2Bytes = target.l2Bytes, own.sentence = "at least " + target.sentence;
      break;
    }
  return own;
}

} // namespace mhac
