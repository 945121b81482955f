// The edge of libHalide: pipelines become bitcode, exceptions and warnings become diagnostics, scratch memory is measured.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "Halide.h"

#include "support/Diagnostics.h"

#include <functional>
#include <set>
#include <string>
#include <vector>

namespace mhac::halide {

/// A pipeline that becomes one kernel: outputs follow the arguments.
struct PipelineJob {
  std::string symbol;
  std::string identity; // kernels of equal identity have equal code
  Halide::Pipeline pipeline;
  std::vector<Halide::Argument> arguments;
  SourceLocation loc;
  std::set<std::string> streamed; // buffers whose scalars are prefetched a register tile ahead
};

struct CompiledJobs {
  std::string bitcode;     // one module with all symbols, each also as <symbol>_argv
  std::string stmt;        // text of the lowered loops, when asked for
  std::vector<int64_t> arenaBytes; // of each job: what one worker's mhac_kernel_alloc calls need at most
};

/// Compiles all jobs for Halide's target string; nothing on failure, with the reason in the diagnostics.
bool compileJobs(std::vector<PipelineJob> &jobs, const std::string &target, bool wantStmt, CompiledJobs &result, Diagnostics &diagnostics);

/// Runs `body`, which builds pipelines; what Halide throws becomes an internal error at `loc`.
bool guarded(const SourceLocation &loc, Diagnostics &diagnostics, const std::function<void()> &body);

} // namespace mhac::halide
