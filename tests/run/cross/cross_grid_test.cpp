// The run grid, in reduced form, on other machines: layers that were cross-compiled (program/CMakeLists.txt) run in an emulator and are compared with the
// reference here. Every target that the emulated CPU has is forced by the context's feature mask, and the one that the layer chooses itself is compared
// with what the CPU should get.
// Usage: cross_grid_test --programs=<folder> --layers=<name;...> --selected=<target> [--emulator=<command;argument;...>]
//        [--threads=<most>] [GoogleTest options]
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "cross_runner.h"

#include <gtest/gtest.h>

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Program.h"

#include <iostream>

using namespace mhac;
using namespace mhac::grid;
using namespace mhac::artefact;

namespace {

std::string programs, selected;
std::vector<std::string> layers;
Emulator emulator;
int mostThreads = 2;

/// One token, odd sizes, more keys than queries and the other way round, several blocks, batch-major, nothing.
std::vector<SizeValues> planSizes(const Manifest &manifest) {
  std::vector<SizeValues> plan;
  for (auto [batch, query, key] : {std::tuple<int64_t, int64_t, int64_t>{1, 1, 1}, {2, 17, 33}, {3, 65, 16}, {1, 70, 129}, {9, 15, 17}, {1, 0, 5}, {0, 3, 3}}) {
    SizeValues sizes = chooseSizes(manifest, {{"batch", batch}, {"query", query}, {"key", key}});
    if (!llvm::is_contained(plan, sizes))
      plan.push_back(sizes);
  }
  return plan;
}

class Cross : public testing::TestWithParam<std::string> {};

TEST_P(Cross, AgreesWithTheReference) {
  CrossRunner runner(emulator, programs, GetParam());
  ASSERT_EQ(runner.error(), "");
  EXPECT_EQ(runner.selected(), selected);

  std::vector<CrossCall> calls;
  std::vector<std::string> labels;
  uint64_t seed = 0;
  std::set<std::string> targets;
  for (const SizeValues &sizes : planSizes(runner.manifest()))
    for (const Target &target : runner.manifest().targets) {
      if (target.features & ~runner.features())
        continue;
      targets.insert(target.name);
      const int threads = 1 + int(++seed % uint64_t(mostThreads));
      FillOptions fill;
      fill.seed = seed;
      fill.strided = seed / 2 % 2;
      calls.push_back({std::make_unique<Operands>(runner.manifest(), runner.spec(), sizes, fill), target.features | MHAC_CPU_DETECTED, threads, ""});
      std::string label = target.name + " seed " + std::to_string(seed) + " threads " + std::to_string(threads);
      for (const auto &[name, value] : sizes)
        label += " " + name + "=" + std::to_string(value);
      labels.push_back(label);
    }
  EXPECT_TRUE(targets.count(selected));
  ASSERT_EQ(runner.run(calls), "");
  for (size_t i = 0; i < calls.size(); ++i) {
    ASSERT_EQ(calls[i].status, "") << labels[i];
    const Operands &operands = *calls[i].operands;
    Judge judge(runner.spec(), operands, chooseRows(operands.sizes(), 24, i), i);
    ASSERT_EQ(compare(runner.spec(), judge), "") << labels[i];
  }
  testing::Test::RecordProperty("calls", int(calls.size()));
}

INSTANTIATE_TEST_SUITE_P(Run, Cross, testing::ValuesIn(layers), [](const auto &info) { return info.param; });

std::vector<std::string> splitList(llvm::StringRef text) {
  llvm::SmallVector<llvm::StringRef> words;
  text.split(words, ';', -1, /*KeepEmpty=*/false);
  return {words.begin(), words.end()};
}

/// Why nothing can be run, or "".
std::string whySkipped() {
  for (const std::string &layer : layers)
    if (!llvm::sys::fs::exists(programs + "/" + layer))
      return "there is no program " + layer + ", because there is no compiler for it";
  if (!emulator.command.empty() && !llvm::sys::findProgramByName(emulator.command.front()))
    return "there is no " + emulator.command.front();
  return "";
}

} // namespace

int main(int argc, char **argv) {
  for (int i = 1; i < argc; ++i) { // before GoogleTest makes the list of layers
    llvm::StringRef argument = argv[i];
    if (argument.consume_front("--programs="))
      programs = argument.str();
    else if (argument.consume_front("--layers="))
      layers = splitList(argument);
    else if (argument.consume_front("--selected="))
      selected = argument.str();
    else if (argument.consume_front("--emulator="))
      emulator.command = splitList(argument);
    else if (argument.consume_front("--threads="))
      argument.getAsInteger(10, mostThreads);
  }
  if (const std::string why = whySkipped(); !why.empty()) {
    std::cout << "[SKIP] " << why << "\n";
    return 0;
  }
  for (std::string &word : emulator.command)
    if (llvm::ErrorOr<std::string> found = &word == &emulator.command.front() ? llvm::sys::findProgramByName(word) : std::error_code())
      word = *found;
  testing::InitGoogleTest(&argc, argv);
  return RUN_ALL_TESTS();
}
