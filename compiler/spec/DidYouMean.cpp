// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "spec/DidYouMean.h"

using llvm::StringRef;

namespace mhac {

/// Capitals and dashes are no mistakes worth counting.
static std::string normalised(StringRef word) {
  std::string text = word.lower();
  for (char &c : text)
    c = c == '-' ? '_' : c;
  return text;
}

StringRef nearestWord(StringRef word, llvm::ArrayRef<StringRef> candidates) {
  // A third of the letters may be wrong, rounded up: "haeds" suggests "heads", "x" suggests nothing.
  unsigned best = (word.size() + 2) / 3 + 1;
  StringRef nearest;
  if (word.size() < 2 || word.size() > 64)
    return nearest;
  std::string wanted = normalised(word);
  for (StringRef candidate : candidates) {
    std::string other = normalised(candidate);
    unsigned distance = wanted == other ? 0 : 1 + StringRef(wanted).edit_distance(other, /*AllowReplacements=*/true, best);
    if (distance < best || (distance == best && nearest.empty())) {
      best = distance;
      nearest = candidate;
    }
  }
  return nearest;
}

std::string didYouMean(StringRef word, llvm::ArrayRef<StringRef> candidates) {
  StringRef nearest = nearestWord(word, candidates);
  return nearest.empty() ? "" : "; did you mean '" + nearest.str() + "'?";
}

std::string listWords(llvm::ArrayRef<StringRef> words, StringRef conjunction) {
  std::string text, last = " " + conjunction.str() + " '";
  for (size_t i = 0; i < words.size(); ++i)
    text += (i == 0 ? "'" : i + 1 == words.size() ? last : ", '") + words[i].str() + "'";
  return text;
}

} // namespace mhac
