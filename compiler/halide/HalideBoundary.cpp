// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "halide/HalideBoundary.h"

#include "halide/Prefetch.h"
#include "halide/TransposeTiles.h"
#include "halide/TrimSlots.h"
#include "halide/UnrollTiles.h"

#include "llvm/ADT/SmallString.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"

#include <optional>
#include <sstream>

using namespace Halide;

namespace mhac::halide {
namespace {

/// Halide's warnings go through one hook of the process; the text of the last one that matters is kept here while a compilation runs.
class Reporter : public CompileTimeErrorReporter {
public:
  std::string fatalWarning;
  void warning(const char *message) override {
    // Without assertions this one means memory corruption.
    if (std::string_view(message).find("guaranteed to fail") != std::string_view::npos)
      fatalWarning = message;
  }
  void error(const char *message) override { throw Halide::Error(message); }
};

/// Adds up what a pipeline asks of mhac_kernel_alloc: every allocation that does not fit on the stack, all alive at once in the worst case.
class MeasureScratch : public Internal::IRMutator {
public:
  int64_t bytes = 0;
  std::string unbounded; // an allocation whose size is not a constant

protected:
  using IRMutator::visit;
  Internal::Stmt visit(const Internal::Allocate *op) override {
    int64_t size = static_cast<int64_t>(op->constant_allocation_size()) * op->type.bytes();
    const bool onStack = size != 0 && (op->memory_type == MemoryType::Stack || op->memory_type == MemoryType::Register ||
                                       (op->memory_type == MemoryType::Auto && size <= kStackBytes));
    if (size == 0 && !Internal::is_const_zero(op->condition)) {
      std::ostringstream text;
      text << op->name;
      for (const Expr &extent : op->extents)
        text << " * (" << extent << ")";
      unbounded = text.str();
    }
    if (!onStack)
      bytes += (size + kMargin + 63) / 64 * 64 + 64; // a header for each, as mhac_kernel_alloc keeps
    return IRMutator::visit(op);
  }

private:
  static constexpr int64_t kStackBytes = 16 * 1024; // Halide's limit
  static constexpr int64_t kMargin = 256;           // Halide lets vector loads run over the end
};

std::string readFile(const std::string &path) {
  auto buffer = llvm::MemoryBuffer::getFile(path);
  return buffer ? (*buffer)->getBuffer().str() : std::string();
}

} // namespace

bool guarded(const SourceLocation &loc, Diagnostics &diagnostics, const std::function<void()> &body) {
  static Reporter reporter;
  reporter.fatalWarning.clear();
  set_custom_compile_time_error_reporter(&reporter);
  std::optional<std::string> failure;
  try {
    body();
  } catch (const Halide::Error &error) {
    failure = error.what();
  } catch (const std::exception &error) {
    failure = error.what();
  }
  set_custom_compile_time_error_reporter(nullptr);
  if (!failure && !reporter.fatalWarning.empty())
    failure = reporter.fatalWarning;
  if (failure)
    diagnostics.internal(loc, "Halide: " + *failure);
  return !failure;
}

/// Halide 21 fails on our loops when vectors are scalable. With vectors of fixed length it need not know: code generation makes scalable ones of them, for
/// the length that the string says (emit/LinkBitcode). Its back end for RISC-V has no other, so it builds what is nobody's in particular, which is then for
/// RISC-V.
static Target targetOf(const std::string &text) {
  const Target target = Target(text + "-no_runtime-no_asserts-no_bounds_query-user_context").without_feature(Target::SVE2);
  if (target.arch != Target::RISCV)
    return target;
  Target portable = target.without_feature(Target::RVV).with_feature(Target::NoNEON);
  portable.arch = Target::ARM;
  portable.vector_bits = 0;
  return portable;
}

bool compileJobs(std::vector<PipelineJob> &jobs, const std::string &target, bool wantStmt, CompiledJobs &result, Diagnostics &diagnostics) {
  const Target full = targetOf(target);
  Module all("kernels", full);
  for (PipelineJob &job : jobs) {
    MeasureScratch scratch;
    const bool done = guarded(job.loc, diagnostics, [&] {
      std::vector<std::unique_ptr<PrefetchNextTile>> prefetches;
      for (const std::string &buffer : job.streamed)
        job.pipeline.add_custom_lowering_pass(prefetches.emplace_back(std::make_unique<PrefetchNextTile>(buffer)).get(), [] {});
      TrimSlots trim;
      job.pipeline.add_custom_lowering_pass(&trim, [] {});
      UnrollTiles unroll;
      job.pipeline.add_custom_lowering_pass(&unroll, [] {});
      TransposeTiles transpose(full.natural_vector_size<float>());
      job.pipeline.add_custom_lowering_pass(&transpose, [] {});
      job.pipeline.add_custom_lowering_pass(&scratch, [] {});
      Module one = job.pipeline.compile_to_module(job.arguments, job.symbol, full);
      for (const Internal::LoweredFunc &function : one.functions())
        all.append(function);
      for (const Buffer<> &buffer : one.buffers())
        all.append(buffer);
      // Otherwise all arithmetic is reassociated and the rounding trick of FastMath vanishes.
      if (one.any_strict_float())
        all.set_any_strict_float(true);
    });
    if (!done)
      return false;
    if (!scratch.unbounded.empty()) {
      diagnostics.internal(job.loc, "kernel '" + job.symbol + "' needs scratch of a size that is not known when compiling: " + scratch.unbounded);
      return false;
    }
    result.arenaBytes.push_back(scratch.bytes);
  }
  // Halide writes files only.
  llvm::SmallString<128> directory;
  if (llvm::sys::fs::createUniqueDirectory("mhac", directory)) {
    diagnostics.error({}, "cannot make a temporary directory");
    return false;
  }
  const std::string bitcode = (directory + "/kernels.bc").str(), stmt = (directory + "/kernels.stmt").str();
  const bool done = guarded({}, diagnostics, [&] {
    std::map<OutputFileType, std::string> files = {{OutputFileType::bitcode, bitcode}};
    if (wantStmt)
      files[OutputFileType::stmt] = stmt;
    all.compile(files);
  });
  if (done) {
    result.bitcode = readFile(bitcode);
    if (wantStmt)
      result.stmt = readFile(stmt);
  }
  llvm::sys::fs::remove_directories(directory);
  return done;
}

} // namespace mhac::halide
