// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "driver/Diagnostics.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/raw_ostream.h"

#include <algorithm>

using llvm::StringRef;

namespace mhac {

// Longer lines are shown as a window around the caret.
constexpr size_t maxShownLine = 160;

static bool isWarning(Severity severity) { return severity == Severity::Warning || severity == Severity::PerformanceWarning; }
static bool isHidden(Severity severity, const Options &options) {
  return severity == Severity::PerformanceWarning && options.noPerformanceWarnings;
}

/// What is shown: nothing that options hide, and what has the same place and text once (ops of one kind often come from one line).
static std::vector<const Diagnostic *> shownDiagnostics(const Diagnostics &diagnostics, const Options &options) {
  std::vector<const Diagnostic *> shown;
  for (const Diagnostic &each : diagnostics.all()) {
    bool isRepeated = llvm::any_of(shown, [&](const Diagnostic *other) {
      return other->severity == each.severity && other->message == each.message && other->loc.file == each.loc.file &&
             other->loc.line == each.loc.line && other->loc.column == each.loc.column;
    });
    if (!isHidden(each.severity, options) && !isRepeated)
      shown.push_back(&each);
  }
  return shown;
}

static StringRef labelOf(Severity severity, const Options &options) {
  if (isWarning(severity) && options.werror)
    return "error";
  switch (severity) {
  case Severity::Note:
    return "note";
  case Severity::PerformanceWarning:
    return "performance warning";
  case Severity::Warning:
    return "warning";
  case Severity::Error:
  case Severity::Usage:
  case Severity::Unsupported:
    return "error";
  case Severity::Internal:
    return "internal error";
  }
  return "";
}

static StringRef lineOf(StringRef text, unsigned line) {
  for (; line > 1 && !text.empty(); --line)
    text = text.split('\n').second;
  return text.split('\n').first.rtrim('\r');
}

/// The line and, below it, the caret; columns are bytes, so the padding counts characters.
static void printLine(llvm::raw_ostream &os, StringRef written, unsigned column, unsigned length) {
  if (written.empty() || column == 0 || column > written.size() + 1)
    return;
  // Nothing that a terminal would obey, and no bytes that are no characters.
  std::string printable = written.str();
  bool isText = llvm::json::isUTF8(written);
  for (char &c : printable) {
    unsigned char byte = c;
    c = byte < 0x20 || byte == 0x7F ? ' ' : byte >= 0x80 && !isText ? '?' : c;
  }
  StringRef line = printable;
  size_t first = 0;
  if (line.size() > maxShownLine && column > maxShownLine / 2)
    first = std::min<size_t>(column - maxShownLine / 2, line.size());
  auto isContinuation = [](char c) { return (static_cast<unsigned char>(c) & 0xC0) == 0x80; };
  while (first > 0 && first < line.size() && isContinuation(line[first]))
    --first;
  StringRef shown = line.substr(first, maxShownLine);
  os << "  " << shown << "\n  ";
  for (char c : shown.take_front(column - 1 - first))
    if (!isContinuation(c))
      os << ' ';
  os << '^';
  StringRef marked = shown.drop_front(std::min<size_t>(column - 1 - first, shown.size())).take_front(length);
  size_t characters = std::count_if(marked.begin(), marked.end(), [&](char c) { return !isContinuation(c); });
  os << std::string(characters > 1 ? characters - 1 : 0, '~') << '\n';
}

static void print(llvm::raw_ostream &os, const Diagnostic &diagnostic, StringRef file, StringRef text, const Options &options) {
  const SourceLocation &loc = diagnostic.loc;
  if (loc.isKnown())
    os << loc.file << ':' << loc.line << ':' << loc.column << ": ";
  else
    os << "mhac: ";
  os << labelOf(diagnostic.severity, options) << ": " << diagnostic.message << '\n';
  if (loc.isKnown() && loc.file == file)
    printLine(os, lineOf(text, loc.line), loc.column, diagnostic.length);
  for (const Diagnostic &note : diagnostic.notes)
    print(os, note, file, text, options);
}

std::string formatDiagnostics(const Diagnostics &diagnostics, StringRef file, StringRef text, const Options &options) {
  std::vector<const Diagnostic *> sorted = shownDiagnostics(diagnostics, options);
  std::stable_sort(sorted.begin(), sorted.end(), [](const Diagnostic *a, const Diagnostic *b) {
    auto key = [](const Diagnostic *d) { return std::pair(d->loc.isKnown() ? d->loc.line : ~0u, d->loc.column); };
    return key(a) < key(b);
  });
  std::string result;
  llvm::raw_string_ostream os(result);
  bool internal = false;
  for (const Diagnostic *diagnostic : sorted) {
    print(os, *diagnostic, file, text, options);
    internal |= diagnostic->severity == Severity::Internal;
  }
  if (internal)
    os << "mhac: note: an internal error is a bug in mhac; please report it together with the input\n";
  return result;
}

int exitCodeOf(const Diagnostics &diagnostics, const Options &options) {
  if (int code = diagnostics.exitCode())
    return code;
  for (const Diagnostic &diagnostic : diagnostics.all())
    if (options.werror && isWarning(diagnostic.severity) && !isHidden(diagnostic.severity, options))
      return 1;
  return 0;
}

namespace {

struct Expectation {
  StringRef kind; // "error"
  unsigned line;  // where the diagnostic must be; 0: anywhere
  unsigned written;
  StringRef text;
  bool met = false;
};

} // namespace

static StringRef kindOf(Severity severity) {
  switch (severity) {
  case Severity::Note:
    return "note";
  case Severity::PerformanceWarning:
  case Severity::Warning:
    return "warning";
  case Severity::Error:
    return "error";
  case Severity::Usage:
    return "usage";
  case Severity::Unsupported:
    return "unsupported";
  case Severity::Internal:
    return "internal";
  }
  return "";
}

static std::vector<Expectation> readExpectations(StringRef text, llvm::raw_ostream &errors) {
  std::vector<Expectation> result;
  for (unsigned number = 1; !text.empty(); ++number) {
    auto [line, rest] = text.split('\n');
    text = rest;
    for (StringRef left = line; left.contains("expected-");) {
      left = left.split("expected-").second;
      StringRef kind = left.take_while([](char c) { return c >= 'a' && c <= 'z'; });
      left = left.drop_front(kind.size());
      Expectation expectation{kind, number, number, {}, false};
      if (left.consume_front("@*")) {
        expectation.line = 0;
      } else if (left.consume_front("@")) {
        bool back = left.consume_front("-");
        left.consume_front("+");
        unsigned distance = 0;
        left.consumeInteger(10, distance);
        expectation.line = back ? number - distance : number + distance;
      }
      left = left.ltrim();
      if (!left.consume_front("{{") || !left.contains("}}")) {
        errors << "line " << number << ": an expectation reads expected-" << kind << "@+n {{text}}\n";
        continue;
      }
      expectation.text = left.split("}}").first;
      result.push_back(expectation);
    }
  }
  return result;
}

std::string verifyDiagnostics(const Diagnostics &diagnostics, StringRef file, StringRef text, const Options &options) {
  std::string result;
  llvm::raw_string_ostream os(result);
  std::vector<Expectation> expectations = readExpectations(text, os);
  auto match = [&](const Diagnostic &diagnostic) {
    for (Expectation &expectation : expectations)
      if (!expectation.met && expectation.kind == kindOf(diagnostic.severity) &&
          (expectation.line == 0 || (diagnostic.loc.file == file && expectation.line == diagnostic.loc.line)) &&
          StringRef(diagnostic.message).contains(expectation.text)) {
        expectation.met = true;
        return;
      }
    os << "unexpected " << kindOf(diagnostic.severity) << " in line " << diagnostic.loc.line << ": " << diagnostic.message << '\n';
  };
  for (const Diagnostic *diagnostic : shownDiagnostics(diagnostics, options)) {
    match(*diagnostic);
    for (const Diagnostic &note : diagnostic->notes)
      match(note);
  }
  for (const Expectation &expectation : expectations)
    if (!expectation.met)
      os << "line " << expectation.written << ": missing " << expectation.kind << ": " << expectation.text << '\n';
  return result;
}

} // namespace mhac
