// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "halide/Rotate.h"

#include "halide/FastMath.h"

#include <cmath>
#include <numbers>

using namespace Halide;

namespace mhac::halide {

uint64_t turnsOfFrequency(double radians) {
  const double turns = radians / (2 * std::numbers::pi), fraction = turns - std::floor(turns);
  // In two halves: the conversion of a double of 2^64 or nearly that is not defined.
  const double high = std::floor(std::ldexp(fraction, 32));
  return (static_cast<uint64_t>(high) << 32) + static_cast<uint64_t>(std::ldexp(std::ldexp(fraction, 32) - high, 32));
}

namespace {

/// Cosine and sine of pair `j` at an int32 position. Products are rounded one by one, and negative positions are mirror images of positive ones, so
/// that a table has the bits of what is computed in place.
CosSin turnOf(const Buffer<uint64_t> &turns, const Expr &j, const Expr &position, double magnitude) {
  CosSin unit = cosSinOfPhase(cast<int32_t>((cast<uint64_t>(abs(position)) * turns(j)) >> Expr(uint64_t(32))));
  const float factor = static_cast<float>(magnitude);
  auto scaled = [&](const Expr &x) { return factor == 1.f ? x : strict_float(x * factor); };
  return {scaled(unit.cos), scaled(select(position < 0, -unit.sin, unit.sin))};
}

Buffer<uint64_t> turnsOf(const std::vector<double> &frequencies, const std::string &name) {
  Buffer<uint64_t> turns(std::vector<int>{static_cast<int>(frequencies.size())}, name + "_turns");
  for (size_t i = 0; i < frequencies.size(); ++i)
    turns(static_cast<int>(i)) = turnsOfFrequency(frequencies[i]);
  return turns;
}

/// Builds the Funcs of the steps, each reading the one before, and schedules them inside the loops of the last one.
class Encoder {
public:
  explicit Encoder(const EncodeProblem &problem) : p(problem), out(problem.name) {}

  Func build() {
    if (p.rows)
      source.emplace(p.name + "_rows", p.rows, p.features, p.tokens, 1.f);
    Value value = [this](const Expr &f, const Expr &head) {
      return source ? Expr(source->func(lane, f, block, head, b)) : Expr(p.lanes(lane, f, block, head, b));
    };
    for (size_t i = 0; i < p.steps.size(); ++i) {
      const std::string name = p.name + "_" + std::to_string(i);
      if (const auto *step = std::get_if<RotateStep>(&p.steps[i]))
        value = rotated(*step, value, name);
      else
        value = normalized(std::get<NormalizeStep>(p.steps[i]), value, i > 0, name);
    }
    out(lane, f, block, h, b) = value(f, h);
    schedule();
    return out;
  }

private:
  using Value = std::function<Expr(const Expr &f, const Expr &head)>;

  Value rotated(const RotateStep &step, const Value &value, const std::string &name) {
    const int pairs = static_cast<int>(step.frequencies.size());
    Buffer<uint64_t> turns = turnsOf(step.frequencies, name);
    Expr position = step.position(b, block * kLanes + lane);
    CosSin unit = turnOf(turns, j, position, step.magnitude);
    // Strict, or the factor would join that of `unit`, which the table already has in it.
    auto scaled = [](const Expr &x, float by) { return by == 1.f ? x : strict_float(x * by); };
    Expr hasTable;
    Func angle(name + "_angle"); // of one block of tokens, shared by the heads of a task
    if (step.table) {
      // Positions of a block follow each other: from 0 on they are a vector of the table; cos(-x) = cos(x), sin(-x) = -sin(x).
      const ImageParam table = *step.table;
      const Expr last = table.dim(0).extent() - 1;
      Expr first = step.position(b, block * kLanes), ahead = unsafe_promise_clamped(position, 0, last), at = clamp(cast<int32_t>(abs(position)), 0, last);
      Expr cos = branch(first >= 0, table(ahead, j), table(at, j));
      Expr sine = table(at, pairs + j), sin = branch(first >= 0, table(ahead, pairs + j), select(position < 0, -sine, sine));
      hasTable = table.dim(0).extent() > 0;
      unit = {branch(hasTable, cos, unit.cos), branch(hasTable, sin, unit.sin)};
    }
    angle(lane, j, block, b) = Tuple(scaled(unit.cos, step.scale), scaled(unit.sin, step.scale));
    angles.push_back({angle, hasTable});
    if (!step.interleaved && p.features % pairs == 0)
      part = pairs;
    const int last = p.features - 1;
    return [=, this](const Expr &f, const Expr &head) {
      Expr pair = step.interleaved ? f / 2 : f % pairs;
      Expr isFirst = step.interleaved ? f % 2 == 0 : f < pairs;
      // Where the other one of the pair lies; beyond the pairs nothing is read there.
      Expr other = step.interleaved ? select(f % 2 == 0, f + 1, f - 1) : select(f < pairs, f + pairs, f - pairs);
      Expr at = clamp(pair, 0, pairs - 1), x = value(f, head), y = value(clamp(other, 0, last), head);
      FuncRef unit = angle(lane, at, block, b);
      Expr cos = unit[0], sin = unit[1];
      Expr turned = x * cos + select(isFirst, -(y * sin), y * sin);
      return p.features == 2 * pairs ? turned : branch(f < 2 * pairs, turned, scaled(x, step.scale));
    };
  }

