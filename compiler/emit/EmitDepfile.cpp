// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "emit/EmitDepfile.h"

namespace mhac {

/// Escapes as gcc does: make has its own rules for blanks, # and $.
static std::string escape(llvm::StringRef path) {
  std::string result;
  for (char c : path) {
    if (c == ' ' || c == '\t' || c == '#')
      result += '\\';
    if (c == '$')
      result += '$';
    result += c;
  }
  return result;
}

std::string emitDepfile(llvm::StringRef target, llvm::ArrayRef<std::string> dependencies) {
  std::string text = escape(target) + ":";
  for (const std::string &dependency : dependencies)
    text += " " + escape(dependency);
  text += "\n";
  for (const std::string &dependency : dependencies)
    text += escape(dependency) + ":\n";
  return text;
}

} // namespace mhac
