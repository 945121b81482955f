// Verifiers, folders and canonicalisation of the attn ops. The comments (c1), (c2), ... are the constraints of the ODS descriptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "attention/AttentionDialect.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/PatternMatch.h"

#include "llvm/ADT/StringSet.h"
#include "llvm/ADT/TypeSwitch.h"

#include <cmath>

using namespace mlir;
using namespace mhac::attn;

#include "attention/VariantInterface.cpp.inc"
#define GET_OP_CLASSES
#include "attention/AttentionOps.cpp.inc"

static RankedTensorType tensorOf(Value value) { return cast<RankedTensorType>(value.getType()); }

/// Whether two extents can be the same at run time.
static bool agree(int64_t a, int64_t b) { return a == b || ShapedType::isDynamic(a) || ShapedType::isDynamic(b); }

/// The innermost dimension of an argument of the entry.
static StringRef lastDim(Value value) {
  auto argument = dyn_cast<BlockArgument>(value);
  auto function = argument ? dyn_cast<func::FuncOp>(argument.getOwner()->getParentOp()) : func::FuncOp();
  auto attribute = function ? function.getArgAttrOfType<ArgumentAttr>(argument.getArgNumber(), kArgumentAttr) : ArgumentAttr();
  return attribute && !attribute.getDims().empty() ? attribute.getDims().back().getValue() : "?";
}

StringRef mhac::attn::sequenceOf(Value value, bool headsFirst) {
  if (auto argument = dyn_cast<BlockArgument>(value)) {
    auto function = dyn_cast<func::FuncOp>(argument.getOwner()->getParentOp());
    auto attribute = function ? function.getArgAttrOfType<ArgumentAttr>(argument.getArgNumber(), kArgumentAttr) : ArgumentAttr();
    if (!attribute || attribute.getDims().size() < 3)
      return "?";
    return attribute.getDims()[attribute.getDims().size() == 4 && headsFirst ? 2 : 1].getValue();
  }
  return llvm::TypeSwitch<Operation *, StringRef>(value.getDefiningOp())
      .Case([&](ProjectOp op) { return sequenceOf(op.getInput()); })
      .Case([&](SwapHeadsOp op) { return sequenceOf(op.getInput(), !headsFirst); })
      .Case<NormalizeOp, RotateOp, SelectHeadsOp>([&](auto op) { return sequenceOf(op.getInput(), headsFirst); })
      .Case([&](GatherTokensOp op) { return sequenceOf(op.getInput()); })
      .Case([&](AttentionOp op) { return sequenceOf(op.getQuery()); })
      .Case([&](MergeRoundsOp op) { return sequenceOf(op.getOutputs()); })
      .Case([&](MergeStatesOp op) { return lastDim(op.getLses()); })
      .Default([](Operation *) { return "?"; });
}

//===-- project -----------------------------------------------------------------------------------------------------------------------===//

int64_t ProjectOp::getInputFeatures() {
  int64_t sum = 0;
  for (Value value : getInputs()) {
    RankedTensorType type = tensorOf(value);
    if (type.isDynamicDim(type.getRank() - 1) || (type.getRank() == 4 && type.isDynamicDim(1)))
      return ShapedType::kDynamic;
    sum += type.getDimSize(type.getRank() - 1) * (type.getRank() == 4 ? type.getDimSize(1) : 1);
  }
  return sum;
}

/// (c5) and (c8): several inputs of heads, and where their features lie in the weights.
static LogicalResult verifyHeadInputs(ProjectOp op) {
  RankedTensorType first = tensorOf(op.getInput());
  SmallVector<int64_t> widths; // of every head
  for (Value value : op.getInputs()) {
    RankedTensorType type = tensorOf(value);
    if (type.getRank() != 4 || type.getElementType() != first.getElementType() || !agree(type.getDimSize(0), first.getDimSize(0)) ||
        !agree(type.getDimSize(2), first.getDimSize(2)))
      return op.emitOpError("(c5) inputs from heads want one element type, batch and number of tokens, found ") << first << " and " << type;
    if (!type.isDynamicDim(1))
      widths.append(type.getDimSize(1), type.getDimSize(3));
  }
  if (op.getColumns().empty())
    return success();
  if (op.getColumns().size() != widths.size())
    return op.emitOpError("(c8) wants a column for each of ") << widths.size() << " heads, found " << op.getColumns().size();
  int64_t end = 0;
  for (auto [column, width] : llvm::zip_equal(op.getColumns(), widths)) {
    if (column < end)
      return op.emitOpError("(c8) columns want at least ") << end << " behind the head before, found " << column;
    end = column + width;
  }
  for (Value weight : op.getWeights())
    if (int64_t inputs = tensorOf(weight).getDimSize(op.getLayout() == Layout::OutIn ? 1 : 0); !ShapedType::isDynamic(inputs) && end > inputs)
      return op.emitOpError("(c8) columns reach ") << end << " inputs, found " << inputs << " in " << weight.getType();
  return success();
}

