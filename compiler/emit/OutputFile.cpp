// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "emit/OutputFile.h"

#include "llvm/ADT/SmallString.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/raw_ostream.h"

namespace mhac {
namespace fs = llvm::sys::fs;

void OutputFiles::add(std::string path, std::string contents, bool executable) {
  files.push_back({std::move(path), std::move(contents), executable, {}});
}

static void report(Diagnostics &diagnostics, llvm::StringRef path, llvm::StringRef reason) {
  diagnostics.usage({}, ("cannot write '" + path + "': " + reason).str());
}

/// A device or a pipe (/dev/null) is written to and never replaced.
static bool isSpecial(const std::string &path) {
  fs::file_status status;
  if (path == "-" || fs::status(path, status))
    return path == "-";
  return status.type() != fs::file_type::regular_file && status.type() != fs::file_type::directory_file;
}

/// The path that all names of a file share; the last part need not exist yet.
static std::string normalised(llvm::StringRef path) {
  llvm::SmallString<128> absolute(path), folder;
  fs::make_absolute(absolute);
  if (!fs::real_path(llvm::sys::path::parent_path(absolute), folder)) { // before dots go: `link/..` is not `.`
    llvm::sys::path::append(folder, llvm::sys::path::filename(absolute));
    absolute = folder;
  }
  llvm::sys::path::remove_dots(absolute, /*remove_dot_dot=*/true);
  return absolute.str().str();
}

static bool isSameFile(const std::string &a, const std::string &b) {
  return a == b || (a != "-" && b != "-" && (fs::equivalent(a, b) || normalised(a) == normalised(b)));
}

bool OutputFiles::checkCollisions(Diagnostics &diagnostics) const {
  bool ok = true;
  for (size_t i = 0; i < files.size(); ++i) {
    const std::string &path = files[i].path;
    if (path != "-" && isSpecial(path)) // takes any number of outputs
      continue;
    for (const auto &[other, what] : kept)
      if (path != "-" && isSameFile(path, other)) {
        report(diagnostics, path, "it is the same file as the " + what + " '" + other + "'");
        ok = false;
      }
    for (size_t j = 0; j < i; ++j)
      if (isSameFile(path, files[j].path)) {
        report(diagnostics, path,
               path == "-" ? "another output goes to standard output" : "it is the same file as the output '" + files[j].path + "'");
        ok = false;
      }
  }
  return ok;
}

bool OutputFiles::write(File &file, Diagnostics &diagnostics) {
  llvm::SmallString<128> temporary;
  int fd = -1;
  unsigned mode = fs::all_read | fs::all_write | (file.executable ? fs::all_exe : fs::no_perms); // the umask takes its part
  if (std::error_code error = fs::createUniqueFile(file.path + ".tmp-%%%%%%%%", fd, temporary, fs::OF_None, mode)) {
    report(diagnostics, file.path, error.message());
    return false;
  }
  file.temporary = temporary.str().str();
  llvm::raw_fd_ostream stream(fd, /*shouldClose=*/true);
  stream << file.contents;
  stream.close();
  if (stream.has_error()) { // a full disk shows here
    report(diagnostics, file.path, stream.error().message());
    stream.clear_error();
    return false;
  }
  return true;
}

bool OutputFiles::commit(Diagnostics &diagnostics) {
  auto isFile = [](const File &file) { return !isSpecial(file.path); };
  bool ok = checkCollisions(diagnostics); // before links are followed: messages name what the user wrote
  for (File &file : files) { // through a symbolic link, as other compilers do
    llvm::SmallString<128> real;
    if (isFile(file) && fs::is_symlink_file(file.path) && !fs::real_path(file.path, real))
      file.path = real.str().str();
  }
  for (File &file : files) {
    if (isFile(file) && fs::is_directory(file.path)) { // rename would find out too late
      report(diagnostics, file.path, "it is a directory");
      ok = false;
    }
  }
  for (File &file : files)
    if (ok && isFile(file))
      ok = write(file, diagnostics);

  size_t renamed = 0;
  for (; ok && renamed < files.size(); ++renamed) {
    File &file = files[renamed];
    if (!isFile(file))
      continue;
    if (std::error_code error = fs::rename(file.temporary, file.path)) {
      report(diagnostics, file.path, error.message());
      ok = false;
      break;
    }
    file.temporary.clear();
  }
  if (!ok) {
    for (size_t i = 0; i < files.size(); ++i) {
      if (!files[i].temporary.empty())
        fs::remove(files[i].temporary);
      else if (i < renamed && isFile(files[i]))
        fs::remove(files[i].path); // an object without its header would be worse than neither
    }
    return false;
  }
  for (const File &file : files) {
    if (isFile(file))
      continue;
    std::error_code error;
    llvm::raw_fd_ostream stream(file.path, error); // "-" is standard output
    if (!error) {
      stream << file.contents;
      stream.flush();
      error = stream.error();
      stream.clear_error();
    }
    if (error) { // a full disk, a pipe that nobody reads
      report(diagnostics, file.path, error.message());
      return false;
    }
  }
  return true;
}

TemporaryFile::TemporaryFile(llvm::StringRef suffix) {
  llvm::SmallString<128> path;
  int fd = -1;
  if (fs::createTemporaryFile("mhac", suffix, fd, path))
    return;
  llvm::raw_fd_ostream(fd, /*shouldClose=*/true);
  name = path.str().str();
}

TemporaryFile::~TemporaryFile() {
  if (!name.empty())
    fs::remove(name);
}

bool TemporaryFile::write(llvm::StringRef contents) const {
  std::error_code error;
  llvm::raw_fd_ostream stream(name, error);
  if (error)
    return false;
  stream << contents;
  stream.close();
  bool ok = !stream.has_error();
  stream.clear_error();
  return ok;
}

std::string TemporaryFile::read() const {
  auto buffer = llvm::MemoryBuffer::getFile(name, /*IsText=*/false, /*RequiresNullTerminator=*/false);
  return buffer ? (*buffer)->getBuffer().str() : std::string();
}

} // namespace mhac
