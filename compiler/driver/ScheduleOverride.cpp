// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "driver/ScheduleOverride.h"

#include "attention/AttentionDialect.h"

#include "mlir/AsmParser/AsmParser.h"

#include "llvm/Support/MemoryBuffer.h"

using namespace mlir;

namespace mhac {

static void overrideOne(ModuleOp scheduled, StringRef line, const SourceLocation &loc, Diagnostics &diagnostics) {
  StringRef name = attn::AttentionOp::getOperationName(), attribute = line;
  if (!line.starts_with("#")) {
    std::tie(name, attribute) = line.split('=');
    name = name.trim();
  }
  std::string reason;
  Attribute parsed;
  {
    // The parser's own place is one in the attribute, not in a file.
    ScopedDiagnosticHandler handler(scheduled.getContext(), [&](mlir::Diagnostic &from) { reason = " (" + from.str() + ")"; });
    parsed = parseAttribute(attribute.trim(), scheduled.getContext());
  }
  auto schedule = dyn_cast_or_null<attn::ScheduleAttr>(parsed);
  if (!schedule) {
    diagnostics.error(loc, "--schedule must be [<op>=]#attn.schedule<...>, found '" + line.str() + "'" + reason);
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
    diagnostics.error(loc, "--schedule: no op '" + name.str() + "' with a schedule in this layer");
}

void overrideSchedules(ModuleOp scheduled, StringRef text, Diagnostics &diagnostics) {
  if (!text.consume_front("@"))
    return overrideOne(scheduled, text.trim(), {}, diagnostics);
  auto buffer = llvm::MemoryBuffer::getFile(text, /*IsText=*/true);
  if (!buffer) {
    diagnostics.error({}, "cannot read '" + text.str() + "': " + buffer.getError().message());
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