/// (c9) and (c10).
static LogicalResult verifyScales(ProjectOp op) {
  const bool outIn = op.getLayout() == Layout::OutIn;
  if (!op.getScales().empty() && op.getScales().size() != op.getWeights().size())
    return op.emitOpError("(c9) wants one scales for each of ") << op.getWeights().size() << " weights, found " << op.getScales().size();
  for (auto [weight, scales] : llvm::zip(op.getWeights(), op.getScales())) {
    RankedTensorType numbers = tensorOf(weight), type = tensorOf(scales);
    const bool isShaped = type.getRank() == 2 && type.getElementType().isF32() && type.hasStaticShape() && type.getDimSize(1) > 0;
    if (!isShaped || !agree(type.getDimSize(0), numbers.getDimSize(outIn ? 0 : 1)) || numbers.getDimSize(outIn ? 1 : 0) % type.getDimSize(1))
      return op.emitOpError("(c9) scales of ") << numbers << " want [outputs, groups] of f32, groups a divisor of the inputs, found " << type;
  }
  if (!op.getQuantizedTokens())
    return success();
  for (Value weight : op.getWeights())
    if (!tensorOf(weight).getElementType().isSignedInteger(8))
      return op.emitOpError("(c10) quantized tokens want weights of si8, found ") << tensorOf(weight);
  for (Value scales : op.getScales())
    if (tensorOf(scales).getDimSize(1) != 1)
      return op.emitOpError("(c10) quantized tokens want one scale a row, found ") << tensorOf(scales);
  return op.getScales().empty() ? op.emitOpError("(c10) quantized tokens want scales") : success();
}

LogicalResult ProjectOp::verify() {
  if (getInputs().empty()) // c1
    return emitOpError("(c1) wants an input");
  RankedTensorType input = tensorOf(getInput());
  if (input.getRank() != 3 && input.getRank() != 4) // c1
    return emitOpError("(c1) input wants rank 3 or 4, found ") << input;
  for (auto [operands, rank, what] : {std::tuple(ValueRange(getWeights()), 2, "weight"), std::tuple(ValueRange(getBiases()), 1, "bias")})
    for (Value operand : operands)
      if (RankedTensorType type = tensorOf(operand);
          type.getRank() != rank || !(isa<FloatType>(type.getElementType()) || (rank == 2 && !getScales().empty() && type.getElementType().isSignedInteger())))
        return emitOpError("(c1) ") << what << " wants rank " << rank << " and elements of a floating-point type, found " << type;
  if (getParts().empty() || getParts().size() != getResults().size()) // c2
    return emitOpError("(c2) wants one part for each result, found ")
           << getParts().size() << " parts and " << getResults().size() << " results";

  bool fromHeads = input.getRank() == 4;
  if (fromHeads && (getParts().size() != 1 || cast<PartAttr>(getParts()[0]).getHeads() != 1)) // c5
    return emitOpError("(c5) from heads wants one part of one head");
  if (!fromHeads && (getInputs().size() != 1 || !getColumns().empty())) // c4
    return emitOpError("(c4) from tokens wants one input and no columns, found ") << getInputs().size() << " and " << getColumns().size();
  if (fromHeads && failed(verifyHeadInputs(*this))) // c5, c8
    return failure();
  bool outIn = getLayout() == Layout::OutIn;
  int64_t features = getInputFeatures();
  for (Value weight : getWeights())
    if (int64_t inputs = tensorOf(weight).getDimSize(outIn ? 1 : 0); getColumns().empty() && !agree(inputs, features)) // c6
      return emitOpError("(c6) weights want ") << features << " inputs, found " << inputs << " in " << weight.getType();

  if (failed(verifyScales(*this))) // c9, c10
    return failure();

  for (auto [attribute, result] : llvm::zip_equal(getParts(), getResults())) {
    auto part = cast<PartAttr>(attribute);
    if (part.getWeight() >= int64_t(getWeights().size()) || part.getBias() >= int64_t(getBiases().size())) // c3
      return emitOpError("(c3) part names weight ") << part.getWeight() << " and bias " << part.getBias() << ", there are "
                                                    << getWeights().size() << " and " << getBiases().size();
    RankedTensorType type = tensorOf(result);
    SmallVector<int64_t> wanted = {input.getDimSize(0)};
    if (!fromHeads)
      wanted.push_back(part.getHeads());
    wanted.append({input.getDimSize(fromHeads ? 2 : 1), part.getWidth()});
    if (type.getElementType() != input.getElementType() || type.getShape() != ArrayRef(wanted)) // c4, c5
      return emitOpError(fromHeads ? "(c5)" : "(c4)")
             << " result wants " << RankedTensorType::get(wanted, input.getElementType()) << ", found " << type;
    int64_t rows = 0;
    for (int64_t h = 0; h < part.getHeads(); ++h)
      rows = std::max(rows, part.getFirstRow(h) + part.getWidth());
    int64_t outputs = tensorOf(getWeights()[part.getWeight()]).getDimSize(outIn ? 0 : 1);
    if (!ShapedType::isDynamic(outputs) && rows > outputs) // c7
      return emitOpError("(c7) part reads row ") << rows - 1 << ", weight " << part.getWeight() << " has " << outputs;
    if (part.getBias() < 0)
      continue;
    int64_t values = tensorOf(getBiases()[part.getBias()]).getDimSize(0);
    if (!ShapedType::isDynamic(values) && rows > values)
      return emitOpError("(c7) part reads value ") << rows - 1 << ", bias " << part.getBias() << " has " << values;
  }
  return success();
}

//===-- swap_heads --------------------------------------------------------------------------------------------------------------------===//

LogicalResult SwapHeadsOp::verify() {
  RankedTensorType input = tensorOf(getInput()), result = tensorOf(getResult());
  if (input.getRank() != 4) // c1
    return emitOpError("(c1) input wants rank 4, found ") << input;
  ArrayRef<int64_t> shape = input.getShape();
  auto wanted = RankedTensorType::get({shape[0], shape[2], shape[1], shape[3]}, input.getElementType());
  if (result != wanted)
    return emitOpError("(c1) result wants ") << wanted << ", found " << result;
  return success();
}

