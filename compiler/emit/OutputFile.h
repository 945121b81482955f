// Files that appear together or not at all: collected in memory, written under temporary names in the folder of each destination, renamed
// last.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "support/Diagnostics.h"

#include "llvm/ADT/StringRef.h"

#include <string>
#include <utility>
#include <vector>

namespace mhac {

class OutputFiles {
public:
  /// Plans a file; "-" is standard output. `executable` sets the x permission (shared libraries).
  void add(std::string path, std::string contents, bool executable = false);
  /// Names a file that none of these may replace; `what` it is ("input") is for the message.
  void keep(std::string path, std::string what) { kept.emplace_back(std::move(path), std::move(what)); }
  /// Writes everything. Two outputs to one file, or to standard output, are wrong usage; a device takes any number. On false no planned file
  /// is left, also none of an earlier run that was already replaced, and no temporary; an output that is an input or another one is not touched.
  bool commit(Diagnostics &diagnostics);

private:
  struct File {
    std::string path, contents;
    bool executable;
    std::string temporary; // empty while there is none
  };
  bool checkCollisions(Diagnostics &diagnostics) const;
  bool write(File &file, Diagnostics &diagnostics);

  std::vector<File> files;
  std::vector<std::pair<std::string, std::string>> kept;
};

/// A temporary file that lives as long as the object; for tools that want paths (the system linker).
class TemporaryFile {
public:
  explicit TemporaryFile(llvm::StringRef suffix);
  ~TemporaryFile();
  TemporaryFile(const TemporaryFile &) = delete;
  TemporaryFile &operator=(const TemporaryFile &) = delete;
  /// Empty when none could be made.
  const std::string &path() const { return name; }
  bool write(llvm::StringRef contents) const;
  std::string read() const;

private:
  std::string name;
};

} // namespace mhac
