// An artefact in memory: its object as a shared library, its entry points, and the runtime that is linked into it. An .o or .a is linked into a
// temporary shared library first, so all kinds of output are called in the same way and nothing of this program gets in between.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "GuardedMemory.h"
#include "Manifest.h"

#include <mhac/runtime.h>

#include <memory>
#include <string>

namespace mhac::artefact {

/// What is called in the library; the types are those of the generated header and of runtime.h.
struct Functions {
  mhac_status (*call)(mhac_context *, const void *args) = nullptr;
  mhac_status (*workspaceBytes)(mhac_context *, const void *args, size_t *bytes) = nullptr;
  void (*info)(mhac_kernel_info *) = nullptr;
  mhac_status (*prepare)(mhac_context *, const void *args, void *prepared) = nullptr; // null without prepared state, like the next
  mhac_status (*preparedBytes)(mhac_context *, const void *args, size_t *bytes) = nullptr;
  decltype(&mhac_context_create) contextCreate = nullptr;
  decltype(&mhac_context_destroy) contextDestroy = nullptr;
  decltype(&mhac_context_message) contextMessage = nullptr;
  decltype(&mhac_thread_pool_create) poolCreate = nullptr;
  decltype(&mhac_thread_pool_destroy) poolDestroy = nullptr;
  decltype(&mhac_thread_pool_parallel) poolParallel = nullptr;
  decltype(&mhac_status_name) statusName = nullptr;
  decltype(&mhac_status_string) statusString = nullptr;
  decltype(&mhac_cpu_features) cpuFeatures = nullptr;
};

class Artefact {
public:
  /// Loads the object that the manifest names, which lies beside it. `runtimeArchive` (libmhac_runtime.a) is needed for .o and .a only.
  /// On failure null, with a sentence in `error`.
  static std::unique_ptr<Artefact> load(Manifest manifest, const std::string &runtimeArchive, std::string &error);
  ~Artefact();
  Artefact(const Artefact &) = delete;
  Artefact &operator=(const Artefact &) = delete;

  const Manifest manifest;
  const Functions &functions() const { return table; }
  /// Whether this machine can run the target.
  bool canRun(const Target &target) const { return (target.features & ~table.cpuFeatures()) == 0; }
  /// The first target that this machine can run, which is what a default context selects; null when there is none.
  const Target *bestTarget() const;

private:
  explicit Artefact(Manifest manifest) : manifest(std::move(manifest)) {}
  void *library = nullptr;
  Functions table;
};

/// A context of the artefact's own runtime. One thread at a time.
class Operands;

/// Prepared state for calls with these operands, which get it while the object lives; nothing where the artefact has none.
class PreparedState {
public:
  PreparedState(const Artefact &artefact, mhac_context *context, Operands &operands);
  ~PreparedState();
  PreparedState(const PreparedState &) = delete;
  PreparedState &operator=(const PreparedState &) = delete;
  mhac_status status() const { return made; }
  bool exists() const { return memory != nullptr; }

private:
  Operands &operands;
  std::unique_ptr<GuardedMemory> memory;
  mhac_status made = MHAC_STATUS_OK;
};

class CallContext {
public:
  /// `threads` 0: no context at all (NULL), 1: a context that runs serially, more: a pool of that many threads. `target` restricts the
  /// kernels to those that need no CPU feature beyond the target's; null: the machine's.
  CallContext(const Artefact &artefact, int threads, const Target *target);
  ~CallContext();
  CallContext(const CallContext &) = delete;
  CallContext &operator=(const CallContext &) = delete;

  /// OK, or why the context could not be made.
  mhac_status status() const { return created; }
  mhac_context *get() const { return context; }
  /// "STRIDE: <the context's message>".
  std::string describe(mhac_status status) const;

private:
  const Functions &functions;
  mhac_thread_pool *pool = nullptr;
  mhac_context *context = nullptr;
  mhac_status created = MHAC_STATUS_OK;
};

/// libmhac_runtime.a where an installation or the build tree has it, seen from `executable`; empty when there is none.
std::string findRuntimeArchive(const std::string &executable);

} // namespace mhac::artefact
