// attn-sort-by-buckets: where every visible pair meets in a bucket, attention runs over tokens that are sorted by bucket (Passes.td).
//
// What the sorted op sees are places: its regions load the tokens that queries and keys are from the order, and then say what they said before. Heads
// are those of all rounds, round after round.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "passes/Passes.h"

#include "attention/AttentionDialect.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/Matchers.h"

#include "llvm/ADT/SmallBitVector.h"

#include <optional>

using namespace mlir;
using namespace mhac::attn;
using arith::CmpIPredicate;

namespace mhac {
#define GEN_PASS_DEF_SORTBYBUCKETSPASS
#include "passes/Passes.h.inc"
} // namespace mhac

namespace {

/// The operands of a tree of `Op`.
template <typename Op> void collect(Value value, SmallVectorImpl<Value> &leaves) {
  if (auto op = value.getDefiningOp<Op>()) {
    collect<Op>(op.getLhs(), leaves);
    collect<Op>(op.getRhs(), leaves);
  } else {
    leaves.push_back(value);
  }
}

/// A condition of the mask that says: same bucket in one of the rounds.
struct Meeting {
  Value condition;
  HashOp queries, keys;
};

/// A load of a hash for the region's argument number `token`; the round that it reads.
std::optional<int64_t> roundOf(AttentionOp op, Value value, unsigned token, HashOp &hash) {
  if (auto cast = value.getDefiningOp<arith::IndexCastOp>())
    value = cast.getIn();
  auto load = value.getDefiningOp<LoadOp>();
  if (!load || load.getIndices().size() != 4 || load.getIndices().back() != op.getMask().getArgument(token))
    return std::nullopt;
  const unsigned param = cast<BlockArgument>(load.getParam()).getArgNumber() - AttentionOp::getFirstParamArgument(AttentionOp::Mask);
  auto found = op.getParams()[param].getDefiningOp<HashOp>();
  APInt round;
  if (!found || (hash && hash != found) || !matchPattern(load.getIndices()[2], m_ConstantInt(&round)))
    return std::nullopt;
  hash = found;
  return round.getSExtValue();
}

std::optional<Meeting> asMeeting(AttentionOp op, Value condition) {
  Meeting meeting{condition, {}, {}};
  SmallVector<Value> rounds;
  collect<arith::OrIOp>(condition, rounds);
  llvm::SmallBitVector seen(HashOp::kMostRounds);
  for (Value value : rounds) {
    auto same = value.getDefiningOp<arith::CmpIOp>();
    if (!same || same.getPredicate() != CmpIPredicate::eq)
      return std::nullopt;
    std::optional<int64_t> query = roundOf(op, same.getLhs(), 2, meeting.queries), key = roundOf(op, same.getRhs(), 3, meeting.keys);
    if (!query || query != key)
      return std::nullopt;
    seen.set(*query);
  }
  HashOp q = meeting.queries, k = meeting.keys;
  const bool isSameHash = q.getBuckets() == k.getBuckets() && q.getRounds() == k.getRounds() && q.getSeed() == k.getSeed();
  return isSameHash && seen.count() == q.getRounds() ? std::optional(meeting) : std::nullopt;
}

std::optional<Meeting> findMeeting(AttentionOp op) {
  SmallVector<Value> conditions;
  if (!op.getMask().empty())
    collect<arith::AndIOp>(cast<YieldOp>(op.getMask().front().back()).getValues()[0], conditions);
  for (Value condition : conditions)
    if (std::optional<Meeting> meeting = asMeeting(op, condition))
      return meeting;
  return std::nullopt;
}

/// The tensor of sinks, when that is all the sink region reads: only these can be joined behind the rounds. Null without a sink.
std::optional<Value> findSinks(AttentionOp op) {
  if (op.getSink().empty())
    return Value();
  Block &block = op.getSink().front();
  auto load = cast<YieldOp>(block.back()).getValues()[0].getDefiningOp<LoadOp>();
  if (!load || load.getIndices().size() != 1 || load.getIndices()[0] != block.getArgument(1))
    return std::nullopt;
  return op.getParams()[cast<BlockArgument>(load.getParam()).getArgNumber() - AttentionOp::getFirstParamArgument(AttentionOp::Sink)];
}

class Sorter {
public:
  Sorter(AttentionOp op, Meeting meeting, Value sinks) : op(op), meeting(meeting), sinks(sinks), builder(op), loc(op.getLoc()) {}
  void run();

private:
  void fill(unsigned region);
  Value paramArgument(Block &block, unsigned region, Value param);
  Value load(Value param, ValueRange indices, bool ascending = false) {
    Value value = LoadOp::create(builder, loc, builder.getI32Type(), param, indices, ascending);
    return arith::IndexCastOp::create(builder, loc, builder.getIndexType(), value);
  }
  Value constant(int64_t value) { return arith::ConstantIndexOp::create(builder, loc, value); }
  Value table(ArrayRef<int64_t> numbers, Value index) {
    auto type = RankedTensorType::get({int64_t(numbers.size())}, builder.getIndexType());
    return TableOp::create(builder, loc, builder.getIndexType(), DenseIntElementsAttr::get(type, numbers), index);
  }
  static int64_t headsOf(Value tensor) { return cast<RankedTensorType>(tensor.getType()).getDimSize(1); }

