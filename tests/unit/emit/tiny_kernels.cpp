// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tiny_kernels.h"

#include "Halide.h"

#include "llvm/Support/MemoryBuffer.h"
#include "mhac/runtime.h"

#include <cstdlib>
#include <filesystem>
#include <unistd.h>

namespace mhac::test {
namespace h = Halide;

static h::Target halideTarget(const std::string &target) {
  std::string features = target == "x86-64-v4" ? "-avx512-avx512_skylake" : "";
  return h::Target("x86-64-linux-sse41-avx-avx2-fma-f16c" + features + "-no_runtime-no_asserts-no_bounds_query-user_context");
}

static std::string compileModule(const h::Module &module) {
  std::string path = std::filesystem::temp_directory_path() / ("mhac_tiny_" + std::to_string(getpid()) + ".bc");
  module.compile({{h::OutputFileType::bitcode, path}});
  std::string bytes = llvm::MemoryBuffer::getFile(path)->get()->getBuffer().str();
  std::filesystem::remove(path);
  return bytes;
}

/// tmp = x + w, then y = 2 * tmp through a scratch row per task.
static std::string tinyBitcode(const std::string &prefix, const h::Target &target) {
  h::Var m("m"), b("b");
  h::ImageParam x(h::Float(32), 2, "x"), w(h::Float(32), 1, "w"), tmp(h::Float(32), 2, "tmp");
  h::Param<int> batch("batch");
  h::Func add("add"), twice("twice"), row("row");
  add(m, b) = h::select(b < batch, x(m, b) + w(m), 0.f);
  add.bound(m, 0, tinyColumns).vectorize(m, 8);
  row(m, b) = tmp(m, b) * 2.f;
  twice(m, b) = row(m, b) + row(h::min(m + 1, tinyColumns - 1), b) * 0.f;
  twice.bound(m, 0, tinyColumns).vectorize(m, 8).parallel(b);
  row.compute_at(twice, b).store_in(h::MemoryType::Heap).vectorize(m, 8);
  h::Module first = add.compile_to_module({x, w, batch}, prefix + "_add", target);
  h::Module second = twice.compile_to_module({tmp}, prefix + "_twice", target);
  return compileModule(h::link_modules(prefix, {first, second}));
}

TinyEntry makeTinyEntry(const std::string &name, const std::vector<std::string> &targets) {
  TinyEntry entry;
  KernelInterface &i = entry.interface;
  i.name = name;
  i.specFile = "tiny.yaml";
  i.sizes = {{"batch", 0, 1000, 8}};
  i.constants = {{"columns", tinyColumns}};
  ExtentInfo batch{0, 1, 1}, columns{-1, 1, tinyColumns};
  i.arguments = {{"x", ArgumentRole::Input, DType::F32, {"batch", "16"}, {batch, columns}, 16, 24},
                 {"w", ArgumentRole::Weight, DType::F32, {"16"}, {columns}, 32, -1},
                 {"counts", ArgumentRole::Parameter, DType::I64, {"batch"}, {batch}, 40, -1, ArgumentCheck::Range, 0},
                 {"y", ArgumentRole::Output, DType::F32, {"batch", "16"}, {batch, columns}, 48, 56}};
  i.workspaceOffset = 64;
  i.workspaceBytesOffset = 72;
  i.argsBytes = 80;
  for (size_t t = 0; t < targets.size(); ++t) {
    std::string prefix = name + "_" + std::to_string(t);
    CandidateInfo c;
    c.function = name + "." + targets[t];
    c.target = targets[t];
    c.features = MHAC_CPU_AVX2 | MHAC_CPU_FMA | (targets[t] == "x86-64-v4" ? MHAC_CPU_AVX512F | MHAC_CPU_AVX512VL : 0);
    c.workspace = {{"tmp", DType::F32, {columns, batch}}};
    using Kind = OperandInfo::Kind;
    c.kernels = {{"add", prefix + "_add", {{Kind::Argument, 0}, {Kind::Argument, 1}, {Kind::Size, 0}, {Kind::Workspace, 0}}},
                 {"twice", prefix + "_twice", {{Kind::Workspace, 0}, {Kind::Argument, 3}}}};
    c.arenaBytes = 4096;
    c.schedules = {"tiny: by hand"};
    i.candidates.push_back(c);
    entry.bitcode.push_back(tinyBitcode(prefix, halideTarget(targets[t])));
  }
  return entry;
}

std::string makeCallingKernel(const std::string &symbol, const std::string &callee) {
  h::Var m("m");
  h::ImageParam x(h::Float(32), 1, "x");
  h::Func f("f");
  f(m) = h::Internal::Call::make(h::Float(32), callee, {x(m)}, h::Internal::Call::PureExtern);
  return compileModule(f.compile_to_module({x}, symbol, halideTarget("x86-64-v3")));
}

} // namespace mhac::test
