// Variants (masks, position encodings, score changes, key/value layouts): what they declare about themselves, how they are built from YAML,
// what their hooks get to emit code with, and the list of all of them.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "spec/Spec.h"
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

namespace mhac::attn {

class VariantInterface;
enum class ValueCheck : uint32_t;
enum class Offset : uint32_t;

enum class VariantKind { Mask, Position, Score, Layout };
/// "mask", "position", "score", "layout".
llvm::StringRef kindName(VariantKind kind);

/// What a YAML field of a variant may hold. Text: a scalar that only the variant can check. Variants: a list of variants of the same kind, each a
/// word, a `word: arguments`, or a list of these. Map: its keys are the rows named "<field>.<key>" behind it; `words` may stand instead.
enum class FieldType { Word, Integer, Number, NumberList, WordList, Text, Variants, Map };

/// One key of a variant in YAML; the same row reads it and describes it in the JSON schema.
struct FieldInfo {
  llvm::StringLiteral name;                   // "": the argument itself, as in `scale: 0.5`
  FieldType type;
  llvm::ArrayRef<llvm::StringLiteral> words;  // the words allowed (Word, WordList), or allowed instead of numbers
  llvm::StringLiteral fallback;               // the default as it would be written ("[]": an empty list); "": the key is required
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
  bool repeatable = false; // may stand several times in one list
  bool listed = true;      // is a word of the list of its kind; otherwise a field of its own in the spec
};

/// All variants of all kinds, sorted by kind, then by word.
llvm::ArrayRef<VariantInfo> allVariants();
/// The kind of an attribute that is a variant; empty otherwise.
std::optional<VariantKind> variantKind(mlir::Attribute attribute);

/// A run-time input of a variant: one argument of the entry and one operand of attn.attention.
struct VariantParameter {
  llvm::StringRef name;
  llvm::StringRef dtype;                  // word of the dtype table; of a weight: the spec says it
  llvm::SmallVector<std::string> dims; // "batch", "query", "key", a size of the variant's own (VariantInterface::sizes) or a number
  bool strided = false;                // takes strides
  ValueCheck check{};        // of integer values
  llvm::StringRef checkSize; // "key": 0 <= value <= number of keys
  llvm::StringRef checkWith; // the parameter that is added before the check
  bool isWeight = false;     // learned: a weight in the interface
};

/// The parameters of a list of variants, in order, those of equal name once: the order of the operands `params`.
llvm::SmallVector<VariantParameter> parametersOf(llvm::ArrayRef<VariantInterface> variants);

/// What ops ahead of attn.attention give to its regions: an operand behind those of the parameters. Equal names mean equal values.
struct ComputedTable {
  std::string name; // that RegionBuilder::load takes
  mlir::Value value;
};

/// A scalar of the spec with its place.
struct LocatedText {
  llvm::StringRef text;
  SourceLocation loc;
  bool quoted = false; // the text begins one column behind `loc`
};

/// Reads the fields of one variant: all are checked against its table before `fromSpec` runs, so the getters cannot fail.
class VariantReader {
public:
  VariantReader(const VariantSpec &element, VariantKind kind, size_t place, const Spec &spec, mlir::MLIRContext *context, Diagnostics &diagnostics)
      : element(element), kind(kind), place(place), spec(spec), context(context), diagnostics(diagnostics) {}

  /// Checks every field and fills in defaults; false after reporting what is wrong.
  bool read(const VariantInfo &info);

  /// The word given for a field; empty when a number was given.
  llvm::StringRef word(llvm::StringRef field) const;
  std::optional<double> number(llvm::StringRef field) const;
  std::optional<int64_t> integer(llvm::StringRef field) const;
  /// A list; nullopt when a word was given instead.
  std::optional<llvm::SmallVector<double>> numbers(llvm::StringRef field) const;
  llvm::SmallVector<llvm::StringRef> words(llvm::StringRef field) const;
  /// Whether a map was given for a field of type Map.
  bool isMap(llvm::StringRef field) const;
  LocatedText text(llvm::StringRef field) const;
  /// The elements of a list of variants; one that is a list itself has several attributes.
  llvm::ArrayRef<llvm::SmallVector<mlir::Attribute>> variants(llvm::StringRef field) const;
  /// Where the value of a field stands; the variant's word when it was not written.
  SourceLocation location(llvm::StringRef field) const;

