// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "driver/ScheduleOverride.h"

#include "attention/AttentionDialect.h"

#include "mlir/AsmParser/AsmParser.h"

#include "llvm/Support/MemoryBuffer.h"

using namespace mlir;

namespace mhac {

constexpr StringRef wanted = "--schedule must be [<op>=]#attn.schedule<rule = \"...\", reason = \"...\", tiles = {<name> = <integer>, ...}>";

/// What the parser said about the text of a schedule, in the words of the user. Its first message is about the text; of a wrong parameter the
/// last one has the name, beside C++ types.
static std::string parseReason(ArrayRef<std::string> messages) {
  for (StringRef message : messages)
    if (message.contains("to parse Attn_")) {
      StringRef parameter = message.split('\'').second.split('\'').first;
      return ("'" + parameter + "' must be " + (parameter == "tiles" ? "{<name> = <integer>, ...}" : "a string")).str();
    }
  return messages.empty() ? "" : messages.front();
}

static bool areIntegers(DictionaryAttr tiles) {
  return llvm::all_of(tiles, [](NamedAttribute tile) { return isa<IntegerAttr>(tile.getValue()); });
}

static void overrideOne(ModuleOp scheduled, StringRef line, const SourceLocation &loc, Diagnostics &diagnostics) {
  StringRef name = attn::AttentionOp::getOperationName(), attribute = line;
  if (!line.starts_with("#")) {
    std::tie(name, attribute) = line.split('=');
    name = name.trim();
  }
  SmallVector<std::string> messages;
  Attribute parsed;
  {
    // The parser's own place is one in the attribute, not in a file.
    ScopedDiagnosticHandler handler(scheduled.getContext(), [&](mlir::Diagnostic &from) { messages.push_back(from.str()); });
    parsed = parseAttribute(attribute.trim(), scheduled.getContext());
  }
  std::string reason = parseReason(messages);
  auto schedule = dyn_cast_or_null<attn::ScheduleAttr>(parsed);
  if (schedule && !areIntegers(schedule.getTiles())) {
    reason = "a tile size must be an integer";
    schedule = nullptr;
  }
  if (!schedule) {
    bool isOne = attribute.trim().starts_with("#attn.schedule");
    diagnostics.usage(loc, wanted.str() + ", found '" + line.str() + "'" + (isOne && !reason.empty() ? "; " + reason : ""));
    return;
  }
  bool found = false;
  scheduled.walk([&](Operation *op) {
    if (op->getName().getStringRef() != name || !op->hasAttr("schedule"))
      return;
    op->setAttr("schedule", schedule);
    found = true;
  });
  if (!found)
    diagnostics.usage(loc, "--schedule: no op '" + name.str() + "' with a schedule in this layer");
}

void overrideSchedules(ModuleOp scheduled, StringRef text, Diagnostics &diagnostics) {
  if (!text.consume_front("@"))
    return overrideOne(scheduled, text.trim(), {}, diagnostics);
  auto buffer = llvm::MemoryBuffer::getFile(text, /*IsText=*/true);
  if (!buffer) {
    diagnostics.usage({}, "--schedule: cannot read '" + text.str() + "': " + buffer.getError().message());
    return;
  }
  SourceLocation loc{text.str(), 1, 1};
  SmallVector<StringRef> lines;
  (*buffer)->getBuffer().split(lines, '\n');
  for (StringRef line : lines) {
    StringRef content = line.split("//").first.trim();
    if (!content.empty())
      overrideOne(scheduled, content, loc, diagnostics);
    loc.line += 1;
  }
}

} // namespace mhac
