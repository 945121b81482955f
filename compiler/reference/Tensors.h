// What the reference computes from: the tensors and sizes of a call.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "support/Elements.h"

#include <cstdint>
#include <initializer_list>
#include <map>
#include <string>
#include <vector>

namespace mhac::reference {

/// A tensor in the caller's memory; dimensions outermost first, strides in elements.
struct Tensor {
  DType dtype = DType::F32;
  const void *data = nullptr;
  std::vector<int64_t> shape, strides;

  int64_t offset(std::initializer_list<int64_t> index) const {
    int64_t sum = 0;
    size_t dim = 0;
    for (int64_t i : index)
      sum += i * strides[dim++];
    return sum;
  }
  float number(std::initializer_list<int64_t> index) const { return numberAt(offset(index)); }
  float numberAt(int64_t offset) const { return dtype == DType::F32 ? static_cast<const float *>(data)[offset] : loadElement(dtype, data, offset); }
  int64_t integer(std::initializer_list<int64_t> index) const { return static_cast<const int64_t *>(data)[offset(index)]; }
  /// Truth values are bytes; any that is not 0 is true.
  bool flag(std::initializer_list<int64_t> index) const { return static_cast<const uint8_t *>(data)[offset(index)] != 0; }
};

/// Inputs, weights and parameters by the names they have in the C interface: x, memory, q, k, v, wqkv, wq, wk, wv, bqkv, bq, bk, bv, wo, bo,
/// key_lengths and so on; outputs y and lse for yOffset and lseOffset.
using Tensors = std::map<std::string, Tensor, std::less<>>;

struct Sizes {
  int64_t batch = 0, query = 0, key = 0;
};

} // namespace mhac::reference
