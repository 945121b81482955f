// Rows -> lanes -> rows for widths and lengths around the tile.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "halide/Lanes.h"

#include <gtest/gtest.h>

using namespace Halide;
using namespace mhac::halide;

namespace {

float element(int f, int s, int h, int b) { return static_cast<float>(f + 1000 * s + 100000 * h + 1000000 * b); }

int blocks(int tokens, int vectors) { return (tokens + vectors * kLanes - 1) / (vectors * kLanes) * vectors; }

constexpr int kHeads = 3, kBatch = 2;
const int lengths[] = {1, 15, 16, 33, 65};

/// [b, s, h, f] packed: every real token lies where it should.
void expectPacked(int features, int vectors) {
  ImageParam in = rowsParam("in", RowOrder::Bshd);
  Param<int> count("count");
  Func packed = packLanes("packed", rowsAccessor(in, RowOrder::Bshd), features, count, 2.f, vectors);
  for (int tokens : lengths) {
    Buffer<float> rows(features, kHeads, tokens, kBatch), out(kLanes, features, blocks(tokens, vectors), kHeads, kBatch);
    rows.for_each_element([&](int f, int h, int s, int b) { rows(f, h, s, b) = element(f, s, h, b); });
    in.set(rows);
    count.set(tokens);
    packed.realize(out);
    rows.for_each_element([&](int f, int h, int s, int b) {
      ASSERT_EQ(out(s % kLanes, f, s / kLanes, h, b), 2 * element(f, s, h, b)) << f << ' ' << s << ' ' << h << ' ' << b;
    });
  }
}

/// Lanes back to [b, s, h, f].
void expectUnpacked(int features, int vectors) {
  ImageParam in = lanesParam("in", features);
  Param<int> count("count");
  Var lane("lane"), f("f"), block("block"), h("h"), b("b");
  Func view("view");
  view(lane, f, block, h, b) = in(lane, min(f, features - 1), block, h, b);
  const int padded = (features + kLanes - 1) / kLanes * kLanes;
  Func out = unpackRows("out", view, features, kHeads, count, RowOrder::Bshd, padded, vectors * kLanes, [](LoopLevel) {});
  for (int tokens : lengths) {
    Buffer<float> lanes(kLanes, features, blocks(tokens, vectors), kHeads, kBatch), rows(features, kHeads, tokens, kBatch);
    lanes.for_each_element([&](int l, int f, int k, int h, int b) { lanes(l, f, k, h, b) = element(f, k * kLanes + l, h, b); });
    in.set(lanes);
    count.set(tokens);
    out.realize(rows);
    rows.for_each_element([&](int f, int h, int s, int b) { ASSERT_EQ(rows(f, h, s, b), element(f, s, h, b)); });
  }
}

TEST(Lanes, PackAndUnpackWidthsAroundATile) {
  for (int features : {1, 17, 40, 64})
    for (int vectors : {1, 2}) {
      expectPacked(features, vectors);
      expectUnpacked(features, vectors);
    }
}

} // namespace