OpFoldResult SwapHeadsOp::fold(FoldAdaptor) {
  auto inner = getInput().getDefiningOp<SwapHeadsOp>();
  return inner && inner.getInput().getType() == getType() ? inner.getInput() : Value();
}

//===-- normalize, rotate -------------------------------------------------------------------------------------------------------------===//

/// What both want of their input, and of a factor.
static LogicalResult verifyHeads(Operation *op, RankedTensorType type) {
  if (type.getRank() != 4 || type.isDynamicDim(1) || type.isDynamicDim(3) || !isa<FloatType>(type.getElementType()))
    return op->emitOpError("(c1) input wants rank 4, static heads and width, and floats, found ") << type;
  return success();
}

static bool isFactor(const llvm::APFloat &value) { return value.isFinite() && !value.isNegative() && !value.isZero(); }

LogicalResult NormalizeOp::verify() {
  RankedTensorType type = tensorOf(getInput());
  if (failed(verifyHeads(*this, type))) // c1
    return failure();
  int64_t features = type.getDimSize(3) * (getAcrossHeads() ? type.getDimSize(1) : 1);
  if (getWeight()) // c2
    if (RankedTensorType weight = tensorOf(getWeight()); weight.getShape() != ArrayRef(features) || !isa<FloatType>(weight.getElementType()))
      return emitOpError("(c2) weight wants ") << features << " elements of a floating-point type, found " << weight;
  if (!getEpsilon().isFinite() || getEpsilon().isNegative()) // c3
    return emitOpError("(c3) epsilon wants a finite number of at least 0, found ") << getEpsilonAttr();
  if (!isFactor(getScale())) // c4
    return emitOpError("(c4) scale wants a finite number above 0, found ") << getScaleAttr();
  return success();
}

LogicalResult RotateOp::verify() {
  RankedTensorType type = tensorOf(getInput());
  if (failed(verifyHeads(*this, type))) // c1
    return failure();
  if (getFrequencies().empty() || int64_t(getFrequencies().size()) * 2 > type.getDimSize(3)) // c2
    return emitOpError("(c2) wants from 1 to ") << type.getDimSize(3) / 2 << " frequencies, found " << getFrequencies().size();
  for (double frequency : getFrequencies())
    if (!std::isfinite(frequency))
      return emitOpError("(c2) frequencies want finite numbers, found ") << frequency;
  if (!isFactor(getMagnitude()) || !isFactor(getScale())) // c3
    return emitOpError("(c3) magnitude and scale want finite numbers above 0, found ") << getMagnitudeAttr() << " and " << getScaleAttr();
  for (Type param : getParams().getTypes()) // c4
    if (!isa<RankedTensorType, IndexType>(param))
      return emitOpError("(c4) params want ranked tensors and index, found ") << param;
  return success();
}

LogicalResult RotateOp::verifyRegions() {
  Type index = IndexType::get(getContext());
  SmallVector<Type> wanted = {index, index};
  llvm::append_range(wanted, getParams().getTypes());
  if (!getPosition().hasOneBlock() || TypeRange(getPosition().getArgumentTypes()) != TypeRange(wanted)) // c5
    return emitOpError("(c5) region 'position' wants one block with arguments (") << wanted << ")";
  auto yield = getPosition().front().empty() ? YieldOp() : dyn_cast<YieldOp>(getPosition().front().back());
  if (!yield || TypeRange(yield.getOperandTypes()) != TypeRange(index))
    return emitOpError("(c5) region 'position' wants to yield an index");
  return success();
}

//===-- hash --------------------------------------------------------------------------------------------------------------------------===//

LogicalResult mhac::attn::verifyHash(llvm::function_ref<InFlightDiagnostic()> emitError, int64_t buckets, int64_t rounds, int64_t seed) {
  if (buckets < 2 || buckets > HashOp::kMostBuckets || buckets % 2)
    return emitError() << "buckets want an even number from 2 to " << HashOp::kMostBuckets << ", found " << buckets;
  if (rounds < 1 || rounds > HashOp::kMostRounds)
    return emitError() << "rounds want a number from 1 to " << HashOp::kMostRounds << ", found " << rounds;
  if (seed < 0 || seed > 0xffffffff)
    return emitError() << "seed wants a number from 0 to 4294967295, found " << seed;
  return success();
}

void HashOp::build(OpBuilder &builder, OperationState &state, Value input, int64_t buckets, int64_t rounds, int64_t seed, ArrayRef<int64_t> rotations) {
  RankedTensorType type = tensorOf(input);
  auto result = RankedTensorType::get({type.getDimSize(0), type.getDimSize(1), rounds, type.getDimSize(2)}, builder.getI32Type());
  build(builder, state, result, input, buckets, rounds, seed, rotations);
}

LogicalResult HashOp::verify() {
  RankedTensorType type = tensorOf(getInput());
  if (failed(verifyHeads(*this, type))) // c1
    return failure();
  if (failed(verifyHash([&] { return emitOpError("(c3) "); }, getBuckets(), getRounds(), getSeed()))) // c3
    return failure();
  auto wanted = RankedTensorType::get({type.getDimSize(0), type.getDimSize(1), int64_t(getRounds()), type.getDimSize(2)}, IntegerType::get(getContext(), 32));
  if (getResult().getType() != wanted) // c2
    return emitOpError("(c2) result wants ") << wanted << ", found " << getResult().getType();
  if (int64_t(getRotations().size()) != type.getDimSize(1) || llvm::any_of(getRotations(), [](int64_t g) { return g < 0; })) // c4
    return emitOpError("(c4) wants a rotation of at least 0 for each of ") << type.getDimSize(1) << " heads, found " << getRotationsAttr();
  return success();
}

