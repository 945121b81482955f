// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "emit/EntryShim.h"
#include "emit/LinkBitcode.h"

#include "llvm/IR/Constants.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/Module.h"

#include <map>

namespace mhac {

/// As in kernel_descriptor.h.
static constexpr size_t maxRank = 6;

llvm::ArrayRef<std::pair<llvm::StringRef, std::vector<llvm::StringRef>>> descriptorLayouts() {
  // Kept in the order in which TableBuilder writes the fields; its table() checks the number of fields against this list.
  static const std::pair<llvm::StringRef, std::vector<llvm::StringRef>> layouts[] = {
      {"mhac_size", {"name", "offset", "minimum", "maximum"}},
      {"mhac_extent", {"size", "divisor", "factor"}},
      {"mhac_argument",
       {"name", "offset", "strides_offset", "element_bytes", "type", "flags", "check", "check_size", "check_other", "rank", "dims"}},
      {"mhac_workspace_buffer", {"element_bytes", "type", "rank", "dims"}},
      {"mhac_operand", {"kind", "index"}},
      {"mhac_kernel", {"name", "function", "operand_count", "operands"}},
      {"mhac_guard", {"size", "minimum", "maximum", "per_worker"}},
      {"mhac_candidate",
       {"target", "features", "guard_count", "guards", "workspace_count", "workspace", "kernel_count", "kernels", "arena_bytes",
        "batch_size", "prepare_count", "prepare"}},
      {"mhac_entry",
       {"abi", "name", "version", "targets", "cpu_features", "args_bytes", "workspace_offset", "workspace_bytes_offset", "size_count",
        "sizes", "argument_count", "arguments", "candidate_count", "candidates", "prepared_offset", "prepared_tag", "position_sizes",
        "prepared_count", "prepared"}}};
  return layouts;
}

std::string featureCacheName(const KernelInterface &interface) { return interface.name + ".cpu_features"; }

std::string targetList(const KernelInterface &interface) {
  std::vector<std::string> seen;
  for (const CandidateInfo &candidate : interface.candidates)
    if (std::find(seen.begin(), seen.end(), candidate.target) == seen.end())
      seen.push_back(candidate.target);
  std::string list;
  for (const std::string &target : seen)
    list += (list.empty() ? "" : ",") + target;
  return list;
}

namespace {

/// Builds the tables, the leaves first. Every table is one anonymous struct of 8-byte fields.
class TableBuilder {
public:
  TableBuilder(const KernelInterface &interface, llvm::Module &module)
      : interface(interface), module(module), context(module.getContext()), i64(llvm::Type::getInt64Ty(context)),
        ptr(llvm::PointerType::get(context, 0)) {}

  llvm::Constant *entry();

private:
  using Fields = llvm::SmallVector<llvm::Constant *, 16>;

  llvm::Constant *number(int64_t value) { return llvm::ConstantInt::getSigned(i64, value); }
  llvm::Constant *null() { return llvm::ConstantPointerNull::get(ptr); }
  llvm::Constant *string(const std::string &text);
  llvm::Constant *global(llvm::Constant *value);
  llvm::Constant *table(llvm::StringRef name, const Fields &fields);
  /// Number of elements and pointer to them.
  void appendArray(Fields &fields, const std::vector<llvm::Constant *> &elements);
  llvm::Constant *dims(const std::vector<ExtentInfo> &extents);

  llvm::Constant *size(const SizeInfo &info);
  llvm::Constant *argument(const ArgumentInfo &info);
  llvm::Constant *buffer(DType dtype, const std::vector<ExtentInfo> &extents);
  llvm::Constant *kernel(const KernelInfo &info, const std::string &function);
  llvm::Constant *candidate(size_t index);

  template <typename Range, typename Make> std::vector<llvm::Constant *> each(const Range &range, Make make) {
    std::vector<llvm::Constant *> result;
    for (const auto &element : range)
      result.push_back(make(element));
    return result;
  }

