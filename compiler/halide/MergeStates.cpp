// The weight of a part is 2^(lse_p - m) / sum, m the largest lse: no power overflows. A part whose lse is -inf saw nothing, and its output, which may
// be anything, is not looked at.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "halide/MergeStates.h"

#include "halide/Attention.h"
#include "halide/FastMath.h"

#include <limits>

using namespace Halide;

namespace mhac::halide {
namespace {

// Halide's arithmetic may assume that no operand is infinite: -inf becomes a number below this one, which is below every real lse.
constexpr float kLowest = -1.7e38f;

/// Maximum and sum of the parts of a row, in base 2, and the part's share.
class Weights {
public:
  explicit Weights(const MergeProblem &p) : problem(p), maximum("maximum"), sum("sum"), parts(0, p.parts, "rp"), sumParts(0, p.parts, "rs") {
    maximum(q, h, b) = kLowest;
    maximum(q, h, b) = max(maximum(q, h, b), lse(parts));
    sum(q, h, b) = 0.f;
    sum(q, h, b) += power(lse(sumParts), maximum(q, h, b));
  }
  /// 0 for a part that saw nothing.
  Expr weight(const Expr &part, const Expr &q, const Expr &h, const Expr &b) {
    Expr m = maximum(q, h, b), all = sum(q, h, b);
    if (problem.sink) {
      // Relative to the larger of both, as in attend().
      Expr logit = finiteScore(problem.sink(h) * kLog2e), larger = max(m, logit);
      all = all * exp2NonPositive(m - larger) + exp2NonPositive(logit - larger);
      m = larger;
    }
    return power(finiteLse(part, q, h, b), m) / select(all > 0.f, all, 1.f);
  }
  Expr total(const Expr &q, const Expr &h, const Expr &b) {
    Expr m = maximum(q, h, b), all = sum(q, h, b);
    return select(strict_float(m <= kLowest), -std::numeric_limits<float>::infinity(), m * kLn2 + logPositive(max(all, 1.f)));
  }
  /// 16 queries at a time, inside a task of one head and batch row.
  void computeAt(const LoopLevel &task, int tokens) {
    for (Func *f : {&maximum, &sum}) {
      f->compute_at(task).align_bounds(q, kLanes).bound_storage(q, tokens).bound_extent(h, 1).bound_extent(b, 1).never_partition_all();
      f->vectorize(q, kLanes).update().reorder(q, f == &maximum ? parts : sumParts).vectorize(q, kLanes).never_partition_all();
    }
  }

private:
  /// In base 2, and finite.
  Expr finiteLse(const Expr &part, const Expr &q, const Expr &h, const Expr &b) {
    Expr row = min(q, problem.queries - 1);
    return finiteScore(problem.lse(0, row, h, b, part) * kLog2e);
  }
  Expr lse(const RDom &part) { return finiteLse(part, q, h, b); }
  static Expr power(const Expr &lse, const Expr &maximum) { return select(strict_float(lse <= kLowest), 0.f, exp2NonPositive(min(lse - maximum, 0.f))); }

  MergeProblem problem;
  Func maximum, sum;
  RDom parts, sumParts;
  Var q{"q"}, h{"h"}, b{"b"};
};

/// sum over parts of weight * output, for the tokens of a task.
class Merged {
public:
  explicit Merged(const MergeProblem &p) : func("merged"), weights(p), weight("weight"), parts(0, p.parts, "part"), width(p.width) {
    Expr row = min(q, p.queries - 1);
    weight(q, h, b, part) = weights.weight(part, q, h, b);
    Expr share = weight(q, h, b, parts);
    func(e, q, h, b) = 0.f;
    func(e, q, h, b) += select(strict_float(share == 0.f), 0.f, share * p.output(e, row, h, b, parts));
  }
  Func func;
  void computeAt(const LoopLevel &task, int tokens) {
    const int vector = width >= kLanes ? kLanes : width >= 8 ? 8 : 4;
    func.compute_at(task).bound_extent(h, 1).bound_extent(b, 1).bound_storage(q, tokens).bound(e, 0, width);
    func.vectorize(e, vector, TailStrategy::GuardWithIf).never_partition_all();
    func.update().reorder(e, q, parts).vectorize(e, vector, TailStrategy::GuardWithIf).never_partition_all();
    weight.compute_at(func, parts).bound_extent(h, 1).bound_extent(b, 1).bound_extent(part, 1).align_bounds(q, kLanes).bound_storage(q, tokens).vectorize(q, kLanes).never_partition_all();
    weights.computeAt(task, tokens);
  }

private:
  Weights weights;
  Func weight;
  RDom parts;
  int width;
  Var e{"e"}, q{"q"}, h{"h"}, b{"b"}, part{"part_"};
};

constexpr int kTaskTokens = 2 * kLanes;

} // namespace

ImageParam partsParam(const std::string &name, Type type) {
  ImageParam param(type, 5, name);
  param.dim(0).set_min(0).set_stride(1);
  for (int i = 1; i < 5; ++i)
    param.dim(i).set_min(0);
  return param;
}

Func mergeToRows(const std::string &name, const MergeProblem &p, const RowLayout &layout) {
  Var e("e"), q("q"), h("h"), b("b"), qo("qo"), qi("qi"), task("task");
  Merged merged(p);
  Func out(name);
  out(layout.order == RowOrder::Bshd ? std::vector<Var>{e, h, q, b} : std::vector<Var>{e, q, h, b}) = layout.format.store(merged.func(e, q, h, b));
  out.bound(e, 0, p.width).bound(h, 0, p.heads).split(q, qo, qi, kTaskTokens, TailStrategy::GuardWithIf);
  out.reorder(e, qi, qo, h, b).vectorize(e, p.width >= kLanes ? kLanes : 4, TailStrategy::GuardWithIf);
  out.fuse(qo, h, task).fuse(task, b, task).parallel(task).never_partition_all();
  merged.computeAt(LoopLevel(out, task), kTaskTokens);
  out.output_buffer().dim(0).set_bounds(0, p.width).set_stride(1);
  for (int i = 1; i < 4; ++i)
    out.output_buffer().dim(i).set_min(0);
  return out;
}

Func mergeToLanes(const std::string &name, const MergeProblem &p, int vectors) {
  Var bo("bo"), bi("bi"), task("task");
  Merged merged(p);
  LanesOfRows lanes(name, [&](Expr feature, Expr token, Expr head, Expr batch) -> Expr { return merged.func(feature, token, head, batch); }, p.width, p.queries, 1.f);
  lanes.scheduleTiles();
  lanes.func.split(lanes.block, bo, bi, vectors, TailStrategy::RoundUp).fuse(bo, lanes.h, task).fuse(task, lanes.b, task).parallel(task);
  merged.computeAt(LoopLevel(lanes.func, task), vectors * kLanes);
  constrainLanes(lanes.func.output_buffer(), p.width);
  return lanes.func;
}

Func mergedLse(const std::string &name, const MergeProblem &p, int firstHead) {
  Var q("q"), h("h"), b("b"), qi("qi"), task("task");
  Weights weights(p);
  Func out(name);
  out(q, h, b) = weights.total(q, h - firstHead, b);
  out.bound(h, firstHead, p.heads).split(q, q, qi, kLanes, TailStrategy::PredicateStores).vectorize(qi).fuse(q, h, task).fuse(task, b, task).parallel(task);
  weights.computeAt(LoopLevel(out, task), kLanes);
  beginAtZero(out.output_buffer(), 1, firstHead);
  return out;
}

} // namespace mhac::halide
