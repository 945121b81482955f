// attn-expand-variants: the hooks of the variants emit into the regions of attn.attention (Passes.td). No variant is named here.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "passes/Passes.h"

#include "attention/AttentionDialect.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

#include "llvm/ADT/StringMap.h"

using namespace mlir;
using namespace mhac::attn;

namespace mhac {
#define GEN_PASS_DEF_EXPANDVARIANTSPASS
#include "passes/Passes.h.inc"
} // namespace mhac

namespace {

/// The tensor and dimension that decide how long `tensor`, [b, h, s, d], is along s: those of the entry's argument when only layout changes
/// and projections lie between.
std::pair<Value, int64_t> sizeSource(Value tensor) {
  int64_t dim = 2;
  while (Operation *definition = tensor.getDefiningOp()) {
    if (auto project = dyn_cast<ProjectOp>(definition); project && dim == 2)
      dim = cast<RankedTensorType>(project.getInput().getType()).getRank() == 3 ? 1 : 2;
    else if (auto swap = dyn_cast<SwapHeadsOp>(definition); swap && (dim == 1 || dim == 2))
      dim = 3 - dim;
    else if (!isa<NormalizeOp, RotateOp, SelectHeadsOp>(definition))
      break;
    tensor = definition->getOperand(0);
  }
  return {tensor, dim};
}

/// The variants of an op, and what those that compute something ahead of it gave.
struct Variants {
  SmallVector<VariantInterface> list;
  SmallVector<ComputedTable> tables = {};
};

/// Emits at the end of a region's block. Values that several variants ask for are made once.
class BlockRegionBuilder : public RegionBuilder {
public:
  BlockRegionBuilder(OpBuilder &builder, AttentionOp op, unsigned region, const Variants &variants)
      : BlockRegionBuilder(builder, op, (*op).getRegion(region).front(), AttentionOp::getFirstParamArgument(region), variants) {
    h = block.getArgument(1);
    q = block.getArgument(2);
    if (region != AttentionOp::Sink)
      k = block.getArgument(3);
  }
  /// A block of another op's region, which begins with b.
  BlockRegionBuilder(OpBuilder &builder, AttentionOp op, Block &block, unsigned next, const Variants &variants)
      : RegionBuilder(builder, op.getLoc()), op(op), block(block), variants(variants.list) {
    b = block.getArgument(0);
    for (const VariantParameter &parameter : parametersOf(variants.list))
      parameters[parameter.name] = block.getArgument(next++);
    for (const ComputedTable &table : variants.tables)
      parameters[table.name] = block.getArgument(next++);
    queriesArgument = block.getArgument(next);
    keysArgument = block.getArgument(next + 1);
  }

  Value keys() override {
    // In self-attention they are as many as queries; one name for both lets their difference fold to 0.
    bool isSame = sizeSource(op.getKey()) == sizeSource(op.getQuery());
    return once(keysValue, [&] { return isSame ? queries() : size(op.getKey(), keysArgument); });
  }
  Value queries() override { return once(queriesValue, [&] { return size(op.getQuery(), queriesArgument); }); }

  Value keyPosition() override {
    return once(keyPositionValue, [&] {
      Value first = shift();
      return first ? Value(arith::SubIOp::create(builder, loc, k, first)) : k;
    });
  }

  Value firstKey() override {
    Value first = shift();
    return first ? first : constant(0);
  }

  Value queryPosition() override {
    return once(queryPositionValue, [&] {
      if (op.getQueryOffset() == Offset::TopLeft)
        return q;
      Value end = op.getQueryOffset() == Offset::RowEnd ? validKeys() : keys();
      return Value(arith::AddIOp::create(builder, loc, q, arith::SubIOp::create(builder, loc, end, queries())));
    });
  }

  Value headIndex() override {
    return once(headValue, [&] { return op.getHeadNumbers().empty() ? h : indexByHead([](int64_t i) { return i; }); });
  }

  Value keyHeadIndex() override {
    return once(keyHeadValue, [&]() -> Value {
      const int64_t heads = headsOf(op.getQuery()), kvHeads = headsOf(op.getKey());
      if (!op.getHeadNumbers().empty() || !op.getKvHeadOf().empty())
        return indexByHead([&](int64_t i) { return op.getKvHead(i); });
      return heads == kvHeads ? h : floorDiv(h, constant(heads / kvHeads));
    });
  }

  Value load(StringRef parameter, ValueRange indices, std::optional<int64_t> limit) override {
    Value tensor = parameters.at(parameter);
    Type element = cast<RankedTensorType>(tensor.getType()).getElementType();
    Value value = LoadOp::create(builder, loc, element, tensor, indices);
    if (element.isInteger(8)) { // a bool
      Value zero = arith::ConstantOp::create(builder, loc, builder.getIntegerAttr(element, 0));
      return arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::ne, value, zero);
    }
    if (limit) { // before the cast: kernels give index 32 bits
      Value low = arith::ConstantOp::create(builder, loc, builder.getIntegerAttr(element, -*limit));
      value = arith::MaxSIOp::create(builder, loc, value, low);
      Value high = arith::ConstantOp::create(builder, loc, builder.getIntegerAttr(element, *limit));
      value = arith::MinSIOp::create(builder, loc, value, high);
    }
    if (isa<IntegerType>(element))
      value = arith::IndexCastOp::create(builder, loc, builder.getIndexType(), value);
    return value;
  }

