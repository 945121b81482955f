// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "driver/MaskDrawing.h"

#include "attention/AttentionDialect.h"
#include "attention/KernelInterface.h"
#include "attention/RegionEvaluator.h"
#include "attention/SourceLocations.h"
#include "driver/RegionText.h"
#include "spec/DidYouMean.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

#include "llvm/ADT/StringExtras.h"

#include <map>

using namespace mlir;
using namespace mhac::attn;

namespace mhac {
namespace {

constexpr int64_t kDefaultSize = 256;
constexpr int64_t kMostTiles = 1 << 20;

enum class Content { Empty, Partial, Full };

class Drawing {
public:
  Drawing(AttentionOp op, const KernelInterface &interface, Diagnostics &diagnostics) : op(op), interface(interface), diagnostics(diagnostics) {}

  bool read(StringRef numbers);
  std::string draw();

private:
  /// A size by name, or a number.
  int64_t sizeOf(StringRef name) const {
    int64_t number;
    return name.getAsInteger(10, number) ? given.at(name.str()) : number;
  }
  std::optional<SmallVector<RegionNumber>> evaluate(Region &region, ArrayRef<int64_t> indices);
  std::optional<Content> contentOf(int64_t q, int64_t queryBlock, int64_t k, int64_t keyTile);
  int64_t tile(StringRef name) { return op.getSchedule()->getTiles().getAs<IntegerAttr>(name).getInt(); }

