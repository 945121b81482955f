// Expressions in attributes and regions: how an attribute holds one, and the arith, math and attn ops that compute it. What the masks and the
// scores named `expr` share.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "attention/VariantInterface.h"
#include "spec/Expression.h"

#include "mlir/IR/BuiltinAttributes.h"

namespace mhac::attn {

/// An expression as its attribute holds it: the text, and "name dtype dims..." for every parameter that it reads, the dims those of the C interface
/// ("batch", the number of heads, "query", "key").
struct ExpressionSource {
  std::string text;
  llvm::SmallVector<mlir::StringAttr> parameters;
};

/// Reads the text of `reader`'s only field; empty after reporting the error at its column.
std::optional<ExpressionSource> readExpression(VariantReader &reader, ExpressionUse use);

/// Reads what an attribute holds; empty with the reason in `error`.
std::optional<Expression> parseSource(llvm::StringRef text, ExpressionUse use, llvm::ArrayRef<mlir::StringAttr> parameters,
                                      llvm::SmallVectorImpl<ExpressionParameter> &declared, std::string &error);

/// The run-time inputs that the declarations stand for.
llvm::SmallVector<VariantParameter> expressionInputs(llvm::ArrayRef<mlir::StringAttr> parameters);

/// Emits the expression: an i1 for a mask, an f32 for a score. `score` is what `s` stands for.
mlir::Value lowerExpression(RegionBuilder &region, llvm::StringRef text, ExpressionUse use, llvm::ArrayRef<mlir::StringAttr> parameters,
                            mlir::Value score = {});

/// Whether the expression reads both q and k.
bool readsBothPositions(llvm::StringRef text, ExpressionUse use, llvm::ArrayRef<mlir::StringAttr> parameters);

} // namespace mhac::attn