  Value extent(StringRef parameter, int64_t dim) override {
    Value tensor = parameters.at(parameter);
    int64_t size = cast<RankedTensorType>(tensor.getType()).getDimSize(dim);
    return ShapedType::isDynamic(size) ? Value(tensor::DimOp::create(builder, loc, tensor, dim)) : constant(size);
  }

private:
  template <typename Make> static Value once(Value &value, Make make) {
    if (!value)
      value = make();
    return value;
  }
  static int64_t headsOf(Value tensor) { return cast<RankedTensorType>(tensor.getType()).getDimSize(1); }
  /// What `of` says about the op's head that has number `h` in the whole layer.
  Value indexByHead(llvm::function_ref<int64_t(int64_t)> of) {
    SmallVector<int64_t> indices;
    for (int64_t i = 0, count = headsOf(op.getQuery()); i < count; ++i) {
      indices.resize(op.getHeadNumbers().empty() ? i + 1 : op.getHeadNumbers()[i] + 1, 0);
      indices.back() = of(i);
    }
    return table(ArrayRef<int64_t>(indices), h);
  }
  /// The length of [b, h, s, d] along s: a constant when it is fixed.
  Value size(Value tensor, Value argument) {
    int64_t extent = cast<RankedTensorType>(tensor.getType()).getDimSize(2);
    return ShapedType::isDynamic(extent) ? argument : constant(extent);
  }
  /// The index of the key at position 0; null when nothing shifts keys.
  Value shift() {
    return once(shiftValue, [&] {
      for (VariantInterface variant : variants)
        if (Value first = variant.firstKey(*this))
          return first;
      return Value();
    });
  }
  Value validKeys() {
    for (VariantInterface variant : variants)
      if (Value valid = variant.validKeys(*this))
        return valid;
    return keys();
  }

  AttentionOp op;
  Block &block;
  ArrayRef<VariantInterface> variants;
  llvm::StringMap<Value> parameters;
  Value queriesArgument, keysArgument, keysValue, queriesValue, keyPositionValue, queryPositionValue, shiftValue, headValue, keyHeadValue;
};

/// What the position hooks of an attn.attention build with.
class OpSequenceBuilder : public SequenceBuilder {
public:
  OpSequenceBuilder(OpBuilder &builder, AttentionOp op, const Variants &variants, Value queries, Value keys)
      : SequenceBuilder(builder, op.getLoc()), op(op), variants(variants), operands(op.getParams()) {
    for (auto [parameter, operand] : llvm::zip_equal(parametersOf(variants.list), op.getParams()))
      named[parameter.name] = operand;
    operands.append({queries, keys});
  }

  Value parameter(StringRef name) override { return named.at(name); }
  SmallVector<Value> params() override { return operands; }

  void fill(Region &region, MutableOperandRange params, llvm::function_ref<Value(RegionBuilder &)> make) override {
    constexpr unsigned firstParam = 2;
    OpBuilder inside(op.getContext());
    Block &block = region.emplaceBlock();
    inside.setInsertionPointToStart(&block);
    for (Type type : {inside.getIndexType(), inside.getIndexType()})
      block.addArgument(type, loc);
    for (Value operand : operands)
      block.addArgument(operand.getType(), loc);
    BlockRegionBuilder positions(inside, op, block, firstParam, variants);
    positions.q = positions.k = block.getArgument(1);
    Value position = make(positions);
    YieldOp::create(inside, loc, position);
    for (unsigned i = operands.size(); i-- > 0;)
      if (block.getArgument(firstParam + i).use_empty()) {
        block.eraseArgument(firstParam + i);
        params.erase(i);
      }
  }

private:
  AttentionOp op;
  const Variants &variants;
  SmallVector<Value> operands;
  llvm::StringMap<Value> named;
};

void expandMask(AttentionOp op, const Variants &variants) {
  OpBuilder builder(op.getContext());
  builder.setInsertionPointToStart(&op.addRegionBlock(AttentionOp::Mask));
  BlockRegionBuilder region(builder, op, AttentionOp::Mask, variants);
  Value visible;
  for (VariantInterface variant : variants.list) {
    Value condition = variant.isVisible(region);
    if (condition)
      visible = visible ? arith::AndIOp::create(builder, op.getLoc(), visible, condition) : condition;
  }
  if (visible)
    YieldOp::create(builder, op.getLoc(), visible);
  else
    op.getMask().front().erase();
}

/// A mask that also adds to the score does so last; whether one does.
bool expandScore(AttentionOp op, unsigned number, const Variants &variants, ArrayRef<VariantInterface> scores,
                 ArrayRef<VariantInterface> masks) {
  OpBuilder builder(op.getContext());
  Block &block = op.addRegionBlock(number);
  builder.setInsertionPointToStart(&block);
  BlockRegionBuilder region(builder, op, number, variants);
  Value score = block.getArgument(4);
  for (VariantInterface variant : scores)
    score = variant.transformScore(region, score);
  Value ofScores = score;
  for (VariantInterface variant : masks)
    score = variant.transformScore(region, score);
  if (score == block.getArgument(4) && number == AttentionOp::Score)
    block.erase();
  else
    YieldOp::create(builder, op.getLoc(), score);
  return score != ofScores;
}

