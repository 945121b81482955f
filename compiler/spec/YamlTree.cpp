// Builds the tree from yaml-cpp's events: unlike its nodes they have a mark for every key, and show duplicates, anchors and tags.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "spec/YamlTree.h"

#include "llvm/ADT/StringExtras.h"

#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/exceptions.h>
#include <yaml-cpp/parser.h>

#include <sstream>

using llvm::StringRef;

namespace mhac {

namespace {

/// Thrown by the handler to leave yaml-cpp's parser; the message has been reported.
struct Stop {};

class TreeBuilder final : public YAML::EventHandler {
public:
  TreeBuilder(StringRef text, StringRef file, Diagnostics &diagnostics) : text(text), file(file.str()), diagnostics(diagnostics) {
    for (size_t at = 0; at != StringRef::npos; at = text.find('\n', at), at += at != StringRef::npos)
      lines.push_back(at);
  }

  SourceLocation locationOf(const YAML::Mark &mark) const {
    return mark.is_null() ? SourceLocation{file, 1, 1} : SourceLocation{file, unsigned(mark.line) + 1, unsigned(mark.column) + 1};
  }

  Tree root;
  bool hasRoot = false;

  void OnDocumentStart(const YAML::Mark &mark) override {
    if (hasRoot) {
      diagnostics.error(locationOf(mark), "a spec is a single YAML document, found a second one");
      throw Stop();
    }
  }
  void OnDocumentEnd() override { hasRoot = true; }

  void OnNull(const YAML::Mark &mark, YAML::anchor_t anchor) override {
    Tree tree;
    tree.loc = locationOf(mark);
    checkProperties(tree.loc, "", anchor);
    place(std::move(tree));
  }
  void OnAlias(const YAML::Mark &mark, YAML::anchor_t) override {
    diagnostics.error(locationOf(mark), "aliases are not part of the spec language; write the value out");
    Tree tree;
    tree.loc = locationOf(mark);
    place(std::move(tree));
  }
  void OnScalar(const YAML::Mark &mark, const std::string &tag, YAML::anchor_t anchor, const std::string &value) override {
    Tree tree;
    tree.kind = Tree::Kind::Scalar;
    tree.loc = locationOf(mark);
    tree.scalar = value;
    tree.quoted = tag == "!";
    checkProperties(tree.loc, tag, anchor);
    align(tree);
    place(std::move(tree));
  }
  void OnSequenceStart(const YAML::Mark &mark, const std::string &tag, YAML::anchor_t anchor, YAML::EmitterStyle::value) override {
    open(Tree::Kind::List, mark, tag, anchor);
  }
  void OnMapStart(const YAML::Mark &mark, const std::string &tag, YAML::anchor_t anchor, YAML::EmitterStyle::value) override {
    open(Tree::Kind::Map, mark, tag, anchor);
  }
  void OnSequenceEnd() override { close(); }
  void OnMapEnd() override { close(); }

private:
  /// A list or map whose end has not been read. In a map, `key` holds the key that waits for its value.
  struct Level {
    Tree tree;
    std::optional<Tree> key;
  };

  void checkProperties(const SourceLocation &loc, const std::string &tag, YAML::anchor_t anchor) {
    if (anchor != YAML::NullAnchor)
      diagnostics.error(loc, "anchors are not part of the spec language");
    if (!tag.empty() && tag != "?" && tag != "!")
      diagnostics.error(loc, "tags are not part of the spec language, found '" + shownText(tag) + "'");
  }

  void open(Tree::Kind kind, const YAML::Mark &mark, const std::string &tag, YAML::anchor_t anchor) {
    Tree tree;
    tree.kind = kind;
    tree.loc = locationOf(mark);
    checkProperties(tree.loc, tag, anchor);
    if (levels.size() >= size_t(maxSpecDepth)) {
      diagnostics.error(tree.loc, "lists and maps are nested deeper than " + std::to_string(maxSpecDepth) + " levels");
      throw Stop();
    }
    levels.push_back({std::move(tree), std::nullopt});
  }