//===-- sort_buckets, bucket_ranges, gather_tokens, merge_rounds ------------------------------------------------------------------------===//

/// [b, heads, rows, tokens] of i32, like `like` in batch and tokens.
static RankedTensorType tableType(RankedTensorType like, int64_t heads, int64_t rows) {
  return RankedTensorType::get({like.getDimSize(0), heads, rows, like.getDimSize(like.getRank() - 1)}, IntegerType::get(like.getContext(), 32));
}

static LogicalResult verifyOrder(Operation *op, StringRef constraint, Value order, int64_t heads) {
  if (auto sorted = order.getDefiningOp<SortBucketsOp>(); !sorted || tensorOf(order).getDimSize(1) % heads != 0)
    return op->emitOpError(constraint) << " wants the result of attn.sort_buckets for " << heads << " heads, found " << order.getType();
  return success();
}

int64_t SortBucketsOp::getBuckets() { return getHash().getDefiningOp<HashOp>().getBuckets(); }

void SortBucketsOp::build(OpBuilder &builder, OperationState &state, Value hash) {
  RankedTensorType type = tensorOf(hash);
  build(builder, state, tableType(type, type.getDimSize(1) * type.getDimSize(2), RowCount), hash);
}

LogicalResult SortBucketsOp::verify() {
  if (!getHash().getDefiningOp<HashOp>()) // c1
    return emitOpError("(c1) wants the result of attn.hash");
  RankedTensorType type = tensorOf(getHash()), wanted = tableType(type, type.getDimSize(1) * type.getDimSize(2), RowCount);
  if (getResult().getType() != wanted) // c2
    return emitOpError("(c2) result wants ") << wanted << ", found " << getResult().getType();
  return success();
}

void BucketRangesOp::build(OpBuilder &builder, OperationState &state, Value queries, Value keys, ArrayRef<int64_t> kvHeadOf) {
  RankedTensorType type = tensorOf(queries);
  build(builder, state, tableType(type, type.getDimSize(1), RowCount), queries, keys, kvHeadOf);
}

LogicalResult BucketRangesOp::verify() {
  auto hashOf = [](Value sorted) {
    auto op = sorted.getDefiningOp<SortBucketsOp>();
    return op ? op.getHash().getDefiningOp<HashOp>() : HashOp();
  };
  HashOp q = hashOf(getQueries()), k = hashOf(getKeys());
  if (!q || !k || q.getBuckets() != k.getBuckets() || q.getRounds() != k.getRounds() || q.getSeed() != k.getSeed()) // c1
    return emitOpError("(c1) wants results of attn.sort_buckets, of hashes with the same buckets, rounds and seed");
  RankedTensorType type = tensorOf(getQueries()), wanted = tableType(type, type.getDimSize(1), RowCount);
  if (getResult().getType() != wanted) // c2
    return emitOpError("(c2) result wants ") << wanted << ", found " << getResult().getType();
  const int64_t heads = tensorOf(q).getDimSize(1), kvHeads = tensorOf(k).getDimSize(1);
  const bool isNamed = int64_t(getKvHeadOf().size()) == heads && llvm::all_of(getKvHeadOf(), [&](int64_t g) { return g >= 0 && g < kvHeads; });
  if (getKvHeadOf().empty() ? heads % kvHeads != 0 : !isNamed) // c3
    return emitOpError("(c3) wants one of ") << kvHeads << " key/value heads for each of " << heads << " heads, found " << getKvHeadOfAttr();
  return success();
}

Value mhac::attn::inOrder(Value value) {
  auto gather = value.getDefiningOp<GatherTokensOp>();
  return gather ? gather.getInput() : value;
}

static RankedTensorType gatheredType(RankedTensorType input, RankedTensorType order) {
  return RankedTensorType::get({input.getDimSize(0), order.getDimSize(1), input.getDimSize(2), input.getDimSize(3)}, input.getElementType());
}

void GatherTokensOp::build(OpBuilder &builder, OperationState &state, Value input, Value order) {
  build(builder, state, gatheredType(tensorOf(input), tensorOf(order)), input, order);
}

LogicalResult GatherTokensOp::verify() {
  RankedTensorType type = tensorOf(getInput());
  if (failed(verifyHeads(*this, type)) || failed(verifyOrder(*this, "(c2)", getOrder(), type.getDimSize(1)))) // c1, c2
    return failure();
  if (auto wanted = gatheredType(type, tensorOf(getOrder())); getResult().getType() != wanted) // c3
    return emitOpError("(c3) result wants ") << wanted << ", found " << getResult().getType();
  return success();
}

