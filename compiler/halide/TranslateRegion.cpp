// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "halide/TranslateRegion.h"

#include "attention/AttentionDialect.h"
#include "halide/FastMath.h"
#include "halide/HeadNumbers.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/TypeSwitch.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

#include <limits>

using Halide::Expr;
using Halide::strict_float;
using namespace mlir;

namespace mhac::halide {
namespace {

class Translator {
public:
  Translator(Region &region, const TileContext &tile, const RegionPart &part) : block(region.front()), tile(tile), part(part), values(part.known) {}

  FailureOr<std::vector<Expr>> run(const std::vector<RegionValue> &arguments) {
    if (arguments.size() != block.getNumArguments())
      return block.getParentOp()->emitError("a region has ") << block.getNumArguments() << " arguments, the kernel gives " << arguments.size();
    for (auto [argument, value] : llvm::zip(block.getArguments(), arguments)) {
      if (auto *tensor = std::get_if<Halide::ImageParam>(&value))
        tensors.insert({argument, *tensor});
      else
        values[argument] = std::get<Expr>(value);
    }
    SmallVector<Value> wanted(part.wanted.begin(), part.wanted.end());
    if (wanted.empty())
      llvm::append_range(wanted, block.getTerminator()->getOperands());
    llvm::DenseSet<Value> needed(wanted.begin(), wanted.end());
    auto isNeeded = [&](Value value) { return needed.contains(value) && !part.known.count(value); };
    for (Operation &op : llvm::reverse(block.without_terminator()))
      if (llvm::any_of(op.getResults(), isNeeded))
        needed.insert(op.operand_begin(), op.operand_end());
    for (Operation &op : block.without_terminator()) {
      if (llvm::none_of(op.getResults(), isNeeded))
        continue;
      if (auto range = dyn_cast<attn::LoadRangeOp>(op)) {
        loadRange(range);
        continue;
      }
      Expr result = translate(&op);
      if (!result.defined())
        return op.emitError("'") << op.getName() << "' has no translation to Halide";
      values[op.getResult(0)] = result;
    }
    std::vector<Expr> results;
    for (Value value : wanted)
      results.push_back(values.at(value));
    return results;
  }

private:
  /// Halide's x / b leaves a remainder that is never negative, which is the floor for b > 0 only; its x / 0 and x % 0 are 0.
  static Expr floorDiv(const Expr &a, const Expr &b) {
    return Halide::Internal::is_positive_const(b) ? a / b : select(b < 0 && a % b != 0, a / b - 1, a / b);
  }

  static Expr floorMod(const Expr &a, const Expr &b) {
    Expr mod = a % b;
    return Halide::Internal::is_positive_const(b) ? mod : select(b < 0 && mod != 0, mod + b, mod);
  }

  Expr in(Operation *op, unsigned i) { return values.at(op->getOperand(i)); }

  Expr constant(Attribute attribute) {
    if (auto boolean = dyn_cast<BoolAttr>(attribute))
      return Halide::Internal::make_bool(boolean.getValue());
    if (auto integer = dyn_cast<IntegerAttr>(attribute))
      return integer.getType().isInteger(64) ? Expr(static_cast<int64_t>(integer.getInt())) : Expr(static_cast<int32_t>(integer.getInt()));
    if (auto number = dyn_cast<FloatAttr>(attribute))
      return Expr(static_cast<float>(number.getValueAsDouble()));
    return Expr();
  }

  Expr compare(arith::CmpIPredicate predicate, Expr a, Expr b) {
    using P = arith::CmpIPredicate;
    switch (predicate) {
    case P::eq: return a == b;
    case P::ne: return a != b;
    case P::slt: case P::ult: return a < b;
    case P::sle: case P::ule: return a <= b;
    case P::sgt: case P::ugt: return a > b;
    case P::sge: case P::uge: return a >= b;
    }
    return Expr();
  }

  Expr compare(arith::CmpFPredicate predicate, Expr a, Expr b) {
    using P = arith::CmpFPredicate;
    switch (predicate) {
    // Strict, with all that goes into them: Halide's own rewriting knows no NaN, and rounds sums as it likes.
    case P::OEQ: return strict_float(a == b);
    case P::UNE: return strict_float(a != b);
    case P::OLT: return strict_float(a < b);
    case P::OLE: return strict_float(a <= b);
    case P::OGT: return strict_float(a > b);
    case P::OGE: return strict_float(a >= b);
    default: return Expr();
    }
  }

  /// Narrow integers have 32 bits in kernels.
  static Expr widened(const Expr &value) { return value.type().is_int_or_uint() && value.type().bits() < 32 ? Halide::cast<int32_t>(value) : value; }

  /// `index` has 32 bits, i64 what its name says.
  static Expr castInteger(Type type, const Expr &value) { return type.isInteger(64) ? Halide::cast<int64_t>(value) : Halide::cast<int32_t>(value); }