  const KernelInterface &interface;
  llvm::Module &module;
  llvm::LLVMContext &context;
  llvm::Type *i64;
  llvm::PointerType *ptr;
  std::map<std::string, llvm::Constant *> strings;
};

} // namespace

llvm::Constant *TableBuilder::global(llvm::Constant *value) {
  auto *variable =
      new llvm::GlobalVariable(module, value->getType(), /*isConstant=*/true, llvm::GlobalValue::PrivateLinkage, value, "table");
  variable->setUnnamedAddr(llvm::GlobalValue::UnnamedAddr::Global);
  return variable;
}

llvm::Constant *TableBuilder::string(const std::string &text) {
  llvm::Constant *&known = strings[text];
  if (!known) {
    known = global(llvm::ConstantDataArray::getString(context, text));
    llvm::cast<llvm::GlobalVariable>(known)->setAlignment(llvm::Align(1));
  }
  return known;
}

llvm::Constant *TableBuilder::table(llvm::StringRef name, const Fields &fields) {
  for (const auto &[known, names] : descriptorLayouts())
    if (known == name && names.size() != fields.size())
      llvm::report_fatal_error("descriptor table with a wrong number of fields");
  return llvm::ConstantStruct::getAnon(context, fields);
}

void TableBuilder::appendArray(Fields &fields, const std::vector<llvm::Constant *> &elements) {
  fields.push_back(number(elements.size()));
  if (elements.empty()) {
    fields.push_back(null());
    return;
  }
  auto *type = llvm::ArrayType::get(elements[0]->getType(), elements.size());
  fields.push_back(global(llvm::ConstantArray::get(type, elements)));
}

llvm::Constant *TableBuilder::dims(const std::vector<ExtentInfo> &extents) {
  if (extents.size() > maxRank)
    llvm::report_fatal_error("tensor of more dimensions than MHAC_MAX_RANK");
  std::vector<llvm::Constant *> elements;
  for (size_t i = 0; i < maxRank; ++i) {
    ExtentInfo extent = i < extents.size() ? extents[i] : ExtentInfo{-1, 1, 0};
    elements.push_back(table("mhac_extent", {number(extent.size), number(extent.divisor), number(extent.factor)}));
  }
  return llvm::ConstantArray::get(llvm::ArrayType::get(elements[0]->getType(), maxRank), elements);
}

/// Halide's type: code | bits << 8 | lanes << 16.
static int64_t halideType(DType dtype) {
  const DTypeInfo &info = dtypeInfo(dtype);
  const NumberCode code = info.bits < 8 ? NumberCode::UInt : info.code;
  return static_cast<int64_t>(code) | int64_t(info.bytes() * 8) << 8 | int64_t(1) << 16;
}

llvm::Constant *TableBuilder::size(const SizeInfo &info) {
  return table("mhac_size", {string(info.name), number(info.isFixed() ? -1 : info.offset), number(info.minimum), number(info.maximum)});
}

llvm::Constant *TableBuilder::argument(const ArgumentInfo &info) {
  return table("mhac_argument",
               {string(info.name), number(info.offset), number(info.stridesOffset), number(dtypeInfo(info.dtype).bytes()),
                number(halideType(info.dtype)), number(info.isOutput() ? 1 /* MHAC_ARGUMENT_OUTPUT */ : 0),
                number(static_cast<int64_t>(info.check)), // the enumerators are MHAC_CHECK_NONE, _RANGE, _SUM
                number(info.checkSize), number(info.checkWith), number(info.dims.size()), dims(info.dims)});
}

llvm::Constant *TableBuilder::buffer(DType dtype, const std::vector<ExtentInfo> &extents) {
  return table("mhac_workspace_buffer",
               {number(dtypeInfo(dtype).bytes()), number(halideType(dtype)), number(extents.size()), dims(extents)});
}

llvm::Constant *TableBuilder::kernel(const KernelInfo &info, const std::string &name) {
  llvm::Function *function = module.getFunction(name);
  if (!function)
    llvm::report_fatal_error("kernel missing in the linked module");
  Fields fields = {string(info.name), function};
  appendArray(fields, each(info.operands, [&](const OperandInfo &operand) { // Kind's enumerators are MHAC_OPERAND_*
                return table("mhac_operand", {number(static_cast<int64_t>(operand.kind)), number(operand.index)});
              }));
  return table("mhac_kernel", fields);
}

llvm::Constant *TableBuilder::candidate(size_t index) {
  const CandidateInfo &info = interface.candidates[index];
  Fields fields = {string(info.target), number(static_cast<int64_t>(info.features))};
  appendArray(fields, each(info.guards, [&](const GuardInfo &guard) {
                return table("mhac_guard", {number(guard.size), number(guard.minimum), number(guard.maximum), number(guard.perWorker)});
              }));
  appendArray(fields, each(info.workspace, [&](const WorkspaceBufferInfo &buffer) { return this->buffer(buffer.dtype, buffer.dims); }));
  std::vector<llvm::Constant *> kernels, prepare;
  for (size_t k = 0; k < info.kernels.size(); ++k)
    (k + info.prepareCount < info.kernels.size() ? kernels : prepare).push_back(kernel(info.kernels[k], kernelName(interface, index, k)));
  appendArray(fields, kernels);
  fields.push_back(number(info.arenaBytes));
  fields.push_back(number(info.batchSize));
  appendArray(fields, prepare);
  return table("mhac_candidate", fields);
}

llvm::Constant *TableBuilder::entry() {
  auto *abi = new llvm::GlobalVariable(module, llvm::Type::getInt32Ty(context), /*isConstant=*/true, llvm::GlobalValue::ExternalLinkage,
                                       nullptr, "mhac_runtime_abi_1");
  auto *cache = new llvm::GlobalVariable(module, i64, /*isConstant=*/false, llvm::GlobalValue::InternalLinkage, number(0),
                                         featureCacheName(interface));
  Fields fields = {abi,
                   string(interface.name),
                   string(MHAC_VERSION),
                   string(targetList(interface)),
                   cache,
                   number(interface.argsBytes),
                   number(interface.workspaceOffset),
                   number(interface.workspaceBytesOffset)};
  appendArray(fields, each(interface.sizes, [&](const SizeInfo &info) { return size(info); }));
  appendArray(fields, each(interface.arguments, [&](const ArgumentInfo &info) { return argument(info); }));
  std::vector<llvm::Constant *> candidates;
  for (size_t i = 0; i < interface.candidates.size(); ++i)
    candidates.push_back(candidate(i));
  appendArray(fields, candidates);
  fields.push_back(number(interface.preparedOffset));
  fields.push_back(number(static_cast<int64_t>(interface.prepared.empty() ? 0 : interface.preparedTag())));
  fields.push_back(number(static_cast<int64_t>(interface.positionSizes())));
  appendArray(fields, each(interface.prepared, [&](const PreparedTableInfo &info) { return buffer(info.dtype, info.dims); }));
  return global(table("mhac_entry", fields));
}

/// A public function that inserts the entry's table as one more argument and jumps to the runtime's function.
static void addForwarder(llvm::Module &module, const std::string &name, llvm::StringRef callee, llvm::Type *result, unsigned arguments,
                         unsigned entryPosition, llvm::Constant *entry) {
  llvm::LLVMContext &context = module.getContext();
  llvm::Type *ptr = llvm::PointerType::get(context, 0);
  llvm::SmallVector<llvm::Type *> outer(arguments, ptr), inner(arguments + 1, ptr);
  auto *function = llvm::Function::Create(llvm::FunctionType::get(result, outer, false), llvm::GlobalValue::ExternalLinkage, name, module);
  function->addFnAttr(llvm::Attribute::NoUnwind);
  if (module.getTargetTriple().isX86()) // runs before it is known what the CPU can do
    function->addFnAttr("target-cpu", module.getTargetTriple().isArch64Bit() ? "x86-64" : "i686");
  llvm::IRBuilder<> builder(llvm::BasicBlock::Create(context, "", function));
  llvm::SmallVector<llvm::Value *> values;
  for (llvm::Argument &argument : function->args())
    values.push_back(&argument);
  values.insert(values.begin() + entryPosition, entry);
  llvm::CallInst *call = builder.CreateCall(module.getOrInsertFunction(callee, llvm::FunctionType::get(result, inner, false)), values);
  call->setTailCall();
  if (result->isVoidTy())
    builder.CreateRetVoid();
  else
    builder.CreateRet(call);
}

void addEntryShim(const KernelInterface &interface, llvm::Module &module) {
  llvm::Constant *entry = TableBuilder(interface, module).entry();
  llvm::Type *status = llvm::Type::getInt32Ty(module.getContext()); // mhac_status is an int wide: MHAC_STATUS_FORCE_INT
  addForwarder(module, interface.name, "mhac_kernel_call", status, 2, 1, entry);
  addForwarder(module, interface.name + "_workspace_bytes", "mhac_kernel_workspace_bytes", status, 3, 1, entry);
  if (interface.preparedOffset >= 0) {
    addForwarder(module, interface.name + "_prepare", "mhac_kernel_prepare", status, 3, 1, entry);
    addForwarder(module, interface.name + "_prepared_bytes", "mhac_kernel_prepared_bytes", status, 3, 1, entry);
  }
  addForwarder(module, interface.name + "_info", "mhac_kernel_describe", llvm::Type::getVoidTy(module.getContext()), 1, 0, entry);
}

} // namespace mhac
