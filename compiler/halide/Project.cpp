// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "halide/Project.h"

#include "halide/Prefetch.h"

#include <algorithm>

using namespace Halide;

namespace mhac::halide {

Expr RowMap::operator()(const Expr &h, const Expr &j) const {
  if (!firstRows.empty())
    return numberOf(firstRows, h) + j;
  Expr row = static_cast<int>(first) + j;
  if (group > 1)
    return row + (h / static_cast<int>(group)) * static_cast<int>(groupStride) + (h % static_cast<int>(group)) * static_cast<int>(headStride);
  return row + h * static_cast<int>(groupStride);
}

std::vector<std::pair<const ProjectInput *, int>> withFirstFeatures(const std::vector<ProjectInput> &inputs) {
  std::vector<std::pair<const ProjectInput *, int>> list;
  int first = 0;
  for (const ProjectInput &input : inputs) {
    list.push_back({&input, first});
    first += input.features * input.heads;
  }
  return list;
}

int featuresOf(const std::vector<ProjectInput> &inputs) {
  const auto [last, first] = withFirstFeatures(inputs).back();
  return first + last->features * last->heads;
}

namespace {

/// How the sum over input features is cut: `pieces` times `heads` heads of `features` each.
struct Pieces {
  int features, heads, pieces;
};

Pieces cut(const ProjectInput &input, int limit) {
  if (input.features * input.heads <= limit + limit / 2)
    return {input.features, input.heads, 1};
  if (input.heads > 1 && input.features <= limit) {
    int heads = std::max(limit / input.features, 1);
    while (input.heads % heads)
      --heads;
    return {input.features, heads, input.heads / heads};
  }
  if (input.heads > 1)
    return {input.features, 1, input.heads};
  // Equal pieces where there is a divisor near the limit.
  for (int features = limit; features >= limit / 2; --features)
    if (input.features % features == 0)
      return {features, 1, input.features / features};
  return {limit, 1, (input.features + limit - 1) / limit};
}

/// The accumulators of a register tile are a Func of their own, so that a whole piece of the sum runs in registers and bias, scale and transposition
/// are its prologue and epilogue. One piece: `sum` is it; several: `sum` adds them up, in a loop `piece` around the tiles, so that a piece of the
/// tokens' features stays in L2 while the task's weights pass, and the weights of a tile in L1 while the task's tokens pass. Of several inputs, one
/// is added up behind the other. Weights that are no f32 are converted once a tile, into a panel, and not at each of their tokens.
class Accumulator {
public:
  Func sum;
  const bool whole; // one piece in all

  Accumulator(Func result, const std::vector<ProjectInput> &inputs, const ProjectPart &part, int paddedWidth, const ProjectTiles &tiles)
      : sum(result), whole(part.tokens || (inputs.size() == 1 && cut(inputs[0], tiles.inputs).pieces == 1)) {
    if (part.tokens) {
      addIntegers(inputs, part, paddedWidth, tiles);
      return;
    }
    if (!whole)
      sum(lane, j, block, h, b) = undef(Float(32));
    for (const ProjectInput &input : inputs)
      add(input, part, paddedWidth, tiles);
  }

  /// A loop nest of `sum` for each input.
  int terms() const { return static_cast<int>(added.size()); }
  const RDom &piece(int term) const { return added[term].piece; }

  /// Tiles of `height` features times `vectors` blocks; the caller then arranges the loops (tile's, then its own) around them.
  Stage tile(int term, int height, int vectors, const VarOrRVar &ji, const VarOrRVar &jo, const VarOrRVar &bi, const VarOrRVar &bo) {
    Stage stage = whole ? Stage(sum) : sum.update(term);
    // Moving the last tile back would add its overlap twice.
    TailStrategy tail = whole ? TailStrategy::ShiftInwards : TailStrategy::GuardWithIf;
    added[term].func.bound_extent(j, height); // also of a tile that is stored in part
    added[term].height = height;
    stage.split(j, jo, ji, height, tail).split(block, bo, bi, vectors, TailStrategy::RoundUp).vectorize(lane).unroll(bi.var).unroll(ji.var);
    return stage;
  }

