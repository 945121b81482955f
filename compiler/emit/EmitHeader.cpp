// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "emit/EmitHeader.h"

#include "emit/EntryShim.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/raw_ostream.h"

#include <map>

namespace mhac {

std::string shapeText(const ArgumentInfo &argument) { return "[" + llvm::join(argument.dimNames, ", ") + "]"; }

llvm::StringRef roleText(ArgumentRole role) {
  switch (role) {
  case ArgumentRole::Input:
    return "input";
  case ArgumentRole::Weight:
    return "weight";
  case ArgumentRole::Parameter:
    return "parameter";
  case ArgumentRole::Output:
    return "output";
  }
  return "";
}

namespace {

constexpr size_t lineWidth = 126;

struct Field {
  std::string declaration; // "const float *x"
  std::string comment;
  std::string zero = "0"; // in the _INIT macro
  int64_t bytes = 0;      // 0: those of a pointer
};

class HeaderWriter {
public:
  HeaderWriter(const KernelInterface &interface, Diagnostics &diagnostics)
      : interface(interface), diagnostics(diagnostics), name(interface.name), upper(llvm::StringRef(name).upper()), out(text) {}

  std::optional<std::string> write();

private:
  bool collectFields();
  void writeArgumentTable();
  void writeScales(const ArgumentInfo &weight);
  void writeDescription();
  void writeConstants();
  void writeStruct();
  void writeFunctions();