LogicalResult MergeRoundsOp::verify() {
  RankedTensorType outputs = tensorOf(getOutputs()), output = tensorOf(getOutput());
  if (failed(verifyHeads(*this, outputs))) // c1
    return failure();
  Type f32 = Float32Type::get(getContext());
  if (auto wanted = RankedTensorType::get(outputs.getShape().drop_back(), f32); getLses().getType() != wanted) // c2
    return emitOpError("(c2) lses want ") << wanted << ", found " << getLses().getType();
  if (failed(verifyOrder(*this, "(c3)", getOrder(), outputs.getDimSize(1)))) // c3
    return failure();
  if (getSinks() && (tensorOf(getSinks()).getRank() != 1 || !tensorOf(getSinks()).getElementType().isF32())) // c4
    return emitOpError("(c4) sinks want rank 1 and f32, found ") << getSinks().getType();
  if (output.getRank() != 4 || output.isDynamicDim(1) || outputs.getDimSize(1) % output.getDimSize(1) != 0) // c5
    return emitOpError("(c5) output wants rank 4 and a divisor of ") << outputs.getDimSize(1) << " heads, found " << output;
  SmallVector<int64_t> shape(outputs.getShape());
  shape[1] = output.getDimSize(1);
  if (auto wanted = RankedTensorType::get(shape, outputs.getElementType()); output != wanted)
    return emitOpError("(c5) output wants ") << wanted << ", found " << output;
  if (auto wanted = RankedTensorType::get(ArrayRef(shape).drop_back(), f32); getLse() && getLse().getType() != wanted)
    return emitOpError("(c5) lse wants ") << wanted << ", found " << getLse().getType();
  if (!getHeadNumbers().empty() && int64_t(getHeadNumbers().size()) != shape[1]) // c6
    return emitOpError("(c6) wants ") << shape[1] << " numbers, found " << getHeadNumbers().size();
  return verifyHeadNumbers([&] { return emitOpError("(c6) "); }, getHeadNumbers());
}

//===-- select_heads, concat_heads ----------------------------------------------------------------------------------------------------===//

/// Whether two tensors [b, h, ...] have one rank and element type and agree in all but the heads.
static bool differInHeadsOnly(RankedTensorType a, RankedTensorType b) {
  if (a.getRank() != b.getRank() || a.getElementType() != b.getElementType())
    return false;
  for (int64_t dim = 0; dim < a.getRank(); ++dim)
    if (dim != 1 && !agree(a.getDimSize(dim), b.getDimSize(dim)))
      return false;
  return true;
}

LogicalResult SelectHeadsOp::verify() {
  RankedTensorType input = tensorOf(getInput()), result = tensorOf(getResult());
  if (input.getRank() != 4 || !differInHeadsOnly(input, result)) // c1
    return emitOpError("(c1) wants input and result of rank 4 that agree in all but the heads, found ") << input << " and " << result;
  if (int64_t(getNumbers().size()) != result.getDimSize(1)) // c2
    return emitOpError("(c2) wants ") << result.getDimSize(1) << " numbers, found " << getNumbers().size();
  if (failed(verifyHeadNumbers([&] { return emitOpError("(c2) "); }, getNumbers())))
    return failure();
  if (!input.isDynamicDim(1) && getNumbers().back() >= input.getDimSize(1))
    return emitOpError("(c2) wants numbers below ") << input.getDimSize(1) << ", found " << getNumbers().back();
  return success();
}

LogicalResult ConcatHeadsOp::verify() {
  RankedTensorType result = tensorOf(getResult());
  int64_t heads = 0;
  for (Value value : getInputs()) {
    RankedTensorType type = tensorOf(value);
    if (type.getRank() < 2 || type.isDynamicDim(1) || !differInHeadsOnly(type, result)) // c1
      return emitOpError("(c1) wants inputs that agree with ") << result << " in all but the heads, found " << type;
    heads += type.getDimSize(1);
  }
  if (result.getRank() < 2 || heads != result.getDimSize(1)) // c2
    return emitOpError("(c2) wants a result of ") << heads << " heads, found " << result;
  return success();
}

//===-- attention ---------------------------------------------------------------------------------------------------------------------===//

StringRef AttentionOp::getRegionName(unsigned region) {
  static constexpr StringLiteral names[] = {"score", "mask", "blocks", "tiles", "sink", "diagonal", "modified"};
  return names[region];
}

ArrayRef<StringLiteral> AttentionOp::getRegionIndexNames(unsigned region) {
  static constexpr StringLiteral pair[] = {"b", "h", "q", "k", "s"}, tile[] = {"b", "h", "q_first", "q_last", "k_first", "k_last"};
  switch (region) {
  case Score:
  case Modified:
    return pair;
  case Mask:
  case Diagonal:
    return ArrayRef(pair).take_front(4);
  case Blocks:
    return ArrayRef(tile).take_front(4);
  case Tiles:
    return tile;
  default:
    return ArrayRef(pair).take_front(3);
  }
}

SmallVector<Type> AttentionOp::getRegionArgumentTypes(unsigned region) {
  Builder builder(getContext());
  SmallVector<Type> types(getFirstParamArgument(region), builder.getIndexType());
  if (region == Score || region == Modified)
    types.back() = builder.getF32Type();
  llvm::append_range(types, getParams().getTypes());
  return types;
}

SmallVector<Type> AttentionOp::getRegionResultTypes(unsigned region) {
  Builder builder(getContext());
  if (region == Blocks)
    return SmallVector<Type>(4, builder.getIndexType());
  if (region == Tiles)
    return SmallVector<Type>(2, builder.getI1Type());
  return {region == Mask || region == Diagonal ? Type(builder.getI1Type()) : Type(builder.getF32Type())};
}

Block &AttentionOp::addRegionBlock(unsigned region) {
  Block &block = (*this)->getRegion(region).emplaceBlock();
  for (Type type : getRegionArgumentTypes(region))
    block.addArgument(type, getLoc());
  return block;
}

int64_t AttentionOp::getKvHead(int64_t h) {
  return getKvHeadOf().empty() ? h / (tensorOf(getQuery()).getDimSize(1) / tensorOf(getKey()).getDimSize(1)) : getKvHeadOf()[h];
}

SmallVector<VariantInterface> AttentionOp::getVariants() {
  SmallVector<VariantInterface> variants;
  for (ArrayAttr list : {getMasks(), getScores(), getPositions()})
    for (Attribute attribute : list)
      if (auto variant = dyn_cast<VariantInterface>(attribute))
        variants.push_back(variant);
  return variants;
}

