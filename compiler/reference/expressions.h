// The values of expressions: the reference's own evaluator over the syntax tree, one node at a time. It judges what the compiler makes of the
// same tree and shares nothing with it.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "reference/Tensors.h"
#include "spec/Expression.h"

namespace mhac::reference {

/// The shape of a parameter's tensor.
std::vector<int64_t> parameterShape(const ExpressionParameter &parameter, const Sizes &sizes, int64_t heads);

/// Whether the value can differ between heads.
bool dependsOnHead(const Expression &expression, llvm::ArrayRef<ExpressionParameter> parameters);

/// One pair of a query and a key: what the names of an expression stand for.
struct ExpressionPoint {
  int64_t b = 0, h = 0, q = 0, k = 0;            // indices in the tensors
  int64_t queryPosition = 0, keyPosition = 0;    // the names q and k
  int64_t queries = 0, keys = 0;
};

/// Whether a mask's condition holds. Floats are computed in f32, as semantics section 3 says of masks: a comparison has no tolerance.
bool evaluateMask(const Expression &expression, llvm::ArrayRef<ExpressionParameter> parameters, const Tensors &inputs,
                  const ExpressionPoint &point);

/// The new score; floats are computed in T.
template <typename T>
T evaluateScore(const Expression &expression, llvm::ArrayRef<ExpressionParameter> parameters, const Tensors &inputs,
                const ExpressionPoint &point, T score);

extern template float evaluateScore(const Expression &, llvm::ArrayRef<ExpressionParameter>, const Tensors &, const ExpressionPoint &, float);
extern template double evaluateScore(const Expression &, llvm::ArrayRef<ExpressionParameter>, const Tensors &, const ExpressionPoint &, double);

} // namespace mhac::reference
