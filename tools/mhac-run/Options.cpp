// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Options.h"

#include "spec/DidYouMean.h"

#include "llvm/ADT/SmallVector.h"

#include <charconv>
#include <cstdio>
#include <functional>
#include <sstream>

namespace mhac::artefact {

namespace {

/// A row of the option table: `take` gets the value ("" for options without one) and says whether it understood it.
struct OptionRow {
  const char *name, *value, *help;
  std::function<bool(Options &, const std::string &)> take;
};

template <typename T> bool readNumber(const std::string &text, int64_t minimum, T &result) {
  int64_t number = 0;
  auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (code != std::errc() || end != text.data() + text.size() || number < minimum)
    return false;
  result = T(number);
  return true;
}

std::vector<std::string> split(const std::string &text) {
  std::vector<std::string> words;
  std::istringstream stream(text);
  for (std::string word; std::getline(stream, word, ',');)
    words.push_back(word);
  return words;
}

bool readNumbers(const std::string &text, int64_t minimum, std::vector<int64_t> &result) {
  result.clear();
  for (const std::string &word : split(text)) {
    int64_t number = 0;
    if (!readNumber(word, minimum, number))
      return false;
    result.push_back(number);
  }
  return !result.empty();
}

const std::vector<OptionRow> &table() {
  static const std::vector<OptionRow> rows = {
      {"--batch", "<n,...>", "batch sizes to run (default 1)", [](Options &o, auto &v) { return readNumbers(v, 0, o.batch); }},
      {"--query", "<n,...>", "query counts to run (default 128)", [](Options &o, auto &v) { return readNumbers(v, 0, o.query); }},
      {"--key", "<n,...>", "key counts to run (default: as many as queries)", [](Options &o, auto &v) { return readNumbers(v, 0, o.key); }},
      {"--threads", "<n,...>", "threads of the context; 0 = call without a context (default 1)",
       [](Options &o, auto &v) { return readNumbers(v, 0, o.threads); }},
      {"--target", "<t,...>", "targets of the artefact to run (default: the best one for this machine)",
       [](Options &o, auto &v) { return !(o.targets = split(v)).empty(); }},
      {"--seed", "<n>", "of the random inputs (default 1)", [](Options &o, auto &v) { return readNumber(v, 0, o.seed); }},
      {"--strided", "", "give arguments that take strides gaps, exchanged dimensions and broadcasts",
       [](Options &o, auto &) { return o.strided = true; }},
      {"--check", "", "compare with the reference (default)", [](Options &o, auto &) { return o.check = true; }},
      {"--no-check", "", "do not compare", [](Options &o, auto &) { return !(o.check = false); }},
      {"--rows", "<n>", "rows of the output to compare, 0 = all (default 64)", [](Options &o, auto &v) { return readNumber(v, 0, o.rows); }},
      {"--bench", "", "time the calls, and measure peak and bandwidth between them", [](Options &o, auto &) { return o.bench = true; }},
      {"--series", "<n>", "of calls when benchmarking (default 3)", [](Options &o, auto &v) { return readNumber(v, 1, o.series); }},
      {"--calls", "<n>", "in a series, fewer when they take longer than 2 s (default 60)",
       [](Options &o, auto &v) { return readNumber(v, 1, o.calls); }},
      {"--json", "", "print one JSON object a call or, with --bench, a measurement", [](Options &o, auto &) { return o.json = true; }},
      {"--spec", "<file>", "the spec to check with, instead of the one in the manifest",
       [](Options &o, auto &v) { return !(o.specFile = v).empty(); }},
      {"--runtime", "<file>", "libmhac_runtime.a for artefacts that are .o or .a (default: the one that belongs to this program)",
       [](Options &o, auto &v) { return !(o.runtimeArchive = v).empty(); }},
  };
  return rows;
}

void printHelp() {
  std::printf("usage: mhac-run [options] <manifest.json>...\n\n"
              "Calls compiled attention layers by their manifests with random inputs, compares them with the reference and times them.\n\n");
  for (const OptionRow &row : table())
    std::printf("  %-22s %s\n", (std::string(row.name) + (*row.value ? "=" : "") + row.value).c_str(), row.help);
  std::printf("\nexit codes: 0 ok, 1 wrong result or failed call, 2 wrong usage, or a file that cannot be read, 3 no target runs on this CPU\n");
}

} // namespace

std::optional<Options> readOptions(int argc, char **argv, int &exitCode) {
  Options options;
  exitCode = 2;
  for (int i = 1; i < argc; ++i) {
    std::string argument = argv[i];
    if (argument == "--help" || argument == "-h") {
      printHelp();
      exitCode = 0;
      return std::nullopt;
    }
    if (argument.rfind("-", 0) != 0) {
      options.manifests.push_back(argument);
      continue;
    }
    size_t equals = argument.find('=');
    std::string name = argument.substr(0, equals), value = equals == std::string::npos ? "" : argument.substr(equals + 1);
    const OptionRow *row = nullptr;
    for (const OptionRow &candidate : table())
      if (name == candidate.name)
        row = &candidate;
    if (!row) {
      llvm::SmallVector<llvm::StringRef> known{"--help"};
      for (const OptionRow &candidate : table())
        known.push_back(candidate.name);
      std::string remedy = didYouMean(name, known);
      std::fprintf(stderr, "mhac-run: error: unknown option '%s'%s\n", name.c_str(), remedy.empty() ? ", see --help" : remedy.c_str());
      return std::nullopt;
    }
    if (*row->value && equals == std::string::npos && i + 1 < argc)
      value = argv[++i];
    if ((!*row->value && equals != std::string::npos) || !row->take(options, value)) {
      std::fprintf(stderr, "mhac-run: error: '%s': found '%s', wanted %s\n", name.c_str(), value.c_str(), *row->value ? row->value : "no value");
      return std::nullopt;
    }
  }
  if (options.manifests.empty()) {
    std::fprintf(stderr, "mhac-run: error: no manifest is named, see --help\n");
    return std::nullopt;
  }
  exitCode = 0;
  return options;
}

} // namespace mhac::artefact