  /// `tile`: a loop of each term's nest; there a term is made in its own. `tokens`: the loop of a tile's weights around it.
  void computeAt(const LoopLevel &tile, const LoopLevel &tokens) {
    for (Term &term : added) {
      if (term.panel.defined())
        schedulePanel(term, tokens);
      if (term.rowSum.defined()) {
        scheduleIntegers(term, tile, tokens);
        continue;
      }
      term.func.compute_at(tile).bound(lane, 0, kLanes).vectorize(lane).unroll(block).unroll(j);
      int values = kLineValues;
      while (term.pieces.features % values)
        values /= 2;
      for (int i = 0; i < term.func.num_update_definitions(); ++i) {
        const RDom &r = i == 0 ? term.r : term.odd;
        RVar line(kLineLoop), within("within");
        Stage products = term.func.update(i).vectorize(lane).unroll(block).unroll(j);
        if (values >= kLineValues / 4) // a loop around each cache line of the weights, for PrefetchNextTile
          products.split(r.x, line, within, values).reorder(lane, block, j, within, line, r.y);
        else
          products.reorder(lane, block, j, r.x, r.y);
      }
    }
  }

  Var lane{"lane"}, j{"j"}, block{"block"}, h{"h"}, b{"b"};

private:
  struct Term {
    Pieces pieces;
    Func func;
    RDom r, odd, piece; // `odd`: where the second of two blocks has no token
    Func panel;         // the weights of a piece and tile in f32; undefined: they are read where they lie
    int height = 1;
    bool outIn = true;
    Func rowSum; // of integers: the sums of rows of weights; undefined for floats
  };
  std::vector<Term> added;

  /// Products of integers: groups of four, of a token in consecutive bytes of a lane, of a weight the four bytes that all lanes share.
  void scheduleIntegers(Term &term, const LoopLevel &tile, const LoopLevel &tokens) {
    term.func.compute_at(tile).bound(lane, 0, kLanes).vectorize(lane).unroll(block).unroll(j);
    for (int i = 0; i < term.func.num_update_definitions(); ++i) {
      const RDom &r = i == 0 ? term.r : term.odd;
      term.func.update(i).reorder(r.x, lane, block, j, r.y).atomic().vectorize(r.x).vectorize(lane).unroll(block).unroll(j);
    }
    term.rowSum.compute_at(tokens).bound_extent(j, term.height).bound_extent(h, 1).never_partition_all();
  }

