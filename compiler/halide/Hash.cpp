// A task hashes some blocks of tokens of a head, round after round; it draws the rotation of a round itself, which costs little beside the products
// with it and needs no memory that tasks share.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "halide/Hash.h"

#include "halide/FastMath.h"
#include "halide/HeadNumbers.h"

#include <algorithm>
#include <limits>

using namespace Halide;

namespace mhac::halide {
namespace {

/// The formulas of attn.hash (AttentionOps.td).
Expr mix(Expr u) {
  u = u ^ (u >> 16);
  u = u * Expr(uint32_t(0x7feb352d));
  u = u ^ (u >> 15);
  u = u * Expr(uint32_t(0x846ca68b));
  return u ^ (u >> 16);
}

Expr drawn(uint32_t seed, const std::vector<Expr> &numbers) {
  Expr u = mix(Expr(seed));
  for (const Expr &number : numbers)
    u = mix(u ^ (cast<uint32_t>(number) * Expr(uint32_t(0x9e3779b9))));
  Expr sum = (u & 255u) + ((u >> 8) & 255u) + ((u >> 16) & 255u) + (u >> 24);
  return cast<float>(cast<int32_t>(sum) - 510);
}

/// Rows of an order.
enum { kTokens, kPlaces, kStarts };

} // namespace

void constrainTable(OutputImageParam buffer, int rows) {
  buffer.dim(0).set_min(0).set_stride(1);
  buffer.dim(1).set_bounds(0, rows);
  buffer.dim(2).set_min(0);
  buffer.dim(3).set_min(0);
}

Func hashHeads(const HashProblem &p) {
  const int half = p.buckets / 2, TC = std::min(half, 8), NB = p.vectors;
  constexpr int taskTokens = 256; // of which a rotation is drawn once
  // A token is (lane, vector i of block qb), a column of a rotation (ci, tile ct).
  Var lane("lane"), i("i"), qb("qb"), qt("qt"), r("r"), h("h"), b("b"), c("c"), ci("ci"), ct("ct"), f("f"), s("s"), sv("sv"), task("task");
  Func rotation("rotation"), product("product"), best("best"), out(p.name);
  rotation(c, f, r, h) = drawn(p.seed, {numberOf(p.rotations, h), r, c, f});
  RDom rd(0, p.features, "rd"), rc(0, TC, 0, (half + TC - 1) / TC, "rc");
  // The last tile may make its last column again, which changes no first maximum.
  auto column = [&](const Expr &of, const Expr &tile) { return min(tile * TC + of, half - 1); };
  product(lane, i, ci, ct, r, qb, h, b) = 0.f;
  product(lane, i, ci, ct, r, qb, h, b) += p.lanes(lane, rd, qb * NB + i, h, b) * rotation(column(ci, ct), rd, r, h);
  // Largest and smallest product with their columns: the first ones, so only larger and smaller ones replace them.
  const float infinity = std::numeric_limits<float>::max();
  best(lane, i, r, qb, h, b) = Tuple(Expr(-infinity), Expr(0), Expr(infinity), Expr(0));
  Expr value = product(lane, i, rc.x, rc.y, r, qb, h, b), at = column(rc.x, rc.y);
  auto now = [&](int which) { return Expr(best(lane, i, r, qb, h, b)[which]); };
  Expr isLargest = value > now(0), isSmallest = value < now(2);
  best(lane, i, r, qb, h, b) = Tuple(select(isLargest, value, now(0)), select(isLargest, at, now(1)), select(isSmallest, value, now(2)), select(isSmallest, at, now(3)));
  Expr vector = s / kLanes;
  auto final = [&](int which) { return Expr(best(s % kLanes, vector % NB, r, vector / NB, h, b)[which]); };
  out(s, r, h, b) = select(final(0) >= -final(2), final(1), half + final(3));

  out.bound(r, 0, p.rounds).bound(h, 0, p.heads);
  out.split(s, qb, sv, NB * kLanes).split(sv, i, lane, kLanes).split(qb, qt, qb, std::max(taskTokens / (NB * kLanes), 1), TailStrategy::GuardWithIf);
  out.reorder(lane, i, qb, r, qt, h, b).vectorize(lane).fuse(qt, h, task).fuse(task, b, task).parallel(task).never_partition_all();
  rotation.compute_at(out, r).bound(c, 0, half).bound(f, 0, p.features).bound_extent(r, 1).bound_extent(h, 1).vectorize(c, std::min(half, kLanes), half % kLanes ? TailStrategy::GuardWithIf : TailStrategy::Auto);
  best.compute_at(out, qb).bound(lane, 0, kLanes).bound(i, 0, NB).bound_extent(r, 1).bound_extent(qb, 1).bound_extent(h, 1).bound_extent(b, 1);
  best.vectorize(lane).unroll(i).update().reorder(lane, i, rc.x, rc.y).vectorize(lane).unroll(i).unroll(rc.x);
  product.compute_at(best, rc.y).bound(lane, 0, kLanes).bound(i, 0, NB).bound(ci, 0, TC).bound_extent(ct, 1).bound_extent(r, 1).bound_extent(qb, 1).bound_extent(h, 1).bound_extent(b, 1);
  product.vectorize(lane).unroll(i).unroll(ci).update().reorder(lane, i, ci, rd).vectorize(lane).unroll(i).unroll(ci);
  for (Func *f : {&rotation, &best, &product})
    f->never_partition_all();
  best.update().never_partition_all();
  product.update().never_partition_all();
  constrainTable(out.output_buffer(), p.rounds);
  return out;
}

/// A counting sort. One Func, because each of its rows is made with the others: starts first count, then move back as tokens take their places.
Func sortBuckets(const SortProblem &p) {
  Var i("i"), row("row"), h("h"), b("b"), task("task");
  Func out(p.name);
  auto bucketOf = [&](const Expr &token) { return unsafe_promise_clamped(p.buckets(token, h / p.heads, h % p.heads, b), 0, p.bucketCount - 1); };
  RDom rt(0, p.tokens, "rt"), rz(0, p.bucketCount, "rz"), rb(1, p.bucketCount - 1, "rb"), rs(0, 3, 0, p.tokens, "rs");
  rz.where(p.tokens > 0), rb.where(p.tokens > 0); // otherwise there is no memory for starts
  out(i, row, h, b) = undef<int32_t>(); // a zero would be written wherever an update may reach, also without tokens
  out(rz, kStarts, h, b) = 0;
  out(bucketOf(rt), kStarts, h, b) += 1;
  out(rb, kStarts, h, b) += out(rb - 1, kStarts, h, b);
  // From the last token on, so that tokens of a bucket keep their order: its bucket ends one earlier, that is its place, and there it stands.
  Expr token = p.tokens - 1 - rs.y, bucket = bucketOf(token), place = unsafe_promise_clamped(out(token, kPlaces, h, b), 0, p.tokens - 1);
  Expr at = select(rs.x == 0, bucket, rs.x == 1, token, place), in = select(rs.x == 0, kStarts, rs.x == 1, kPlaces, kTokens);
  out(at, in, h, b) = select(rs.x == 0, out(bucket, kStarts, h, b) - 1, rs.x == 1, out(bucket, kStarts, h, b), token);

  out.bound(row, 0, 3).bound(h, 0, p.heads * p.rounds);
  out.update(0).reorder(rz, h, b);
  out.update(1).reorder(rt, h, b);
  out.update(2).reorder(rb, h, b);
  out.update(3).reorder(rs.x, rs.y, h, b).unroll(rs.x);
  for (int u = 0; u < 4; ++u)
    out.update(u).fuse(h, b, task).parallel(task).never_partition_all();
  constrainTable(out.output_buffer(), 3);
  return out;
}

Func bucketRanges(const RangesProblem &p) {
  Var i("i"), end("end"), h("h"), b("b"), task("task");
  Func out(p.name);
  Expr token = clamp(p.queries(i, kTokens, h, b), 0, p.queryCount - 1); // anything behind the last query
  Expr bucket = unsafe_promise_clamped(p.buckets(token, h / p.heads, h % p.heads, b), 0, p.bucketCount - 1);
  Expr next = bucket + end, start = p.keys(min(next, p.bucketCount - 1), kStarts, p.keyHead(h), b);
  out(i, end, h, b) = branch(p.keyCount > 0, select(next < p.bucketCount, start, p.keyCount), 0);
  out.bound(end, 0, 2).bound(h, 0, p.heads * p.rounds).vectorize(i, kLanes, TailStrategy::RoundUp).fuse(h, b, task).parallel(task).never_partition_all();
  constrainTable(out.output_buffer(), 2);
  return out;
}

} // namespace mhac::halide
