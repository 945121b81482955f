// The arguments of one call, made from the manifest alone: memory with strides, seeded numbers, NaN in every slot that cannot matter
// (semantics section 3), and the argument struct that points to them.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "GuardedMemory.h"
#include "Manifest.h"

#include "reference/LayerReference.h"

#include <memory>
#include <random>
#include <string>
#include <vector>

namespace mhac::artefact {

struct FillOptions {
  uint64_t seed = 1;
  /// Arguments that take strides get paddings, exchanged dimensions and, for inputs, broadcasts; otherwise all are dense.
  bool strided = false;
  /// NaN where it cannot matter. Without it every slot holds a number.
  bool poison = true;
  /// key_lengths and key_starts leave all keys valid; otherwise they are full, empty and random in turn, and one row has a key at least.
  bool fullLengths = false;
  GuardedMemory::Placement placement = GuardedMemory::Placement::End;
};

class Normals;

class Operands {
public:
  /// `sizes` has every size of the manifest. Weights are those of `weightsOf` when it is given (same manifest and spec): filling large ones
  /// takes longer than calling. The manifest and the spec must outlive the operands.
  Operands(const Manifest &manifest, const Spec &spec, SizeValues sizes, const FillOptions &options, const Operands *weightsOf = nullptr);

  /// The argument struct; not for an artefact of an architecture with other pointers.
  const void *args() const { return structure.data(); }
  /// What the argument struct holds but workspace and prepared state, for a caller that lays it out somewhere else.
  struct Field {
    enum class Kind { Number, Memory, Output } kind; // an int64_t at `offset`, or a pointer there to the bytes
    int64_t offset;
    void *data;
    size_t bytes;
  };
  std::vector<Field> fields();
  /// Gives the call a workspace of exactly this size; 0 bytes: none (the call then allocates).
  void setWorkspace(size_t bytes);
  /// Gives the call prepared state; null: none.
  void setPrepared(const void *state);
  /// Makes outputs and workspace NaN again.
  void resetOutputs();

  /// All arguments by name as the reference takes them, outputs included.
  const reference::Tensors &tensors() const { return views; }
  reference::Sizes sizes() const;
  /// Weights that were rounded to numbers times scales, as they were before; empty when there are none.
  reference::Tensors originalWeights() const;
  /// Rows of y and lse that may be anything, because a NaN was put into the token they are the query of.
  bool isExcluded(reference::Row row) const { return excluded[size_t(row.b * querySize + row.q)]; }

  /// Everything that lies in the memory of the outputs, for comparing calls bit by bit.
  std::string outputBytes() const;
  /// Looks for writes beside the outputs, between their strided elements and beside the workspace: the first one in words, or "".
  std::string findStrayWrite() const;
  /// Name of the argument (or "workspace") whose memory or guard pages an address belongs to, or null.
  const char *ownerOf(const void *address) const;
  /// Bytes of inputs, weights, parameters and outputs, each counted once.
  double bytes() const;

private:
  struct Buffer {
    const Argument *argument;
    std::shared_ptr<GuardedMemory> memory;
    std::vector<int64_t> shape, strides;
  };
  void place(const Argument &argument, const FillOptions &options, const Operands *weightsOf, std::mt19937_64 &random);
  void fillParameters(const FillOptions &options, std::mt19937_64 &random);
  void findWhatMatters(const FillOptions &options, std::mt19937_64 &random);
  void fillScores(const FillOptions &options);
  void fillNumbers(Buffer &buffer, const FillOptions &options, uint64_t seed);
  void quantize(Buffer &numbers, const FillOptions &options, uint64_t seed);
  void fillParts(Buffer &buffer, Normals &normals);
  double deviation(const Argument &argument, const std::vector<int64_t> &shape) const;
  void writeStructure();

  const Manifest &manifest;
  const Spec &spec;
  SizeValues sizeValues;
  int64_t batchSize = 1, querySize = 0, keySize = 0;
  std::vector<Buffer> buffers; // one an argument, in the manifest's order; vector is never resized after construction
  std::unique_ptr<GuardedMemory> workspace;
  const void *prepared = nullptr;
  std::vector<char> structure;
  reference::Tensors views;
  std::map<std::string, std::shared_ptr<std::vector<float>>> originals; // by name of the weight
  std::vector<char> keyMatters, queryMatters, tokenMatters, excluded; // [batch, key], then [batch, query]
};

/// Sizes of a call: the values asked for, fixed ones as they are fixed, others within their bounds. A size without a wanted value gets that
/// of "query". The key count that the reference needs for self-attention follows from the query count.
SizeValues chooseSizes(const Manifest &manifest, const SizeValues &wanted);

} // namespace mhac::artefact
