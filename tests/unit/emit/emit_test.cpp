// The emit stage on a hand-made entry: what the object contains, that it runs, that bytes repeat and that outputs come together.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "emit/Emit.h"
#include "tiny_kernels.h"

#include "llvm/Object/ELFObjectFile.h"
#include "llvm/Support/MemoryBuffer.h"

#include <gtest/gtest.h>
#include <mhac/runtime.h>

#include <dlfcn.h>
#include <filesystem>
#include <fstream>
#include <set>

using namespace mhac;
using namespace mhac::test;
namespace fs = std::filesystem;

namespace {

/// A folder for the outputs of one test.
class EmitTest : public testing::Test {
protected:
  void SetUp() override {
    std::string pattern = fs::temp_directory_path() / "mhac_emit_XXXXXX";
    ASSERT_NE(mkdtemp(pattern.data()), nullptr);
    folder = pattern;
  }
  void TearDown() override { fs::remove_all(folder); }

  std::string path(const std::string &name) const { return folder / name; }
  std::string read(const std::string &name) const {
    auto buffer = llvm::MemoryBuffer::getFile(path(name));
    return buffer ? (*buffer)->getBuffer().str() : "";
  }
  size_t fileCount() const { return std::distance(fs::directory_iterator(folder), fs::directory_iterator()); }

  EmitRequest request(const TinyEntry &entry, const std::string &output) const {
    EmitRequest r{entry.interface, entry.bitcode};
    r.specText = "mhac: 1\n";
    r.kind = *emitKindFromPath(output);
    r.outputPath = path(output);
    r.headerPath = path("tiny.h");
    r.manifestPath = path("tiny.json");
    r.depfilePath = path("tiny.d");
    r.dependencies = {"tiny.yaml"};
    r.runtimeArchive = MHAC_RUNTIME_ARCHIVE;
    return r;
  }
  void emit(const EmitRequest &r) {
    Diagnostics diagnostics;
    bool ok = emitOutputs(r, diagnostics);
    for (const Diagnostic &d : diagnostics.all())
      ADD_FAILURE() << d.message;
    ASSERT_TRUE(ok);
  }
  /// The message of an emission that must fail.
  std::string failure(const EmitRequest &r, int exitCode) {
    Diagnostics diagnostics;
    EXPECT_FALSE(emitOutputs(r, diagnostics));
    EXPECT_EQ(diagnostics.exitCode(), exitCode);
    return diagnostics.all().empty() ? "" : diagnostics.all()[0].message;
  }

  fs::path folder;
};

struct Symbols {
  std::set<std::string> defined, undefined, localFunctions;
};

Symbols symbolsOf(const std::string &object) {
  Symbols symbols;
  auto file = llvm::cantFail(llvm::object::ObjectFile::createObjectFile(llvm::MemoryBufferRef(object, "tiny.o")));
  for (const llvm::object::SymbolRef &symbol : file->symbols()) {
    uint32_t flags = llvm::cantFail(symbol.getFlags());
    std::string name = llvm::cantFail(symbol.getName()).str();
    if (flags & llvm::object::SymbolRef::SF_FormatSpecific)
      continue;
    if (flags & llvm::object::SymbolRef::SF_Undefined)
      symbols.undefined.insert(name);
    else if (flags & llvm::object::SymbolRef::SF_Global)
      symbols.defined.insert(name);
    else if (llvm::cantFail(symbol.getType()) == llvm::object::SymbolRef::ST_Function)
      symbols.localFunctions.insert(name);
  }
  return symbols;
}

/// The generated struct, as the header of the tiny entry has it.
struct TinyArgs {
  size_t struct_size = sizeof(TinyArgs);
  int64_t batch = 0;
  const float *x = nullptr;
  const int64_t *x_strides = nullptr;
  const float *w = nullptr;
  const int64_t *counts = nullptr;
  float *y = nullptr;
  const int64_t *y_strides = nullptr;
  void *workspace = nullptr;
  size_t workspace_bytes = 0;
};

/// A loaded shared library of a tiny entry.
struct Library {
  explicit Library(const std::string &path, const std::string &name) : handle(dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL)) {
    if (!handle) {
      ADD_FAILURE() << dlerror();
      return;
    }
    load(call, name);
    load(workspaceBytes, name + "_workspace_bytes");
    load(info, name + "_info");
    load(contextCreate, "mhac_context_create");
    load(contextDestroy, "mhac_context_destroy");
    load(contextMessage, "mhac_context_message");
  }
  ~Library() {
    if (handle)
      dlclose(handle);
  }
  template <typename F> void load(F &function, const std::string &symbol) {
    function = reinterpret_cast<F>(dlsym(handle, symbol.c_str()));
    ASSERT_NE(function, nullptr) << symbol;
  }