  AttentionOp op, sorted;
  Meeting meeting;
  Value sinks, queryOrder, keyOrder, ranges;
  OpBuilder builder;
  Location loc;
};

void Sorter::run() {
  const int64_t rounds = meeting.queries.getRounds(), kvHeads = headsOf(op.getKey());
  queryOrder = SortBucketsOp::create(builder, loc, meeting.queries), keyOrder = SortBucketsOp::create(builder, loc, meeting.keys);
  ranges = BucketRangesOp::create(builder, loc, queryOrder, keyOrder, op.getKvHeadOf());
  Value q = GatherTokensOp::create(builder, loc, op.getQuery(), queryOrder), k = GatherTokensOp::create(builder, loc, op.getKey(), keyOrder);
  Value v = GatherTokensOp::create(builder, loc, op.getValue(), keyOrder);
  SmallVector<Value> params(op.getParams().drop_back(2));
  params.append({queryOrder, keyOrder, ranges});
  llvm::append_range(params, op.getParams().take_back(2));
  SmallVector<int64_t> kvHeadOf;
  for (int64_t round = 0; round < rounds; ++round)
    for (int64_t g : op.getKvHeadOf())
      kvHeadOf.push_back(round * kvHeads + g);

  SmallVector<int64_t> shape(cast<RankedTensorType>(q.getType()).getShape());
  shape.back() = cast<RankedTensorType>(v.getType()).getDimSize(3);
  Type output = RankedTensorType::get(shape, cast<RankedTensorType>(q.getType()).getElementType());
  Type lse = RankedTensorType::get(ArrayRef(shape).drop_back(), builder.getF32Type());
  ArrayAttr none = builder.getArrayAttr({});
  sorted = AttentionOp::create(builder, loc, output, lse, TypeRange(), q, k, v, params, op.getScale(), op.getQueryOffset(), none, none, none, op.getBase2(),
                               none, ScheduleAttr(), ArrayRef<int64_t>(), kvHeadOf);
  Type mergedLse = op.getLse() ? op.getLse().getType() : Type();
  auto merged = MergeRoundsOp::create(builder, loc, op.getOutput().getType(), mergedLse, sorted.getOutput(), sorted.getLse(), queryOrder, sinks, op.getHeadNumbers());
  fill(AttentionOp::Mask);
  if (!op.getScore().empty())
    fill(AttentionOp::Score);
  op.getOutput().replaceAllUsesWith(merged.getOutput());
  if (op.getLse())
    op.getLse().replaceAllUsesWith(merged.getLse());
  op.erase();
}

Value Sorter::paramArgument(Block &block, unsigned region, Value param) {
  const auto found = llvm::find(sorted.getParams(), param);
  return block.getArgument(AttentionOp::getFirstParamArgument(region) + std::distance(sorted.getParams().begin(), found));
}

/// The op's region, about the tokens at the places that the sorted one is asked about.
void Sorter::fill(unsigned region) {
  Block &from = (*op).getRegion(region).front(), &block = sorted.addRegionBlock(region);
  builder.setInsertionPointToStart(&block);
  const int64_t heads = headsOf(op.getQuery()), kvHeads = headsOf(op.getKey()), rounds = meeting.queries.getRounds();
  Value b = block.getArgument(0), h = block.getArgument(1), zero = constant(SortBucketsOp::Tokens);
  Value head = rounds == 1 ? h : Value(FloorModOp::create(builder, loc, h, constant(heads)));
  Value keyHead = !sorted.getKvHeadOf().empty() ? table(sorted.getKvHeadOf(), h) : heads == kvHeads ? h : Value(FloorDivOp::create(builder, loc, h, constant(heads / kvHeads)));
  Value query = load(paramArgument(block, region, queryOrder), {b, h, zero, block.getArgument(2)});
  Value key = load(paramArgument(block, region, keyOrder), {b, keyHead, zero, block.getArgument(3)});
  IRMapping mapping;
  mapping.map(from.getArgument(0), b);
  mapping.map(from.getArgument(1), op.getHeadNumbers().empty() ? head : table(op.getHeadNumbers(), head));
  mapping.map(from.getArgument(2), query);
  mapping.map(from.getArgument(3), key);
  const unsigned first = AttentionOp::getFirstParamArgument(region), tensors = op.getParams().size() - 2;
  if (first == 5) // the score
    mapping.map(from.getArgument(4), block.getArgument(4));
  for (unsigned i = 0; i < tensors; ++i)
    mapping.map(from.getArgument(first + i), block.getArgument(first + i));
  for (unsigned i = 1; i <= 2; ++i)
    mapping.map(from.getArgument(from.getNumArguments() - i), block.getArgument(block.getNumArguments() - i));
  if (region == AttentionOp::Mask)
    mapping.map(meeting.condition, arith::ConstantOp::create(builder, loc, builder.getBoolAttr(true)));
  for (Operation &inner : from.without_terminator())
    if (inner.getNumResults() != 1 || inner.getResult(0) != meeting.condition)
      builder.clone(inner, mapping);
  Value result = mapping.lookup(cast<YieldOp>(from.back()).getValues()[0]);
  if (region != AttentionOp::Mask) {
    YieldOp::create(builder, loc, result);
    return;
  }

  // The keys of the query's bucket, as long as an earlier round did not show them.
  Value rangeOf = paramArgument(block, region, ranges), end = constant(BucketRangesOp::End);
  Value lo = load(rangeOf, {b, h, zero, block.getArgument(2)}, true), hi = load(rangeOf, {b, h, end, block.getArgument(2)}, true);
  Value behind = arith::CmpIOp::create(builder, loc, CmpIPredicate::sge, block.getArgument(3), lo);
  Value ahead = arith::CmpIOp::create(builder, loc, CmpIPredicate::slt, block.getArgument(3), hi);
  Value within = arith::AndIOp::create(builder, loc, behind, ahead), visible = arith::AndIOp::create(builder, loc, within, result);
  if (rounds > 1) {
    Value round = FloorDivOp::create(builder, loc, h, constant(heads)), ownKeyHead = FloorModOp::create(builder, loc, keyHead, constant(kvHeads)), seen;
    for (int64_t i = 0; i + 1 < rounds; ++i) {
      Value earlier = constant(i), isEarlier = arith::CmpIOp::create(builder, loc, CmpIPredicate::slt, earlier, round);
      Value queryBucket = load(paramArgument(block, region, meeting.queries), {b, head, earlier, query});
      Value keyBucket = load(paramArgument(block, region, meeting.keys), {b, ownKeyHead, earlier, key});
      Value same = arith::CmpIOp::create(builder, loc, CmpIPredicate::eq, queryBucket, keyBucket);
      Value met = arith::AndIOp::create(builder, loc, isEarlier, same);
      seen = seen ? Value(arith::OrIOp::create(builder, loc, seen, met)) : met;
    }
    Value isNew = arith::XOrIOp::create(builder, loc, seen, arith::ConstantOp::create(builder, loc, builder.getBoolAttr(true)));
    visible = arith::AndIOp::create(builder, loc, visible, isNew);
  }
  YieldOp::create(builder, loc, visible);
}

/// What is made from the map looks at all pairs anyway, and wants them where they are.
void sortByBuckets(AttentionOp op) {
  if (!op.getMaps().empty() || !op.getBlocks().empty())
    return;
  std::optional<Meeting> meeting = findMeeting(op);
  std::optional<Value> sinks = findSinks(op);
  if (meeting && sinks)
    Sorter(op, *meeting, *sinks).run();
}

struct SortByBucketsPass : mhac::impl::SortByBucketsPassBase<SortByBucketsPass> {
  void runOnOperation() override {
    SmallVector<AttentionOp> ops; // first all of them: sorting makes new ones
    getOperation().walk([&](AttentionOp op) { ops.push_back(op); });
    llvm::for_each(ops, sortByBuckets);
  }
};

} // namespace
