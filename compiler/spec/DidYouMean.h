// Suggestions for words that are nearly right; used wherever a user writes one of a list of words.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"

#include <string>

namespace mhac {

/// The candidate nearest to `word`, empty when none is near enough to be meant. The first of equally near ones.
llvm::StringRef nearestWord(llvm::StringRef word, llvm::ArrayRef<llvm::StringRef> candidates);

/// "; did you mean 'heads'?" or nothing.
std::string didYouMean(llvm::StringRef word, llvm::ArrayRef<llvm::StringRef> candidates);

/// "'a', 'b' or 'c'": of alternatives; "and" for what exists.
std::string listWords(llvm::ArrayRef<llvm::StringRef> words, llvm::StringRef conjunction = "or");

} // namespace mhac