  Value normalized(const NormalizeStep &step, const Value &value, bool isMade, const std::string &name) {
    Value input = value;
    if (isMade) { // read twice, made once
      Func made(name + "_input");
      made(lane, f, block, h, b) = value(f, h);
      inputs.push_back({made, step.acrossHeads});
      input = [=, this](const Expr &feature, const Expr &head) { return Expr(made(lane, feature, block, head, b)); };
    }
    const int count = p.features * (step.acrossHeads ? p.heads : 1);
    RDom r(0, p.features, 0, step.acrossHeads ? p.heads : 1, name + "_r");
    Func sum(name + "_sum"), factor(name + "_factor");
    Expr head = step.acrossHeads ? Expr(r.y) : Expr(h), x = input(r.x, head);
    sum(lane, block, h, b) = 0.f;
    sum(lane, block, h, b) += x * x;
    Expr total = sum(lane, block, h, b);
    Expr divisor = step.l2 ? max(sqrt(total), step.epsilon) : sqrt(total * (1.f / static_cast<float>(count)) + step.epsilon);
    factor(lane, block, h, b) = step.scale / divisor;
    sums.push_back({sum, step.acrossHeads});
    factors.push_back({factor, step.acrossHeads});
    acrossHeads = acrossHeads || step.acrossHeads;
    return [=, this](const Expr &feature, const Expr &head) {
      Expr by = factor(lane, block, step.acrossHeads ? Expr(0) : head, b);
      Expr result = input(feature, head) * by;
      return step.weight ? result * step.weight(head, feature) : result;
    };
  }

  void schedule() {
    // A task is a block of tokens of a few heads: they share its angles, and a short call still has tasks for all workers.
    int group = acrossHeads ? p.heads : 8;
    while (p.heads % group)
      --group;
    Var hg("hg"), hi("hi"), fo("fo"), fi("fi"), bo("bo"), bi("bi"), task("task");
    out.bound(lane, 0, kLanes).bound(f, 0, p.features).bound(h, 0, p.heads);
    out.split(block, bo, bi, p.vectors, TailStrategy::RoundUp).split(h, hg, hi, group);
    if (part && p.features / part <= 8) // parts of the head are known in each copy, so that no copy has a condition
      out.split(f, fo, fi, part).reorder(lane, fo, fi, hi, bi, bo, hg, b).unroll(fo);
    else if (p.features % 2 == 0)
      out.split(f, fo, fi, 2).reorder(lane, fi, fo, hi, bi, bo, hg, b).unroll(fi);
    else
      out.reorder(lane, f, hi, bi, bo, hg, b);
    out.vectorize(lane).fuse(bo, hg, task).fuse(task, b, task).parallel(task).never_partition_all();
    const LoopLevel perBlock(out, bi), perHead(out, hi);
    for (auto &[angle, hasTable] : angles) {
      angle.compute_at(perBlock).bound(lane, 0, kLanes).bound_extent(block, 1).bound_extent(b, 1).vectorize(lane).never_partition_all();
      if (hasTable.defined())
        angle.specialize(hasTable); // one branch a block, and what is computed without it is shared by cosine and sine
    }
    for (auto &[func, all] : inputs) {
      if (all)
        func.bound(h, 0, p.heads);
      func.compute_at(all ? perBlock : perHead).bound(lane, 0, kLanes).bound(f, 0, p.features).bound_extent(block, 1).bound_extent(b, 1).vectorize(lane);
    }
    for (auto &[func, all] : sums) {
      func.compute_at(all ? perBlock : perHead).bound(lane, 0, kLanes).bound_extent(h, 1).bound_extent(block, 1).bound_extent(b, 1).vectorize(lane);
      func.update().vectorize(lane);
    }
    for (auto &[func, all] : factors)
      func.compute_at(all ? perBlock : perHead).bound(lane, 0, kLanes).bound_extent(h, 1).bound_extent(block, 1).bound_extent(b, 1).vectorize(lane);
    if (source) {
      source->func.compute_at(acrossHeads ? perBlock : perHead).bound_extent(source->block, 1).bound_extent(source->b, 1);
      if (acrossHeads)
        source->func.bound(source->h, 0, p.heads);
      else
        source->func.bound_extent(source->h, 1);
      source->scheduleTiles();
    }
    constrainLanes(out.output_buffer(), p.features);
    out.output_buffer().dim(3).set_extent(p.heads);
  }

  const EncodeProblem &p;
  Func out;
  Var lane{"lane"}, f{"f"}, block{"block"}, h{"h"}, b{"b"}, j{"j"};
  std::optional<LanesOfRows> source;
  std::vector<std::pair<Func, Expr>> angles; // and whether their table is there
  std::vector<std::pair<Func, bool>> inputs, sums, factors; // and whether they are of all heads
  bool acrossHeads = false;
  int part = 0; // features that the copies of the loop have between them
};

} // namespace

Func encodeHeads(const EncodeProblem &problem) { return Encoder(problem).build(); }

Func rotaryTable(const std::string &name, const std::vector<double> &frequencies, double magnitude) {
  const int pairs = static_cast<int>(frequencies.size());
  Var p("p"), row("row"), po("po"), pi("pi"), half("half"), j("j");
  Func out(name);
  CosSin value = turnOf(turnsOf(frequencies, name), row % pairs, p, magnitude);
  out(p, row) = select(row < pairs, value.cos, value.sin);
  out.bound(row, 0, 2 * pairs).split(row, half, j, pairs).split(p, po, pi, kLanes, TailStrategy::RoundUp);
  out.reorder(pi, po, j, half).vectorize(pi).unroll(half);
  out.output_buffer().dim(0).set_min(0).set_stride(1);
  out.output_buffer().dim(1).set_bounds(0, 2 * pairs);
  return out;
}

ImageParam rotaryTableParam(const std::string &name) {
  ImageParam param(Float(32), 2, name);
  param.dim(0).set_min(0).set_stride(1);
  param.dim(1).set_min(0);
  return param;
}

} // namespace mhac::halide
