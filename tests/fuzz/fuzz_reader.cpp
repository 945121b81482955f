// Mutates specs and reads them: no crash, no exception, every error has a place in the file, a spec without errors is consistent and its printed
// form reads back as itself. Seeded: the same arguments do the same.
//   fuzz_reader <seconds> <seed> <spec.yaml>...     prints the failing text and exits with 1 on a failure
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "spec/SpecPrinter.h"
#include "spec/SpecReader.h"

#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/raw_ostream.h"

#include <chrono>
#include <cstdlib>
#include <random>

using namespace mhac;

// What mutations insert: words of the language, of YAML, and bytes that are neither.
static const std::vector<std::string> snippets = {
    "mhac", "name", "layer", "d_model", "heads", "kv_heads", "head_dim", "pruned_heads", "source", "cross", "projections", "packed", "none", "bias", "shape",
    "batch", "max", "dynamic", "mask", "causal", "padding", "score", "scale", "dtype", "f32", "outputs", "lse", "qk_norm", "gradient", "cache",
    "parameters", "dtype", "dims", "i64", "bool", "expr",
    ": ", ":", "- ", "\n", "\n  ", "\n    ", "{", "}", "[", "]", ", ", "#", "&a ", "*a", "!!str ", "!", "|", ">", "|\n  ", "? ", "---\n",
    "...\n", "%YAML 1.2\n", "'", "\"", "\\", "\\x00", "\\U0010FFFF", "\t", "\r\n", "\xef\xbb\xbf", "\xff\xfe", "\xc3", "\xed\xa0\x80", "~", "null", "true",
    "yes", "0", "-1", "012", "0x10", "1e9", ".nan", "2147483647", "2147483648", "9223372036854775808", "99999999999999999999999", "<<",
    std::string(1, '\0'), std::string(40, '['), std::string(40, '{'), std::string(300, ' '), std::string(200, 'a')};

class Mutator {
public:
  Mutator(std::mt19937_64 &random, const std::vector<std::string> &corpus) : random(random), corpus(corpus) {}

  std::string next() {
    std::string text = pick(corpus);
    for (size_t i = 1 + below(6); i > 0; --i)
      mutate(text);
    return text;
  }

private:
  size_t below(size_t bound) { return bound == 0 ? 0 : random() % bound; }
  const std::string &pick(const std::vector<std::string> &list) { return list[below(list.size())]; }

  void mutate(std::string &text) {
    size_t at = below(text.size() + 1), length = std::min(below(12), text.size() - at);
    switch (below(7)) {
    case 0:
      text.insert(at, pick(snippets));
      break;
    case 1:
      text.replace(at, length, pick(snippets));
      break;
    case 2:
      text.erase(at, length);
      break;
    case 3:
      text.insert(at, text.substr(below(text.size()), below(80)));
      break;
    case 4:
      if (at < text.size())
        text[at] = static_cast<char>(random());
      break;
    case 5:
      text.resize(at);
      break;
    case 6: {
      const std::string &other = pick(corpus);
      text = text.substr(0, at) + other.substr(below(other.size()));
      break;
    }
    }
  }

  std::mt19937_64 &random;
  const std::vector<std::string> &corpus;
};

/// What is wrong with the reader's answer; empty when nothing is.
static std::string check(const std::string &text) {
  Diagnostics diagnostics;
  std::optional<Spec> spec = readSpec(text, "fuzz.yaml", diagnostics);
  size_t lines = std::count(text.begin(), text.end(), '\n') + 1;
  for (const Diagnostic &diagnostic : diagnostics.all()) {
    if (!diagnostic.loc.isKnown() || diagnostic.loc.column == 0 || diagnostic.loc.line > lines + 1 || diagnostic.loc.file != "fuzz.yaml")
      return "a diagnostic without a place in the file: " + diagnostic.message;
    if (diagnostic.message.empty() || diagnostic.message.find('\n') != std::string::npos)
      return "a message that is empty or has several lines: " + diagnostic.message;
  }
  if (!spec)
    return diagnostics.hasErrors() ? "" : "neither a spec nor an error";
  const LayerSpec &layer = spec->layer;
  if (*layer.heads < 1 || *layer.kvHeads < 1 || *layer.heads % *layer.kvHeads != 0 || *layer.headDim < 1 || *layer.vHeadDim < 1 ||
      *layer.dModel < 1 || *layer.kvDModel < 1 || spec->outputs.empty() || int64_t(layer.prunedHeads.size()) >= *layer.heads ||
      (layer.headGroups.empty() && (*layer.heads * *layer.headDim) > 2147483647))
    return "the spec is not consistent";
  if (diagnostics.hasErrors())
    return "";
  std::string printed = printSpec(*spec);
  Diagnostics again;
  std::optional<Spec> second = readSpec(printed, "fuzz.yaml", again);
  if (!second || again.hasErrors() || printSpec(*second) != printed)
    return "the printed form does not read back:\n" + printed + (again.all().empty() ? "" : again.all()[0].message);
  return "";
}

int main(int argc, char **argv) {
  if (argc < 4) {
    llvm::errs() << "usage: fuzz_reader <seconds> <seed> <spec.yaml>...\n";
    return 2;
  }
  std::vector<std::string> corpus;
  for (int i = 3; i < argc; ++i)
    if (auto file = llvm::MemoryBuffer::getFile(argv[i]))
      corpus.push_back((*file)->getBuffer().str());
  if (corpus.empty()) {
    llvm::errs() << "no spec could be read\n";
    return 2;
  }
  std::mt19937_64 random(std::strtoull(argv[2], nullptr, 10));
  Mutator mutator(random, corpus);
  auto end = std::chrono::steady_clock::now() + std::chrono::duration<double>(std::atof(argv[1]));
  size_t runs = 0, valid = 0;
  for (; std::chrono::steady_clock::now() < end; ++runs) {
    std::string text = mutator.next();
    std::string failure = check(text);
    if (!failure.empty()) {
      llvm::errs() << "run " << runs << ", seed " << argv[2] << ": " << failure << "\n--- text\n" << text << "\n---\n";
      return 1;
    }
    Diagnostics diagnostics;
    valid += readSpec(text, "fuzz.yaml", diagnostics).has_value() && !diagnostics.hasErrors();
    // Valid mutants are seeds for more.
    if (!diagnostics.hasErrors() && corpus.size() < 500 && text.size() < 4096)
      corpus.push_back(std::move(text));
  }
  llvm::outs() << runs << " texts read, " << valid << " of them valid\n";
  return runs > 100 && valid > 0 ? 0 : 1;
}
