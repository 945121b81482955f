// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "halide/Lanes.h"

#include "halide/TransposeTiles.h"

#include <algorithm>

using namespace Halide;

namespace mhac::halide {

int tileHeight(int width, int tallest) {
  int best = 1;
  auto cost = [&](int height) { return static_cast<int64_t>((width + height - 1) / height) * (3 * height + 2); };
  for (int height = 2; height <= std::min(width, tallest); ++height)
    if (cost(height) < cost(best) || (cost(height) == cost(best) && width % height == 0))
      best = height;
  return best;
}

ImageParam rowsParam(const std::string &name, const RowLayout &layout) {
  ImageParam param(layout.format.stored(), layout.order == RowOrder::Tokens ? 3 : 4, name);
  param.dim(0).set_min(0).set_stride(1);
  for (int i = 1; i < param.dimensions(); ++i)
    param.dim(i).set_min(0);
  return param;
}

Accessor rowsAccessor(const ImageParam &param, const RowLayout &layout) {
  return [=](Expr feature, Expr token, Expr head, Expr batch) -> Expr {
    switch (layout.order) {
    case RowOrder::Tokens: return layout.format.load(param(feature, token, batch));
    case RowOrder::Bshd: return layout.format.load(param(feature, head, token, batch));
    case RowOrder::Bhsd: return layout.format.load(param(feature, token, head, batch));
    }
    return Expr();
  };
}

static void constrainPackedRows(OutputImageParam buffer, int features) {
  buffer.dim(0).set_bounds(0, features).set_stride(1);
  buffer.dim(1).set_min(0).set_stride(features);
  buffer.dim(2).set_min(0);
  buffer.dim(3).set_min(0);
}

ImageParam packedRowsParam(const std::string &name, int features) {
  ImageParam param(Float(32), 4, name);
  constrainPackedRows(param, features);
  return param;
}

Func packRows(const std::string &name, const Accessor &rows, int features, int heads) {
  Func packed(name);
  Var f("f"), s("s"), h("h"), b("b"), so("so"), si("si"), task("task");
  packed(f, s, h, b) = rows(f, s, h, b);
  int values = kLanes;
  while (values > features)
    values /= 2;
  // The heads of a token lie side by side where they come from.
  packed.bound(f, 0, features).bound(h, 0, heads).split(s, so, si, kLanes, TailStrategy::GuardWithIf).reorder(f, h, si, so, b);
  packed.vectorize(f, values, features % values ? TailStrategy::ShiftInwards : TailStrategy::Auto).fuse(so, b, task).parallel(task);
  constrainPackedRows(packed.output_buffer(), features);
  return packed;
}

void constrainLanes(OutputImageParam buffer, int features) {
  buffer.dim(0).set_bounds(0, kLanes).set_stride(1);
  buffer.dim(1).set_bounds(0, features).set_stride(kLanes);
  buffer.dim(2).set_min(0).set_stride(kLanes * features);
  buffer.dim(3).set_min(0);
  buffer.dim(4).set_min(0);
}

void beginAtZero(OutputImageParam buffer, int headDimension, int firstHead) {
  for (int i = 0; i < buffer.dimensions(); ++i)
    if (i != headDimension || firstHead == 0)
      buffer.dim(i).set_min(0);
}

ImageParam lanesParam(const std::string &name, int features) {
  ImageParam param(Float(32), 5, name);
  constrainLanes(param, features);
  return param;
}

Accessor lanesAccessor(const ImageParam &param) {
  return [=](Expr feature, Expr token, Expr head, Expr batch) -> Expr {
    return param(token % kLanes, feature, token / kLanes, head, batch);
  };
}

TileTranspose::TileTranspose(const TileSource &source, const std::vector<Var> &rest, const std::string &name)
    : rows(name + "_rows"), columns(name + kTransposed) {
  Var x("x"), y("y");
  std::vector<Var> along{x, y}, across{y, x};
  along.insert(along.end(), rest.begin(), rest.end());
  across.insert(across.end(), rest.begin(), rest.end());
  rows(along) = source(x, y);
  columns(across) = rows(std::vector<Expr>(along.begin(), along.end()));
  rows.vectorize(x).unroll(y);
  columns.vectorize(y).unroll(x);
  for (Func *f : {&rows, &columns})
    f->bound(x, 0, kLanes).bound(y, 0, kLanes);
}

void TileTranspose::computeAt(const LoopLevel &level, const std::vector<Var> &single) {
  for (Func *f : {&rows, &columns}) {
    f->compute_at(level).store_in(MemoryType::Stack);
    for (const Var &v : single)
      f->bound_extent(v, 1);
  }
}

LanesOfRows::LanesOfRows(const std::string &name, const Accessor &rows, int features, const Expr &tokens, float scale) : func(name), features(features) {
  Var lane("lane"), f("f"), tile("tile");
  auto value = [&](const Expr &feature, const Expr &i) {
    Expr v = rows(feature, min(block * kLanes + i, tokens - 1), h, b);
    return scale == 1.f ? v : v * scale;
  };
  if (features < kLanes) {
    func(lane, f, block, h, b) = value(f, lane); // narrower than a tile: strided loads
  } else {
    // The last tile is moved back to end with the last feature.
    auto first = [&](const Expr &t) { return features % kLanes ? min(t * kLanes, features - kLanes) : t * kLanes; };
    transpose.emplace([&](Expr x, Expr y) { return value(first(tile) + x, y); }, std::vector<Var>{tile, block, h, b}, name + "_t");
    func(lane, f, block, h, b) = transpose->columns(lane, f - first(f / kLanes), f / kLanes, block, h, b);
  }
}

void LanesOfRows::scheduleTiles() {
  Var lane = func.args()[0], f = func.args()[1], fo("fo"), fi("fi");
  const int height = std::min(features, kLanes);
  func.bound(lane, 0, kLanes).bound(f, 0, features);
  func.split(f, fo, fi, height, features % height ? TailStrategy::GuardWithIf : TailStrategy::Auto);
  func.reorder(lane, fi, fo, block, h, b).vectorize(lane).unroll(fi);
  if (transpose)
    transpose->computeAt(LoopLevel(func, fo), {});
}

Func packLanes(const std::string &name, const Accessor &rows, int features, const Expr &tokens, float scale, int vectors) {
  LanesOfRows lanes(name, rows, features, tokens, scale);
  Var bo("bo"), bi("bi"), task("task");
  lanes.scheduleTiles();
  lanes.func.split(lanes.block, bo, bi, vectors, TailStrategy::RoundUp).reorder(lanes.h, bo).fuse(lanes.h, bo, task).fuse(task, lanes.b, task).parallel(task);
  constrainLanes(lanes.func.output_buffer(), features);
  return lanes.func;
}

Func unpackRows(const std::string &name, Func lanes, int features, int heads, const Expr &tokens, const RowLayout &layout, int slab, int tokenBlock,
                const std::function<void(LoopLevel)> &scheduleProducers) {
  Var f("f"), s("s"), h("h"), b("b"), block("block"), tile("tile"), task("task"), fo("fo"), fi("fi"), fl("fl"), so("so"), si("si"), sl("sl");
  TileTranspose transpose([&](Expr x, Expr y) { return lanes(x, tile * kLanes + y, block, h, b); }, {tile, block, h, b}, name + "_t");
  Func rows(name);
  const RowOrder order = layout.order;
  std::vector<Var> at = order == RowOrder::Tokens ? std::vector<Var>{f, s, b} : order == RowOrder::Bshd ? std::vector<Var>{f, h, s, b} : std::vector<Var>{f, s, h, b};
  const bool hasHeads = order != RowOrder::Tokens;
  rows(at) = layout.format.store(transpose.columns(f % kLanes, s % kLanes, f / kLanes, s / kLanes, hasHeads ? Expr(h) : Expr(0), b));
  rows.bound(f, 0, features);
  if (hasHeads)
    rows.bound(h, 0, heads);
  rows.split(s, so, si, tokenBlock, TailStrategy::GuardWithIf).split(f, fo, fi, slab, features % slab ? TailStrategy::GuardWithIf : TailStrategy::Auto);
  rows.split(si, si, sl, kLanes, TailStrategy::GuardWithIf);
  rows.split(fi, fi, fl, kLanes, features % kLanes ? TailStrategy::PredicateStores : TailStrategy::Auto);
  if (hasHeads)
    rows.reorder(fl, sl, fi, si, so, fo, h, b).fuse(so, fo, task).fuse(task, h, task).fuse(task, b, task);
  else
    rows.reorder(fl, sl, fi, si, so, fo, b).fuse(so, fo, task).fuse(task, b, task);
  rows.parallel(task).vectorize(fl).unroll(sl).never_partition_all(); // one copy of the transposition; its guards are a branch a row
  transpose.computeAt(LoopLevel(rows, fi), {tile, block}); // bounds inference does not see that f / 16 and s / 16 are one value each in a guarded tile
  scheduleProducers(LoopLevel(rows, task));
  rows.output_buffer().dim(0).set_bounds(0, features).set_stride(1);
  for (int i = 1; i < rows.dimensions(); ++i)
    rows.output_buffer().dim(i).set_min(0);
  return rows;
}

} // namespace mhac::halide
