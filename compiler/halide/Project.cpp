// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "halide/Project.h"

#include <algorithm>

using namespace Halide;

namespace mhac::halide {

Expr RowMap::operator()(const Expr &h, const Expr &j) const {
  Expr row = static_cast<int>(first) + j;
  if (group > 1)
    return row + (h / static_cast<int>(group)) * static_cast<int>(groupStride) + (h % static_cast<int>(group)) * static_cast<int>(headStride);
  return row + h * static_cast<int>(groupStride);
}

namespace {

/// The accumulators of a register tile are a Func of their own, so that the whole reduction runs in registers and bias, scale and transposition are
/// its prologue and epilogue.
struct Accumulator {
  Func func;
  RDom r;
  Var lane{"lane"}, j{"j"}, block{"block"}, h{"h"}, b{"b"};

  Accumulator(const ProjectInput &input, const ProjectPart &part, int paddedWidth) : func(part.name + "_acc"), r(0, input.features, 0, input.heads, part.name + "_k") {
    // A tile that reaches beyond the last feature computes that one again.
    Expr row = part.row(h, paddedWidth == part.width ? Expr(j) : min(j, part.width - 1));
    Expr k = input.heads == 1 ? Expr(r.x) : r.y * input.features + r.x;
    func(lane, j, block, h, b) = part.hasBias ? part.bias(row) : Expr(0.f);
    func(lane, j, block, h, b) += input.lanes(lane, r.x, block, r.y, b) * (part.outIn ? part.weight(k, row) : part.weight(row, k));
  }

  void computeAt(const LoopLevel &tile) {
    func.compute_at(tile).bound(lane, 0, kLanes).vectorize(lane).unroll(block).unroll(j);
    func.update().reorder(lane, block, j, r.x, r.y).vectorize(lane).unroll(block).unroll(j);
  }
};

} // namespace

Func projectToLanes(const ProjectInput &input, const ProjectPart &part, const ProjectTiles &tiles) {
  Accumulator acc(input, part, part.width);
  Var lane("lane"), j("j"), block("block"), h("h"), b("b"), jo("jo"), ji("ji"), bo("bo"), bi("bi"), group("group"), task("task");
  Func out(part.name);
  Expr value = acc.func(lane, j, block, h, b);
  out(lane, j, block, h, b) = part.scale == 1.f ? value : value * part.scale;
  const int tile = std::min(tiles.features, part.width);
  out.bound(lane, 0, kLanes).bound(j, 0, part.width).bound(h, 0, part.heads);
  out.split(j, jo, ji, tile, part.width % tile ? TailStrategy::ShiftInwards : TailStrategy::Auto)
      .split(block, bo, bi, tiles.vectors, TailStrategy::RoundUp)
      .split(bo, group, bo, tiles.tokens / (kLanes * tiles.vectors), TailStrategy::GuardWithIf)
      .reorder(lane, bi, ji, bo, jo, group, h, b)
      .fuse(group, h, task)
      .fuse(task, b, task)
      .parallel(task)
      .vectorize(lane)
      .unroll(bi)
      .unroll(ji);
  acc.computeAt(LoopLevel(out, bo));
  constrainLanes(out.output_buffer(), part.width);
  out.output_buffer().dim(3).set_extent(part.heads);
  return out;
}

Func projectToRows(const ProjectInput &input, const ProjectPart &part, const Expr &tokens, const ProjectTiles &tiles) {
  const int padded = (part.width + kLanes - 1) / kLanes * kLanes;
  Accumulator acc(input, part, padded);
  Var lane("lane"), j("j"), block("block"), h("h"), b("b"), jo("jo"), ji("ji"), bo("bo"), bi("bi");
  Func lanes(part.name + "_lanes");
  lanes(lane, j, block, h, b) = acc.func(lane, j, block, h, b);
  // Whole slabs where the width allows it.
  int slab = std::min(tiles.slab, padded);
  for (int s = slab; s >= slab / 2 && s >= kLanes; s -= kLanes)
    if (part.width % s == 0) {
      slab = s;
      break;
    }
  const int tile = std::min(tiles.features, kLanes);
  return unpackRows(part.name, lanes, part.width, 1, tokens, RowOrder::Tokens, slab, [&](LoopLevel task) {
    lanes.compute_at(task).bound(lane, 0, kLanes).bound_storage(j, slab).bound_extent(block, kBlockPair / kLanes).bound_extent(b, 1).bound_extent(h, 1);
    lanes.split(j, jo, ji, tile, kLanes % tile ? TailStrategy::ShiftInwards : TailStrategy::Auto).split(block, bo, bi, tiles.vectors).reorder(lane, bi, ji, bo, jo).vectorize(lane).unroll(bi).unroll(ji);
    acc.computeAt(LoopLevel(lanes, bo));
  });
}

} // namespace mhac::halide