  /// Halide's number of a tensor's dimension: there they are reversed.
  static Halide::Internal::Dimension dimension(Halide::ImageParam &tensor, size_t dim) {
    return tensor.dim(tensor.dimensions() - 1 - static_cast<int>(dim));
  }

  /// An index inside the tensor (see attn.load). A dimension of extent 0 is read at 0: the runtime gives empty tensors an element to read.
  static Expr clamped(Halide::ImageParam &tensor, size_t dim, const Expr &index) {
    return max(min(index, dimension(tensor, dim).extent() - 1), 0);
  }

  /// The first block arguments, b and h, lie inside every dimension that is not broadcast; other indices are clamped.
  Expr load(attn::LoadOp op) {
    Halide::ImageParam &tensor = tensors.at(op.getParam());
    std::vector<Expr> at;
    if (std::optional<int> queryDim = pairDim(op); queryDim && tile.loadPair) {
      for (Value index : op.getIndices())
        at.push_back(values.at(index));
      std::reverse(at.begin(), at.end());
      return widened(tile.loadPair(tensor, at, *queryDim));
    }
    for (auto [i, index] : llvm::enumerate(op.getIndices())) {
      auto argument = dyn_cast<BlockArgument>(index);
      bool isInside = argument && argument.getArgNumber() < insideArguments && cast<RankedTensorType>(op.getParam().getType()).getDimSize(i) != 1;
      at.push_back(isInside ? values.at(index) : clamped(tensor, i, values.at(index)));
    }
    std::reverse(at.begin(), at.end());
    return widened(tensor(at));
  }

  /// Halide's number of the dimension that is indexed by q when the innermost one is by k, both as they are and not broadcast, and all others by b
  /// or h or broadcast.
  std::optional<int> pairDim(attn::LoadOp op) const {
    std::optional<int> found;
    const int last = static_cast<int>(op.getIndices().size()) - 1;
    for (auto [i, index] : llvm::enumerate(op.getIndices())) {
      auto argument = dyn_cast<BlockArgument>(index);
      const bool isBroadcast = cast<RankedTensorType>(op.getParam().getType()).getDimSize(i) == 1;
      const int number = argument ? static_cast<int>(argument.getArgNumber()) : -1;
      if (static_cast<int>(i) == last ? number != 3 || isBroadcast : number == 3 || (number < 0 && !isBroadcast))
        return std::nullopt;
      if (number == 2 && !isBroadcast)
        found = last - static_cast<int>(i);
    }
    return found;
  }

  /// Reductions over the box: unrolled along the keys of a tile, which are few, and loops along its queries.
  void loadRange(attn::LoadRangeOp op) {
    Halide::ImageParam &tensor = tensors.at(op.getParam());
    std::vector<Halide::Range> queries;
    int keys = 1;
    for (attn::SpanAttr span : op.getSpans().getAsRange<attn::SpanAttr>()) {
      if (span.getValue() == attn::Span::Queries)
        queries.push_back({0, tile.queries});
      else if (span.getValue() == attn::Span::Keys)
        keys = tile.keys;
    }
    const Halide::RDom box = queries.empty() ? Halide::RDom() : Halide::RDom(queries);
    // What is cast behind the reduction anyway costs less ahead of it.
    const bool isCast = llvm::all_of(op->getUsers(), [](Operation *user) { return isa<arith::IndexCastOp>(user) && user->getResult(0).getType().isIndex(); });
    Expr low, high;
    for (int k = 0; k < keys; ++k) {
      std::vector<Expr> at;
      int next = 0;
      for (auto [i, span] : llvm::enumerate(op.getSpans().getAsRange<attn::SpanAttr>())) {
        Expr index = values.at(op.getFirst()[i]);
        if (span.getValue() != attn::Span::Point)
          index = min(index + (span.getValue() == attn::Span::Keys ? Expr(k) : Expr(box[next++])), values.at(op.getLast()[i]));
        at.push_back(clamped(tensor, i, index));
      }
      std::reverse(at.begin(), at.end());
      Expr value = isCast ? Halide::cast<int32_t>(tensor(at)) : widened(tensor(at)), least = value, most = value;
      if (value.type().is_float()) {
        const float infinity = std::numeric_limits<float>::infinity();
        least = select(strict_float(value == value), value, -infinity), most = select(strict_float(value == value), value, infinity);
      }
      low = k == 0 ? least : min(low, least), high = k == 0 ? most : max(high, most);
    }
    auto reduced = [&](const Expr &inBox) { return tile.hoist ? tile.hoist(inBox) : inBox; };
    values[op.getSmallest()] = queries.empty() ? low : reduced(Halide::minimum(box, low, "smallest"));
    values[op.getLargest()] = queries.empty() ? high : reduced(Halide::maximum(box, high, "largest"));
  }

