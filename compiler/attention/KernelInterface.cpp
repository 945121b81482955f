// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "attention/KernelInterface.h"

#include "attention/AttentionDialect.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

#include "llvm/ADT/bit.h"
#include "llvm/Support/xxhash.h"

#include <algorithm>
#include <map>
#include <numeric>

namespace mhac {

static int indexByName(const auto &list, llvm::StringRef name) {
  auto found = std::find_if(list.begin(), list.end(), [&](const auto &element) { return element.name == name; });
  return found == list.end() ? -1 : static_cast<int>(found - list.begin());
}

int KernelInterface::sizeIndex(llvm::StringRef wanted) const { return indexByName(sizes, wanted); }
int KernelInterface::argumentIndex(llvm::StringRef wanted) const { return indexByName(arguments, wanted); }

int KernelInterface::preparedIndex(llvm::ArrayRef<double> frequencies, double magnitude) const {
  for (size_t i = 0; i < prepared.size(); ++i)
    if (llvm::ArrayRef(prepared[i].frequencies) == frequencies && prepared[i].magnitude == magnitude)
      return static_cast<int>(i);
  return -1;
}

uint64_t KernelInterface::preparedTag() const {
  std::vector<uint64_t> numbers;
  for (const PreparedTableInfo &table : prepared) {
    numbers.push_back(table.frequencies.size());
    for (double frequency : table.frequencies)
      numbers.push_back(llvm::bit_cast<uint64_t>(frequency));
    numbers.push_back(llvm::bit_cast<uint64_t>(table.magnitude));
  }
  return llvm::xxh3_64bits(llvm::ArrayRef(reinterpret_cast<const uint8_t *>(numbers.data()), numbers.size() * sizeof(uint64_t)));
}

uint64_t KernelInterface::positionSizes() const {
  uint64_t bits = 0;
  for (size_t i = 0; i < sizes.size(); ++i)
    if (sizes[i].name == "query" || sizes[i].name == "key")
      bits |= uint64_t(1) << i;
  return bits;
}

static DType dtypeOf(mlir::Type type) {
  std::string text;
  llvm::raw_string_ostream(text) << mlir::cast<mlir::RankedTensorType>(type).getElementType();
  for (int i = 0;; ++i) // the verifier of the import admits only rows of the table
    if (dtypeInfo(static_cast<DType>(i)).mlirType == text)
      return static_cast<DType>(i);
}

namespace {

/// Fills an interface from the function whose arguments carry the attributes.
class InterfaceBuilder {
public:
  InterfaceBuilder(KernelInterface &interface, mlir::func::FuncOp function) : interface(interface), function(function) {}

  void build() {
    addSizes();
    addArguments();
    addWeightLayouts();
    resolveChecks();
    addPrepared();
    layOut();
    addConstants();
  }

private:
  void addSizes();
  void addArguments();
  void addArgument(attn::ArgumentAttr attribute, mlir::Type type);
  void addWeightLayouts();
  void resolveChecks();
  void addPrepared();
  void layOut();
  void addConstants();