  void *handle;
  mhac_status (*call)(mhac_context *, const TinyArgs *) = nullptr;
  mhac_status (*workspaceBytes)(mhac_context *, const TinyArgs *, size_t *) = nullptr;
  void (*info)(mhac_kernel_info *) = nullptr;
  mhac_status (*contextCreate)(const mhac_context_options *, mhac_context **) = nullptr;
  void (*contextDestroy)(mhac_context *) = nullptr;
  const char *(*contextMessage)(const mhac_context *) = nullptr;
};

} // namespace

TEST_F(EmitTest, ObjectShowsOnlyPublicSymbols) {
  TinyEntry entry = makeTinyEntry("tiny", {"x86-64-v4", "x86-64-v3"});
  emit(request(entry, "tiny.o"));
  Symbols symbols = symbolsOf(read("tiny.o"));
  EXPECT_EQ(symbols.defined, (std::set<std::string>{"tiny", "tiny_workspace_bytes", "tiny_info"}));
  EXPECT_EQ(symbols.undefined,
            (std::set<std::string>{"mhac_kernel_alloc", "mhac_kernel_call", "mhac_kernel_describe", "mhac_kernel_free",
                                   "mhac_kernel_parallel_for", "mhac_kernel_workspace_bytes", "mhac_runtime_abi_1"}));
  for (const char *local : {"tiny.x86-64-v4.add", "tiny.x86-64-v4.twice", "tiny.x86-64-v4.twice.task0", "tiny.x86-64-v3.add"})
    EXPECT_TRUE(symbols.localFunctions.count(local)) << local;
}

TEST_F(EmitTest, SameBytesTwiceInOneProcess) {
  TinyEntry first = makeTinyEntry("tiny", {"x86-64-v4", "x86-64-v3"});
  TinyEntry second = makeTinyEntry("tiny", {"x86-64-v4", "x86-64-v3"});
  ASSERT_NE(first.bitcode[0], second.bitcode[0]) << "Halide's counters no longer show; this test proves nothing";
  for (const char *output : {"tiny.o", "tiny.a", "tiny.s", "tiny.ll", "tiny.so"}) {
    emit(request(first, output));
    std::string code = read(output), header = read("tiny.h"), manifest = read("tiny.json");
    ASSERT_GT(code.size(), 1000u) << output;
    emit(request(second, output));
    EXPECT_EQ(code, read(output)) << output;
    EXPECT_EQ(header, read("tiny.h"));
    EXPECT_EQ(manifest, read("tiny.json"));
  }
}

TEST_F(EmitTest, EachFunctionKeepsItsInstructionSet) {
  TinyEntry entry = makeTinyEntry("tiny", {"x86-64-v4", "x86-64-v3"});
  emit(request(entry, "tiny.s"));
  std::string text = read("tiny.s");
  auto body = [&](const std::string &function) {
    size_t begin = text.find("\n\"" + function + "\":");
    begin = begin == std::string::npos ? text.find("\n" + function + ":") : begin;
    EXPECT_NE(begin, std::string::npos) << function;
    return begin == std::string::npos ? "" : text.substr(begin, text.find(".Lfunc_end", begin) - begin);
  };
  EXPECT_NE(body("tiny.x86-64-v3.add.body").find("ymm"), std::string::npos);
  EXPECT_EQ(body("tiny.x86-64-v3.add.body").find("%k"), std::string::npos) << "mask registers are AVX-512's";
  EXPECT_NE(body("tiny.x86-64-v4.add.body").find("%k"), std::string::npos);
  EXPECT_EQ(body("tiny").find("mm"), std::string::npos) << "the entry runs before the CPU is known";
}

