// mhac_quantize_weights: what it rounds to, where it puts it, and what it refuses.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "support.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>
#include <string>
#include <vector>

namespace {

struct quantized {
  mhac_status status;
  std::vector<uint8_t> numbers;
  std::vector<float> scales;
  std::string message;
};

quantized quantize(mhac_weight_type type, const std::vector<float> &weights, int64_t outputs, int64_t group = 0, bool in_out = false) {
  const int64_t inputs = int64_t(weights.size()) / outputs;
  quantized result{MHAC_STATUS_OK, std::vector<uint8_t>(weights.size() + 16, 0xee), std::vector<float>(weights.size() + 4, -1.f), ""};
  mhac_quantize_args args = MHAC_QUANTIZE_ARGS_INIT;
  args.type = type, args.in_out = in_out, args.outputs = outputs, args.inputs = inputs, args.group = group;
  args.weights = weights.data(), args.numbers = result.numbers.data(), args.scales = result.scales.data();
  auto context = make_context();
  result.status = mhac_quantize_weights(context.get(), &args);
  result.message = mhac_context_message(context.get());
  return result;
}

std::vector<int> int8s(const quantized &result, size_t count) {
  std::vector<int> values;
  for (size_t i = 0; i < count; ++i)
    values.push_back(int8_t(result.numbers[i]));
  return values;
}

TEST(QuantizeWeights, RoundsTiesToEvenAndIsSymmetric) {
  // A scale of 1: the numbers are the weights, rounded.
  quantized result = quantize(MHAC_WEIGHT_INT8, {127, -127, 0.5f, 1.5f, -2.5f, -3.5f, 0.49f, -0.51f}, 1);
  ASSERT_EQ(result.status, MHAC_STATUS_OK) << result.message;
  EXPECT_EQ(result.scales[0], 1.f);
  EXPECT_EQ(int8s(result, 8), (std::vector<int>{127, -127, 0, 2, -2, -4, 0, -1}));
  EXPECT_EQ(result.numbers[8], 0xee); // nothing behind
  EXPECT_EQ(result.scales[1], -1.f);
}

TEST(QuantizeWeights, EveryRowAndGroupHasItsScale) {
  quantized rows = quantize(MHAC_WEIGHT_INT8, {1, 2, 3, 4, -8, 4, 2, 0}, 2);
  EXPECT_EQ(rows.scales[0], 4.f / 127);
  EXPECT_EQ(rows.scales[1], 8.f / 127);
  EXPECT_EQ(int8s(rows, 8), (std::vector<int>{32, 64, 95, 127, -127, 64, 32, 0}));
  quantized groups = quantize(MHAC_WEIGHT_INT8, {1, 2, 3, 4, -8, 4, 2, 0}, 2, 2);
  EXPECT_EQ(std::vector<float>(groups.scales.begin(), groups.scales.begin() + 4), (std::vector<float>{2.f / 127, 4.f / 127, 8.f / 127, 2.f / 127}));
  // The other way round: the same numbers and scales at other places.
  quantized other = quantize(MHAC_WEIGHT_INT8, {1, -8, 2, 4, 3, 2, 4, 0}, 2, 2, true);
  EXPECT_EQ(other.scales, groups.scales);
  for (size_t output = 0; output < 2; ++output)
    for (size_t input = 0; input < 4; ++input)
      EXPECT_EQ(other.numbers[input * 2 + output], groups.numbers[output * 4 + input]);
}

TEST(QuantizeWeights, RowsOfZerosHaveScaleZero) {
  for (mhac_weight_type type : {MHAC_WEIGHT_INT8, MHAC_WEIGHT_INT4, MHAC_WEIGHT_FP8_E4M3, MHAC_WEIGHT_FP8_E5M2})
    for (float tiny : {0.f, -0.f, std::numeric_limits<float>::denorm_min()}) {
      quantized result = quantize(type, {tiny, 0, 0, tiny}, 2);
      EXPECT_EQ(result.status, MHAC_STATUS_OK);
      EXPECT_EQ(result.scales[0], 0.f);
      EXPECT_EQ(result.numbers[0], 0);
    }
}

TEST(QuantizeWeights, Int4LiesTwoAByteLowFirst) {
  quantized result = quantize(MHAC_WEIGHT_INT4, {7, -7, 3, 3.5f, 7, -2.5f}, 2); // rows of three
  ASSERT_EQ(result.status, MHAC_STATUS_OK) << result.message;
  EXPECT_EQ(result.scales[0], 1.f);
  EXPECT_EQ(result.numbers[0], 0x97);
  EXPECT_EQ(result.numbers[1], 0x03);
  EXPECT_EQ(result.numbers[2], 0x74); // a tie, to 4; 7
  EXPECT_EQ(result.numbers[3], 0x0e); // -2.5 to -2
  EXPECT_EQ(result.numbers[4], 0xee);
  quantized other = quantize(MHAC_WEIGHT_INT4, {7, -7, 3, 3.5f, 7, -2.5f}, 3, 0, true); // two rows of three outputs
  EXPECT_EQ(std::vector<uint8_t>(other.numbers.begin(), other.numbers.begin() + 5), (std::vector<uint8_t>{0x97, 0x07, 0x74, 0x0a, 0xee}));
}

TEST(QuantizeWeights, FloatsReachTheirLargestNumber) {
  quantized e4m3 = quantize(MHAC_WEIGHT_FP8_E4M3, {448, -448, 1, 0.001953125f, 0.0009765625f, 17, 19, -0.4375f}, 1);
  EXPECT_EQ(e4m3.scales[0], 1.f);
  EXPECT_EQ(std::vector<uint8_t>(e4m3.numbers.begin(), e4m3.numbers.begin() + 8), (std::vector<uint8_t>{0x7e, 0xfe, 0x38, 0x01, 0x00, 0x58, 0x5a, 0xae}));
  quantized e5m2 = quantize(MHAC_WEIGHT_FP8_E5M2, {57344, -57344, 1, 1.125f, 1.375f, 0x1p-16f, 0x1p-17f, 3}, 1);
  EXPECT_EQ(e5m2.scales[0], 1.f);
  EXPECT_EQ(std::vector<uint8_t>(e5m2.numbers.begin(), e5m2.numbers.begin() + 8), (std::vector<uint8_t>{0x7b, 0xfb, 0x3c, 0x3c, 0x3e, 0x01, 0x00, 0x42}));
}

TEST(QuantizeWeights, WhatIsNotFiniteIsRefusedAndChangesNothing) {
  for (float bad : {std::numeric_limits<float>::quiet_NaN(), -std::numeric_limits<float>::infinity()}) {
    quantized result = quantize(MHAC_WEIGHT_INT8, {1, 2, 3, 4, bad, 6}, 2);
    EXPECT_EQ(result.status, MHAC_STATUS_VALUE_RANGE);
    EXPECT_EQ(result.numbers[0], 0xee);
    EXPECT_EQ(result.scales[0], -1.f);
    EXPECT_EQ(result.message, std::string("mhac_quantize_weights: argument 'weights': found ") + (std::isnan(bad) ? "NaN" : "infinity") +
                                  " at output 1, input 1, wanted a finite number");
  }
}

TEST(QuantizeWeights, BadArgumentsAreNamed) {
  const float weights[4] = {1, 2, 3, 4};
  alignas(4) char numbers[8];
  float scales[4];
  auto context = make_context();
  auto check = [&](auto change, mhac_status status, const std::string &message) {
    mhac_quantize_args args = MHAC_QUANTIZE_ARGS_INIT;
    args.outputs = 2, args.inputs = 2, args.weights = weights, args.numbers = numbers, args.scales = scales;
    change(args);
    EXPECT_EQ(mhac_quantize_weights(context.get(), &args), status);
    EXPECT_EQ(mhac_context_message(context.get()), message.empty() ? "" : "mhac_quantize_weights: " + message);
  };
  check([](auto &) {}, MHAC_STATUS_OK, "");
  check([](auto &args) { args.struct_size = 1; }, MHAC_STATUS_STRUCT_SIZE, "argument 'struct_size': found 1, wanted " + std::to_string(sizeof(mhac_quantize_args)));
  check([](auto &args) { args.type = mhac_weight_type(77); }, MHAC_STATUS_INVALID_OPTION, "argument 'type': found 77, wanted a mhac_weight_type");
  check([](auto &args) { args.in_out = 2; }, MHAC_STATUS_INVALID_OPTION, "argument 'in_out': found 2, wanted 0 or 1");
  check([](auto &args) { args.inputs = -1; }, MHAC_STATUS_SIZE_NEGATIVE, "argument 'inputs': found -1, wanted >= 0");
  check([](auto &args) { args.outputs = int64_t(1) << 40; }, MHAC_STATUS_SIZE_TOO_LARGE,
        "arguments 'outputs' and 'inputs': found 1099511627776 and 2, wanted a product <= 2147483647");
  check([](auto &args) { args.group = 3; }, MHAC_STATUS_SIZE_BOUND, "argument 'group': found 3, wanted 0 or a divisor of inputs, 2");
  check([](auto &args) { args.numbers = nullptr; }, MHAC_STATUS_NULL_ARGUMENT, "argument 'numbers': found NULL, wanted a pointer");
  check([](auto &args) { args.scales = nullptr; }, MHAC_STATUS_NULL_ARGUMENT, "argument 'scales': found NULL, wanted a pointer");
  check([](auto &args) { args.weights = reinterpret_cast<const float *>(1); }, MHAC_STATUS_ALIGNMENT,
        "argument 'weights': found a pointer that is not a multiple of 4, wanted one that is");
  check([](auto &args) { args.outputs = 0, args.weights = nullptr, args.numbers = nullptr, args.scales = nullptr; }, MHAC_STATUS_OK, "");
  EXPECT_EQ(mhac_quantize_weights(nullptr, nullptr), MHAC_STATUS_NULL_ARGUMENT);
}

} // namespace
