// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "halide/QuantizeTokens.h"

#include <limits>

using namespace Halide;

namespace mhac::halide {
namespace {

void constrainNumbers(OutputImageParam buffer, int features) {
  const int groups = (features + kNumbersOfGroup - 1) / kNumbersOfGroup;
  buffer.dim(0).set_bounds(0, kNumbersOfGroup).set_stride(1);
  buffer.dim(1).set_bounds(0, kLanes).set_stride(kNumbersOfGroup);
  buffer.dim(2).set_bounds(0, groups).set_stride(kNumbersOfGroup * kLanes);
  buffer.dim(3).set_min(0).set_stride(kNumbersOfGroup * kLanes * groups);
  buffer.dim(4).set_min(0);
}

/// Feature `k`, counted through all inputs.
Expr featureAt(const std::vector<ProjectInput> &inputs, const Expr &k, const Expr &lane, const Expr &block, const Expr &b) {
  Expr value = 0.f;
  for (auto [input, first] : withFirstFeatures(inputs)) {
    const int count = input->features * input->heads;
    Expr within = clamp(k - first, 0, count - 1);
    Expr own = input->lanes(lane, within % input->features, block, within / input->features, b);
    value = first == 0 ? own : select(k >= first, own, value);
  }
  return value;
}

} // namespace

ImageParam tokenNumbersParam(const std::string &name, int features) {
  ImageParam param(UInt(8), 5, name);
  constrainNumbers(param, features);
  return param;
}

std::vector<Func> quantizeTokens(const std::string &name, const std::vector<ProjectInput> &inputs) {
  Var q("q"), lane("lane"), group("group"), block("block"), b("b"), f("f"), h("h"), task("task"), bi("bi");
  const int features = featuresOf(inputs), groups = (features + kNumbersOfGroup - 1) / kNumbersOfGroup;
  // As integers, magnitudes of floats have their order, and whatever is not finite is above all others.
  Func largest(name + "_largest"), scales(name + "_scales"), numbers(name);
  largest(lane, block, b) = Expr(uint32_t(0));
  for (const ProjectInput &input : inputs) {
    RDom r(0, input.features, 0, input.heads);
    Expr bits = reinterpret<uint32_t>(input.lanes(lane, r.x, block, r.y, b)) & Expr(uint32_t(0x7fffffff));
    largest(lane, block, b) = max(largest(lane, block, b), bits);
  }
  Expr bits = largest(lane, block, b), magnitude = reinterpret<float>(bits);
  Expr scale = select(bits >= Expr(uint32_t(0x7f800000)), Expr(std::numeric_limits<float>::quiet_NaN()), strict_float(magnitude / 127.f));
  Expr inverse = select(bits < Expr(uint32_t((127 - 100) << 23)), 0.f, strict_float(127.f / magnitude));
  scales(lane, f, block, h, b) = select(f == 0, scale, inverse);
  Expr k = group * kNumbersOfGroup + q;
  Expr integer = cast<int32_t>(clamp(round(featureAt(inputs, k, lane, block, b) * scales(lane, 1, block, 0, b)), -127.f, 127.f));
  Expr number = cast<uint8_t>(integer + 128);
  numbers(q, lane, group, block, b) = features % kNumbersOfGroup ? select(k < features, number, cast<uint8_t>(0)) : number;

  scales.bound(lane, 0, kLanes).bound(f, 0, 2).bound(h, 0, 1).reorder(lane, f, h, block, b).vectorize(lane).unroll(f);
  scales.fuse(block, b, task).parallel(task);
  largest.compute_at(scales, task).bound(lane, 0, kLanes).bound_extent(block, 1).bound_extent(b, 1).vectorize(lane);
  for (int i = 0; i < largest.num_update_definitions(); ++i)
    largest.update(i).vectorize(lane);
  constrainLanes(scales.output_buffer(), 2);
  // The strided stores of four unrolled places become one, in Halide's pass for interleaving.
  numbers.bound(q, 0, kNumbersOfGroup).bound(lane, 0, kLanes).bound(group, 0, groups).reorder(lane, q, group, block, b).vectorize(lane).unroll(q);
  numbers.fuse(block, b, task).parallel(task);
  constrainNumbers(numbers.output_buffer(), features);
  return {numbers, scales};
}

} // namespace mhac::halide
