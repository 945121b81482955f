// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "driver/MlirDiagnostics.h"

#include "attention/SourceLocations.h"

namespace mhac {

MlirDiagnostics::MlirDiagnostics(mlir::MLIRContext &context, Diagnostics &diagnostics)
    : ScopedDiagnosticHandler(&context) {
  setHandler([&diagnostics](mlir::Diagnostic &from) {
    if (from.getSeverity() == mlir::DiagnosticSeverity::Note || from.getSeverity() == mlir::DiagnosticSeverity::Remark)
      return mlir::success();
    Severity severity = from.getSeverity() == mlir::DiagnosticSeverity::Warning ? Severity::Warning : Severity::Error;
    Diagnostic &report = diagnostics.add(severity, sourceLocation(from.getLocation()), from.str());
    for (mlir::Diagnostic &note : from.getNotes())
      report.notes.push_back({Severity::Note, sourceLocation(note.getLocation()), 1, note.str(), {}});
    return mlir::success();
  });
}

} // namespace mhac