  /// The whole sum at once: an int32 holds it.
  void addIntegers(const std::vector<ProjectInput> &inputs, const ProjectPart &part, int paddedWidth, const ProjectTiles &tiles) {
    const int features = featuresOf(inputs), groups = (features + kNumbersOfGroup - 1) / kNumbersOfGroup;
    Func func(part.name + "_acc"), panel, rowSum(part.name + "_sums");
    const Region terms = {{0, kNumbersOfGroup}, {0, groups}};
    RDom r(terms, part.name + "_k"), odd(terms, part.name + "_odd");
    const bool pairs = tiles.vectors == 2;
    Expr blocks = (inputs[0].tokens + kLanes - 1) / kLanes, full = (pairs ? block / 2 * 2 + 1 : Expr(block)) < blocks;
    r.where(full);
    if (pairs)
      odd.where(!full && block % 2 == 0);
    Expr row = part.row(h, paddedWidth == part.width ? Expr(j) : min(j, part.width - 1));
    auto weightAt = [&](const Expr &place, const Expr &group) {
      Expr k = group * kNumbersOfGroup + place, inside = features % kNumbersOfGroup ? min(k, features - 1) : k, column;
      for (auto [input, first] : withFirstFeatures(inputs)) {
        Expr within = inside - first;
        Expr own = input->columns.empty() ? within : numberOf(input->columns, clamp(within / input->features, 0, input->heads - 1)) + within % input->features;
        column = column.defined() ? select(inside >= first, own, column) : own;
      }
      return part.outIn ? part.weight.param(column, row) : part.weight.param(row, column);
    };
    // Four bytes that lie one behind the other are read where they are.
    const bool isDense = part.outIn && features % kNumbersOfGroup == 0 && inputs.size() == 1 && inputs[0].columns.empty();
    if (!isDense) {
      Var x("x"), y("y");
      panel = Func(part.name + "_panel");
      panel(x, y, j, h) = weightAt(x, y);
    }
    auto weight = [&](const Expr &place, const Expr &group) { return cast<int32_t>(panel.defined() ? Expr(panel(place, group, j, h)) : weightAt(place, group)); };
    // Tokens are 128 more than their integers, and 0 behind the last feature. The sums are products with ones: of whole vectors by the instructions that
    // all products take, which Halide does not see in a plain sum, and number by number of what is left.
    Var l("l");
    Func ones(part.name + "_ones"), laneSums(part.name + "_lane_sums");
    const int vectors = features / (kNumbersOfGroup * kLanes), rest = features % (kNumbersOfGroup * kLanes);
    RDom v(0, kNumbersOfGroup, 0, vectors), every(0, kLanes), last(0, rest);
    ones(l) = cast<uint8_t>(1);
    laneSums(l, j, h) = 0;
    laneSums(l, j, h) += cast<int32_t>(ones(v.x)) * weight(v.x, v.y * kLanes + l);
    rowSum(j, h) = 0;
    if (vectors > 0)
      rowSum(j, h) += laneSums(every, j, h);
    if (rest > 0)
      rowSum(j, h) += weight(last % kNumbersOfGroup, vectors * kLanes + last / kNumbersOfGroup);
    auto product = [&](const RDom &term) { return cast<int32_t>(part.tokens->numbers(term.x, lane, term.y, block, b)) * weight(term.x, term.y); };
    func(lane, j, block, h, b) = 0;
    func(lane, j, block, h, b) += product(r);
    if (pairs)
      func(lane, j, block, h, b) += product(odd);
    Expr factor = part.tokens->scales(lane, 0, block, 0, b) * part.scales({0, row});
    Expr total = cast<float>(func(lane, j, block, h, b) - 128 * rowSum(j, h)) * factor;
    if (part.hasBias)
      total = total + part.bias({row});
    sum(lane, j, block, h, b) = part.scale == 1.f ? total : total * part.scale;
    if (vectors > 0) {
      rowSum.update(0).atomic().vectorize(every);
      laneSums.compute_at(rowSum, j).bound(l, 0, kLanes).vectorize(l);
      laneSums.update().reorder(v.x, l, v.y).atomic().vectorize(v.x).vectorize(l);
      ones.compute_at(rowSum, j).bound(l, 0, kNumbersOfGroup).vectorize(l);
    }
    added.push_back({{features, 1, 1}, func, r, odd, RDom(), panel, 1, part.outIn, rowSum});
  }

  /// Features of the input that lie one behind the other in a row of weights are converted together, or output features where these do.
  void schedulePanel(Term &term, const LoopLevel &tokens) {
    Func &panel = term.panel;
    const std::vector<Var> at = panel.args(); // feature, head, j, h, z
    if (term.rowSum.defined()) {
      panel.compute_at(tokens).bound_extent(at[2], term.height).bound_extent(at[3], 1).never_partition_all();
      return;
    }
    panel.compute_at(tokens).bound_storage(at[0], term.pieces.features).bound_storage(at[1], term.pieces.heads).bound_extent(at[2], term.height);
    panel.bound_extent(at[3], 1).bound_extent(at[4], 1).never_partition_all();
    if (!term.outIn)
      panel.reorder_storage(at[2], at[0], at[1]).reorder(at[2], at[0], at[1]).vectorize(at[2]);
    else if (term.pieces.features >= kLanes)
      panel.vectorize(at[0], kLanes, TailStrategy::GuardWithIf);
  }