  AttentionOp op;
  const KernelInterface &interface;
  Diagnostics &diagnostics;
  std::map<std::string, int64_t> given;
  int64_t queries = 0, keys = 0;
};

bool Drawing::read(StringRef numbers) {
  std::vector<std::string> names = {"b", "h"};
  given["b"] = given["h"] = 0;
  for (const SizeInfo &size : interface.sizes) {
    names.push_back(size.name);
    given[size.name] = std::clamp(kDefaultSize, size.minimum, size.maximum);
  }
  for (Value param : op.getParams())
    if (isa<RankedTensorType>(param.getType()))
      names.push_back(argumentName(param));
  SmallVector<StringRef> parts, known(names.begin(), names.end());
  numbers.split(parts, ',', -1, /*KeepEmpty=*/false);
  for (StringRef part : parts) {
    auto [name, text] = part.split('=');
    int64_t number;
    if (!llvm::is_contained(known, name) || text.getAsInteger(10, number)) {
      diagnostics.usage({}, "--draw wants <name>=<integer>, separated by commas, with a name of " + listWords(known) + "; found '" + part.str() + "'" +
                                didYouMean(name, known));
      return false;
    }
    given[name.str()] = number;
  }
  queries = sizeOf(sequenceOf(op.getQuery())), keys = sizeOf(sequenceOf(op.getKey()));
  const int64_t heads = cast<RankedTensorType>(op.getQuery().getType()).getDimSize(1);
  if (given["h"] < 0 || given["h"] >= heads || given["b"] < 0 || queries < 0 || keys < 0) {
    diagnostics.usage({}, "--draw wants sizes and b of at least 0 and h below " + std::to_string(heads));
    return false;
  }
  return true;
}

std::optional<SmallVector<RegionNumber>> Drawing::evaluate(Region &region, ArrayRef<int64_t> indices) {
  SmallVector<RegionNumber> arguments = llvm::map_to_vector(indices, [](int64_t index) { return RegionNumber{index, 0}; });
  for (size_t i = 0, n = op.getParams().size(); i < n; ++i)
    arguments.push_back({i + 2 == n ? queries : i + 1 == n ? keys : 0, 0});
  auto param = [&](BlockArgument tensor) { return op.getParams()[tensor.getArgNumber() - indices.size()]; };
  auto element = [&](BlockArgument tensor, ArrayRef<int64_t>) {
    const std::string name = argumentName(param(tensor));
    auto found = given.find(name);
    const int index = interface.argumentIndex(name);
    const bool isLength = index >= 0 && interface.arguments[index].check != ArgumentCheck::None && !StringRef(name).ends_with("starts");
    const int64_t number = found != given.end() ? found->second : isLength ? keys : 0;
    return RegionNumber{number, static_cast<double>(number)};
  };
  auto extent = [&](BlockArgument tensor, int64_t dim) -> int64_t {
    const int index = interface.argumentIndex(argumentName(param(tensor)));
    return index < 0 ? 1 : sizeOf(interface.arguments[index].dimNames[dim]);
  };
  return evaluateRegion(region.front(), arguments, {element, extent});
}

/// What the kernel finds out: intervals first, then the list's verdict.
std::optional<Content> Drawing::contentOf(int64_t q, int64_t queryBlock, int64_t k, int64_t keyTile) {
  const int64_t lastQuery = std::min(q + queryBlock, queries) - 1, lastKey = std::min(k + keyTile, keys) - 1, b = given["b"];
  const int64_t h = op.getHeadNumbers().empty() ? given["h"] : op.getHeadNumbers()[given["h"]];
  if (op.getBlocks().empty())
    return Content::Full;
  auto range = evaluate(op.getBlocks(), {b, h, q, lastQuery});
  if (!range)
    return std::nullopt;
  auto at = [&](unsigned i) { return (*range)[i].integer; };
  if (lastKey < at(0) || k >= at(1))
    return Content::Empty;
  if (op.getTiles().empty())
    return k >= at(2) && lastKey < at(3) ? Content::Full : Content::Partial;
  auto verdict = evaluate(op.getTiles(), {b, h, q, lastQuery, k, lastKey});
  if (!verdict)
    return std::nullopt;
  return !(*verdict)[0].integer ? Content::Empty : (*verdict)[1].integer ? Content::Full : Content::Partial;
}

std::string Drawing::draw() {
  const int64_t queryBlock = tile("query_vectors") * 16, keyTile = tile("score_keys");
  const int64_t rows = llvm::divideCeil(queries, queryBlock), columns = llvm::divideCeil(keys, keyTile);
  if (rows * columns > kMostTiles) {
    diagnostics.usage({}, "--emit=mask-svg draws at most " + std::to_string(kMostTiles) + " tiles, found " + std::to_string(rows * columns) +
                              "; choose smaller sizes with --draw");
    return "";
  }
  std::string body;
  llvm::raw_string_ostream os(body);
  int64_t counts[3] = {};
  for (int64_t q = 0; q < queries; q += queryBlock) {
    // Neighbours of one kind are one rectangle.
    Content current = Content::Empty;
    int64_t start = 0;
    auto close = [&](int64_t end) {
      if (current != Content::Empty && end > start)
        os << "<rect x=\"" << start << "\" y=\"" << q << "\" width=\"" << std::min(end, keys) - start << "\" height=\""
           << std::min(queryBlock, queries - q) << "\" class=\"" << (current == Content::Full ? "full" : "partial") << "\"/>\n";
    };
    for (int64_t k = 0; k < keys; k += keyTile) {
      std::optional<Content> content = contentOf(q, queryBlock, k, keyTile);
      if (!content) {
        diagnostics.internal(sourceLocation(op.getLoc()), "a region has an op that cannot be drawn");
        return "";
      }
      ++counts[static_cast<int>(*content)];
      if (*content == current)
        continue;
      close(k);
      current = *content, start = k;
    }
    close(keys);
  }
  std::string text;
  llvm::raw_string_ostream out(text);
  out << "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 " << std::max<int64_t>(keys, 1) << " " << std::max<int64_t>(queries, 1)
      << "\" width=\"512\">\n<title>" << interface.name << ": " << queries << " queries (down), " << keys << " keys (right), tiles of " << queryBlock << " x "
      << keyTile << ": " << counts[0] << " empty (white), " << counts[1] << " partial (light), " << counts[2] << " full (dark)</title>\n"
      << "<style>.full{fill:#1f4e79}.partial{fill:#9dc3e6}.frame{fill:#fff;stroke:#888;stroke-width:0.5}</style>\n"
      << "<rect class=\"frame\" x=\"0\" y=\"0\" width=\"" << keys << "\" height=\"" << queries << "\"/>\n"
      << body << "</svg>\n";
  return text;
}

} // namespace

std::string drawMask(ModuleOp scheduled, StringRef numbers, Diagnostics &diagnostics) {
  const KernelInterface interface = makeKernelInterface(scheduled);
  std::string text;
  AttentionOp op;
  if (!interface.candidates.empty()) // the last takes every call
    if (auto function = scheduled.lookupSymbol<func::FuncOp>(interface.candidates.back().function))
      function.walk([&](AttentionOp each) { op = op ? op : each; });
  if (!op) {
    diagnostics.usage({}, "--emit=mask-svg needs a layer with attention");
    return "";
  }
  for (Value param : op.getParams())
    if (isa<RankedTensorType>(param.getType()) && param.getDefiningOp()) {
      diagnostics.unsupported(sourceLocation(op.getLoc()), "--emit=mask-svg cannot draw a mask that depends on what queries and keys are");
      return "";
    }
  Drawing drawing(op, interface, diagnostics);
  return drawing.read(numbers) ? drawing.draw() : "";
}

} // namespace mhac
