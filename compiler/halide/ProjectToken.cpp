// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "halide/ProjectToken.h"

#include <algorithm>

using namespace Halide;

namespace mhac::halide {
namespace {

/// Rows of a register tile: sums that do not wait for each other.
constexpr int kRows = 4;
/// Rows of a task.
constexpr int kTaskRows = 64;

void constrainToken(OutputImageParam buffer, const TokenVector &layout) {
  buffer.dim(0).set_bounds(0, kLanes).set_stride(1);
  buffer.dim(1).set_bounds(0, layout.places()).set_stride(kLanes);
  buffer.dim(2).set_bounds(0, layout.storedVectors()).set_stride(kLanes * layout.places());
  buffer.dim(3).set_min(0).set_stride(kLanes * layout.places() * layout.storedVectors());
}

/// Features of the token times rows of the weight: `sums` is (row j of head h, h, b).
class RowSums {
public:
  RowSums(const ImageParam &token, const TokenVector &layout, const ProjectPart &part) : hasVectors(layout.vectors() > 0), hasRest(layout.rest() > 0) {
    Expr row = part.row(h, min(j, part.width - 1));
    const bool hasGroups = part.scaling == Scaling::Group;
    const int vectors = layout.vectors(), n = layout.vectorFeatures(), ofGroup = hasGroups ? part.groupInputs / n : 1; // vectors that share a scale
    vectorSums(l, j, h, b) = 0.f;
    r = RDom(0, std::max(vectors / ofGroup, 1), part.name + "_k");
    Expr products;
    for (int v = 0; v < ofGroup; ++v)
      for (int place = 0; place < layout.places(); ++place) {
        Expr vector = r * ofGroup + v;
        Expr product = token(l, place, vector, b) * part.weight.format.loadPlace(part.weight.param(vector * kLanes + l, row), place);
        products = products.defined() ? products + product : product;
      }
    if (hasVectors)
      vectorSums(l, j, h, b) += hasGroups ? products * part.scales({r, row}) : products;
    lane = RDom(0, kLanes, part.name + "_lane");
    RDom rest(0, std::max(layout.rest(), 1), part.name + "_rest");
    sums(j, h, b) = 0.f;
    if (hasVectors)
      sums(j, h, b) += vectorSums(lane, j, h, b);
    if (hasRest)
      sums(j, h, b) += token(rest / layout.places(), rest % layout.places(), vectors, b) * part.weight({vectors * n + rest, row});
    Expr total = part.scaling == Scaling::Row ? sums(j, h, b) * part.scales({0, row}) : Expr(sums(j, h, b));
    if (part.hasBias)
      total = total + part.bias({row});
    value = part.scale == 1.f ? total : total * part.scale;
  }

  /// Of `kRows` rows at a time, inside the loop over those.
  void computeAt(const LoopLevel &tile) {
    sums.compute_at(tile).bound_extent(j, kRows).bound_extent(h, 1).bound_extent(b, 1).unroll(j);
    if (hasVectors) {
      sums.update(0).atomic().vectorize(lane).unroll(j);
      vectorSums.compute_at(tile).bound(l, 0, kLanes).bound_extent(j, kRows).bound_extent(h, 1).bound_extent(b, 1).vectorize(l).unroll(j);
      vectorSums.update().reorder(l, j, r).vectorize(l).unroll(j);
    }
  }

  Var j{"j"}, h{"h"}, b{"b"};
  Func vectorSums{"vector_sums"}, sums{"sums"};
  Expr value; // with scale and bias

private:
  bool hasVectors, hasRest;
  Var l{"l"};
  RDom r, lane; // over vectors of features, or groups of them, and over the lanes
};

} // namespace

ImageParam tokenVectorParam(const std::string &name, const TokenVector &layout) {
  ImageParam param(Float(32), 4, name);
  constrainToken(param, layout);
  return param;
}

Func gatherToken(const std::string &name, const ProjectInput &input, const TokenVector &layout) {
  Var l("l"), place("place"), vector("vector"), b("b");
  Func token(name);
  Expr k = min((vector * kLanes + l) * layout.places() + place, layout.features - 1);
  Expr factor = 1.f;
  for (int p = 0; p < layout.places(); ++p)
    factor = select(place == p && vector < layout.vectors(), 1.f / layout.weights.powerOf(p), factor);
  token(l, place, vector, b) = input.lanes(0, k % input.features, 0, k / input.features, b) * factor;
  token.bound(l, 0, kLanes).bound(place, 0, layout.places()).bound(vector, 0, layout.storedVectors()).vectorize(l).parallel(b);
  constrainToken(token.output_buffer(), layout);
  return token;
}

Func projectTokenToLanes(const ImageParam &token, const TokenVector &layout, const ProjectPart &part) {
  RowSums rows(token, layout, part);
  Var lane("lane"), block("block"), task("task"), ji("ji"), jt("jt");
  Func out(part.name), tile(part.name + "_tile");
  tile(rows.j, rows.h, rows.b) = rows.value;
  out(lane, rows.j, block, rows.h, rows.b) = tile(rows.j, rows.h, rows.b);
  out.bound(lane, 0, kLanes).bound(rows.j, 0, part.width).bound(rows.h, 0, part.heads);
  const int height = std::min(kRows, part.width), taskRows = std::max(std::min(kTaskRows, part.width / height * height), height);
  out.split(rows.j, jt, rows.j, taskRows, TailStrategy::GuardWithIf).split(rows.j, rows.j, ji, height, TailStrategy::GuardWithIf);
  out.reorder(lane, ji, block, rows.j, jt, rows.h, rows.b).vectorize(lane).unroll(ji);
  out.fuse(jt, rows.h, task).fuse(task, rows.b, task).parallel(task);
  tile.compute_at(out, rows.j).bound_extent(rows.j, kRows).bound_extent(rows.h, 1).bound_extent(rows.b, 1).vectorize(rows.j);
  rows.computeAt(LoopLevel(out, rows.j));
  constrainLanes(out.output_buffer(), part.width);
  out.output_buffer().dim(3).set_extent(part.heads);
  return out;
}

Func projectTokenToRows(const ImageParam &token, const TokenVector &layout, const ProjectPart &part, NumberFormat format) {
  RowSums rows(token, layout, part);
  Var f("f"), s("s"), fi("fi"), ft("ft"), task("task");
  Func out(part.name), tile(part.name + "_tile");
  tile(rows.j, rows.h, rows.b) = rows.value;
  out(f, s, rows.b) = format.store(tile(f, 0, rows.b));
  out.bound(f, 0, part.width);
  const int height = std::min(kRows, part.width), taskRows = std::max(std::min(kTaskRows, part.width / height * height), height);
  out.split(f, ft, f, taskRows, TailStrategy::GuardWithIf).split(f, f, fi, height, TailStrategy::GuardWithIf).reorder(fi, s, f, ft, rows.b).unroll(fi);
  out.fuse(ft, rows.b, task).parallel(task);
  tile.compute_at(out, f).bound_extent(rows.j, kRows).bound_extent(rows.h, 1).bound_extent(rows.b, 1).vectorize(rows.j);
  rows.computeAt(LoopLevel(out, f));
  out.output_buffer().dim(0).set_bounds(0, part.width).set_stride(1);
  for (int i = 1; i < out.dimensions(); ++i)
    out.output_buffer().dim(i).set_min(0);
  return out;
}

} // namespace mhac::halide