  void add(const ProjectInput &input, const ProjectPart &part, int paddedWidth, const ProjectTiles &tiles) {
    const Pieces pieces = cut(input, tiles.inputs);
    const std::string name = part.name + (added.empty() ? "" : std::to_string(added.size()));
    const Region terms = {{0, pieces.features}, {0, pieces.heads}};
    Func func(name + "_acc");
    RDom r(terms, name + "_k"), odd(terms, name + "_odd"), piece;
    // The buffers end with whole tiles of the widest kernel: blocks without a token are not computed. The last tile of two blocks may have a token in
    // one only: half the work, in a loop of its own.
    const bool pairs = tiles.vectors == 2;
    Expr blocks = (input.tokens + kLanes - 1) / kLanes, full = (pairs ? block / 2 * 2 + 1 : Expr(block)) < blocks;
    r.where(full);
    if (pairs)
      odd.where(!full && block % 2 == 0);
    // A tile that reaches beyond the last feature computes that one again.
    Expr row = part.row(h, paddedWidth == part.width && whole ? Expr(j) : min(j, part.width - 1));
    Expr bias = part.hasBias ? part.bias({row}) : Expr(0.f);
    auto scaled = [&](const Expr &value) { return part.scale == 1.f ? value : value * part.scale; };
    // A scale of a whole row is taken once, after the sum, to which the bias then comes; those of groups stand in the panel.
    const bool hasRowScale = part.scaling == Scaling::Row, hasGroupScales = part.scaling == Scaling::Group;
    auto weighted = [&](const Expr &value) { return scaled(hasRowScale ? value * part.scales({0, row}) : value); };
    // Feature `x` of head `y` of a piece: of the input.
    auto featureOf = [&](const Expr &x, const Expr &piece) { return input.heads == 1 ? piece * pieces.features + x : x; };
    auto headOf = [&](const Expr &y, const Expr &piece) { return input.heads == 1 ? Expr(0) : piece * pieces.heads + y; };
    auto weightAt = [&](const Expr &feature, const Expr &head) {
      Expr k = !input.columns.empty() ? numberOf(input.columns, head) + feature : input.heads == 1 ? feature : head * input.features + feature;
      Expr number = part.outIn ? part.weight({k, row}) : part.weight({row, k});
      return hasGroupScales ? number * part.scales({k / part.groupInputs, row}) : number;
    };
    // A last piece that is shorter shares features of its panel with the one before: a panel is always whole.
    const bool isUneven = input.heads == 1 && pieces.features * pieces.pieces != input.features;
    auto shift = [&](const Expr &piece) { return isUneven ? max(featureOf(pieces.features, piece) - input.features, 0) : Expr(0); };
    Func panel;
    if (part.weight.format.isNarrow()) {
      Var x("x"), y("y"), p("p");
      panel = Func(name + "_panel");
      panel(x, y, j, h, p) = weightAt(featureOf(x, p) - shift(p), headOf(y, p));
    }
    auto product = [&](const RDom &term, const Expr &piece) {
      Expr feature = featureOf(term.x, piece), head = headOf(term.y, piece);
      Expr x = isUneven ? unsafe_promise_clamped(term.x + shift(piece), 0, pieces.features - 1) : Expr(term.x);
      return input.lanes(lane, feature, block, head, b) * (panel.defined() ? Expr(panel(x, term.y, j, h, piece)) : weightAt(feature, head));
    };
    if (whole) {
      func(lane, j, block, h, b) = hasRowScale ? Expr(0.f) : bias;
      func(lane, j, block, h, b) += product(r, 0);
      if (pairs)
        func(lane, j, block, h, b) += product(odd, 0);
      Expr total = weighted(func(lane, j, block, h, b));
      sum(lane, j, block, h, b) = hasRowScale && part.hasBias ? total + scaled(bias) : total;
      added.push_back({pieces, func, r, odd, piece, panel, 1, part.outIn, Func()});
      return;
    }
    Var z("z");
    if (isUneven) {
      r.where(z * pieces.features + r.x < input.features);
      odd.where(z * pieces.features + odd.x < input.features);
    }
    func(lane, j, block, h, b, z) = 0.f;
    func(lane, j, block, h, b, z) += product(r, z);
    if (pairs)
      func(lane, j, block, h, b, z) += product(odd, z);
    piece = RDom(0, pieces.pieces, name + "_piece");
    Expr before = sum(lane, j, block, h, b);
    if (added.empty())
      before = select(piece == 0, scaled(bias), before);
    sum(lane, j, block, h, b) = before + weighted(func(lane, j, block, h, b, piece));
    added.push_back({pieces, func, r, odd, piece, panel, 1, part.outIn, Func()});
  }
};

} // namespace

Func projectToLanes(const ProjectInput &input, const ProjectPart &part, const ProjectTiles &tiles) {
  Func out(part.name);
  Accumulator acc(out, {input}, part, part.width, tiles);
  Var jo(kTileLoop), ji("ji"), bo(kTokenLoop), bi("bi"), group("group"), task("task");
  out.bound(acc.lane, 0, kLanes).bound(acc.j, 0, part.width).bound(acc.h, 0, part.heads);
  Stage stage = acc.tile(0, tileHeight(part.width, tiles.features), tiles.vectors, ji, jo, bi, bo);
  stage.split(bo, group, bo, tiles.tokens / (kLanes * tiles.vectors), TailStrategy::GuardWithIf);
  if (acc.whole)
    stage.reorder(acc.lane, bi, ji, bo, jo, group, acc.h, acc.b);
  else
    stage.reorder(acc.lane, bi, ji, bo, jo, acc.piece(0), group, acc.h, acc.b);
  stage.fuse(group, acc.h, task).fuse(task, acc.b, task).parallel(task);
  acc.computeAt(LoopLevel(out, bo), LoopLevel(out, jo));
  constrainLanes(out.output_buffer(), part.width);
  out.output_buffer().dim(3).set_extent(part.heads);
  return out;
}

Func projectToRows(const std::vector<ProjectInput> &inputs, const ProjectPart &part, NumberFormat format, const ProjectTiles &tiles) {
  const int padded = (part.width + kLanes - 1) / kLanes * kLanes;
  Func lanes(part.name + "_lanes");
  Accumulator acc(lanes, inputs, part, padded, tiles);
  Var jo(kTileLoop), ji("ji"), bo(kTokenLoop), bi("bi");
  // Whole slabs where the width allows it.
  int slab = std::min(tiles.slab, padded);
  for (int s = slab; s >= slab / 2 && s >= kLanes; s -= kLanes)
    if (part.width % s == 0) {
      slab = s;
      break;
    }
  return unpackRows(part.name, lanes, part.width, 1, inputs[0].tokens, {RowOrder::Tokens, format}, slab, tiles.tokens, [&](LoopLevel task) {
    lanes.compute_at(task).bound(acc.lane, 0, kLanes).bound_storage(acc.j, slab).bound_storage(acc.block, tiles.tokens / kLanes);
    lanes.bound_extent(acc.b, 1).bound_extent(acc.h, 1);
    for (int term = 0; term < acc.terms(); ++term) {
      Stage stage = acc.tile(term, tileHeight(slab, tiles.features), tiles.vectors, ji, jo, bi, bo);
      if (acc.whole)
        stage.reorder(acc.lane, bi, ji, bo, jo);
      else
        stage.reorder(acc.lane, bi, ji, bo, jo, acc.piece(term));
    }
    acc.computeAt(LoopLevel(lanes, bo), LoopLevel(lanes, jo));
  });
}

} // namespace mhac::halide