TEST_F(EmitTest, RunsOnTheTargetThatTheContextAllows) {
  for (std::vector<std::string> targets : {std::vector<std::string>{"x86-64-v4", "x86-64-v3"}, {"x86-64-v3"}}) {
    TinyEntry entry = makeTinyEntry("tiny", targets);
    emit(request(entry, "tiny.so"));
    Library library(path("tiny.so"), "tiny");
    for (uint64_t mask : {uint64_t(0), entry.interface.candidates.back().features}) {
      mhac_context_options options = MHAC_CONTEXT_OPTIONS_INIT;
      options.cpu_features = mask;
      mhac_context *context = nullptr;
      ASSERT_EQ(library.contextCreate(&options, &context), MHAC_STATUS_OK);
      std::vector<float> x(3 * 20), w(16), y(3 * 17, -1.f);
      for (size_t i = 0; i < x.size(); ++i)
        x[i] = float(i);
      for (size_t i = 0; i < w.size(); ++i)
        w[i] = 0.5f * float(i);
      int64_t counts[] = {0, 1, 3}, xStrides[] = {20, 1}, yStrides[] = {17, 1};
      TinyArgs args{sizeof(TinyArgs), 3, x.data(), xStrides, w.data(), counts, y.data(), yStrides};
      ASSERT_EQ(library.call(context, &args), MHAC_STATUS_OK) << library.contextMessage(context);
      for (int b = 0; b < 3; ++b)
        for (int m = 0; m < 17; ++m)
          EXPECT_EQ(y[b * 17 + m], m == 16 ? -1.f : 2 * (x[b * 20 + m] + w[m])) << b << " " << m;
      counts[1] = 4; // more than batch
      EXPECT_EQ(library.call(context, &args), MHAC_STATUS_VALUE_RANGE);
      library.contextDestroy(context);
    }
  }
}

TEST_F(EmitTest, InfoNamesEntryAndTargets) {
  TinyEntry entry = makeTinyEntry("tiny", {"x86-64-v4", "x86-64-v3"});
  emit(request(entry, "tiny.so"));
  Library library(path("tiny.so"), "tiny");
  mhac_kernel_info info = {};
  info.struct_size = sizeof(info);
  library.info(&info);
  EXPECT_STREQ(info.name, "tiny");
  EXPECT_STREQ(info.version, MHAC_VERSION);
  EXPECT_STREQ(info.targets, "x86-64-v4,x86-64-v3");
  TinyArgs args;
  args.batch = 3;
  size_t bytes = 0;
  EXPECT_EQ(library.workspaceBytes(nullptr, &args, &bytes), MHAC_STATUS_OK);
  EXPECT_GE(bytes, 3 * 16 * sizeof(float) + 4096);
}

TEST_F(EmitTest, NoGlobalButTheFeatureCacheIsMutable) {
  TinyEntry entry = makeTinyEntry("tiny", {"x86-64-v3"});
  emit(request(entry, "tiny.o"));
  std::string object = read("tiny.o");
  auto file = llvm::cantFail(llvm::object::ObjectFile::createObjectFile(llvm::MemoryBufferRef(object, "tiny.o")));
  uint64_t bss = 0, data = 0;
  for (const llvm::object::SectionRef &section : file->sections()) {
    llvm::StringRef name = llvm::cantFail(section.getName());
    bss += name.starts_with(".bss") ? section.getSize() : 0;
    data += name.starts_with(".data") && !name.starts_with(".data.rel.ro") ? section.getSize() : 0;
  }
  EXPECT_EQ(bss, 8u);
  EXPECT_EQ(data, 0u);
}

TEST_F(EmitTest, RefusesForeignSymbols) {
  TinyEntry entry = makeTinyEntry("tiny", {"x86-64-v3"});
  entry.interface.candidates[0].kernels = {{"call", "calling", {}}};
  entry.bitcode = {makeCallingKernel("calling", "sinf_of_elsewhere")};
  EXPECT_NE(failure(request(entry, "tiny.o"), 70).find("'sinf_of_elsewhere'"), std::string::npos);
  EXPECT_EQ(fileCount(), 0u);
}

TEST_F(EmitTest, RefusesBitcodeWithoutTheKernel) {
  TinyEntry entry = makeTinyEntry("tiny", {"x86-64-v3"});
  entry.interface.candidates[0].kernels[0].symbol = "other";
  EXPECT_NE(failure(request(entry, "tiny.o"), 70).find("'other_argv'"), std::string::npos);
  entry.bitcode[0] = "no bitcode";
  EXPECT_NE(failure(request(entry, "tiny.o"), 70).find("cannot be read"), std::string::npos);
}

