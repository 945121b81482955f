// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "reference/Tolerance.h"

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <limits>

namespace mhac::reference {

int64_t ulpDistance(float a, float b) {
  if (std::isnan(a) || std::isnan(b))
    return std::numeric_limits<int64_t>::max();
  auto order = [](float value) { // a number line: neighbouring floats get neighbouring integers
    int32_t bits;
    std::memcpy(&bits, &value, sizeof bits);
    return bits < 0 ? -int64_t(bits & 0x7fffffff) : int64_t(bits);
  };
  return std::llabs(order(a) - order(b));
}

static double difference(double a, double b) {
  if (a == b)
    return 0; // equal infinities too
  double error = std::fabs(a - b);
  return std::isnan(error) ? std::numeric_limits<double>::infinity() : error;
}

Comparison compare(const std::vector<float> &out, const std::vector<double> &ref, const std::vector<double> &naive, DType dtype) {
  Comparison result;
  double largest = 0;
  for (size_t i = 0; i < ref.size(); ++i) {
    double error = difference(out[i], ref[i]);
    if (error > result.maxError || i == 0) {
      result.maxError = error;
      result.worst = i;
    }
    if (!std::isfinite(ref[i]))
      continue;
    result.naiveError = std::fmax(result.naiveError, difference(naive[i], ref[i]));
    largest = std::fmax(largest, std::fabs(ref[i]));
  }
  const DTypeInfo &info = dtypeInfo(dtype);
  result.allowed = 2 * result.naiveError + info.atol + info.rtol * largest;
  result.accepted = result.maxError <= result.allowed && std::isfinite(result.maxError);
  if (!ref.empty()) {
    result.found = out[result.worst];
    result.wanted = ref[result.worst];
    result.ulps = ulpDistance(float(result.found), float(result.wanted));
  }
  return result;
}

std::string Comparison::describe() const {
  char text[200];
  std::snprintf(text, sizeof text, "index %zu: found %.9g, wanted %.17g, %lld ULP apart; error %.3g, allowed %.3g", worst,
                std::isnan(found) ? std::fabs(found) : found, wanted, (long long)ulps, maxError, allowed);
  return text;
}

} // namespace mhac::reference
