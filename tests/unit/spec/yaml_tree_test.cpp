// Text that is no YAML, or uses parts of YAML that specs do not: always a message with a place, never an exception.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "read.h"

#include "spec/YamlTree.h"

#include <gtest/gtest.h>

using namespace mhac;
using namespace mhac::test;
using namespace std::string_literals;

struct TextCase {
  std::string text, message; // of the first diagnostic
};

static std::string nested(int depth) { return "mask: " + std::string(depth, '[') + std::string(depth, ']') + "\n"; }

TEST(YamlTree, RefusesWithAPlace) {
  const std::vector<TextCase> cases = {
      {"", "1:1: the file is empty; a spec needs at least 'mhac', 'name' and 'layer'"},
      {"# only a comment\n", "1:1: the file is empty; a spec needs at least 'mhac', 'name' and 'layer'"},
      {"[1, 2]\n", "1:1: a spec is a map of keys such as 'mhac', 'name' and 'layer', found a list"},
      {"word\n", "1:1: a spec is a map of keys such as 'mhac', 'name' and 'layer', found 'word'"},
      {minimal + "---\nmhac: 1\n", "4:1: a spec is a single YAML document, found a second one"},
      {minimal + "\tmask: []\n", "4:1: found a tab in the indentation; use spaces"},
      {minimal + "mask: [\n", "5:1: this is not valid YAML: end of sequence flow not found"},
      {minimal + "mask: \xff\n", "4:7: the file is not UTF-8: found the byte 0xff"},
      {minimal + "mask: \xc0\x80\n", "4:7: the file is not UTF-8: found the byte 0xc0"},
      {minimal + "mask: \0\n"s, "4:7: control characters are not allowed, found the byte 0x00"},
      {minimal + nested(40), "4:38: lists and maps are nested deeper than 32 levels"},
      {minimal + nested(60000), "4:38: lists and maps are nested deeper than 32 levels"},
      {std::string(300000, ' '), "1:1: the file has 300000 bytes, a spec at most 262144"},
      {minimal + "mask: &a []\nscore: *a\n", "4:7: anchors are not part of the spec language"},
      {minimal + "mask: *a\n", "4:7: this is not valid YAML: the referenced anchor is not defined"},
      {minimal + "mask: !!seq []\n", "4:7: tags are not part of the spec language, found 'tag:yaml.org,2002:seq'"},
      {minimal + "? [a, b]\n: 1\n", "4:3: a key must be a word"},
      {minimal + "name: g\n", "4:1: duplicate key 'name'"},
      {minimal + "mask:\n  - padding: {side: left, side: right}\n", "5:27: duplicate key 'side'"},
      {minimal + "\"na\\nme\": {}\n", "4:1: unknown key 'na?me'"}};
  int count = 0;
  for (const TextCase &each : cases) {
    ReadResult result = read(each.text);
    ASSERT_FALSE(result.messages.empty()) << each.message;
    EXPECT_EQ(result.messages[0].substr(0, each.message.size()), each.message);
    EXPECT_EQ(result.diagnostics.exitCode(), 1);
    ++count;
  }
  EXPECT_EQ(count, 20);
}

TEST(YamlTree, DuplicateKeyNamesTheFirst) {
  Diagnostics diagnostics;
  readYaml("a: 1\na: 2\n", "t.yaml", diagnostics);
  ASSERT_EQ(diagnostics.all().size(), 1u);
  ASSERT_EQ(diagnostics.all()[0].notes.size(), 1u);
  EXPECT_EQ(diagnostics.all()[0].notes[0].loc.line, 1u);
}

TEST(YamlTree, KnowsQuotes) {
  Diagnostics diagnostics;
  Tree tree = *readYaml("a: '1'\nb: 1\nc: \"\"\nd:\n", "t.yaml", diagnostics);
  EXPECT_TRUE(tree.fields[0].second.quoted);
  EXPECT_EQ(writtenLength(tree.fields[0].second), 3u);
  EXPECT_FALSE(tree.fields[1].second.quoted);
  EXPECT_EQ(tree.fields[2].second.kind, Tree::Kind::Scalar);
  EXPECT_EQ(tree.fields[3].second.kind, Tree::Kind::Null);
}

TEST(YamlTree, CutsBetweenCharacters) {
  EXPECT_EQ(shownText(std::string(56, 'a') + "\xe2\x82\xac" + "bcd"), std::string(56, 'a') + "..."); // the euro sign has bytes 56 to 58
  EXPECT_EQ(shownText(std::string(54, 'a') + "\xe2\x82\xac" + "bcdef"), std::string(54, 'a') + "\xe2\x82\xac...");
  EXPECT_EQ(shownText(std::string(54, 'a') + "\xf0\x9f\x98\x80" + "bcdef"), std::string(54, 'a') + "...");
  EXPECT_EQ(shownText(std::string(57, 'a') + "\xe2\x82\xac"), std::string(57, 'a') + "\xe2\x82\xac");
}
