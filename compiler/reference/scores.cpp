// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "reference/scores.h"

#include <cmath>
#include <cstdlib>

namespace mhac::reference {

double scoreScale(const Spec &spec) {
  for (const VariantSpec &score : spec.score)
    if (*score.word == "scale" && score.arguments.kind == Tree::Kind::Scalar && score.arguments.scalar != "default")
      return std::strtod(score.arguments.scalar.c_str(), nullptr);
  return 1 / std::sqrt(double(*spec.layer.headDim));
}

const VariantSpec *unknownScore(const Spec &spec) {
  for (const VariantSpec &score : spec.score)
    if (*score.word != "scale")
      return &score;
  return nullptr;
}

} // namespace mhac::reference
