// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "targets/Target.h"

#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/TargetParser/Host.h"

namespace mhac {
namespace {

/// What a word of Halide's target strings asks of a CPU: bits as in runtime/include/mhac/runtime.h, names as LLVM gives them.
struct Feature {
  llvm::StringLiteral halide;
  uint64_t bits;
  llvm::StringLiteral llvmNames; // comma separated
};
const Feature featureTable[] = {
    {"sse41", 1u << 0, "sse4.1"},
    {"avx", 1u << 1, "avx"},
    {"f16c", 1u << 2, "f16c"},
    {"fma", 1u << 3, "fma"},
    {"avx2", 1u << 4, "avx2"},
    {"avx512", 1u << 5 | 1u << 6, "avx512f,avx512cd"},
    {"avx512_skylake", 1u << 5 | 1u << 6 | 1u << 7 | 1u << 8 | 1u << 9, "avx512f,avx512cd,avx512vl,avx512bw,avx512dq"},
};

/// Fills `features` from Halide's string; the reason why not on failure.
std::string readFeatures(llvm::StringRef text, Target &target) {
  llvm::SmallVector<llvm::StringRef> words;
  text.split(words, '-');
  if (words.size() < 3 || words[0] != "x86" || words[1] != "64" || words[2] != "linux")
    return "Halide's strings begin with x86-64-linux here";
  for (llvm::StringRef word : llvm::drop_begin(words, 3)) {
    const Feature *found = llvm::find_if(featureTable, [&](const Feature &f) { return f.halide == word; });
    if (found == std::end(featureTable))
      return "the feature '" + word.str() + "' is unknown; known: sse41, avx, f16c, fma, avx2, avx512, avx512_skylake";
    target.features |= found->bits;
  }
  return "";
}

bool hostHas(const Target &target) {
  static const llvm::StringMap<bool> host = llvm::sys::getHostCPUFeatures();
  for (const Feature &feature : featureTable) {
    if ((feature.bits & target.features) != feature.bits)
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
#define MHAC_TARGET(name, halide, registers, lanes, l1, l2, sentence) {name, halide, 0, registers, lanes, l1, l2, sentence},
#include "targets/Targets.def"
#undef MHAC_TARGET
    };
    for (Target &row : rows)
      readFeatures(row.halide, row);
    return rows;
  }();
  return table;
}

bool includes(const Target &other, const Target &target) { return (other.features & target.features) == target.features; }

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
      own.vectorRegisters = target.vectorRegisters, own.vectorLanes = target.vectorLanes;
      own.l1Bytes = target.l1Bytes, own.l2Bytes = target.l2Bytes, own.sentence = "at least " + target.sentence;
      break;
    }
  return own;
}

} // namespace mhac
