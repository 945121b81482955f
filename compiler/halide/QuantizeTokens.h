// Tokens as integers of 8 bits and one scale a token, for projections that multiply integers (attn.project with quantized_tokens).
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "halide/Project.h"

namespace mhac::halide {

/// The rounded tokens of `inputs`, feature after feature of all of them, in two buffers: numbers (place in a group,
/// lane, group of 4 features, block, batch), 128 more than the integer because instructions multiply unsigned by signed bytes, 0 behind the last
/// feature; scales (lane, 2, block, 1, batch), a token's scale and what features were multiplied with.
std::vector<Halide::Func> quantizeTokens(const std::string &name, const std::vector<ProjectInput> &inputs);

/// These buffers as a projection reads them.
Halide::ImageParam tokenNumbersParam(const std::string &name, int features);

} // namespace mhac::halide
