// The manifest of an artefact, read: everything that a program needs to call an entry without having seen its header.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "support/DTypes.h"

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace mhac::artefact {

/// A run-time size, "batch", "query" or "key"; offset -1 when its value is fixed.
struct SizeField {
  std::string name;
  int64_t offset = -1, minimum = 0, maximum = 0;
  bool isFixed() const { return offset < 0; }
};

/// ceil(size / divisor) * factor; an empty size: factor alone.
struct Extent {
  std::string size;
  int64_t divisor = 1, factor = 1;
};

enum class Role { Input, Weight, Parameter, Output };
enum class ValueCheck { None, Range, Sum, Position };

/// A tensor argument, dimensions outermost first. Offsets are bytes in the argument struct; stridesOffset -1: always dense.
struct Argument {
  std::string name;
  Role role = Role::Input;
  DType dtype = DType::F32;
  std::vector<std::string> dims;
  std::vector<Extent> shape; // in memory; numbers that share a byte are fewer than `dims` says
  int64_t offset = 0, stridesOffset = -1;
  bool optional = false;
  ValueCheck check = ValueCheck::None; // of its integers: within [0, checkSize]; Sum: also value + checkWith's value
  std::string checkSize, checkWith;
  std::string scales; // of a weight of numbers: the argument that holds its scales

  bool isOutput() const { return role == Role::Output; }
  /// Index of the dimension with this name, or nothing.
  std::optional<size_t> dim(const std::string &name) const;
};

/// One body of the entry. `features` are the MHAC_CPU_* bits it needs.
struct Target {
  std::string name;
  uint64_t features = 0;
};

struct Manifest {
  std::string folder; // where the manifest lies, with a trailing slash, or empty
  std::string name, specFile, spec, object;
  std::string callSymbol, workspaceBytesSymbol, infoSymbol, prepareSymbol, preparedBytesSymbol; // the last two are empty without prepared state
  int64_t pointerBytes = 8; // of the architecture that the object is for
  int64_t argsBytes = 0, workspaceOffset = 0, workspaceBytesOffset = 0;
  int64_t preparedOffset = -1;
  std::vector<SizeField> sizes;
  std::vector<Argument> arguments; // in the order of the struct
  std::vector<Target> targets;     // best first

  const SizeField *size(const std::string &name) const;
  const Argument *argument(const std::string &name) const;
  const Target *target(const std::string &name) const;
};

/// Values of the sizes of one call by name, fixed ones included.
using SizeValues = std::map<std::string, int64_t>;

/// The dimensions of an argument's memory in a call.
std::vector<int64_t> shapeOf(const Argument &argument, const SizeValues &sizes);

/// Reads a manifest. On failure empty, with a sentence in `error`.
std::optional<Manifest> readManifest(const std::string &path, std::string &error);

} // namespace mhac::artefact
