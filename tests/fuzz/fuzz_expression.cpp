// Mutates expressions and reads them: no crash, every error lies in the text, and what is accepted can be evaluated. Seeded: the same arguments do
// the same.
//   fuzz_expression <seconds> <seed>     prints the failing text and exits with 1 on a failure
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "reference/expressions.h"

#include "llvm/Support/raw_ostream.h"

#include <chrono>
#include <cstdlib>
#include <random>

using namespace mhac;

static const std::vector<ExpressionParameter> parameters = {
    {"n", ExpressionType::Integer, ""}, {"t", ExpressionType::Float, "hk"}, {"flag", ExpressionType::Boolean, "b"}};

static const std::vector<std::string> snippets = {
    "q", "k", "h", "b", "s", "queries", "keys", "n", "t", "flag", "t[h, k]", "flag[b]", " and ", " or ", " not ", "min(", "max(", "abs(", "exp(", "log(",
    "tanh(", "where(", "(", ")", "[", "]", ",", "+", "-", "*", "/", "//", "%", "<", "<=", ">", ">=", "==", "!=", "=", "!", "&&", "**", "0", "1", "2147483647",
    "2147483648", "99999999999999999999", "1.5", ".5", "1e9", "1e-99", "1e999", "12k", "1..2", " ", "\n", "\t", "\xc3\xa4", "\xff", "\"", "#", std::string(1, '\0'),
    std::string(70, '('), std::string(70, '-'), std::string(5000, ' ')};

/// What is wrong with the answer; empty when nothing is.
static std::string check(const std::string &text, size_t &valid) {
  static const int64_t n[] = {-3};
  static const float t[] = {0, 1, 2, 3, 4, 5};
  static const uint8_t flag[] = {0, 2};
  static const reference::Tensors inputs = {
      {"n", {DType::I64, n, {1}, {1}}}, {"t", {DType::F32, t, {2, 3}, {3, 1}}}, {"flag", {DType::Bool, flag, {2}, {1}}}};
  for (ExpressionUse use : {ExpressionUse::Mask, ExpressionUse::Score}) {
    ExpressionError error;
    std::optional<Expression> tree = parseExpression(text, use, parameters, error);
    if (!tree) {
      if (error.message.empty() || error.length == 0 || error.offset > text.size() || error.offset + error.length > text.size() + 1)
        return "an error without a place in the text: " + error.message;
      continue;
    }
    ++valid;
    if (tree->depth > maxExpressionDepth + 1 || text.size() > maxExpressionLength)
      return "an expression beyond the limits is accepted";
    if (!usedParameters(*tree).empty() && usedParameters(*tree).back() >= parameters.size())
      return "a parameter that does not exist";
    reference::ExpressionPoint point{1, 1, 2, 2, 7, 5, 8, 3};
    if (use == ExpressionUse::Mask)
      reference::evaluateMask(*tree, parameters, inputs, point);
    else
      reference::evaluateScore<double>(*tree, parameters, inputs, point, 0.5);
  }
  return "";
}

int main(int argc, char **argv) {
  if (argc != 3) {
    llvm::errs() << "usage: fuzz_expression <seconds> <seed>\n";
    return 2;
  }
  std::mt19937_64 random(std::strtoull(argv[2], nullptr, 10));
  auto below = [&](size_t bound) { return bound == 0 ? 0 : random() % bound; };
  std::vector<std::string> corpus = {"k <= q and q - k < 512", "where(flag, s, s * t[h, k // 2]) - 0.5 * abs(q - k)", "not (q % 4 == k % 4) or flag[b + 1]",
                                     "5 * tanh(s / 5) + log(1 + exp(min(s, 3)))"};
  auto end = std::chrono::steady_clock::now() + std::chrono::duration<double>(std::atof(argv[1]));
  size_t runs = 0, valid = 0;
  for (; std::chrono::steady_clock::now() < end; ++runs) {
    std::string text = corpus[below(corpus.size())];
    for (size_t i = 1 + below(5); i > 0; --i) {
      size_t at = below(text.size() + 1), length = std::min<size_t>(below(8), text.size() - at);
      if (below(5) == 0)
        text.insert(at, text.substr(below(text.size()), below(40)));
      else
        text.replace(at, below(2) ? length : 0, below(6) ? snippets[below(snippets.size())] : std::string());
    }
    size_t before = valid;
    if (std::string failure = check(text, valid); !failure.empty()) {
      llvm::errs() << "run " << runs << ", seed " << argv[2] << ": " << failure << "\n--- text\n" << text << "\n---\n";
      return 1;
    }
    if (valid > before && corpus.size() < 500 && text.size() < 400) // valid mutants are seeds for more
      corpus.push_back(std::move(text));
  }
  llvm::outs() << runs << " texts read, " << valid << " trees made of them\n";
  return runs > 100 && valid > 0 ? 0 : 1;
}
