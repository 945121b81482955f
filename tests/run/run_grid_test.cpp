// Compiled layers against the reference: every spec is compiled once, for all targets of this CPU in one object, and called with many shapes, strides, thread
// counts and targets. NaN stands in every slot that cannot matter and inaccessible pages around every tensor.
// Usage: run_grid_test --mhac=<executable> --run=<tests/run> --specs=<specs> --work=<folder for artefacts> [GoogleTest options]
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "layer_generator.h"
#include "layer_runner.h"

#include <gtest/gtest.h>

#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"

#include <algorithm>
#include <iostream>

using namespace mhac;
using namespace mhac::grid;

namespace {

constexpr size_t generated_layers = 80;
constexpr uint64_t grid_seed = 1;

Paths paths;

/// All layers of the folder's YAML files, by name.
std::vector<GridLayer> layersIn(const std::string &folder) {
  std::vector<GridLayer> layers;
  std::error_code code;
  for (llvm::sys::fs::directory_iterator file(folder, code), end; file != end && !code; file.increment(code)) {
    llvm::StringRef path = file->path();
    auto buffer = llvm::MemoryBuffer::getFile(path);
    if (path.ends_with(".yaml") && buffer)
      layers.push_back({llvm::sys::path::stem(path).str(), (*buffer)->getBuffer().str(), {}});
  }
  std::sort(layers.begin(), layers.end(), [](const GridLayer &a, const GridLayer &b) { return a.name < b.name; });
  return layers;
}

std::vector<GridLayer> gridLayers() {
  std::vector<GridLayer> layers = generateLayers(generated_layers, grid_seed), corners = cornerLayers();
  layers.insert(layers.end(), corners.begin(), corners.end());
  return layers;
}

/// The variants by name: one folder a kind of variant, one file a variant.
std::vector<GridLayer> namedLayers() {
  std::vector<GridLayer> layers;
  for (const char *folder : {"masks", "positions", "scores", "layouts", "outputs", "heads", "formats", "weights"})
    for (GridLayer &layer : layersIn(paths.run + "/" + folder))
      layers.push_back(std::move(layer));
  return layers;
}

std::string nameOf(const testing::TestParamInfo<GridLayer> &info) { return info.param.name; }

/// Calls and compares all cells; every one must be run or be skipped because this CPU cannot.
void runCells(const GridLayer &layer, std::vector<Cell> (*plan)(const LayerRunner &)) {
  LayerRunner runner(paths, layer.name, layer.yaml);
  ASSERT_EQ(runner.error(), "") << layer.yaml;
  std::vector<Cell> cells = plan(runner);
  ASSERT_FALSE(cells.empty());
  size_t calls = 0;
  for (const Cell &cell : cells) {
    std::string failure = runner.run(cell, calls);
    ASSERT_EQ(failure, "") << layer.yaml;
  }
  EXPECT_EQ(calls, cells.size() * runner.callsPerCell()); // none left out
  testing::Test::RecordProperty("calls", int(calls));
  if (!runner.skippedTarget().empty())
    std::cout << "[SKIP] " << runner.skippedTarget() << " does not run on this CPU\n";
}

class Grid : public testing::TestWithParam<GridLayer> {};
TEST_P(Grid, AgreesWithTheReference) { runCells(GetParam(), planGrid); }
INSTANTIATE_TEST_SUITE_P(Run, Grid, testing::ValuesIn(gridLayers()), nameOf);

class Variants : public testing::TestWithParam<GridLayer> {};
TEST_P(Variants, AgreesWithTheReference) { runCells(GetParam(), planGrid); }
INSTANTIATE_TEST_SUITE_P(Run, Variants, testing::ValuesIn(namedLayers()), nameOf);

class Models : public testing::TestWithParam<GridLayer> {};
TEST_P(Models, AgreesWithTheReference) { runCells(GetParam(), planModel); }
INSTANTIATE_TEST_SUITE_P(Run, Models, testing::ValuesIn(layersIn(paths.specs)), nameOf);

TEST(GridPlan, ShowsEveryValueOfEveryProperty) {
  std::set<std::string> facets = facetsOf(gridLayers());
  EXPECT_EQ(gridLayers().size(), generated_layers + cornerLayers().size());
  for (const char *facet :
       {"source=self", "source=cross", "input=packed", "input=separate", "input=none", "packing=qkv", "packing=per_head", "packing=per_group",
        "weight_layout=out_in", "weight_layout=in_out", "output=true", "output=false", "bias_input=true", "bias_output=true", "heads=1/1",
        "heads=3/3", "heads=4/1", "heads=4/2", "heads=6/3", "head_dim=1", "head_dim=8", "head_dim=40", "head_dim=64", "head_dim=80", "head_dim=128",
        "head_dim=256", "v_head_dim=1", "v_head_dim=256", "mask=none", "mask=causal", "mask=right", "mask=left", "mask=both", "mask=causal+right",
        "mask=causal+left", "mask=causal+both", "offset=bottom_right", "offset=top_left", "offset=row_end", "sizes=dynamic", "sizes=fixed",
        "sizes=bounded", "sizes=fixed_batch", "layout=bshd", "layout=bhsd", "scale=default", "scale=0.1", "outputs=y", "outputs=y, lse", "dtype=f32", "dtype=bf16", "dtype=f16", "weights=same", "weights=f32", "weights=bf16", "weights=f16"})
    EXPECT_TRUE(facets.count(facet)) << facet;
  EXPECT_EQ(facets.size(), 74u);
  EXPECT_GE(countPairs(gridLayers()), 2450u); // of about 2500 that can occur together
  EXPECT_GE(namedLayers().size(), 130u);
  EXPECT_GE(layersIn(paths.specs).size(), 31u);
}

} // namespace

int main(int argc, char **argv) {
  paths = readPaths(argc, argv); // before GoogleTest makes the lists of layers
  testing::InitGoogleTest(&argc, argv);
  return RUN_ALL_TESTS();
}
