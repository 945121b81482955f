// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "driver/Explain.h"

#include "attention/AttentionDialect.h"
#include "driver/RegionText.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Format.h"

#include <limits>

using namespace mlir;

namespace mhac {

namespace {

/// A product of a number and of sizes that are known at run time.
struct Product {
  int64_t factor = 1;
  std::vector<std::string> symbols;

  Product &times(int64_t number) {
    factor *= number;
    return *this;
  }
  std::string text() const {
    std::string result = std::to_string(factor);
    for (const std::string &symbol : symbols)
      result += " * " + symbol;
    return result;
  }
};

/// Walks one candidate; the first stands for all in what does not depend on the target.
class Explainer {
public:
  Explainer(const KernelInterface &interface, ModuleOp module) : interface(interface), module(module), os(text) {}

  std::string run();

private:
  void printArguments();
  void printWork(func::FuncOp function);
  void printProject(attn::ProjectOp op);
  void printHash(attn::HashOp op);
  void printAttention(attn::AttentionOp op);
  void printMask(attn::AttentionOp op);
  void printCandidate(const CandidateInfo &candidate);

  void timesDim(Product &product, StringRef name);
  Product extents(const ArgumentInfo &argument);
  Product bytesOf(const CandidateInfo &candidate, const WorkspaceBufferInfo &buffer);
  Product tokens(Value value) {
    Product product;
    timesDim(product, "batch");
    timesDim(product, attn::sequenceOf(value));
    return product;
  }
  void addFlops(StringRef what, Product flops);

