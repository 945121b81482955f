// The attn dialect for C++: dialect, attributes, variants and ops; the only header that the later stages include.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "attention/VariantInterface.h"

#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/DialectImplementation.h"
#include "mlir/IR/OpDefinition.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/IR/SymbolTable.h"
#include "mlir/Interfaces/InferTypeOpInterface.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

namespace mhac {

/// Everything that a module of any stage can contain.
void registerAttentionDialects(mlir::DialectRegistry &registry);

namespace attn {

// Names of attributes on functions, arguments and modules.
constexpr llvm::StringLiteral kStageAttr = "attn.stage";       // module: "attn", "lowered", "scheduled"
constexpr llvm::StringLiteral kSpecFileAttr = "attn.spec_file"; // module: file name of the spec
constexpr llvm::StringLiteral kEntryAttr = "attn.entry";       // function: unit, a public entry
constexpr llvm::StringLiteral kSizesAttr = "attn.sizes";       // function: array of #attn.size
constexpr llvm::StringLiteral kArgumentAttr = "attn.argument"; // argument and result: #attn.argument

mlir::FailureOr<llvm::SmallVector<mlir::StringAttr>> parseStringList(mlir::AsmParser &parser);
void printStringList(mlir::AsmPrinter &printer, llvm::ArrayRef<mlir::StringAttr> list);

/// What attn.hash and the mask that makes it want of their numbers.
mlir::LogicalResult verifyHash(llvm::function_ref<mlir::InFlightDiagnostic()> emitError, int64_t buckets, int64_t rounds, int64_t seed);
/// Numbers of heads are at least 0 and increase.
mlir::LogicalResult verifyHeadNumbers(llvm::function_ref<mlir::InFlightDiagnostic()> emitError, llvm::ArrayRef<int64_t> numbers);

/// What counts the tokens of a tensor, as the argument that it is made from has it: the name of a size, or a number; "?" when there is no such
/// argument. `headsFirst`: a tensor of rank 4 is [b, h, s, d], otherwise [b, s, h, d].
llvm::StringRef sequenceOf(mlir::Value value, bool headsFirst = true);

/// The heads that a value is made of by attn.gather_tokens; other values are themselves.
mlir::Value inOrder(mlir::Value value);

/// The numbers that attn.floor_div and attn.floor_mod stand for.
int64_t floorDiv(int64_t a, int64_t b);
int64_t floorMod(int64_t a, int64_t b);

} // namespace attn
} // namespace mhac

#include "attention/AttentionDialect.h.inc"
#include "attention/AttentionEnums.h.inc"
#define GET_ATTRDEF_CLASSES
#include "attention/AttentionAttrs.h.inc"
#define GET_OP_CLASSES
#include "attention/AttentionOps.h.inc"

namespace mhac::attn {

/// Whether it is a whole map [b, h, q, k].
bool isWholeMap(MapKind kind);
/// The type of the result of attn.attention for queries [b, h, q, d] and keys [b, g, k, d].
mlir::RankedTensorType mapResultType(mlir::RankedTensorType query, mlir::RankedTensorType key, MapKind kind);

} // namespace mhac::attn