  KernelInterface &interface;
  mlir::func::FuncOp function;
  std::vector<attn::ArgumentAttr> attributes; // of interface.arguments, for what names other arguments
};

} // namespace

void InterfaceBuilder::addSizes() {
  auto sizes = function->getAttrOfType<mlir::ArrayAttr>(attn::kSizesAttr);
  for (auto size : sizes.getAsRange<attn::SizeAttr>())
    interface.sizes.push_back({size.getName().str(), size.getMinimum(), size.getMaximum()});
}

void InterfaceBuilder::addArgument(attn::ArgumentAttr attribute, mlir::Type type) {
  ArgumentInfo info;
  info.name = attribute.getName().str();
  info.role = static_cast<ArgumentRole>(attribute.getRole()); // same enumerators
  info.dtype = dtypeOf(type);
  for (mlir::StringAttr dim : attribute.getDims()) {
    ExtentInfo extent;
    if (dim.getValue().getAsInteger(10, extent.factor))
      extent = {interface.sizeIndex(dim.getValue()), 1, 1};
    info.dimNames.push_back(dim.getValue().str());
    info.dims.push_back(extent);
  }
  if (!info.dims.empty() && info.dims.back().size < 0) // what lies in memory
    info.dims.back().factor = dtypeInfo(info.dtype).storedCount(info.dims.back().factor);
  info.stridesOffset = attribute.getStrided() ? 0 : -1; // placed by layOut
  info.check = static_cast<ArgumentCheck>(attribute.getCheck());
  interface.arguments.push_back(std::move(info));
  attributes.push_back(attribute);
}

void InterfaceBuilder::addArguments() {
  for (ArgumentRole role : {ArgumentRole::Input, ArgumentRole::Weight, ArgumentRole::Parameter, ArgumentRole::Output}) {
    auto add = [&](attn::ArgumentAttr attribute, mlir::Type type) {
      if (attribute && static_cast<ArgumentRole>(attribute.getRole()) == role)
        addArgument(attribute, type);
    };
    for (unsigned i = 0; i < function.getNumArguments(); ++i)
      add(function.getArgAttrOfType<attn::ArgumentAttr>(i, attn::kArgumentAttr), function.getArgumentTypes()[i]);
    for (unsigned i = 0; i < function.getNumResults(); ++i)
      add(function.getResultAttrOfType<attn::ArgumentAttr>(i, attn::kArgumentAttr), function.getResultTypes()[i]);
  }
}

/// How a weight lies is known to the op that reads it.
void InterfaceBuilder::addWeightLayouts() {
  function.walk([&](attn::ProjectOp op) {
    auto indexOf = [&](mlir::Value value) {
      auto argument = mlir::dyn_cast<mlir::BlockArgument>(value);
      auto attribute = argument ? function.getArgAttrOfType<attn::ArgumentAttr>(argument.getArgNumber(), attn::kArgumentAttr) : attn::ArgumentAttr();
      return attribute ? interface.argumentIndex(attribute.getName()) : -1;
    };
    for (auto [number, weight] : llvm::enumerate(op.getWeights()))
      if (int i = indexOf(weight); i >= 0) {
        interface.arguments[i].layout = attn::stringifyLayout(op.getLayout()).str();
        if (!op.getScales().empty())
          interface.arguments[i].scales = indexOf(op.getScales()[number]);
      }
  });
}

void InterfaceBuilder::resolveChecks() {
  for (size_t i = 0; i < attributes.size(); ++i) {
    if (mlir::StringAttr size = attributes[i].getCheckSize())
      interface.arguments[i].checkSize = interface.sizeIndex(size.getValue());
    if (mlir::StringAttr with = attributes[i].getCheckWith())
      interface.arguments[i].checkWith = interface.argumentIndex(with.getValue());
  }
}

void InterfaceBuilder::addPrepared() {
  function.walk([&](attn::RotateOp op) {
    double magnitude = op.getMagnitude().convertToDouble();
    if (!op.getPrepared() || interface.preparedIndex(op.getFrequencies(), magnitude) >= 0)
      return;
    PreparedTableInfo table;
    table.name = "rotary_table" + (interface.prepared.empty() ? std::string() : std::to_string(interface.prepared.size()));
    table.dims = {{ExtentInfo::kPositions, 16, 16}, {-1, 1, int64_t(op.getFrequencies().size()) * 2}};
    table.frequencies.assign(op.getFrequencies().begin(), op.getFrequencies().end());
    table.magnitude = magnitude;
    interface.prepared.push_back(std::move(table));
  });
}

/// Offsets as C gives them. The order is part of the ABI of the generated header.
void InterfaceBuilder::layOut() {
  int64_t next = interface.pointerBytes; // behind struct_size
  auto place = [&](int64_t &offset, int64_t bytes) {
    offset = llvm::alignTo(next, bytes);
    next = offset + bytes;
  };
  for (SizeInfo &size : interface.sizes)
    if (!size.isFixed())
      place(size.offset, sizeof(int64_t));
  for (ArgumentInfo &argument : interface.arguments) {
    place(argument.offset, interface.pointerBytes);
    if (argument.stridesOffset >= 0)
      place(argument.stridesOffset, interface.pointerBytes);
  }
  place(interface.workspaceOffset, interface.pointerBytes);
  place(interface.workspaceBytesOffset, interface.pointerBytes);
  if (!interface.prepared.empty())
    place(interface.preparedOffset, interface.pointerBytes);
  const bool hasSizes = llvm::any_of(interface.sizes, [](const SizeInfo &size) { return !size.isFixed(); });
  interface.argsBytes = llvm::alignTo(next, hasSizes ? sizeof(int64_t) : interface.pointerBytes);
}

void InterfaceBuilder::addConstants() {
  // Heads of several widths are an op each width: heads add up, and there is no width of all.
  std::map<std::string, std::vector<int64_t>> extents;
  const std::pair<const char *, bool> names[] = {{"heads", true}, {"kv_heads", true}, {"head_dim", false}, {"v_head_dim", false}};
  function.walk([&](attn::AttentionOp op) {
    for (auto [name, value, dim] : {std::tuple("heads", op.getQuery(), 1), {"kv_heads", op.getKey(), 1}, {"head_dim", op.getQuery(), 3},
                                    {"v_head_dim", op.getValue(), 3}})
      extents[name].push_back(mlir::cast<mlir::RankedTensorType>(attn::inOrder(value).getType()).getDimSize(dim));
  });
  for (auto [name, isSum] : names) {
    const std::vector<int64_t> &list = extents[name];
    const bool isKnown = !list.empty() && llvm::none_of(list, mlir::ShapedType::isDynamic);
    if (isKnown && (isSum || llvm::all_equal(list)))
      interface.constants.push_back({name, isSum ? std::accumulate(list.begin(), list.end(), int64_t(0)) : list.front()});
  }
  function.walk([&](attn::MergeStatesOp op) {
    auto type = mlir::cast<mlir::RankedTensorType>(op.getOutput().getType());
    interface.constants.push_back({"heads", type.getDimSize(1)});
    interface.constants.push_back({"v_head_dim", type.getDimSize(3)});
  });
  for (auto [name, argument] : {std::pair("d_model", "x"), {"kv_d_model", "memory"}})
    if (int i = interface.argumentIndex(argument); i >= 0)
      interface.constants.push_back({name, interface.arguments[i].dims.back().factor});
}

static CandidateInfo makeCandidate(attn::CandidateOp op, mlir::func::FuncOp function, const KernelInterface &interface) {
  CandidateInfo info;
  info.function = op.getCallee().str();
  info.target = op.getTarget().str();
  info.machine = op.getMachine().str();
  info.features = op.getFeatures();
  for (auto guard : op.getGuards().getAsRange<attn::GuardAttr>())
    info.guards.push_back({interface.sizeIndex(guard.getSize()), guard.getMinimum(), guard.getMaximum(), guard.getPerWorker()}); // -1 for "workers"
  if (op.getBatchMajor())
    info.batchSize = interface.sizeIndex("batch");
  function.walk([&](mlir::Operation *inner) {
    if (auto schedule = inner->getAttrOfType<attn::ScheduleAttr>("schedule"))
      info.schedules.push_back((inner->getName().getStringRef() + ": " + schedule.getRule() + " (" + schedule.getReason() + ")").str());
  });
  return info;
}

/// Halide's strings begin with architecture and bits: "wasm-32-wasmrt".
static int64_t pointerBytesOf(llvm::StringRef machine) {
  int64_t bits = 64;
  machine.split('-').second.split('-').first.getAsInteger(10, bits);
  return bits / 8;
}

KernelInterface makeKernelInterface(mlir::ModuleOp module) {
  KernelInterface interface;
  if (auto file = module->getAttrOfType<mlir::StringAttr>(attn::kSpecFileAttr))
    interface.specFile = file.getValue().str();

  auto entries = module.getOps<attn::EntryOp>();
  if (entries.empty()) { // not scheduled yet: sizes and arguments only, for --explain
    for (auto function : module.getOps<mlir::func::FuncOp>())
      if (function->hasAttr(attn::kEntryAttr)) {
        interface.name = function.getName().str();
        InterfaceBuilder(interface, function).build();
        break;
      }
    return interface;
  }
  attn::EntryOp entry = *entries.begin();
  interface.name = entry.getSymName().str();
  for (auto candidate : entry.getBody().getOps<attn::CandidateOp>()) {
    auto function = module.lookupSymbol<mlir::func::FuncOp>(candidate.getCallee());
    if (interface.candidates.empty()) { // all candidates have the same signature
      interface.pointerBytes = pointerBytesOf(candidate.getMachine());
      InterfaceBuilder(interface, function).build();
    }
    interface.candidates.push_back(makeCandidate(candidate, function, interface));
  }
  return interface;
}

} // namespace mhac