/// |p_k - p_q| <= window, for the diagonal mass.
void expandDiagonal(AttentionOp op, const Variants &variants, int64_t window) {
  OpBuilder builder(op.getContext());
  builder.setInsertionPointToStart(&op.addRegionBlock(AttentionOp::Diagonal));
  BlockRegionBuilder region(builder, op, AttentionOp::Diagonal, variants);
  Location loc = op.getLoc();
  Value key = region.keyPosition(), query = region.queryPosition(), distance = arith::SubIOp::create(builder, loc, key, query);
  Value behind = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::sge, distance, region.constant(-window));
  Value ahead = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::sle, distance, region.constant(window));
  YieldOp::create(builder, loc, Value(arith::AndIOp::create(builder, loc, behind, ahead)));
}

void expandSink(AttentionOp op, const Variants &variants) {
  OpBuilder builder(op.getContext());
  Block &block = op.addRegionBlock(AttentionOp::Sink);
  builder.setInsertionPointToStart(&block);
  BlockRegionBuilder region(builder, op, AttentionOp::Sink, variants);
  for (VariantInterface variant : variants.list)
    if (Value sink = variant.updateSoftmax(region)) {
      YieldOp::create(builder, op.getLoc(), sink);
      return;
    }
  block.erase();
}

Value makeSize(OpBuilder &builder, Location loc, Value tensor) {
  int64_t extent = cast<RankedTensorType>(tensor.getType()).getDimSize(2);
  if (!ShapedType::isDynamic(extent))
    return arith::ConstantIndexOp::create(builder, loc, extent);
  auto [source, dim] = sizeSource(tensor);
  return tensor::DimOp::create(builder, loc, source, dim);
}

void expand(AttentionOp op) {
  // Variants ask for tensors only: an index at the end is a size that an earlier run appended.
  bool hasRegions = llvm::any_of(op->getRegions(), [](Region &region) { return !region.empty(); });
  bool hasSizes = !op.getParams().empty() && op.getParams().back().getType().isIndex();
  if (hasRegions || hasSizes)
    return;
  Variants variants = {op.getVariants()};
  OpBuilder builder(op);
  Value queries = makeSize(builder, op.getLoc(), op.getQuery()), keys = makeSize(builder, op.getLoc(), op.getKey());
  OpSequenceBuilder sequence(builder, op, variants, queries, keys);
  for (VariantInterface variant : variants.list)
    op.getQueryMutable().assign(variant.transformQuery(sequence, op.getQuery()));
  for (VariantInterface variant : variants.list)
    op.getKeyMutable().assign(variant.transformKey(sequence, op.getKey()));
  // What only the positions read is no business of the scores.
  llvm::erase_if(variants.list, [](VariantInterface variant) { return variant.info().kind == VariantKind::Position; });
  const unsigned rest = parametersOf(variants.list).size();
  op.getParamsMutable().erase(rest, op.getParams().size() - rest);
  // Behind the encodings: what is computed from queries and keys is of those that are multiplied.
  for (VariantInterface variant : variants.list)
    variant.expandBefore(builder, op, variants.tables);
  for (const ComputedTable &table : variants.tables)
    op.getParamsMutable().append(table.value);
  op.getParamsMutable().append({queries, keys});

  SmallVector<VariantInterface> scores;
  double scale = op.getScale().convertToDouble();
  for (Attribute attribute : op.getScores()) {
    auto variant = cast<VariantInterface>(attribute);
    // Factors ahead of the first change that is not one join the op's scale.
    std::optional<double> factor = scores.empty() ? variant.constantFactor() : std::nullopt;
    if (factor)
      scale *= *factor;
    else
      scores.push_back(variant);
  }
  SmallVector<VariantInterface> masks;
  for (Attribute attribute : op.getMasks())
    masks.push_back(cast<VariantInterface>(attribute));
  op.setMasksAttr(builder.getArrayAttr({}));
  op.setScoresAttr(builder.getArrayAttr({}));
  op.setPositionsAttr(builder.getArrayAttr({}));
  op.setScaleAttr(builder.getF64FloatAttr(scale));
  expandMask(op, variants);
  bool masksAdd = expandScore(op, AttentionOp::Score, variants, scores, masks);
  expandSink(op, variants);
  for (MapAttr map : op.getMaps().getAsRange<MapAttr>()) {
    if (map.getKind() == MapKind::DiagonalMass)
      expandDiagonal(op, variants, map.getWindow());
    if (map.getKind() == MapKind::Modified && masksAdd)
      expandScore(op, AttentionOp::Modified, variants, scores, {});
  }
}

struct ExpandVariantsPass : mhac::impl::ExpandVariantsPassBase<ExpandVariantsPass> {
  void runOnOperation() override { getOperation().walk(expand); }
};

} // namespace
