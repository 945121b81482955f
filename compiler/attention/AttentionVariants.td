// Every attribute of the dialect: the plain ones and the variants. A new mask, position encoding, score change or layout is a def in the
// folder of its kind; the registry (VariantInterface.cpp) folds over what is generated from this file.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef MHAC_ATTENTION_VARIANTS_TD
#define MHAC_ATTENTION_VARIANTS_TD

include "attention/AttentionAttrs.td"
include "attention/masks/Masks.td"
include "attention/positions/Positions.td"
include "attention/scores/Scores.td"

#endif
