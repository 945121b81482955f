// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "cross_runner.h"

#include "spec/SpecReader.h"

#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Process.h"
#include "llvm/Support/Program.h"
#include "llvm/Support/raw_ostream.h"

#include <cstring>

namespace mhac::grid {

using namespace artefact;

namespace {

/// 64-bit words and bytes, as cross_driver.c reads them.
class Writer {
public:
  explicit Writer(llvm::raw_ostream &out) : out(out) {}
  void word(int64_t value) { bytes(&value, sizeof value); }
  void bytes(const void *data, size_t count) { out.write(static_cast<const char *>(data), count); }

private:
  llvm::raw_ostream &out;
};

/// As cross_driver.c writes them. Beyond the end everything is 0.
class Reader {
public:
  explicit Reader(llvm::StringRef rest) : rest(rest) {}
  int64_t word() {
    int64_t value = 0;
    bytes(&value, sizeof value);
    return value;
  }
  std::string text() {
    std::string result(std::min(size_t(word()), rest.size()), 0);
    bytes(result.data(), result.size());
    return result;
  }
  void bytes(void *data, size_t count) {
    complete = complete && count <= rest.size();
    if (complete && count)
      std::memcpy(data, rest.data(), count);
    rest = rest.drop_front(std::min(count, rest.size()));
  }
  bool isComplete() const { return complete; }

private:
  llvm::StringRef rest;
  bool complete = true;
};

} // namespace

CrossRunner::CrossRunner(const Emulator &emulator, const std::string &folder, const std::string &name)
    : program(folder + "/" + name), emulator(emulator) {
  read = readManifest(folder + "/" + name + "_layer.mhac/" + name + "_layer.json", problem);
  if (!read)
    return;
  Diagnostics diagnostics;
  layer = readSpec(read->spec, read->specFile, diagnostics);
  if (!layer || diagnostics.hasErrors()) {
    problem = "the spec in the manifest cannot be read back";
    return;
  }
  std::vector<CrossCall> none;
  problem = run(none);
}

std::string CrossRunner::run(std::vector<CrossCall> &calls) {
  const std::string input = program + "." + std::to_string(uint64_t(llvm::sys::Process::getProcessId())) + ".in", output = input + ".out",
                    messages = input + ".txt";
  std::error_code code;
  {
    llvm::raw_fd_ostream stream(input, code);
    Writer out(stream);
    out.word(int64_t(calls.size()));
    for (CrossCall &call : calls) {
      const std::vector<Operands::Field> fields = call.operands->fields();
      for (int64_t word : {int64_t(call.features), int64_t(call.threads), read->argsBytes, read->workspaceOffset, read->workspaceBytesOffset,
                           read->preparedOffset, int64_t(fields.size())})
        out.word(word);
      for (const Operands::Field &field : fields) {
        for (int64_t word : {int64_t(field.kind), field.offset, int64_t(field.bytes)})
          out.word(word);
        out.bytes(field.data, field.bytes);
      }
    }
  }
  if (code)
    return "cannot write " + input + ": " + code.message();

  std::vector<std::string> command = emulator.command;
  command.push_back(program);
  std::vector<llvm::StringRef> arguments(command.begin(), command.end());
  std::optional<llvm::StringRef> redirects[] = {llvm::StringRef(input), llvm::StringRef(output), llvm::StringRef(messages)};
  std::string error;
  const int exitCode = llvm::sys::ExecuteAndWait(command.front(), arguments, std::nullopt, redirects, 0, 0, &error);
  if (auto text = llvm::MemoryBuffer::getFile(messages); exitCode != 0 && text)
    error += (*text)->getBuffer().str();
  auto results = llvm::MemoryBuffer::getFile(output);
  for (const std::string &file : {input, output, messages})
    llvm::sys::fs::remove(file);
  if (exitCode != 0 || !results)
    return program + " ended with exit code " + std::to_string(exitCode) + ": " + error;

  Reader in((*results)->getBuffer());
  machineFeatures = uint64_t(in.word());
  selectedTarget = in.text();
  for (CrossCall &call : calls) {
    const int64_t status = in.word();
    const std::string message = in.text();
    call.status = status == 0 ? "" : "status " + std::to_string(status) + " " + message;
    for (const Operands::Field &field : call.operands->fields())
      if (field.kind == Operands::Field::Kind::Output)
        in.bytes(field.data, field.bytes);
  }
  return in.isComplete() ? "" : program + " wrote too little";
}

} // namespace mhac::grid
