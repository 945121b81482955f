// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "halide/HeadNumbers.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/xxhash.h"

#include <algorithm>
#include <map>

using namespace Halide;

namespace mhac::halide {

Buffer<> constantBuffer(Type type, const std::vector<double> &elements) {
  static std::map<std::string, Buffer<>> known; // a pipeline refuses two buffers of one name
  const llvm::ArrayRef<uint8_t> bytes(reinterpret_cast<const uint8_t *>(elements.data()), elements.size() * sizeof(double));
  const std::string name = std::string(type.is_float() ? "reals_" : "numbers_") + llvm::utohexstr(llvm::xxh3_64bits(bytes));
  auto [found, isNew] = known.try_emplace(name);
  if (isNew) {
    found->second = Buffer<>(type, {static_cast<int>(elements.size())}, name);
    for (size_t i = 0; i < elements.size(); ++i) {
      if (type.is_float())
        found->second.as<float>()(static_cast<int>(i)) = static_cast<float>(elements[i]);
      else
        found->second.as<int32_t>()(static_cast<int>(i)) = static_cast<int32_t>(elements[i]);
    }
  }
  return found->second;
}

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
  Buffer<> table = constantBuffer(Int(32), std::vector<double>(numbers.begin(), numbers.end()));
  auto [least, most] = std::minmax_element(numbers.begin(), numbers.end());
  return unsafe_promise_clamped(table(std::vector<Expr>{clamp(h, 0, count - 1)}), static_cast<int>(*least), static_cast<int>(*most));
}

} // namespace mhac::halide