static LogicalResult verifyShapes(AttentionOp op) {
  RankedTensorType q = tensorOf(op.getQuery()), k = tensorOf(op.getKey()), v = tensorOf(op.getValue());
  for (RankedTensorType type : {q, k, v}) // c1
    if (type.getRank() != 4 || type.isDynamicDim(1) || type.isDynamicDim(3) || type.getElementType() != q.getElementType() ||
        !isa<FloatType>(type.getElementType()))
      return op.emitOpError("(c1) query, key and value want rank 4, static heads and widths, and one floating-point type, found ") << type;
  if (!agree(q.getDimSize(0), k.getDimSize(0)) || !agree(q.getDimSize(0), v.getDimSize(0))) // c2
    return op.emitOpError("(c2) query, key and value want one batch, found ")
           << q.getDimSize(0) << ", " << k.getDimSize(0) << " and " << v.getDimSize(0);
  if (k.getDimSize(1) != v.getDimSize(1) || !agree(k.getDimSize(2), v.getDimSize(2)))
    return op.emitOpError("(c2) key and value want the same heads and keys, found ") << k << " and " << v;
  if (!op.getKvHeadOf().empty()) { // c3
    if (int64_t(op.getKvHeadOf().size()) != q.getDimSize(1))
      return op.emitOpError("(c3) kv_head_of wants ") << q.getDimSize(1) << " numbers, found " << op.getKvHeadOf().size();
    for (int64_t g : op.getKvHeadOf())
      if (g < 0 || g >= k.getDimSize(1))
        return op.emitOpError("(c3) kv_head_of wants numbers from 0 to ") << k.getDimSize(1) - 1 << ", found " << g;
  } else if (k.getDimSize(1) < 1 || q.getDimSize(1) % k.getDimSize(1) != 0) // c3
    return op.emitOpError("(c3) key/value heads want a divisor of ") << q.getDimSize(1) << ", found " << k.getDimSize(1);
  if (q.getDimSize(3) != k.getDimSize(3)) // c4
    return op.emitOpError("(c4) query and key want one width, found ") << q.getDimSize(3) << " and " << k.getDimSize(3);
  SmallVector<int64_t> shape = {q.getDimSize(0), q.getDimSize(1), q.getDimSize(2), v.getDimSize(3)};
  if (auto wanted = RankedTensorType::get(shape, q.getElementType()); op.getOutput().getType() != wanted) // c5
    return op.emitOpError("(c5) output wants ") << wanted << ", found " << op.getOutput().getType();
  shape.pop_back();
  if (auto wanted = RankedTensorType::get(shape, Float32Type::get(op.getContext())); op.getLse() && op.getLse().getType() != wanted) // c6
    return op.emitOpError("(c6) lse wants ") << wanted << ", found " << op.getLse().getType();
  return success();
}

static LogicalResult verifyVariants(AttentionOp op) {
  for (auto [list, kind] : {std::pair(op.getMasks(), VariantKind::Mask), std::pair(op.getScores(), VariantKind::Score),
                            std::pair(op.getPositions(), VariantKind::Position)}) { // c7
    llvm::StringSet<> seen;
    for (Attribute attribute : list) {
      if (variantKind(attribute) != kind)
        return op.emitOpError("(c7) wants variants of kind '") << kindName(kind) << "', found " << attribute;
      const VariantInfo &info = cast<VariantInterface>(attribute).info();
      if (!seen.insert(info.word).second && !info.repeatable)
        return op.emitOpError("(c7) ") << kindName(kind) << " '" << info.word << "' stands twice";
    }
  }
  SmallVector<VariantInterface> variants = op.getVariants();
  if (!variants.empty() && llvm::any_of(op->getRegions(), [](Region &region) { return !region.empty(); }))
    return op.emitOpError("(c7) has both variants and regions");
  for (Type type : op.getParams().getTypes()) // c8
    if (!isa<RankedTensorType, IndexType>(type))
      return op.emitOpError("(c8) params want ranked tensors and index, found ") << type;
  size_t wanted = 0;
  for (const VariantParameter &parameter : parametersOf(variants)) {
    auto type = wanted < op.getParams().size() ? dyn_cast<RankedTensorType>(op.getParams()[wanted].getType()) : RankedTensorType();
    if (!type || type.getRank() != int64_t(parameter.dims.size()))
      return op.emitOpError("(c8) param ") << wanted << " wants '" << parameter.name << "' of rank " << parameter.dims.size();
    ++wanted;
  }
  if (!variants.empty() && wanted != op.getParams().size())
    return op.emitOpError("(c8) wants ") << wanted << " params, found " << op.getParams().size();
  return success();
}

bool mhac::attn::isWholeMap(MapKind kind) { return kind <= MapKind::Probabilities; }

RankedTensorType mhac::attn::mapResultType(RankedTensorType query, RankedTensorType key, MapKind kind) {
  SmallVector<int64_t> shape = {query.getDimSize(0), query.getDimSize(1)};
  if (kind != MapKind::KeyMass)
    shape.push_back(query.getDimSize(2));
  if (kind == MapKind::KeyMass || isWholeMap(kind))
    shape.push_back(key.getDimSize(2));
  Builder builder(query.getContext());
  return RankedTensorType::get(shape, kind == MapKind::PeakPosition ? Type(builder.getI64Type()) : Type(builder.getF32Type()));
}