  const KernelInterface &interface;
  Diagnostics &diagnostics;
  std::string name, upper, text;
  llvm::raw_string_ostream out;
  std::map<int64_t, Field> fields; // by offset
};

} // namespace

/// The dimensions of a weight matrix by their meaning.
static std::string layoutText(const ArgumentInfo &argument) {
  return argument.layout == "in_out" ? "[in_features, out_features]" : "[out_features, in_features]";
}

static std::string rangeText(const SizeInfo &size) {
  return std::to_string(size.minimum) + " .. " + std::to_string(size.maximum);
}

/// What the values inside an integer argument must be; empty when anything goes.
static std::string checkText(const KernelInterface &interface, const ArgumentInfo &argument) {
  if (argument.check == ArgumentCheck::Position)
    return "-2^30 <= value <= 2^30";
  if (argument.check == ArgumentCheck::None || argument.checkSize < 0)
    return "";
  std::string bound = interface.sizes[argument.checkSize].name;
  std::string text = "0 <= value <= " + bound;
  if (argument.check == ArgumentCheck::Sum && argument.checkWith >= 0)
    text += ", value + " + interface.arguments[argument.checkWith].name + " <= " + bound;
  return text;
}

bool HeaderWriter::collectFields() {
  fields[0] = {"size_t struct_size", "set by " + upper + "_ARGS_INIT", "sizeof(" + name + "_args)"};
  for (const SizeInfo &size : interface.sizes)
    if (!size.isFixed())
      fields[size.offset] = {"int64_t " + size.name, rangeText(size), "0", sizeof(int64_t)};
  for (const ArgumentInfo &argument : interface.arguments) {
    std::string type(dtypeInfo(argument.dtype).cType);
    std::string check = checkText(interface, argument);
    std::string layout = argument.layout.empty() ? "" : ": " + layoutText(argument);
    std::string format = dtypeInfo(argument.dtype).isBits() ? std::string(dtypeInfo(argument.dtype).word) + " " : "";
    fields[argument.offset] = {(argument.isOutput() ? "" : "const ") + type + " *" + argument.name,
                               format + shapeText(argument) + layout + (check.empty() ? "" : "; " + check)};
    if (argument.stridesOffset >= 0)
      fields[argument.stridesOffset] = {"const int64_t *" + argument.name + "_strides",
                                        std::to_string(argument.dims.size()) + " strides in elements; NULL: dense"};
  }
  fields[interface.workspaceOffset] = {"void *workspace", "scratch, any alignment; NULL: the context's allocator gives it"};
  fields[interface.workspaceBytesOffset] = {"size_t workspace_bytes", "of workspace"};
  if (interface.preparedOffset >= 0)
    fields[interface.preparedOffset] = {"const void *prepared", "made by " + name + "_prepare; NULL: the call computes what it needs"};

  int64_t next = 0, alignment = interface.pointerBytes; // where C places them: a hole or an overlap would shift everything after it
  for (const auto &[offset, field] : fields) {
    const int64_t bytes = field.bytes ? field.bytes : interface.pointerBytes, wanted = llvm::alignTo(next, bytes);
    if (offset != wanted) {
      diagnostics.internal({}, "field '" + field.declaration + "' of the argument struct is at offset " + std::to_string(offset) +
                                   ", wanted " + std::to_string(wanted));
      return false;
    }
    next = offset + bytes;
    alignment = std::max(alignment, bytes);
  }
  next = llvm::alignTo(next, alignment);
  if (next != interface.argsBytes) {
    diagnostics.internal({}, "the argument struct has " + std::to_string(next) + " bytes, wanted " + std::to_string(interface.argsBytes));
    return false;
  }
  return true;
}

void HeaderWriter::writeArgumentTable() {
  size_t nameWidth = 8, typeWidth = 7, shapeWidth = 5;
  // C has no type for narrow floats: their bits, with the format behind.
  auto typeText = [](const DTypeInfo &dtype) { return std::string(dtype.cType) + (dtype.isBits() ? " (" + std::string(dtype.word) + ")" : ""); };
  for (const ArgumentInfo &argument : interface.arguments) {
    typeWidth = std::max(typeWidth, typeText(dtypeInfo(argument.dtype)).size());
    nameWidth = std::max(nameWidth, argument.name.size());
    shapeWidth = std::max(shapeWidth, shapeText(argument).size());
  }
  auto row = [&](llvm::StringRef argument, llvm::StringRef role, llvm::StringRef type, llvm::StringRef shape, llvm::StringRef layout) {
    out << " *   " << llvm::left_justify(argument, nameWidth + 2) << llvm::left_justify(role, 11) << llvm::left_justify(type, typeWidth + 2)
        << llvm::left_justify(shape, shapeWidth + 2) << layout << "\n";
  };
  row("argument", "role", "type", "shape", "layout in memory");
  for (const ArgumentInfo &argument : interface.arguments) {
    std::string layout = argument.stridesOffset < 0 ? "dense, row-major" : "dense, row-major, or as " + argument.name + "_strides says";
    if (!argument.layout.empty())
      layout += ", " + layoutText(argument);
    row(argument.name, roleText(argument.role), typeText(dtypeInfo(argument.dtype)), shapeText(argument), layout);
  }
  const bool isNarrow = llvm::any_of(interface.arguments, [](const ArgumentInfo &argument) {
    return dtypeInfo(argument.dtype).isNarrowFloat() && !dtypeInfo(argument.dtype).isScaled();
  });
  if (isNarrow)
    out << " *\n"
        << " * bf16 and f16 are the bits of a number: of bf16 the upper half of a float's, of f16 those of IEEE 754 binary16. What is\n"
        << " * computed is float, and rounded once, when it is stored: to nearest, ties to even, too large to infinite.\n";
  for (const ArgumentInfo &argument : interface.arguments)
    if (argument.scales >= 0) {
      writeScales(argument);
      break;
    }
  out << " *\n"
      << " * Shapes are outermost dimension first. Strides count elements, one a dimension: 0 is allowed on inputs (broadcast),\n"
      << " * negative ones are errors, the innermost must be 1, and two elements of an output must not coincide. Pointers are aligned\n"
      << " * to the size of an element; a tensor without elements may be NULL, one with elements spans at most 2147483647. Inputs,\n"
      << " * weights and parameters may overlap each other; outputs and the workspace must overlap nothing else.";
}

/// All weights of a layer are of one format.
void HeaderWriter::writeScales(const ArgumentInfo &weight) {
  const DTypeInfo &dtype = dtypeInfo(weight.dtype);
  const std::string word(dtype.word);
  out << " *\n"
      << " * A weight is its " << word << " number times a scale: that of its output feature, and of its group of input features where there are\n"
      << " * several, scales [out_features, groups]. mhac_quantize_weights of <mhac/runtime.h> makes both from floats.\n";
  if (dtype.numbersPerByte() > 1)
    out << " * " << word << " numbers are two's complement, two a byte, the first one in the low four bits; a row begins with a byte of its own.\n";
}

void HeaderWriter::writeDescription() {
  if (!interface.description.empty())
    out << "\n *\n * The layer; indices count from 0 and divisions of integers round down:\n *";
  for (const std::string &line : interface.description) {
    // Broken between words, before the column where lines end.
    llvm::StringRef rest = line;
    for (llvm::StringRef indent = "   "; !rest.empty(); indent = "     ") {
      size_t room = lineWidth - 2 - indent.size(), end = rest.size() <= room ? rest.size() : rest.rfind(' ', room);
      end = end == llvm::StringRef::npos || end == 0 ? rest.size() : end;
      out << "\n *" << indent << rest.take_front(end);
      rest = rest.drop_front(end).ltrim();
    }
  }
  out << " */\n";
}

void HeaderWriter::writeConstants() {
  out << "/* What the kernels were compiled for. */\n";
  for (const auto &[constant, value] : interface.constants)
    out << "#define " << upper << "_" << llvm::StringRef(constant).upper() << " " << value << "\n";
  for (const SizeInfo &size : interface.sizes) {
    std::string macro = upper + "_" + llvm::StringRef(size.name).upper();
    if (size.isFixed())
      out << "#define " << macro << " " << size.minimum << "\n";
    else
      out << "#define " << macro << "_MAX INT64_C(" << size.maximum << ")\n";
  }
  out << "\n";
}

void HeaderWriter::writeStruct() {
  size_t width = 0;
  for (const auto &[offset, field] : fields)
    width = std::max(width, field.declaration.size());
  out << "/* Arguments of a call. The caller owns everything it points to; nothing is kept after the call. */\n"
      << "typedef struct " << name << "_args {\n";
  for (const auto &[offset, field] : fields)
    out << "  " << llvm::left_justify(field.declaration + ";", width + 2) << "/* " << field.comment << " */\n";
  out << "} " << name << "_args;\n\n#define " << upper << "_ARGS_INIT {";
  llvm::interleave(fields, out, [&](const auto &field) { out << field.second.zero; }, ", ");
  out << "}\n\n";
}

void HeaderWriter::writeFunctions() {
  out << "/* Computes the layer. Everything is checked before memory is written: on any status but OK the outputs are untouched,\n"
      << " * except after INTERNAL and failures of the context's own parallel_for.\n"
      << " * context: allocator, threads and the place for messages (mhac_context_message says what was found and wanted);\n"
      << " *   NULL: runs in the calling thread, needs a workspace and leaves no message.\n"
      << " * args: see above. With a workspace of at least the bytes that " << name << "_workspace_bytes gives, nothing is allocated.\n"
      << " * Thread-safe and re-entrant: any number of calls at a time, each with its own context, outputs and workspace.\n"
      << " * Status: OK, NULL_ARGUMENT, STRUCT_SIZE, SIZE_NEGATIVE, SIZE_BOUND, SIZE_TOO_LARGE, STRIDE, ALIGNMENT, VALUE_RANGE,\n"
      << " *   WORKSPACE_SIZE, WORKSPACE_MISSING, OUT_OF_MEMORY, UNSUPPORTED_CPU, FORKED, INTERNAL"
      << (interface.preparedOffset >= 0 ? ", PREPARED" : "") << ". */\n"
      << "mhac_status " << name << "(mhac_context *context, const " << name << "_args *args);\n\n"
      << "/* The bytes of workspace that a call with this context and the sizes in args needs, 0 when no output has an element; pointers\n"
      << " * in args are not read. It depends on the context's concurrency; NULL: for a call without a context. Thread-safe as above.\n"
      << " * Status: OK, NULL_ARGUMENT, STRUCT_SIZE, SIZE_NEGATIVE, SIZE_BOUND, SIZE_TOO_LARGE, UNSUPPORTED_CPU. */\n"
      << "mhac_status " << name << "_workspace_bytes(mhac_context *context, const " << name << "_args *args, size_t *bytes);\n\n";
  if (interface.preparedOffset >= 0)
    out << "/* Makes what calls would otherwise compute each time (tables of the rotary encoding), once: args->prepared of any number of calls. It has no\n"
        << " * pointers and is never written again, so threads may share it, and calls with and without it give the same bits. It serves calls whose\n"
        << " * sequences are at most as long as the sizes in args say here; a longer call is answered with PREPARED. Nothing but the sizes in args is read.\n"
        << " * prepared: " << name << "_prepared_bytes bytes of the caller, aligned to 64. Runs in the calling thread and allocates nothing.\n"
        << " * Status: OK, NULL_ARGUMENT, STRUCT_SIZE, SIZE_NEGATIVE, SIZE_BOUND, SIZE_TOO_LARGE, ALIGNMENT, UNSUPPORTED_CPU, INTERNAL. */\n"
        << "mhac_status " << name << "_prepare(mhac_context *context, const " << name << "_args *args, void *prepared);\n"
        << "mhac_status " << name << "_prepared_bytes(mhac_context *context, const " << name << "_args *args, size_t *bytes);\n\n";
  out << "/* Name, version and targets of these kernels. The caller sets info->struct_size; the strings are static. Thread-safe. */\n"
      << "void " << name << "_info(mhac_kernel_info *info);\n";
}

std::optional<std::string> HeaderWriter::write() {
  if (!collectFields())
    return std::nullopt;
  out << "/* generated by mhac " MHAC_VERSION " from " << interface.specFile << " for " << targetList(interface) << "; do not edit\n *\n"
      << " * Arguments of " << name << ":\n *\n";
  writeArgumentTable();
  writeDescription();
  std::string guard = "MHAC_GENERATED_" + name + "_H"; // the exact name: headers of `enc` and `Enc` may meet
  out << "#ifndef " << guard << "\n#define " << guard << "\n\n#include <mhac/runtime.h>\n\n"
      << "#if MHAC_ABI_VERSION != 1\n#error \"this header needs the mhac runtime with ABI version 1\"\n#endif\n\n"
      << "#ifdef __cplusplus\nextern \"C\" {\n#endif\n\n";
  writeConstants();
  writeStruct();
  writeFunctions();
  out << "\n#ifdef __cplusplus\n}\n#endif\n#endif\n";
  return std::move(text);
}

std::optional<std::string> emitHeader(const KernelInterface &interface, Diagnostics &diagnostics) {
  return HeaderWriter(interface, diagnostics).write();
}

} // namespace mhac
