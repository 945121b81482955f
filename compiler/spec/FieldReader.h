// The part of reading that the table of fields decides: which keys a map has, which are missing, what kind of value each takes. What fields
// mean to each other is SpecReader's.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "spec/Spec.h"
#include "spec/SpecFields.h"
#include "support/Diagnostics.h"

#include <map>

namespace mhac {

/// A value that was written and fits its row of the table.
struct GivenField {
  SourceLocation keyLoc;
  SourceLocation loc; // of the value
  unsigned length = 1;
  int64_t number = 0;                      // Integer, Boolean
  std::vector<Located<int64_t>> numbers;   // Integers
  std::vector<HeadGroup> groups;           // HeadWidth, when it is a list; an integer is `number`
  SizeSpec size;                           // Size
  std::string word;                        // Word, Format, Name
  std::vector<Located<std::string>> words; // WordList
  std::vector<VariantSpec> variants;       // Variants; Variant: one, none when null
  std::vector<ExpressionParameter> parameters; // Parameters
};

class FieldReader {
public:
  FieldReader(llvm::StringRef file, Diagnostics &diagnostics) : file(file.str()), diagnostics(diagnostics) {}

  /// Reads the whole file. False when its root is not a map.
  bool read(const Tree &root);

  /// The field, null when it is absent or was wrong (a wrong one has been reported, see `isWrong`).
  const GivenField *find(llvm::StringRef path) const;
  /// Whether the user wrote something at this path that cannot be used, or left out something that is required.
  bool isWrong(llvm::StringRef path) const { return wrong.count(path.str()); }
  /// Whether the user wrote this map.
  bool hasMap(llvm::StringRef path) const { return maps.count(path.str()); }
  /// Where a default of a field in this map belongs: the key of the map, or the start of the file.
  SourceLocation mapLocation(llvm::StringRef path) const;

private:
  void readMap(const Tree &map, llvm::StringRef path);
  void readField(const SpecField &field, const Located<std::string> &key, const Tree &value);
  void readShorthand(const ShorthandInfo &shorthand, const Located<std::string> &key, const Tree &value);
  void reportUnknownKey(llvm::StringRef map, const Located<std::string> &key);
  bool readValue(const SpecField &field, const Tree &value, GivenField &given);
  bool readInteger(llvm::StringRef subject, const SpecField &field, const Tree &value, int64_t &number);
  bool readIntegers(const SpecField &field, const Tree &value, std::vector<Located<int64_t>> &numbers);
  bool readHeadGroups(const SpecField &field, const Tree &value, std::vector<HeadGroup> &groups);
  bool readWord(const SpecField &field, llvm::StringRef subject, const Tree &value, std::string &word);
  bool readSize(const SpecField &field, const Tree &value, SizeSpec &size);
  bool readName(const Tree &value, std::string &name);
  bool readVariants(const SpecField &field, const Tree &value, std::vector<VariantSpec> &variants);
  bool readWordList(const SpecField &field, const Tree &value, std::vector<Located<std::string>> &words);
  bool readParameters(const Tree &value, std::vector<ExpressionParameter> &parameters);
  void readParameter(const Located<std::string> &name, const Tree &value, ExpressionParameter &parameter);
  void readDims(const std::string &name, const Tree &value, std::string &dims);
  void error(const Tree &at, std::string message);
  void unsupported(const SourceLocation &loc, unsigned length, std::string message);

  std::string file;
  Diagnostics &diagnostics;
  std::map<std::string, GivenField> given;
  std::map<std::string, SourceLocation> maps;
  std::map<std::string, bool> wrong;
};

/// Why a text cannot be the prefix of public symbols ("must be a C identifier"); empty when it can.
std::string whyNotName(llvm::StringRef text);

/// Elements of a list of variants, groups of heads or parameters, at most.
inline constexpr size_t maxListLength = 64;

/// Appends one element of a list of variants: a word, or one `word: arguments`. Reports anything else; `subject`: "an element of 'mask'".
bool readVariantElement(const Tree &item, llvm::StringRef subject, Diagnostics &diagnostics, std::vector<VariantSpec> &variants);

/// What a node is, for messages: "'12x'", "a list", "nothing".
std::string describeTree(const Tree &tree);

} // namespace mhac
