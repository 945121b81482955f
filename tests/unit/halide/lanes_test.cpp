// Rows -> lanes -> rows for widths and lengths around the tile.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "halide/Lanes.h"
#include "halide/TransposeTiles.h"

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

/// Several tiles, as blocks of each size that vector registers have.
TEST(Lanes, TilesAreTransposedInRegisters) {
  constexpr int tiles = 3;
  for (int lanes : {4, 8, 16}) {
    ImageParam in(Float(32), 3, "in");
    Var x("x"), y("y"), tile("tile");
    TileTranspose transpose([&](Expr x, Expr y) -> Expr { return in(x, y, tile); }, {tile}, "t");
    Func out("out");
    out(y, x, tile) = transpose.columns(y, x, tile);
    transpose.computeAt(LoopLevel(out, tile), {});
    Pipeline pipeline(out);
    TransposeTiles pass(lanes);
    pipeline.add_custom_lowering_pass(&pass, [] {});
    Buffer<float> from(kLanes, kLanes, tiles), to(kLanes, kLanes, tiles);
    from.for_each_element([&](int x, int y, int t) { from(x, y, t) = element(x, y, t, 0); });
    in.set(from);
    out.bound(x, 0, kLanes).bound(y, 0, kLanes);
    pipeline.realize(to);
    to.for_each_element([&](int y, int x, int t) { ASSERT_EQ(to(y, x, t), from(x, y, t)) << lanes << ": " << x << ' ' << y; });
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
