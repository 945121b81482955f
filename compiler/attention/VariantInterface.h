// Variants (masks, position encodings, score changes, key/value layouts): what they declare about themselves, how they are built from YAML,
// what their hooks get to emit code with, and the list of all of them.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "support/Diagnostics.h"

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringRef.h"
#include "mlir/IR/Attributes.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/Value.h"

#include <map>
#include <optional>
#include <string>

namespace mhac {
struct LayerSpec;
struct Tree;
struct VariantSpec;
} // namespace mhac

namespace mhac::attn {

enum class ValueCheck : uint32_t;
enum class Offset : uint32_t;

enum class VariantKind { Mask, Position, Score, Layout };
/// "mask", "position", "score", "layout".
llvm::StringRef kindName(VariantKind kind);

/// What a YAML field of a variant may hold.
enum class FieldType { Word, Integer, Number };

/// One key of a variant in YAML; the same row reads it and describes it in the JSON schema.
struct FieldInfo {
  llvm::StringLiteral name;                   // "": the argument itself, as in `scale: 0.5`
  FieldType type;
  llvm::ArrayRef<llvm::StringLiteral> words;  // the words allowed (Word), or allowed beside a number
  llvm::StringLiteral fallback;               // the default as it would be written; "": the key is required
  llvm::StringLiteral doc;                    // one sentence
  double minimum = 0;                         // numbers only
  bool exclusiveMinimum = false;
};

/// What a variant says about itself.
struct VariantInfo {
  llvm::StringRef word; // in YAML and the IR
  VariantKind kind;
  llvm::StringRef doc; // one sentence
  llvm::ArrayRef<FieldInfo> fields;
};

/// All variants of all kinds, sorted by kind, then by word.
llvm::ArrayRef<VariantInfo> allVariants();
/// Words of the language that no variant implements yet; sorted.
llvm::ArrayRef<llvm::StringLiteral> reservedVariantWords(VariantKind kind);
/// The kind of an attribute that is a variant; empty otherwise.
std::optional<VariantKind> variantKind(mlir::Attribute attribute);

/// A run-time input of a variant: one argument of the entry and one operand of attn.attention.
struct VariantParameter {
  llvm::StringRef name;
  llvm::StringRef dtype;                  // word of the dtype table
  llvm::SmallVector<llvm::StringRef> dims; // "batch", "query", "key" or a number
  bool optional = false;
  ValueCheck check{};        // of integer values
  llvm::StringRef checkSize; // "key": 0 <= value <= number of keys
  llvm::StringRef checkWith; // the parameter that is added before the check
};

/// Reads the fields of one variant: all are checked against its table before `fromSpec` runs, so the getters cannot fail.
class VariantReader {
public:
  VariantReader(const VariantSpec &spec, size_t place, const LayerSpec &layer, mlir::MLIRContext *context, Diagnostics &diagnostics)
      : spec(spec), place(place), layer(layer), context(context), diagnostics(diagnostics) {}

  /// Checks every field and fills in defaults; false after reporting what is wrong.
  bool read(const VariantInfo &info);

  /// The word given for a field; empty when a number was given.
  llvm::StringRef word(llvm::StringRef field) const;
  std::optional<double> number(llvm::StringRef field) const;
  std::optional<int64_t> integer(llvm::StringRef field) const;

  const VariantSpec &spec;
  size_t place; // in its list, from 0
  const LayerSpec &layer;
  mlir::MLIRContext *context;
  Diagnostics &diagnostics;

private:
  bool readField(const VariantInfo &info, const FieldInfo &field, const Tree &tree);
  std::map<std::string, std::string> values; // field -> scalar as written
};

/// Builds the attribute of the element at `place` of a spec's list of `kind`; null after reporting an unknown, unsupported or wrong
/// variant.
mlir::Attribute variantFromSpec(VariantKind kind, const VariantSpec &spec, size_t place, const LayerSpec &layer, mlir::MLIRContext *context,
                                Diagnostics &diagnostics);

/// What hooks emit code with: the arguments of a score or mask region, and the positions of semantics section 3. Asking for the same thing
/// twice gives the same value.
class RegionBuilder {
public:
  RegionBuilder(mlir::OpBuilder &builder, mlir::Location loc) : builder(builder), loc(loc) {}
  virtual ~RegionBuilder() = default;

  mlir::Value b, h, q, k; // index; those of the tensors

  virtual mlir::Value keys() = 0;
  virtual mlir::Value queries() = 0;
  /// p_k = k - firstKey.
  virtual mlir::Value keyPosition() = 0;
  /// p_q = q + offset, as the op's query_offset says.
  virtual mlir::Value queryPosition() = 0;
  /// An element of a run-time parameter; integers come as index.
  virtual mlir::Value load(llvm::StringRef parameter, mlir::ValueRange indices) = 0;

  mlir::Value constant(int64_t value);
  mlir::Value constantF32(double value);

  mlir::OpBuilder &builder;
  mlir::Location loc;
};

} // namespace mhac::attn

#include "attention/VariantInterface.h.inc"
