// Argument order, sizes and layout of an entry and of its kernels: made once from the scheduled module, used by the Halide stage (which appends
// kernels and workspace) and by every file the emit stage writes. Needs no Spec: all of it stands in function argument attributes.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "support/DTypes.h"

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include "mlir/IR/BuiltinOps.h"

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace mhac {

/// A run-time size of the entry, "batch", "query" or "key"; a field of the argument struct unless fixed.
struct SizeInfo {
  std::string name;
  int64_t minimum = 0, maximum = 0;
  int64_t offset = -1; // in the argument struct; -1 when fixed
  bool isFixed() const { return minimum == maximum; }
};

/// ceil(sizes[size] / divisor) * factor; size == -1: factor alone; kPositions, in prepared tables only: the positions of the state.
struct ExtentInfo {
  static constexpr int kPositions = -2;
  int size = -1;
  int64_t divisor = 1, factor = 1;
};

enum class ArgumentRole { Input, Weight, Parameter, Output };
enum class ArgumentCheck { None, Range, Sum, Position };

/// A tensor argument, dimensions outermost first.
struct ArgumentInfo {
  std::string name;
  ArgumentRole role = ArgumentRole::Input;
  DType dtype = DType::F32;
  std::vector<std::string> dimNames; // as written: a size's name or a number
  std::vector<ExtentInfo> dims; // in units of the dtype's bytes: of numbers that share one, fewer than dimNames say
  int64_t offset = 0;          // of the pointer in the argument struct
  int64_t stridesOffset = -1;  // of the pointer to its strides; -1: always dense
  ArgumentCheck check = ArgumentCheck::None;
  int checkSize = -1;          // index of the size that bounds its values
  int checkWith = -1;          // index of the argument whose values are added (Sum)
  std::string layout;          // of a weight matrix: "out_in" or "in_out", the order of its dimensions; empty for all others
  int scales = -1;             // of a weight matrix: index of the argument that holds its scales
  bool isOutput() const { return role == ArgumentRole::Output; }
};

/// A dense intermediate of a candidate, dimensions innermost first.
struct WorkspaceBufferInfo {
  std::string name;
  DType dtype = DType::F32;
  std::vector<ExtentInfo> dims;
};

/// Cosine and sine by position, made once by <name>_prepare: [2 * pairs, positions] in C's order, cosines of all pairs first.
struct PreparedTableInfo {
  std::string name;
  DType dtype = DType::F32;
  std::vector<ExtentInfo> dims; // innermost first
  std::vector<double> frequencies;
  double magnitude = 1;
};

struct OperandInfo {
  enum class Kind { Argument, Workspace, Size, Prepared };
  Kind kind;
  int index;
};

struct KernelInfo {
  std::string name;   // for people: "project_q_k_v"
  std::string symbol; // of the Halide function in the bitcode, unique in the object
  std::vector<OperandInfo> operands;
};

struct GuardInfo {
  int size = -1; // -1: the number of workers
  int64_t minimum = 0, maximum = 0;
  bool perWorker = false; // of the size divided by the workers
};

struct CandidateInfo {
  std::string function; // the func.func in the scheduled module
  std::string target;   // its name in Targets.def or Halide's own string
  std::string machine;   // Halide's target string, without the features that concern its runtime
  uint64_t features = 0; // MHAC_CPU_* bits
  std::vector<GuardInfo> guards;
  int batchSize = -1; // batch-major: one task runs all kernels for one element of this size; -1: a kernel runs for all of them
  std::vector<WorkspaceBufferInfo> workspace;
  std::vector<KernelInfo> kernels;
  size_t prepareCount = 0; // the last so many kernels make the entry's prepared tables and are no part of a call
  int64_t arenaBytes = 0;
  std::vector<std::string> schedules; // "attn.project: x86_project_f8_t32 (reason)", one an op, for the manifest and --explain
};

struct KernelInterface {
  std::string name;     // entry and prefix of every public symbol
  std::string specFile; // file name without folders, for comments
  std::vector<SizeInfo> sizes;
  std::vector<ArgumentInfo> arguments; // inputs, then weights, parameters, outputs: the order of the struct
  std::vector<CandidateInfo> candidates; // best first
  std::vector<std::pair<std::string, int64_t>> constants; // fixed dimensions of the layer, for header and manifest: ("heads", 12), ...
  int64_t pointerBytes = 8; // of the architecture; also of a size_t
  int64_t argsBytes = 0;    // sizeof the argument struct
  int64_t workspaceOffset = 0, workspaceBytesOffset = 0;
  std::vector<PreparedTableInfo> prepared;
  int64_t preparedOffset = -1; // of the pointer to prepared state; -1: the entry has none
  std::vector<std::string> description; // what the layer computes, lines for people; for the header

  int sizeIndex(llvm::StringRef name) const;     // -1 when absent
  int preparedIndex(llvm::ArrayRef<double> frequencies, double magnitude) const; // -1 when absent
  uint64_t preparedTag() const;                  // differs between entries whose prepared state differs
  uint64_t positionSizes() const;                // bit i: sizes[i] counts the positions of a sequence
  int argumentIndex(llvm::StringRef name) const; // -1 when absent
};

/// The interface of the module's one entry, with candidates that have no kernels yet. The argument struct is laid out as C does:
/// `size_t struct_size`, an `int64_t` per size that is not fixed, then per tensor its pointer and, if it takes strides, `const int64_t *`,
/// then `void *workspace` and `size_t workspace_bytes`, then `const void *prepared` if there are prepared tables.
KernelInterface makeKernelInterface(mlir::ModuleOp module);

} // namespace mhac
