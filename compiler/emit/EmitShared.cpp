// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "emit/EmitShared.h"

#include "emit/Emit.h"
#include "emit/OutputFile.h"

#include "llvm/ADT/SmallVector.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/Program.h"

namespace mhac {

std::string findRuntimeArchive(llvm::StringRef executable) {
  // Beside an installed bin/mhac; then where the build tree has it.
  for (const char *folder : {"../lib", "../lib64", "../lib/x86_64-linux-gnu", "../lib/aarch64-linux-gnu", "../runtime", "../../runtime"}) {
    llvm::SmallString<256> path = llvm::sys::path::parent_path(executable);
    llvm::sys::path::append(path, folder, "libmhac_runtime.a");
    llvm::sys::path::remove_dots(path, /*remove_dot_dot=*/true);
    if (llvm::sys::fs::exists(path))
      return path.str().str();
  }
  return "";
}

std::optional<std::string> emitShared(llvm::StringRef object, const KernelInterface &interface, llvm::StringRef runtimeArchive,
                                      llvm::StringRef fileName, Diagnostics &diagnostics) {
  std::string compiler;
  for (const char *name : {"cc", "gcc", "clang"}) {
    llvm::ErrorOr<std::string> found = llvm::sys::findProgramByName(name);
    if (found) {
      compiler = *found;
      break;
    }
  }
  if (compiler.empty()) {
    diagnostics.usage({}, "a shared library needs a system linker, found none of cc, gcc, clang in PATH; write a .o or .a instead");
    return std::nullopt;
  }
  if (runtimeArchive.empty() || !llvm::sys::fs::exists(runtimeArchive)) {
    diagnostics.usage({}, ("a shared library needs the runtime, found no " +
                           (runtimeArchive.empty() ? llvm::StringRef("libmhac_runtime.a") : runtimeArchive))
                              .str());
    return std::nullopt;
  }
  TemporaryFile objectFile("o"), exportsFile("map"), libraryFile("so"), messages("txt");
  const std::string prepare = interface.preparedOffset < 0 ? "" : interface.name + "_prepare; " + interface.name + "_prepared_bytes; ";
  std::string exports = "{ global: " + interface.name + "; " + interface.name + "_workspace_bytes; " + prepare + interface.name +
                        "_info; mhac_context_*; mhac_thread_pool_*; mhac_status_*; mhac_cpu_features; local: *; };\n";
  if (messages.path().empty() || libraryFile.path().empty() || !objectFile.write(object) || !exportsFile.write(exports)) {
    diagnostics.usage({}, "temporary files for the system linker cannot be written");
    return std::nullopt;
  }
  std::string script = "-Wl,--version-script=" + exportsFile.path(), soname = ("-Wl,-soname," + fileName).str();
  llvm::StringRef arguments[] = {compiler,
                                 "-shared",
                                 "-o",
                                 libraryFile.path(),
                                 objectFile.path(),
                                 "-Wl,--whole-archive", // nothing in the object refers to the functions that callers need
                                 runtimeArchive,
                                 "-Wl,--no-whole-archive",
                                 "-pthread",
                                 "-Wl,-Bsymbolic",
                                 "-Wl,--no-undefined",
                                 "-Wl,--build-id=none",
                                 "-Wl,-z,relro",
                                 "-Wl,-z,now",
                                 script,
                                 soname};
  std::optional<llvm::StringRef> redirects[] = {std::nullopt, llvm::StringRef(messages.path()), llvm::StringRef(messages.path())};
  std::string error;
  int code = llvm::sys::ExecuteAndWait(compiler, arguments, std::nullopt, redirects, 0, 0, &error);
  if (code != 0) {
    std::string text = messages.read();
    diagnostics.usage({}, "the system linker failed (" + compiler + ", exit code " + std::to_string(code) + "): " + error +
                              llvm::StringRef(text).trim().str());
    return std::nullopt;
  }
  return libraryFile.read();
}

} // namespace mhac