  const KernelInterface &interface;
  ModuleOp module;
  std::string text;
  llvm::raw_string_ostream os;
};

} // namespace

/// Of an element of a tensor of heads where kernels read it: of an argument its own, of what kernels make those of f32.
static int64_t elementBytes(Value heads) {
  while (Operation *op = heads.getDefiningOp()) {
    if (!isa<attn::SwapHeadsOp, attn::SelectHeadsOp>(op))
      return 4;
    heads = op->getOperand(0);
  }
  return cast<RankedTensorType>(heads.getType()).getElementTypeBitWidth() / 8;
}

static std::string withUnits(int64_t bytes) {
  if (bytes < 10240)
    return std::to_string(bytes) + " bytes";
  std::string text;
  llvm::raw_string_ostream(text) << (bytes < (1 << 20) ? llvm::format("%.1f KiB", bytes / 1024.0) : llvm::format("%.1f MiB", bytes / 1048576.0));
  return text;
}

/// A dimension is a number or a size; sizes that are fixed count as numbers.
void Explainer::timesDim(Product &product, StringRef name) {
  int64_t number;
  if (!name.getAsInteger(10, number)) {
    product.factor *= number;
    return;
  }
  int index = interface.sizeIndex(name);
  if (index >= 0 && interface.sizes[index].isFixed())
    product.factor *= interface.sizes[index].minimum;
  else
    product.symbols.push_back(name.str());
}

Product Explainer::extents(const ArgumentInfo &argument) {
  Product product;
  for (const std::string &name : argument.dimNames)
    timesDim(product, name);
  return product;
}

void Explainer::addFlops(StringRef what, Product flops) { os << "  " << llvm::left_justify(what, 26) << flops.text() << "\n"; }

void Explainer::printArguments() {
  os << "arguments\n";
  static constexpr StringRef roles[] = {"input", "weight", "parameter", "output"};
  int64_t weights = 0, weightBytes = 0; // scales are bytes, but no parameters
  const bool hasScales = llvm::any_of(interface.arguments, [](const ArgumentInfo &argument) { return argument.scales >= 0; });
  for (const ArgumentInfo &argument : interface.arguments) {
    os << "  " << llvm::left_justify(roles[static_cast<int>(argument.role)], 10) << llvm::left_justify(argument.name, 14)
       << dtypeInfo(argument.dtype).word << " [" << llvm::join(argument.dimNames, ", ") << "]"
       << (argument.stridesOffset >= 0 ? ", strides allowed" : "") << "\n";
    if (argument.role == ArgumentRole::Weight) {
      int64_t count = extents(argument).factor;
      const bool isScales = llvm::any_of(interface.arguments, [&](const ArgumentInfo &other) { return other.scales >= 0 && &interface.arguments[other.scales] == &argument; });
      weights += isScales ? 0 : count;
      int64_t bytes = dtypeInfo(argument.dtype).bytes();
      for (const ExtentInfo &extent : argument.dims)
        bytes *= extent.factor;
      weightBytes += bytes;
    }
  }
  for (const SizeInfo &size : interface.sizes)
    os << "  size      " << llvm::left_justify(size.name, 14)
       << (size.isFixed() ? std::to_string(size.minimum) : std::to_string(size.minimum) + " to " + std::to_string(size.maximum)) << "\n";
  os << "parameters of the layer: " << weights << " (" << withUnits(weightBytes) << " of " << (hasScales ? "weights, scales and biases" : "weights and biases");
  const int64_t saved = weights * dtypeInfo(DType::F32).bytes() - weightBytes;
  os << (saved ? ", " + withUnits(saved) + " less than in f32" : "") << ")\n";
}

void Explainer::printProject(attn::ProjectOp op) {
  int64_t features = op.getInputFeatures();
  int64_t rows = 0;
  for (Attribute part : op.getParts())
    rows += cast<attn::PartAttr>(part).getHeads() * cast<attn::PartAttr>(part).getWidth();
  std::string names;
  for (Value weight : op.getWeights())
    names += " " + argumentName(weight);
  addFlops("project" + names, tokens(op.getInput()).times(2 * features * rows));
}

void Explainer::printAttention(attn::AttentionOp op) {
  auto typeOf = [](Value value) { return cast<RankedTensorType>(attn::inOrder(value).getType()); };
  RankedTensorType query = typeOf(op.getQuery()), key = typeOf(op.getKey()), value = typeOf(op.getValue());
  int64_t heads = query.getDimSize(1), groups = key.getDimSize(1), width = query.getDimSize(3), vWidth = value.getDimSize(3);
  Product map = tokens(op.getQuery()).times(heads);
  timesDim(map, attn::sequenceOf(op.getKey()));
  Product flops = map, bytes = map;
  addFlops("attention, all pairs", flops.times(2 * (width + vWidth)));
  // The scores are made again for what is made from the map; the statistics of rows share that.
  bool isStored = false, hasStatistics = false;
  for (auto output : op.getMaps().getAsRange<attn::MapAttr>()) {
    const bool isStatistic = !attn::isWholeMap(output.getKind()) && output.getKind() != attn::MapKind::KeyMass;
    isStored |= attn::isWholeMap(output.getKind());
    if (!isStatistic || !hasStatistics)
      addFlops("map " + (isStatistic ? StringRef("statistics") : attn::stringifyMapKind(output.getKind())).str(), Product(map).times(2 * width));
    hasStatistics |= isStatistic;
  }
  const int64_t pairBytes = width * elementBytes(op.getKey()) + vWidth * elementBytes(op.getValue());
  os << "bytes of K and V:           " << tokens(op.getKey()).times(groups * pairBytes).text() << "\n";
  os << "bytes of the score map:     " << bytes.times(4).text() << (isStored ? " (the output attention_map)\n" : " (never in memory)\n");
}

void Explainer::printMask(attn::AttentionOp op) {
  auto printDefinitions = [&](const RegionFormulas &formulas) {
    for (const auto &[name, formula] : formulas.definitions)
      os << "    " << name << " = " << formula << "\n";
  };
  RegionFormulas visible = regionFormulas(op, op.getMask(), {"b", "h", "q", "k"});
  if (const int64_t heads = cast<RankedTensorType>(op.getQuery().getType()).getDimSize(1), own = cast<RankedTensorType>(attn::inOrder(op.getQuery()).getType()).getDimSize(1);
      attn::inOrder(op.getQuery()) != op.getQuery())
    os << "tokens are sorted by bucket: q and k are places in that order, h is round * " << own << " + head, " << heads / own << " rounds\n";
  os << "mask\n  visible when " << (visible.results.empty() ? "always" : visible.results[0]) << "\n";
  printDefinitions(visible);
  RegionFormulas blocks = regionFormulas(op, op.getBlocks(), {"b", "h", "q_first", "q_last"});
  if (blocks.results.size() != 4)
    return;
  os << "  queries q_first to q_last see no key outside [" << blocks.results[0] << ", " << blocks.results[1] << ")\n";
  os << "  all of them see the keys [" << blocks.results[2] << ", " << blocks.results[3] << "): no mask work there\n";
  printDefinitions(blocks);
  RegionFormulas tiles = regionFormulas(op, op.getTiles(), {"b", "h", "q_first", "q_last", "k_first", "k_last"});
  if (tiles.results.size() != 2)
    return;
  os << "  of what is left, a tile of keys k_first to k_last is skipped unless " << tiles.results[0] << "\n";
  os << "  and takes no mask work when " << tiles.results[1] << "\n";
  printDefinitions(tiles);
}

/// Products with rotations.
void Explainer::printHash(attn::HashOp op) {
  auto type = cast<RankedTensorType>(op.getInput().getType());
  addFlops("hash", tokens(op.getInput()).times(type.getDimSize(1) * type.getDimSize(3) * op.getRounds() * op.getBuckets()));
}

void Explainer::printWork(func::FuncOp function) {
  os << "FLOPs of a call\n";
  function.walk([&](attn::ProjectOp op) { printProject(op); });
  function.walk([&](attn::HashOp op) { printHash(op); });
  function.walk([&](attn::AttentionOp op) {
    printAttention(op);
    printMask(op);
  });
}

Product Explainer::bytesOf(const CandidateInfo &candidate, const WorkspaceBufferInfo &buffer) {
  Product product;
  product.factor = dtypeInfo(buffer.dtype).bytes();
  for (const ExtentInfo &dim : llvm::reverse(buffer.dims)) {
    product.factor *= dim.factor;
    if (dim.size < 0 || dim.size == candidate.batchSize) // a batch-major worker holds one element of the batch
      continue;
    const SizeInfo &size = interface.sizes[dim.size];
    if (size.isFixed())
      product.factor *= (size.minimum + dim.divisor - 1) / dim.divisor;
    else
      product.symbols.push_back(dim.divisor == 1 ? size.name : "ceil(" + size.name + " / " + std::to_string(dim.divisor) + ")");
  }
  return product;
}

static void printSchedules(llvm::raw_ostream &os, func::FuncOp function) {
  function.walk([&](Operation *op) {
    auto schedule = op->getAttrOfType<attn::ScheduleAttr>("schedule");
    if (!schedule)
      return;
    os << "  " << op->getName() << ": " << schedule.getRule();
    llvm::ListSeparator comma;
    if (!schedule.getTiles().empty()) {
      os << " {";
      for (NamedAttribute tile : schedule.getTiles()) {
        os << StringRef(comma) << tile.getName().strref() << " = ";
        if (auto number = dyn_cast<IntegerAttr>(tile.getValue()))
          os << number.getInt();
        else
          os << tile.getValue();
      }
      os << "}";
    }
    os << "\n      " << schedule.getReason() << "\n";
  });
}

static std::string guardText(const KernelInterface &interface, const GuardInfo &guard) {
  std::string value = guard.size < 0 ? "workers" : interface.sizes[guard.size].name;
  if (guard.perWorker)
    value += " / workers";
  const int64_t largest = guard.size < 0 ? std::numeric_limits<int64_t>::max() : interface.sizes[guard.size].maximum;
  if (guard.maximum >= largest)
    return value + " >= " + std::to_string(guard.minimum);
  return (guard.minimum > 0 ? std::to_string(guard.minimum) + " <= " : "") + value + " <= " + std::to_string(guard.maximum);
}

/// The target and when the candidate runs, if it is not always.
static void printHeading(llvm::raw_ostream &os, const KernelInterface &interface, const CandidateInfo &candidate) {
  os << "target " << candidate.target;
  llvm::ListSeparator separator(" and ");
  if (!candidate.guards.empty())
    os << ", when ";
  for (const GuardInfo &guard : candidate.guards)
    os << StringRef(separator) << guardText(interface, guard);
  if (candidate.batchSize >= 0)
    os << ", batch-major";
  os << "\n";
}

void Explainer::printCandidate(const CandidateInfo &candidate) {
  printHeading(os, interface, candidate);
  std::vector<Product> total; // one a combination of sizes
  for (const WorkspaceBufferInfo &buffer : candidate.workspace) {
    Product product = bytesOf(candidate, buffer);
    os << "  workspace " << llvm::left_justify(buffer.name, 16) << product.text() << " bytes\n";
    auto same = llvm::find_if(total, [&](const Product &other) { return other.symbols == product.symbols; });
    if (same == total.end())
      total.push_back(product);
    else
      same->factor += product.factor;
  }
  os << "  workspace of " << (candidate.batchSize < 0 ? "a call: " : "each worker: ");
  llvm::interleave(total, os, [&](const Product &product) { os << product.text(); }, " + ");
  os << (total.empty() ? "0 bytes\n" : candidate.batchSize < 0 ? " bytes, and the scratch of each worker\n" : " bytes, and its scratch\n");
  os << "  scratch of a worker: " << candidate.arenaBytes << " bytes\n";
  if (auto function = module.lookupSymbol<func::FuncOp>(candidate.function))
    printSchedules(os, function);
}

std::string Explainer::run() {
  os << interface.name << " (" << interface.specFile << ")\n";
  printArguments();
  if (!interface.candidates.empty())
    if (auto function = module.lookupSymbol<func::FuncOp>(interface.candidates.front().function))
      printWork(function);
  for (const CandidateInfo &candidate : interface.candidates)
    printCandidate(candidate);
  return text;
}

std::string explain(const KernelInterface &interface, ModuleOp scheduled) { return Explainer(interface, scheduled).run(); }

std::string explainSchedule(ModuleOp scheduled) {
  std::string text;
  llvm::raw_string_ostream os(text);
  const KernelInterface interface = makeKernelInterface(scheduled);
  for (const CandidateInfo &candidate : interface.candidates) {
    printHeading(os, interface, candidate);
    if (auto function = scheduled.lookupSymbol<func::FuncOp>(candidate.function))
      printSchedules(os, function);
  }
  return text;
}

} // namespace mhac