  /// A constant list becomes a buffer of the object. Its name follows from its content, so that equal lists are one.
  Expr table(attn::TableOp op) {
    auto elements = cast<DenseElementsAttr>(op.getElements());
    const int count = static_cast<int>(elements.getNumElements());
    const bool isFloat = op.getType().isF32();
    std::vector<double> numbers;
    for (Attribute element : elements.getValues<Attribute>())
      numbers.push_back(isFloat ? cast<FloatAttr>(element).getValueAsDouble() : static_cast<double>(cast<IntegerAttr>(element).getInt()));
    Halide::Buffer<> buffer = constantBuffer(isFloat ? Halide::Float(32) : Halide::Int(32), numbers);
    return buffer(std::vector<Expr>{clamp(in(op, 0), 0, count - 1)});
  }

  Expr translate(Operation *op) {
    return llvm::TypeSwitch<Operation *, Expr>(op)
        .Case([&](arith::ConstantOp o) { return constant(o.getValue()); })
        .Case<arith::AddIOp, arith::AddFOp>([&](auto o) { return in(o, 0) + in(o, 1); })
        .Case<arith::SubIOp, arith::SubFOp>([&](auto o) { return in(o, 0) - in(o, 1); })
        .Case<arith::MulIOp, arith::MulFOp>([&](auto o) { return in(o, 0) * in(o, 1); })
        .Case([&](arith::DivFOp o) { return in(o, 0) / in(o, 1); })
        .Case<arith::FloorDivSIOp, attn::FloorDivOp>([&](auto o) { return floorDiv(in(o, 0), in(o, 1)); })
        .Case([&](attn::FloorModOp o) { return floorMod(in(o, 0), in(o, 1)); })
        .Case<arith::MinSIOp, arith::MinimumFOp>([&](auto o) { return min(in(o, 0), in(o, 1)); })
        .Case<arith::MaxSIOp, arith::MaximumFOp>([&](auto o) { return max(in(o, 0), in(o, 1)); })
        .Case([&](arith::NegFOp o) { return -in(o, 0); })
        .Case<math::AbsFOp, math::AbsIOp>([&](auto o) { return Halide::cast(in(o, 0).type(), abs(in(o, 0))); })
        .Case([&](math::FloorOp o) { return floor(in(o, 0)); })
        .Case([&](math::ExpOp o) { return expFinite(in(o, 0)); })
        .Case([&](math::LogOp o) { return logAny(in(o, 0)); })
        .Case([&](math::TanhOp o) { return tanhFast(in(o, 0)); })
        .Case([&](arith::CmpIOp o) { return compare(o.getPredicate(), in(o, 0), in(o, 1)); })
        .Case([&](arith::CmpFOp o) { return compare(o.getPredicate(), in(o, 0), in(o, 1)); })
        .Case([&](arith::AndIOp o) { return o.getType().isInteger(1) ? in(o, 0) && in(o, 1) : in(o, 0) & in(o, 1); })
        .Case([&](arith::OrIOp o) { return o.getType().isInteger(1) ? in(o, 0) || in(o, 1) : in(o, 0) | in(o, 1); })
        .Case([&](arith::XOrIOp o) { return o.getType().isInteger(1) ? in(o, 0) != in(o, 1) : in(o, 0) ^ in(o, 1); })
        .Case([&](arith::SelectOp o) { return select(in(o, 0), in(o, 1), in(o, 2)); })
        .Case<arith::IndexCastOp, arith::IndexCastUIOp, arith::ExtSIOp, arith::TruncIOp>([&](auto o) { return castInteger(o.getType(), in(o, 0)); })
        .Case([&](arith::SIToFPOp o) { return Halide::cast<float>(in(o, 0)); })
        .Case([&](tensor::DimOp o) { return Expr(dimension(tensors.at(o.getSource()), static_cast<size_t>(*o.getConstantIndex())).extent()); })
        .Case([&](attn::LoadOp o) { return load(o); })
        .Case([&](attn::TableOp o) { return table(o); })
        .Default([](Operation *) { return Expr(); });
  }

  Block &block;
  const TileContext &tile;
  /// In regions of attn.attention these are b and h, elsewhere b alone.
  const unsigned insideArguments = isa<attn::AttentionOp>(block.getParentOp()) ? 2 : 1;
  llvm::DenseMap<Value, Halide::ImageParam> tensors;
  const RegionPart &part;
  std::map<Value, Expr, ValueOrder> values;
};

} // namespace

FailureOr<std::vector<Expr>> translateRegion(Region &region, const std::vector<RegionValue> &arguments, const TileContext &tile,
                                             const RegionPart &part) {
  return Translator(region, tile, part).run(arguments);
}

} // namespace mhac::halide
