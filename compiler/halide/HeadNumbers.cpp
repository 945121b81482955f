// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "halide/HeadNumbers.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/xxhash.h"

#include <algorithm>

using namespace Halide;

namespace mhac::halide {

Expr numberOf(const std::vector<int64_t> &numbers, const Expr &h) {
  if (numbers.empty())
    return h;
  const int count = static_cast<int>(numbers.size()), first = static_cast<int>(numbers[0]);
  const int step = count > 1 ? static_cast<int>(numbers[1]) - first : 0;
  bool isRegular = true;
  for (int i = 0; i < count; ++i)
    isRegular = isRegular && numbers[i] == first + static_cast<int64_t>(i) * step;
  if (isRegular)
    return step == 0 ? Expr(first) : step == 1 ? h + first : h * step + first;
  // Named by its content, so that equal lists are one, in every compilation.
  const llvm::ArrayRef<uint8_t> bytes(reinterpret_cast<const uint8_t *>(numbers.data()), numbers.size() * sizeof(int64_t));
  Buffer<int32_t> table(count, "numbers_" + llvm::utohexstr(llvm::xxh3_64bits(bytes)));
  for (int i = 0; i < count; ++i)
    table(i) = static_cast<int32_t>(numbers[i]);
  auto [least, most] = std::minmax_element(numbers.begin(), numbers.end());
  return unsafe_promise_clamped(table(clamp(h, 0, count - 1)), static_cast<int>(*least), static_cast<int>(*most));
}

} // namespace mhac::halide