  void close() {
    Tree tree = std::move(levels.back().tree);
    levels.pop_back();
    place(std::move(tree));
  }

  void place(Tree tree) {
    if (levels.empty()) {
      root = std::move(tree);
      return;
    }
    Level &level = levels.back();
    if (level.tree.kind == Tree::Kind::List) {
      level.tree.items.push_back(std::move(tree));
    } else if (!level.key) {
      level.key = std::move(tree);
    } else {
      addField(level.tree, *level.key, std::move(tree));
      level.key.reset();
    }
  }

  void addField(Tree &map, const Tree &key, Tree value) {
    if (key.kind != Tree::Kind::Scalar) {
      diagnostics.error(key.loc, "a key must be a word");
      return;
    }
    for (const auto &[earlier, _] : map.fields)
      if (earlier.value == key.scalar) {
        Diagnostic &error = diagnostics.error(key.loc, "duplicate key '" + shownText(key.scalar) + "'");
        error.length = writtenLength(key);
        error.notes.push_back({Severity::Note, earlier.loc, writtenLength(key), "first given here", {}});
        return;
      }
    map.fields.emplace_back(Located<std::string>{key.scalar, key.loc, true}, std::move(value));
  }

  /// Finds the characters of a scalar that YAML changed on the way, one after the other: what stands between them in the file are quotes,
  /// escapes and indentation.
  void align(Tree &tree) const {
    if (tree.loc.line > lines.size())
      return;
    size_t line = tree.loc.line, at = lines[line - 1] + tree.loc.column - 1;
    if (at >= text.size() || text.substr(at + tree.quoted).starts_with(tree.scalar))
      return;
    bool hasEscapes = text[at] == '"';
    if (text[at] == '|' || text[at] == '>')
      at = std::min(text.size(), text.find('\n', at));
    else if (tree.quoted)
      ++at;
    // Indentation and escapes make the written form longer, but a search that finds nothing must end soon.
    const size_t limit = std::min(text.size(), at + 12 * tree.scalar.size() + 1024);
    auto isBlank = [](char c) { return c == ' ' || c == '\n'; };
    for (size_t offset = 0; offset < tree.scalar.size() && at < limit; ++offset, ++at) {
      char c = tree.scalar[offset];
      auto isEscape = [&] { return hasEscapes && text[at] == '\\' && at + 1 < text.size() && text[at + 1] != '\n'; };
      while (at < limit && !isEscape() && text[at] != c && !(isBlank(c) && isBlank(text[at])))
        ++at;
      while (line < lines.size() && lines[line] <= at)
        ++line;
      unsigned column = at - lines[line - 1] + 1;
      const Tree::Piece *last = tree.pieces.empty() ? nullptr : &tree.pieces.back();
      if (!last || last->line != line || last->column + (offset - last->offset) != column)
        tree.pieces.push_back({offset, unsigned(line), column});
      if (at < limit && isEscape()) // one character less is skipped by the loop
        at += text[at + 1] == 'x' ? 3 : text[at + 1] == 'u' ? 5 : text[at + 1] == 'U' ? 9 : 1;
    }
  }