static LogicalResult verifyMaps(AttentionOp op) {
  if (op.getMaps().size() != op.getMapResults().size()) // c11
    return op.emitOpError("(c11) wants a result for each map, found ") << op.getMaps().size() << " maps and " << op.getMapResults().size() << " results";
  bool hasDiagonal = false;
  for (auto [i, attribute] : llvm::enumerate(op.getMaps())) {
    MapKind kind = cast<MapAttr>(attribute).getKind();
    hasDiagonal |= kind == MapKind::DiagonalMass;
    for (Attribute other : op.getMaps().getValue().take_front(i))
      if (cast<MapAttr>(other).getKind() == kind)
        return op.emitOpError("(c11) map '") << stringifyMapKind(kind) << "' stands twice";
    RankedTensorType wanted = mapResultType(tensorOf(op.getQuery()), tensorOf(op.getKey()), kind);
    if (Type found = op.getMapResults()[i].getType(); found != wanted)
      return op.emitOpError("(c11) result of map '") << stringifyMapKind(kind) << "' wants " << wanted << ", found " << found;
  }
  if (!op.getDiagonal().empty() && !hasDiagonal) // c12
    return op.emitOpError("(c12) has a diagonal region, but no diagonal mass");
  return success();
}

LogicalResult AttentionOp::verify() {
  if (failed(verifyShapes(*this)) || failed(verifyVariants(*this)) || failed(verifyMaps(*this)))
    return failure();
  if (!getScale().isFinite() || getScale().isNegative() || getScale().isZero()) // c10
    return emitOpError("(c10) scale wants a finite number above 0, found ") << getScaleAttr();
  if (getHeadNumbers().empty()) // c13
    return success();
  if (int64_t heads = tensorOf(getQuery()).getDimSize(1); int64_t(getHeadNumbers().size()) != heads)
    return emitOpError("(c13) head_numbers wants ") << heads << " numbers, found " << getHeadNumbers().size();
  if (failed(verifyHeadNumbers([&] { return emitOpError("(c13) "); }, getHeadNumbers())))
    return failure();
  return success();
}

LogicalResult AttentionOp::verifyRegions() {
  for (Region &region : (*this)->getRegions()) { // c9
    if (region.empty())
      continue;
    unsigned number = region.getRegionNumber();
    if (!region.hasOneBlock())
      return emitOpError("(c9) region '") << getRegionName(number) << "' wants one block";
    SmallVector<Type> wanted = getRegionArgumentTypes(number);
    if (TypeRange(region.getArgumentTypes()) != TypeRange(wanted))
      return emitOpError("(c9) region '") << getRegionName(number) << "' wants arguments (" << wanted << ")";
    auto yield = region.front().empty() ? YieldOp() : dyn_cast<YieldOp>(region.front().back());
    if (!yield || TypeRange(yield.getOperandTypes()) != TypeRange(getRegionResultTypes(number)))
      return emitOpError("(c9) region '") << getRegionName(number) << "' wants to yield (" << getRegionResultTypes(number) << ")";
  }
  return success();
}

/// A mask that is always true and a score that stays as it is are the empty region, which costs nothing.
LogicalResult AttentionOp::canonicalize(AttentionOp op, PatternRewriter &rewriter) {
  bool changed = false;
  auto dropIf = [&](Region &region, llvm::function_ref<bool(Value)> isIdentity) {
    if (region.empty() || !isIdentity(cast<YieldOp>(region.front().back()).getValues()[0]))
      return;
    rewriter.modifyOpInPlace(op, [&] { rewriter.eraseBlock(&region.front()); });
    changed = true;
  };
  dropIf(op.getMask(), [](Value value) { return matchPattern(value, m_One()); });
  dropIf(op.getScore(), [&](Value value) { return value == op.getScore().getArgument(4); });
  return success(changed);
}

//===-- head_norms --------------------------------------------------------------------------------------------------------------------===//

LogicalResult HeadNormsOp::verify() {
  RankedTensorType input = tensorOf(getInput()), result = tensorOf(getResult());
  if (input.getRank() != 4 || !isa<FloatType>(input.getElementType())) // c1
    return emitOpError("(c1) input wants rank 4 and a floating-point type, found ") << input;
  auto wanted = RankedTensorType::get(input.getShape().take_front(2), Float32Type::get(getContext()));
  if (result != wanted) // c2
    return emitOpError("(c2) result wants ") << wanted << ", found " << result;
  return success();
}

//===-- merge_states ------------------------------------------------------------------------------------------------------------------===//

LogicalResult MergeStatesOp::verify() {
  RankedTensorType outputs = tensorOf(getOutputs()), lses = tensorOf(getLses());
  if (outputs.getRank() != 5) // c1
    return emitOpError("(c1) outputs want rank 5, found ") << outputs;
  int64_t heads = outputs.getDimSize(getHeadsFirst() ? 2 : 3), queries = outputs.getDimSize(getHeadsFirst() ? 3 : 2), width = outputs.getDimSize(4);
  if (ShapedType::isDynamic(heads) || ShapedType::isDynamic(width) || !isa<FloatType>(outputs.getElementType()))
    return emitOpError("(c1) outputs want static heads and width, and a floating-point type, found ") << outputs;
  Type f32 = Float32Type::get(getContext());
  SmallVector<int64_t> shape = {outputs.getDimSize(0), outputs.getDimSize(1), heads, queries};
  if (auto wanted = RankedTensorType::get(shape, f32); lses != wanted) // c2
    return emitOpError("(c2) lses want ") << wanted << ", found " << lses;
  if (auto wanted = RankedTensorType::get({heads}, f32); getSinks() && getSinks().getType() != wanted) // c3
    return emitOpError("(c3) sinks want ") << wanted << ", found " << getSinks().getType();
  shape.erase(shape.begin());
  if (auto wanted = RankedTensorType::get(shape, f32); getLse() && getLse().getType() != wanted) // c4
    return emitOpError("(c4) lse wants ") << wanted << ", found " << getLse().getType();
  shape.push_back(width);
  if (auto wanted = RankedTensorType::get(shape, outputs.getElementType()); getOutput().getType() != wanted)
    return emitOpError("(c4) output wants ") << wanted << ", found " << getOutput().getType();
  return success();
}