  const VariantSpec &element;
  VariantKind kind;
  size_t place; // in its list, from 0
  const Spec &spec;
  mlir::MLIRContext *context;
  Diagnostics &diagnostics;

private:
  bool readField(const VariantInfo &info, const FieldInfo &field, const Tree &tree);
  bool readScalar(const VariantInfo &info, const FieldInfo &field, const Tree &tree);
  bool readList(const VariantInfo &info, const FieldInfo &field, const Tree &tree);
  bool readVariants(const VariantInfo &info, const FieldInfo &field, const Tree &tree);
  bool readFields(const VariantInfo &info, llvm::StringRef map, const Tree &tree);
  void reportWrong(const VariantInfo &info, const FieldInfo &field, const Tree &tree);
  std::map<std::string, Tree> values; // what was written, or the default
  std::map<std::string, llvm::SmallVector<llvm::SmallVector<mlir::Attribute>>> nested;
};

/// The place of a variant that stands in no list.
inline constexpr size_t kUnlistedPlace = ~size_t(0);

/// Builds the attribute of the element at `place` of a spec's list of `kind`; null after reporting an unknown, unsupported or wrong
/// variant.
mlir::Attribute variantFromSpec(VariantKind kind, const VariantSpec &element, size_t place, const Spec &spec, mlir::MLIRContext *context,
                                Diagnostics &diagnostics);

/// Reports variants that stand twice in a list and may not, with a note at the first.
void reportDuplicates(VariantKind kind, llvm::ArrayRef<VariantSpec> list, Diagnostics &diagnostics);

/// What hooks emit code with: the arguments of a score or mask region, and the positions of semantics section 3. Asking for the same thing
/// twice gives the same value.
class RegionBuilder {
public:
  RegionBuilder(mlir::OpBuilder &builder, mlir::Location loc) : builder(builder), loc(loc) {}
  virtual ~RegionBuilder() = default;

  mlir::Value b, h, q, k; // index; those of the tensors; a sink has no k

  virtual mlir::Value keys() = 0;
  virtual mlir::Value queries() = 0;
  /// p_k = k - firstKey.
  virtual mlir::Value keyPosition() = 0;
  /// p_q = q + offset, as the op's query_offset says.
  virtual mlir::Value queryPosition() = 0;
  /// The tensor index of the key at position 0: 0 without left padding.
  virtual mlir::Value firstKey() = 0;
  /// The number of the query head among the op's, where `h` is that in the whole layer, and of the key/value head that it reads.
  virtual mlir::Value headIndex() = 0;
  virtual mlir::Value keyHeadIndex() = 0;
  /// An element of a run-time parameter or a computed table; integers come as index, bools as i1. With a `limit`, i64 beyond it counts as +-limit.
  virtual mlir::Value load(llvm::StringRef parameter, mlir::ValueRange indices, std::optional<int64_t> limit = std::nullopt) = 0;
  /// The extent of a run-time parameter along a dimension.
  virtual mlir::Value extent(llvm::StringRef parameter, int64_t dim) = 0;

  mlir::Value constant(int64_t value);
  mlir::Value constantF32(double value);
  /// Rounded down; 0 when b is 0.
  mlir::Value floorDiv(mlir::Value a, mlir::Value b);
  mlir::Value floorMod(mlir::Value a, mlir::Value b);
  /// An element of a constant list; the index is clamped to it.
  mlir::Value table(llvm::ArrayRef<double> numbers, mlir::Value index);
  mlir::Value table(llvm::ArrayRef<int64_t> integers, mlir::Value index);

  mlir::OpBuilder &builder;
  mlir::Location loc;
};

/// What position hooks build ops on Q and K with, ahead of attn.attention.
class SequenceBuilder {
public:
  SequenceBuilder(mlir::OpBuilder &builder, mlir::Location loc) : builder(builder), loc(loc) {}
  virtual ~SequenceBuilder() = default;

  /// The run-time input as an operand.
  virtual mlir::Value parameter(llvm::StringRef name) = 0;
  /// Operands for an op whose region asks for positions.
  virtual llvm::SmallVector<mlir::Value> params() = 0;
  /// Fills a region (b, s, params...) of such an op with what `make` emits and yields; params that it does not use are dropped. Its `q` and `k`
  /// are both s.
  virtual void fill(mlir::Region &region, mlir::MutableOperandRange params, llvm::function_ref<mlir::Value(RegionBuilder &)> make) = 0;

  mlir::OpBuilder &builder;
  mlir::Location loc;
};

} // namespace mhac::attn

#include "attention/VariantInterface.h.inc"