TEST_F(EmitTest, WritesAllOutputsOrNone) {
  TinyEntry entry = makeTinyEntry("tiny", {"x86-64-v3"});
  EmitRequest r = request(entry, "tiny.o");
  r.manifestPath = path("missing/tiny.json");
  EXPECT_NE(failure(r, 2).find("'" + r.manifestPath + "'"), std::string::npos);
  EXPECT_EQ(fileCount(), 0u);
  r.manifestPath = folder; // a folder
  EXPECT_NE(failure(r, 2).find("it is a directory"), std::string::npos);
  r.manifestPath = r.outputPath;
  EXPECT_NE(failure(r, 2).find("it is the same file as the output '"), std::string::npos);
  EXPECT_EQ(fileCount(), 0u);
  emit(request(entry, "tiny.o"));
  EXPECT_EQ(fileCount(), 4u) << "object, header, manifest, depfile and no temporary";
}

TEST_F(EmitTest, DescribesTheLayerInLinesOfTheHeader) {
  TinyEntry entry = makeTinyEntry("tiny", {"x86-64-v3"});
  std::string words;
  for (int i = 0; i < 40; ++i)
    words += (i ? " word" : "word") + std::to_string(i);
  entry.interface.description = {"short", words};
  entry.interface.arguments[1].layout = "in_out";
  emit(request(entry, "tiny.o"));
  std::string header = read("tiny.h");
  EXPECT_NE(header.find(" *   short\n *   word0 word1"), std::string::npos) << header;
  EXPECT_NE(header.find("\n *     word"), std::string::npos) << "a long statement continues on a line of its own";
  EXPECT_NE(header.find(" word39 */\n"), std::string::npos) << "the last word ends the comment";
  EXPECT_NE(header.find("[in_features, out_features]"), std::string::npos);
  EXPECT_NE(read("tiny.json").find("\"layout\": \"in_out\""), std::string::npos);
  llvm::SmallVector<llvm::StringRef> lines;
  llvm::StringRef(header).split(lines, '\n');
  for (llvm::StringRef line : lines)
    EXPECT_LE(line.size(), 140u) << line.str();
}

TEST_F(EmitTest, WritesThroughLinksAndNeverReplacesDevices) {
  TinyEntry entry = makeTinyEntry("tiny", {"x86-64-v3"});
  fs::create_symlink("/dev/null", path("null.h"));
  fs::create_symlink(path("real.json"), path("link.json"));
  std::ofstream(path("real.json")) << "old";
  EmitRequest r = request(entry, "tiny.o");
  r.headerPath = path("null.h");
  r.manifestPath = path("link.json");
  emit(r);
  EXPECT_TRUE(fs::is_symlink(path("null.h")));
  EXPECT_TRUE(fs::is_symlink(path("link.json")));
  EXPECT_NE(read("real.json").find("\"schema\": 1"), std::string::npos);
}

TEST_F(EmitTest, SharedLibraryNeedsTheRuntime) {
  TinyEntry entry = makeTinyEntry("tiny", {"x86-64-v3"});
  EmitRequest r = request(entry, "tiny.so");
  r.runtimeArchive = path("libmhac_runtime.a");
  EXPECT_NE(failure(r, 2).find("needs the runtime"), std::string::npos);
  std::string old = getenv("PATH");
  setenv("PATH", folder.c_str(), 1);
  EXPECT_NE(failure(request(entry, "tiny.so"), 2).find("needs a system linker"), std::string::npos);
  setenv("PATH", old.c_str(), 1);
  EXPECT_EQ(fileCount(), 0u);
}

TEST_F(EmitTest, DepfileEscapesWhatMakeWouldRead) {
  TinyEntry entry = makeTinyEntry("tiny", {"x86-64-v3"});
  EmitRequest r = request(entry, "tiny.o");
  r.depTarget = "my out.o";
  r.dependencies = {"a$b #.yaml"};
  emit(r);
  EXPECT_EQ(read("tiny.d"), "my\\ out.o: a$$b\\ \\#.yaml\na$$b\\ \\#.yaml:\n");
}