//===-- load, entry, candidate --------------------------------------------------------------------------------------------------------===//

LogicalResult LoadOp::verify() {
  RankedTensorType type = tensorOf(getParam());
  if (type.getRank() != int64_t(getIndices().size())) // c1
    return emitOpError("(c1) wants ") << type.getRank() << " indices, found " << getIndices().size();
  if (type.getElementType() != getResult().getType()) // c2
    return emitOpError("(c2) result wants ") << type.getElementType() << ", found " << getResult().getType();
  return success();
}

LogicalResult LoadRangeOp::verify() {
  RankedTensorType type = tensorOf(getParam());
  if (int64_t(getFirst().size()) != type.getRank() || getLast().size() != getFirst().size() || getSpans().size() != getFirst().size()) // c1
    return emitOpError("(c1) wants ") << type.getRank() << " first and last indices and spans, found " << getFirst().size() << ", " << getLast().size()
                                      << " and " << getSpans().size();
  for (Type result : getResultTypes()) // c2
    if (result != type.getElementType())
      return emitOpError("(c2) results want ") << type.getElementType() << ", found " << result;
  return success();
}

LogicalResult TableOp::verify() {
  auto type = dyn_cast<RankedTensorType>(getElements().getType());
  if (!type || type.getRank() != 1 || type.getDimSize(0) < 1) // c1
    return emitOpError("(c1) wants a list of at least one element, found ") << getElements().getType();
  if (type.getElementType() != getType()) // c2
    return emitOpError("(c2) result wants ") << type.getElementType() << ", found " << getType();
  return success();
}

OpFoldResult TableOp::fold(FoldAdaptor adaptor) {
  auto elements = dyn_cast<DenseElementsAttr>(getElements());
  if (!elements)
    return {};
  if (elements.isSplat())
    return elements.getSplatValue<Attribute>();
  auto index = dyn_cast_or_null<IntegerAttr>(adaptor.getIndex());
  if (!index)
    return {};
  return elements.getValues<Attribute>()[std::clamp<int64_t>(index.getInt(), 0, elements.getNumElements() - 1)];
}

int64_t mhac::attn::floorDiv(int64_t a, int64_t b) { return b == 0 ? 0 : llvm::divideFloorSigned(a, b); }

int64_t mhac::attn::floorMod(int64_t a, int64_t b) { return b == 0 ? 0 : a - floorDiv(a, b) * b; }

/// f of two constants as an attribute.
static OpFoldResult foldIntegers(Attribute lhs, Attribute rhs, llvm::function_ref<int64_t(int64_t, int64_t)> f) {
  auto a = dyn_cast_or_null<IntegerAttr>(lhs), b = dyn_cast_or_null<IntegerAttr>(rhs);
  return a && b ? OpFoldResult(IntegerAttr::get(a.getType(), f(a.getInt(), b.getInt()))) : OpFoldResult();
}

OpFoldResult FloorDivOp::fold(FoldAdaptor adaptor) {
  if (auto b = dyn_cast_or_null<IntegerAttr>(adaptor.getRhs()); b && b.getInt() == 1)
    return getLhs();
  return foldIntegers(adaptor.getLhs(), adaptor.getRhs(), floorDiv);
}

OpFoldResult FloorModOp::fold(FoldAdaptor adaptor) {
  if (auto b = dyn_cast_or_null<IntegerAttr>(adaptor.getRhs()); b && b.getInt() == 1)
    return IntegerAttr::get(b.getType(), 0);
  return foldIntegers(adaptor.getLhs(), adaptor.getRhs(), floorMod);
}

LogicalResult EntryOp::verifyRegions() {
  if (getBody().front().empty()) // c1
    return emitOpError("(c1) wants at least one candidate");
  for (Operation &op : getBody().front())
    if (!isa<CandidateOp>(op))
      return emitOpError("(c1) wants nothing but candidates, found ") << op.getName();
  return success();
}

LogicalResult CandidateOp::verifySymbolUses(SymbolTableCollection &symbolTable) {
  auto function = symbolTable.lookupNearestSymbolFrom<func::FuncOp>((*this)->getParentOp(), getCalleeAttr());
  if (!function) // c1
    return emitOpError("(c1) callee ") << getCalleeAttr() << " is no function of the module";
  llvm::StringSet<> sizes = {"workers"};
  if (auto list = function->getAttrOfType<ArrayAttr>(kSizesAttr))
    for (SizeAttr size : list.getAsRange<SizeAttr>())
      sizes.insert(size.getName());
  for (Attribute attribute : getGuards()) { // c2
    auto guard = dyn_cast<GuardAttr>(attribute);
    if (!guard)
      return emitOpError("(c2) guards want #attn.guard, found ") << attribute;
    if (!sizes.contains(guard.getSize()))
      return emitOpError("(c2) guard on '") << guard.getSize() << "', which is no size of " << getCalleeAttr();
  }
  if (getBatchMajor() && !sizes.contains("batch")) // c3
    return emitOpError("(c3) is batch-major, but 'batch' is no size of ") << getCalleeAttr();
  return success();
}
