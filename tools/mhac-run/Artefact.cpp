// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Artefact.h"

#include "Operands.h"

#include "llvm/ADT/SmallString.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/Program.h"

#include <dlfcn.h>

namespace mhac::artefact {

std::string findRuntimeArchive(const std::string &executable) {
  for (const char *folder : {"../lib", "../lib64", "../lib/x86_64-linux-gnu", "../runtime", "../../runtime", "../../../runtime"}) {
    llvm::SmallString<256> path = llvm::sys::path::parent_path(executable);
    llvm::sys::path::append(path, folder, "libmhac_runtime.a");
    if (llvm::sys::fs::exists(path))
      return path.str().str();
  }
  return "";
}

/// Links an object or archive with the runtime into `library`; the linker's complaint when that fails.
static std::string link(const std::string &object, const std::string &runtimeArchive, const std::string &library) {
  if (runtimeArchive.empty())
    return "libmhac_runtime.a was not found; name it with --runtime";
  llvm::ErrorOr<std::string> compiler = llvm::sys::findProgramByName("cc");
  if (!compiler)
    return "linking " + object + " needs a system linker, found no cc in PATH; compile with -o <name>.so instead";
  std::string messages = library + ".txt", error;
  llvm::StringRef arguments[] = {
      *compiler,  "-shared",      "-o",       library, "-Wl,--whole-archive", object, runtimeArchive, "-Wl,--no-whole-archive",
      "-pthread", "-Wl,-Bsymbolic"};
  std::optional<llvm::StringRef> redirects[] = {std::nullopt, llvm::StringRef(messages), llvm::StringRef(messages)};
  int code = llvm::sys::ExecuteAndWait(*compiler, arguments, std::nullopt, redirects, 0, 0, &error);
  if (code != 0)
    if (auto text = llvm::MemoryBuffer::getFile(messages))
      error += (*text)->getBuffer().trim().str();
  llvm::sys::fs::remove(messages);
  return code == 0 ? "" : "the system linker failed: " + error;
}

std::unique_ptr<Artefact> Artefact::load(Manifest manifest, const std::string &runtimeArchive, std::string &error) {
  std::unique_ptr<Artefact> artefact(new Artefact(std::move(manifest)));
  const Manifest &read = artefact->manifest;
  std::string object = llvm::sys::path::is_absolute(read.object) ? read.object : read.folder + read.object, library = object;
  bool temporary = !llvm::StringRef(object).ends_with(".so");
  if (temporary) {
    llvm::SmallString<128> path;
    if (std::error_code code = llvm::sys::fs::createTemporaryFile("mhac-run", "so", path)) {
      error = "cannot make a temporary file: " + code.message();
      return nullptr;
    }
    library = path.str().str();
    error = link(object, runtimeArchive, library);
  } else if (object.find('/') == std::string::npos) {
    library = "./" + object; // without a slash dlopen would search the system's libraries
  }
  if (error.empty() && !(artefact->library = dlopen(library.c_str(), RTLD_NOW | RTLD_LOCAL)))
    error = std::string("cannot load the artefact: ") + dlerror();
  if (temporary)
    llvm::sys::fs::remove(library);
  if (!error.empty())
    return nullptr;

  auto resolve = [&](auto &function, const std::string &name) {
    function = reinterpret_cast<std::remove_reference_t<decltype(function)>>(dlsym(artefact->library, name.c_str()));
    if (!function && error.empty())
      error = object + " does not define '" + name + "'";
  };
  Functions &table = artefact->table;
  resolve(table.call, read.callSymbol);
  resolve(table.workspaceBytes, read.workspaceBytesSymbol);
  resolve(table.info, read.infoSymbol);
  if (!read.prepareSymbol.empty()) {
    resolve(table.prepare, read.prepareSymbol);
    resolve(table.preparedBytes, read.preparedBytesSymbol);
  }
  resolve(table.contextCreate, "mhac_context_create");
  resolve(table.contextDestroy, "mhac_context_destroy");
  resolve(table.contextMessage, "mhac_context_message");
  resolve(table.poolCreate, "mhac_thread_pool_create");
  resolve(table.poolDestroy, "mhac_thread_pool_destroy");
  resolve(table.poolParallel, "mhac_thread_pool_parallel");
  resolve(table.statusName, "mhac_status_name");
  resolve(table.statusString, "mhac_status_string");
  resolve(table.cpuFeatures, "mhac_cpu_features");
  return error.empty() ? std::move(artefact) : nullptr;
}

Artefact::~Artefact() {
  if (library)
    dlclose(library);
}

const Target *Artefact::bestTarget() const {
  for (const Target &target : manifest.targets)
    if (canRun(target))
      return &target;
  return nullptr;
}

PreparedState::PreparedState(const Artefact &artefact, mhac_context *context, Operands &operands) : operands(operands) {
  const Functions &functions = artefact.functions();
  if (!functions.prepare)
    return;
  size_t bytes = 0;
  made = functions.preparedBytes(context, operands.args(), &bytes);
  if (made != MHAC_STATUS_OK)
    return;
  memory = std::make_unique<GuardedMemory>(bytes, GuardedMemory::Placement::End); // a multiple of 64 bytes that ends a page
  made = functions.prepare(context, operands.args(), memory->data());
  memory->makeReadOnly();
  operands.setPrepared(memory->data());
}

PreparedState::~PreparedState() { operands.setPrepared(nullptr); }

CallContext::CallContext(const Artefact &artefact, int threads, const Target *target) : functions(artefact.functions()) {
  if (threads == 0)
    return;
  mhac_context_options options = MHAC_CONTEXT_OPTIONS_INIT;
  if (threads > 1) {
    created = functions.poolCreate(threads, nullptr, &pool);
    if (created != MHAC_STATUS_OK)
      return;
    options.parallel = functions.poolParallel(pool);
  }
  if (target)
    options.cpu_features = target->features | MHAC_CPU_DETECTED; // 0 would mean the whole machine
  created = functions.contextCreate(&options, &context);
}

CallContext::~CallContext() {
  functions.contextDestroy(context);
  functions.poolDestroy(pool);
}

std::string CallContext::describe(mhac_status status) const {
  std::string message = context ? functions.contextMessage(context) : "";
  return std::string(functions.statusName(status)) + ": " + (message.empty() ? functions.statusString(status) : message);
}

} // namespace mhac::artefact
