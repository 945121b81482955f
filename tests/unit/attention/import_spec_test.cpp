// importSpec: arguments, row maps, locations, and what it says about wrong variants. The numbers of a layer are judged by the run tests.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "attention/AttentionDialect.h"
#include "attention/ImportSpec.h"
#include "passes/Passes.h"
#include "spec/SpecReader.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Pass/PassManager.h"

#include "llvm/Support/MemoryBuffer.h"

#include <gtest/gtest.h>

using namespace mlir;
using namespace mhac::attn;

namespace {

const std::string minimal = "mhac: 1\nname: f\nlayer: {d_model: 48, heads: 6, kv_heads: 3, v_head_dim: 5}\n";

struct Imported {
  MLIRContext context;
  mhac::Diagnostics diagnostics;
  OwningOpRef<ModuleOp> module;

  explicit Imported(const std::string &text) {
    if (std::optional<mhac::Spec> spec = mhac::readSpec(text, "dir/test.yaml", diagnostics))
      module = mhac::importSpec(*spec, context, diagnostics);
  }
  std::string messages() const {
    std::string text;
    for (const mhac::Diagnostic &diagnostic : diagnostics.all())
      text += std::to_string(diagnostic.loc.line) + ":" + std::to_string(diagnostic.loc.column) + ": " + diagnostic.message + "\n";
    return text;
  }
  func::FuncOp entry() { return *module->getOps<func::FuncOp>().begin(); }
  /// "x wq y": the names of arguments and results.
  std::string names() {
    std::string text;
    for (unsigned i = 0; i < entry().getNumArguments(); ++i)
      text += entry().getArgAttrOfType<ArgumentAttr>(i, kArgumentAttr).getName().str() + " ";
    for (unsigned i = 0; i < entry().getNumResults(); ++i)
      text += "> " + entry().getResultAttrOfType<ArgumentAttr>(i, kArgumentAttr).getName().str() + " ";
    return text;
  }
  template <typename Op> SmallVector<Op> ops() { return llvm::to_vector(entry().getBody().getOps<Op>()); }
};

TEST(ImportSpec, TakesAndLowersEveryExample) {
  const char *specs[] = {"bert_base_f32", "bert_large_f32", "bigbird_base_f32", "gpt2_f32", "gpt3_1280_20_f32", "llama2_70b_f32",
                         "llama2_7b_f32", "longformer_base_f32", "mistral_7b_f32", "minilm_f32", "packed_documents_f32", "prefix_lm_f32",
                         "transformer_cross_f32", "transformer_decoder_f32", "transformer_encoder_f32"};
  int lowered = 0;
  for (std::string name : specs) {
    auto text = llvm::MemoryBuffer::getFile(MHAC_SPECS "/" + name + ".yaml");
    ASSERT_TRUE(bool(text)) << name;
    Imported imported((*text)->getBuffer().str());
    ASSERT_TRUE(imported.module) << name << "\n" << imported.messages();
    EXPECT_EQ(imported.messages(), "");
    PassManager manager(&imported.context, ModuleOp::getOperationName());
    mhac::buildLoweringPipeline(manager);
    ASSERT_TRUE(succeeded(manager.run(*imported.module))) << name;
    for (AttentionOp op : imported.ops<AttentionOp>()) {
      EXPECT_FALSE(op.getBlocks().empty()) << name;
      EXPECT_TRUE(op.getBase2()) << name;
    }
    ++lowered;
  }
  EXPECT_EQ(lowered, 15);
}

TEST(ImportSpec, NamesArgumentsInTheirOrder) {
  struct { const char *text, *names; } cases[] = {
      {"", "x wq wk wv wo > y "},
      {"projections: {input: packed, bias: true}\n", "x wqkv bqkv wo bo > y "},
      {"projections: {bias: {input: true}, output: false}\noutputs: [lse, y]\n", "x wq wk wv bq bk bv > y > lse "},
      {"projections: {input: none, output: false}\nmask: [padding: {side: both}]\n", "q k v key_lengths key_starts > y "},
      {"mask: [causal, padding: {side: left}]\nquery_offset: row_end\n", "x wq wk wv wo key_starts > y "},
  };
  int checked = 0;
  for (auto [text, names] : cases) {
    Imported imported(minimal + text);
    ASSERT_TRUE(imported.module) << imported.messages();
    EXPECT_EQ(imported.names(), names);
    ++checked;
  }
  EXPECT_EQ(checked, 5);
  Imported cross("mhac: 1\nname: f\nlayer: {d_model: 48, heads: 6, source: cross, kv_d_model: 32}\n");
  ASSERT_TRUE(cross.module) << cross.messages();
  EXPECT_EQ(cross.names(), "x memory wq wk wv wo > y ");
}

/// The rows that a part reads, head after head, first row of each.
std::vector<int64_t> first_rows(PartAttr part) {
  std::vector<int64_t> rows;
  for (int64_t h = 0; h < part.getHeads(); ++h)
    rows.push_back(part.getFirst() + h / part.getGroup() * part.getGroupStride() + h % part.getGroup() * part.getHeadStride());
  return rows;
}

TEST(ImportSpec, MapsPackedRows) {
  using Rows = std::vector<int64_t>;
  auto check = [](const std::string &text, Rows q, Rows k, Rows v) {
    Imported imported(text);
    ASSERT_TRUE(imported.module) << imported.messages();
    SmallVector<ProjectOp> ops = imported.ops<ProjectOp>();
    ASSERT_EQ(ops.size(), 4u);
    for (auto [op, rows] : {std::pair(ops[0], q), {ops[1], k}, {ops[2], v}, {ops[3], Rows{0}}})
      EXPECT_EQ(first_rows(cast<PartAttr>(op.getParts()[0])), rows);
  };
  const std::string grouped = "mhac: 1\nname: f\nlayer: {d_model: 8, heads: 4, kv_heads: 2, head_dim: 2, v_head_dim: 3}\n";
  const std::string equal = "mhac: 1\nname: f\nlayer: {d_model: 8, heads: 2, head_dim: 2, v_head_dim: 3}\n";
  check(grouped + "projections: {input: packed}\n", {0, 2, 4, 6}, {8, 10}, {12, 15});
  check(grouped + "projections: {input: packed, packing: per_group}\n", {0, 2, 9, 11}, {4, 13}, {6, 15});
  check(equal + "projections: {input: packed, packing: per_head}\n", {0, 7}, {2, 9}, {4, 11});
}

TEST(ImportSpec, GivesFixedAndBoundedSizes) {
  Imported imported(minimal + "projections: {input: none, output: false}\nshape: {batch: 2, query: {max: 9}, layout: bhsd}\n");
  ASSERT_TRUE(imported.module) << imported.messages();
  std::string text;
  llvm::raw_string_ostream stream(text);
  stream << imported.entry().getFunctionType() << imported.entry()->getAttr(kSizesAttr);
  EXPECT_EQ(text, "(tensor<2x6x?x8xf32>, tensor<2x3x?x8xf32>, tensor<2x3x?x5xf32>) -> tensor<2x6x?x5xf32>"
                  "[#attn.size<name = \"batch\", minimum = 2, maximum = 2>, #attn.size<name = \"query\", minimum = 0, maximum = 9>, "
                  "#attn.size<name = \"key\", minimum = 0, maximum = 2147352576>]");
  EXPECT_TRUE(imported.ops<SwapHeadsOp>().empty());
}

TEST(ImportSpec, LocatesOpsAtTheirKeys) {
  Imported imported(minimal + "projections:\n  input: packed\n  output: true\n");
  ASSERT_TRUE(imported.module) << imported.messages();
  auto place = [](Operation *op) {
    auto loc = cast<FileLineColLoc>(op->getLoc());
    return loc.getFilename().str() + ":" + std::to_string(loc.getLine()) + ":" + std::to_string(loc.getColumn());
  };
  EXPECT_EQ(place(imported.ops<ProjectOp>()[0]), "dir/test.yaml:5:10");
  EXPECT_EQ(place(imported.ops<AttentionOp>()[0]), "dir/test.yaml:3:1");
  EXPECT_EQ(place(imported.ops<ProjectOp>()[3]), "dir/test.yaml:6:11");
  EXPECT_EQ(place(imported.entry()), "dir/test.yaml:2:7");
}

TEST(ImportSpec, TakesTheScale) {
  for (auto [text, scale, listed] : {std::tuple("", 1 / std::sqrt(8.0), 0.0), {"score: []\n", 1 / std::sqrt(8.0), 0.0},
                                     {"score: [scale: default]\n", 1.0, 1 / std::sqrt(8.0)}, {"score: [scale]\n", 1.0, 1 / std::sqrt(8.0)},
                                     {"score: [scale: 2.5e-1]\n", 1.0, 0.25}}) {
    Imported imported(minimal + text);
    ASSERT_TRUE(imported.module) << imported.messages();
    AttentionOp op = imported.ops<AttentionOp>()[0];
    EXPECT_EQ(op.getScale().convertToDouble(), scale) << text;
    EXPECT_EQ(op.getScores().empty() ? 0.0 : cast<ScaleAttr>(op.getScores()[0]).getValue().getValueAsDouble(), listed) << text;
  }
}

TEST(ImportSpec, ReportsVariantsWithPlaceAndRemedy) {
  const std::string masks = "known: 'any', 'block_sparse', 'causal', 'chunked', 'dilated', 'document', 'expr', 'global', 'lsh', 'padding', 'prefix', "
                            "'sliding_window' and 'tensor'\n";
  struct { std::string text, message; int exitCode; } cases[] = {
      {"mask: [causal, padding: {side: right}, causal]\n", "4:40: duplicate mask 'causal'\n", 1},
      {"mask: [causl]\n", "4:8: unknown mask 'causl'; did you mean 'causal'?; " + masks, 1},
      {"mask: [blurb]\n", "4:8: unknown mask 'blurb'; " + masks, 1},
      {"mask: [window: 3]\n", "4:8: unknown mask 'window'; did you mean 'sliding_window'?; " + masks, 1},
      {"position: [rotary]\n", "4:12: unknown position 'rotary'; did you mean 'rope'?; known: 'rope'\n", 1},
      {"mask: [softcap: 5]\n", "4:8: unknown mask 'softcap'; it belongs in 'score'\n", 1},
      {"mask: [lsh: {buckets: 3}]\n", "4:23: 'buckets' must be an even integer from 2 to 4096, found '3'\n", 1},
      {"mask: [causal: {a: 1}]\n", "4:17: unknown key 'a' in 'causal'; it takes none\n", 1},
      {"mask: [causal: 3]\n", "4:16: 'causal' takes no arguments, found '3'\n", 1},
      {"mask: [padding: right]\n", "4:17: 'padding' must be a map of 'side', found 'right'\n", 1},
      {"mask: [padding: {side: rihgt}]\n", "4:24: 'side' must be 'right', 'left' or 'both', found 'rihgt'; did you mean 'right'?\n", 1},
      {"mask: [padding: {side: [left]}]\n", "4:24: 'side' must be 'right', 'left' or 'both', found a list\n", 1},
      {"score: [scale: 0]\n", "4:16: 'scale' must be 'default' or a number above 0, found '0'\n", 1},
      {"score: [scale: .inf]\n", "4:16: 'scale' must be 'default' or a number above 0, found '.inf'\n", 1},
      {"score: [scale: 1e-60]\n", "4:16: 'scale' must be 'default' or a number above 0, found '1e-60'\n", 1},
      {"score: [scale: '1']\n", "4:16: 'scale' must be 'default' or a number above 0, found the string '1'\n", 1},
      {"score: [sink, scale: 2]\n",
       "4:15: 'scale' must be the first element of 'score', found it as element 2\n", 1},
  };
  int checked = 0;
  for (auto [text, message, exitCode] : cases) {
    Imported imported(minimal + text);
    EXPECT_FALSE(imported.module) << text;
    EXPECT_EQ(imported.messages(), message);
    EXPECT_EQ(imported.diagnostics.exitCode(), exitCode) << text;
    ++checked;
  }
  EXPECT_EQ(checked, 17);
}

TEST(ImportSpec, WarnsWhenPaddedRowsSeeLaterKeys) {
  for (std::string side : {"left", "both"})
    for (std::string offset : {"bottom_right", "top_left"}) {
      Imported imported(minimal + "mask: [causal, padding: {side: " + side + "}]\nquery_offset: " + offset + "\n");
      EXPECT_TRUE(imported.module);
      EXPECT_EQ(imported.messages().substr(0, 14), "4:8: 'causal' ") << side << " " << offset;
    }
  for (std::string quiet : {"mask: [causal, padding: {side: left}]\nquery_offset: row_end\n", "mask: [causal, padding: {side: right}]\n",
                            "mask: [padding: {side: left}]\n", "mask: [causal]\n"})
    EXPECT_EQ(Imported(minimal + quiet).messages(), "") << quiet;
}

TEST(Masks, AlternativesAreAsManyAsElementsOfAList) {
  auto alternatives = [](int count) {
    std::string text = minimal + "mask:\n  - any: [prefix: 0";
    for (int i = 1; i < count; ++i)
      text += ", prefix: " + std::to_string(i);
    return Imported(text + "]\n").messages();
  };
  EXPECT_EQ(alternatives(64), "");
  EXPECT_EQ(alternatives(65), "5:10: 'any' must have at most 64 elements, found 65\n");
}

TEST(Variants, AreRegisteredOnceAndDocumented) {
  std::string words;
  for (const VariantInfo &info : allVariants()) {
    words += kindName(info.kind).str() + ":" + info.word.str() + " ";
    EXPECT_FALSE(info.doc.empty()) << info.word.str();
    for (const FieldInfo &field : info.fields)
      EXPECT_FALSE(field.doc.empty()) << info.word.str();
  }
  EXPECT_EQ(words, "mask:any mask:block_sparse mask:causal mask:chunked mask:dilated mask:document mask:expr mask:global mask:lsh mask:padding mask:prefix "
                   "mask:sliding_window mask:tensor position:qk_norm position:rope score:alibi score:bias score:expr score:relative_bias score:scale "
                   "score:sink score:softcap ");
}

} // namespace