  StringRef text;
  std::vector<size_t> lines; // where they begin
  std::string file;
  Diagnostics &diagnostics;
  std::vector<Level> levels;
};

} // namespace

/// Length of the well-formed UTF-8 sequence at the start of `text`, 0 when there is none.
static size_t utf8Length(StringRef text) {
  unsigned char first = text[0];
  size_t length = first < 0x80 ? 1 : first >= 0xC2 && first < 0xE0 ? 2 : (first & 0xF0) == 0xE0 ? 3 : first >= 0xF0 && first < 0xF5 ? 4 : 0;
  if (length == 0 || text.size() < length)
    return 0;
  for (size_t i = 1; i < length; ++i)
    if ((static_cast<unsigned char>(text[i]) & 0xC0) != 0x80)
      return 0;
  unsigned char second = length > 1 ? text[1] : 0;
  // Overlong forms, surrogates and code points past U+10FFFF.
  bool wrong = (first == 0xE0 && second < 0xA0) || (first == 0xED && second >= 0xA0) || (first == 0xF0 && second < 0x90) ||
               (first == 0xF4 && second >= 0x90);
  return wrong ? 0 : length;
}

/// Bytes and tabs that yaml-cpp would take without a word or guess an encoding from.
static bool checkText(StringRef text, StringRef file, Diagnostics &diagnostics) {
  SourceLocation loc{file.str(), 1, 1};
  if (text.size() > maxSpecBytes) {
    diagnostics.error(loc, "the file has " + std::to_string(text.size()) + " bytes, a spec at most " + std::to_string(maxSpecBytes));
    return false;
  }
  bool good = true, indentation = true;
  while (!text.empty() && good) {
    char c = text[0];
    size_t length = utf8Length(text);
    if (length == 0) {
      diagnostics.error(loc, "the file is not UTF-8: found the byte 0x" + llvm::utohexstr(static_cast<unsigned char>(c), true, 2));
      good = false;
    } else if ((static_cast<unsigned char>(c) < 0x20 && c != '\t' && c != '\n' && c != '\r') || c == 0x7F) {
      diagnostics.error(loc, "control characters are not allowed, found the byte 0x" + llvm::utohexstr(static_cast<unsigned char>(c), true, 2));
      good = false;
    } else if (c == '\t' && indentation) {
      diagnostics.error(loc, "found a tab in the indentation; use spaces");
      good = false;
    } else if (c == '\n') {
      loc.line += 1;
      loc.column = 0;
    }
    indentation = c == '\n' || (indentation && c == ' ');
    loc.column += length;
    text = text.drop_front(length);
  }
  return good;
}

std::optional<Tree> readYaml(StringRef text, StringRef file, Diagnostics &diagnostics) {
  if (!checkText(text, file, diagnostics))
    return std::nullopt;
  TreeBuilder builder(text, file, diagnostics);
  try {
    std::istringstream stream(text.str());
    YAML::Parser parser(stream);
    while (parser.HandleNextDocument(builder))
      ;
  } catch (const Stop &) {
    return std::nullopt;
  } catch (const YAML::Exception &exception) {
    diagnostics.error(builder.locationOf(exception.mark), "this is not valid YAML: " + exception.msg);
    return std::nullopt;
  }
  if (!builder.hasRoot) {
    diagnostics.error({file.str(), 1, 1}, "the file is empty; a spec needs at least 'mhac', 'name' and 'layer'");
    return std::nullopt;
  }
  return std::move(builder.root);
}

SourceLocation placeIn(const Tree &scalar, size_t offset) {
  SourceLocation loc = scalar.loc;
  if (scalar.pieces.empty()) {
    loc.column += offset + scalar.quoted;
    return loc;
  }
  const Tree::Piece *piece = &scalar.pieces.front();
  for (const Tree::Piece &each : scalar.pieces)
    if (each.offset <= offset)
      piece = &each;
  loc.line = piece->line;
  loc.column = piece->column + (offset - piece->offset);
  return loc;
}

std::string shownText(StringRef text) {
  size_t cut = 57;
  if (text.size() > 60)
    while ((static_cast<unsigned char>(text[cut]) & 0xC0) == 0x80 && cut > 54) // not in the middle of a character
      --cut;
  std::string shown = text.size() > 60 ? text.substr(0, cut).str() + "..." : text.str();
  for (char &c : shown)
    c = static_cast<unsigned char>(c) < 0x20 || c == 0x7F ? '?' : c;
  return shown;
}

unsigned writtenLength(const Tree &tree) {
  if (tree.kind != Tree::Kind::Scalar || tree.scalar.empty() || StringRef(tree.scalar).contains('\n'))
    return 1;
  return tree.scalar.size() + (tree.quoted ? 2 : 0);
}

} // namespace mhac
