// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Manifest.h"

#include "llvm/Support/JSON.h"
#include "llvm/Support/MemoryBuffer.h"

namespace mhac::artefact {

namespace json = llvm::json;

std::optional<size_t> Argument::dim(const std::string &wanted) const {
  for (size_t i = 0; i < dims.size(); ++i)
    if (dims[i] == wanted)
      return i;
  return std::nullopt;
}

template <typename T> static const T *find(const std::vector<T> &list, const std::string &name) {
  for (const T &element : list)
    if (element.name == name)
      return &element;
  return nullptr;
}
const SizeField *Manifest::size(const std::string &wanted) const { return find(sizes, wanted); }
const Argument *Manifest::argument(const std::string &wanted) const { return find(arguments, wanted); }
const Target *Manifest::target(const std::string &wanted) const { return find(targets, wanted); }

std::vector<int64_t> shapeOf(const Argument &argument, const SizeValues &sizes) {
  std::vector<int64_t> shape;
  for (const Extent &extent : argument.shape) {
    int64_t blocks = 1;
    if (!extent.size.empty())
      blocks = (sizes.at(extent.size) + extent.divisor - 1) / extent.divisor;
    shape.push_back(blocks * extent.factor);
  }
  return shape;
}

// Reading, with json::Path, which says where in the file something is wrong.

static bool fromJSON(const json::Value &value, SizeField &size, json::Path path) {
  json::ObjectMapper map(value, path);
  return map && map.map("name", size.name) && map.map("offset", size.offset) && map.map("minimum", size.minimum) &&
         map.map("maximum", size.maximum);
}

static bool fromJSON(const json::Value &value, Extent &extent, json::Path path) {
  json::ObjectMapper map(value, path);
  std::optional<std::string> size;
  if (!map || !map.map("size", size) || !map.map("divisor", extent.divisor) || !map.map("factor", extent.factor))
    return false;
  extent.size = size.value_or("");
  if (extent.divisor < 1) {
    path.field("divisor").report("expected a positive number");
    return false;
  }
  return true;
}

template <typename Enum>
static bool fromWord(const std::string &word, std::initializer_list<std::pair<const char *, Enum>> words, Enum &result, json::Path path) {
  for (const auto &[name, value] : words)
    if (word == name) {
      result = value;
      return true;
    }
  path.report("unknown word");
  return false;
}

static bool fromJSON(const json::Value &value, Argument &argument, json::Path path) {
  json::ObjectMapper map(value, path);
  std::string role, dtype;
  if (!map || !map.map("name", argument.name) || !map.map("role", role) || !map.map("dtype", dtype) || !map.map("dims", argument.dims) ||
      !map.map("shape", argument.shape) || !map.map("offset", argument.offset) || !map.map("strides_offset", argument.stridesOffset) ||
      !map.mapOptional("optional", argument.optional) || !map.mapOptional("scales", argument.scales))
    return false;
  std::optional<DType> known = dtypeFromWord(dtype);
  if (!known) {
    path.field("dtype").report("unknown dtype");
    return false;
  }
  argument.dtype = *known;
  if (argument.dims.size() != argument.shape.size()) {
    path.field("shape").report("expected as many extents as 'dims'");
    return false;
  }
  if (const json::Object *check = value.getAsObject()->getObject("check")) {
    std::string kind = check->getString("kind").value_or("none").str();
    argument.checkSize = check->getString("size").value_or("").str();
    argument.checkWith = check->getString("with").value_or("").str();
    if (!fromWord<ValueCheck>(kind, {{"none", ValueCheck::None}, {"range", ValueCheck::Range}, {"sum", ValueCheck::Sum}, {"position", ValueCheck::Position}}, argument.check,
                              path.field("check").field("kind")))
      return false;
  }
  return fromWord<Role>(role, {{"input", Role::Input}, {"weight", Role::Weight}, {"parameter", Role::Parameter}, {"output", Role::Output}},
                        argument.role, path.field("role"));
}

static bool fromJSON(const json::Value &value, Target &target, json::Path path) {
  json::ObjectMapper map(value, path);
  std::string features;
  if (!map || !map.map("name", target.name) || !map.map("features", features))
    return false;
  // "0x…", or hexadecimal digits alone.
  if (llvm::StringRef(features).consume_front("0x") ? llvm::StringRef(features).drop_front(2).getAsInteger(16, target.features)
                                                    : llvm::StringRef(features).getAsInteger(16, target.features)) {
    path.field("features").report("expected a hexadecimal number in a string");
    return false;
  }
  return true;
}

static bool fromJSON(const json::Value &value, Manifest &manifest, json::Path path) {
  json::ObjectMapper map(value, path);
  int64_t schema = 0;
  if (!map || !map.map("schema", schema))
    return false;
  if (schema != 1) {
    path.field("schema").report("expected 1");
    return false;
  }
  if (!map.map("name", manifest.name) || !map.map("spec_file", manifest.specFile) || !map.map("spec", manifest.spec) ||
      !map.map("object", manifest.object) || !map.mapOptional("pointer_bytes", manifest.pointerBytes) || !map.map("args_bytes", manifest.argsBytes) || !map.map("sizes", manifest.sizes) ||
      !map.map("arguments", manifest.arguments) || !map.map("targets", manifest.targets))
    return false;
  const json::Object *symbols = value.getAsObject()->getObject("symbols"), *workspace = value.getAsObject()->getObject("workspace");
  if (!symbols || !workspace) {
    path.report("expected the objects 'symbols' and 'workspace'");
    return false;
  }
  manifest.callSymbol = symbols->getString("call").value_or("").str();
  manifest.workspaceBytesSymbol = symbols->getString("workspace_bytes").value_or("").str();
  manifest.infoSymbol = symbols->getString("info").value_or("").str();
  manifest.prepareSymbol = symbols->getString("prepare").value_or("").str();
  manifest.preparedBytesSymbol = symbols->getString("prepared_bytes").value_or("").str();
  if (const json::Object *prepared = value.getAsObject()->getObject("prepared"))
    manifest.preparedOffset = prepared->getInteger("offset").value_or(-1);
  manifest.workspaceOffset = workspace->getInteger("offset").value_or(-1);
  manifest.workspaceBytesOffset = workspace->getInteger("bytes_offset").value_or(-1);
  return true;
}

/// The fields are offsets into memory that we write: a damaged manifest must not make us write elsewhere.
static std::string checkOffsets(const Manifest &manifest) {
  const int64_t pointer = manifest.pointerBytes;
  if (pointer != 4 && pointer != 8)
    return "the field 'pointer_bytes' is " + std::to_string(pointer) + ", wanted 4 or 8";
  auto inside = [&](int64_t offset) { return offset >= 0 && offset % pointer == 0 && offset + pointer <= manifest.argsBytes; };
  if (manifest.argsBytes < 8 || manifest.argsBytes > 1 << 20 || !inside(manifest.workspaceOffset) || !inside(manifest.workspaceBytesOffset))
    return "the fields 'args_bytes' and 'workspace' do not fit together";
  if (!manifest.prepareSymbol.empty() && !inside(manifest.preparedOffset))
    return "the fields 'args_bytes' and 'prepared' do not fit together";
  for (const SizeField &size : manifest.sizes)
    if (!size.isFixed() && !inside(size.offset))
      return "the size '" + size.name + "' lies outside the argument struct";
  for (const Argument &argument : manifest.arguments) {
    if (!inside(argument.offset) || (argument.stridesOffset >= 0 && !inside(argument.stridesOffset)))
      return "the argument '" + argument.name + "' lies outside the argument struct";
    for (const Extent &extent : argument.shape)
      if (!extent.size.empty() && !manifest.size(extent.size))
        return "the argument '" + argument.name + "' has a dimension of unknown size '" + extent.size + "'";
  }
  return "";
}

std::optional<Manifest> readManifest(const std::string &path, std::string &error) {
  auto buffer = llvm::MemoryBuffer::getFile(path);
  if (!buffer) {
    error = "cannot read " + path + ": " + buffer.getError().message();
    return std::nullopt;
  }
  llvm::Expected<json::Value> value = json::parse((*buffer)->getBuffer());
  if (!value) {
    error = path + " is not JSON: " + llvm::toString(value.takeError());
    return std::nullopt;
  }
  Manifest manifest;
  json::Path::Root root("manifest");
  if (!fromJSON(*value, manifest, root)) {
    error = path + ": " + llvm::toString(root.getError());
    return std::nullopt;
  }
  error = checkOffsets(manifest);
  if (!error.empty()) {
    error = path + ": " + error;
    return std::nullopt;
  }
  size_t slash = path.rfind('/');
  manifest.folder = slash == std::string::npos ? "" : path.substr(0, slash + 1);
  return manifest;
}

} // namespace mhac::artefact
