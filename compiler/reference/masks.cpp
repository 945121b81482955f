// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "reference/masks.h"

#include "reference/expressions.h"
#include "reference/trees.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <limits>

namespace mhac::reference {

//===-- the spec's trees --------------------------------------------------------------------------------------------------------------===//

static int64_t integer(const VariantSpec &variant, std::string_view key, int64_t fallback) {
  const Tree *value = find(variant.arguments, key);
  return value ? std::strtoll(value->scalar.c_str(), nullptr, 10) : fallback;
}

/// `prefix: 3`, `chunked: 64`.
static int64_t scalarInteger(const VariantSpec &variant) { return std::strtoll(variant.arguments.scalar.c_str(), nullptr, 10); }

/// A mask as an element of a list inside another mask: `causal`, or one `word: arguments`.
static VariantSpec maskOf(const Tree &tree) {
  if (tree.kind == Tree::Kind::Map && tree.fields.size() == 1)
    return {tree.fields[0].first, tree.fields[0].second};
  return {{tree.scalar, tree.loc, true}, {}};
}

/// Masks that must all hold: an element of `any` is one mask, or a list of them.
static std::vector<VariantSpec> conjunctionOf(const Tree &tree) {
  if (tree.kind != Tree::Kind::List)
    return {maskOf(tree)};
  std::vector<VariantSpec> masks;
  for (const Tree &item : tree.items)
    masks.push_back(maskOf(item));
  return masks;
}

/// Calls f(mask) for every mask of the list, also inside `any`.
template <typename F> static void forEachMask(const std::vector<VariantSpec> &masks, F f) {
  for (const VariantSpec &mask : masks) {
    f(mask);
    if (*mask.word == "any")
      for (const Tree &alternative : mask.arguments.items)
        forEachMask(conjunctionOf(alternative), f);
  }
}

static bool hasPadding(const Spec &spec, std::string_view side) {
  bool found = false;
  forEachMask(spec.mask, [&](const VariantSpec &mask) { found |= *mask.word == "padding" && word(mask.arguments, "side", "right") == side; });
  return found;
}

/// Whether queries and keys are the same tokens, so that one input describes both.
static bool keysAreQueries(const Spec &spec) {
  return *spec.layer.source == Source::Self && *spec.projections.input != InputProjection::None;
}

std::string unknownMask(const Spec &spec) {
  static constexpr std::string_view known[] = {
      "any",      "block_sparse", "causal",  "chunked", "dilated",        "document", "expr",
      "global",   "lsh",          "padding", "prefix",  "sliding_window", "tensor",
  };
  std::string unknown;
  forEachMask(spec.mask, [&](const VariantSpec &mask) {
    if (unknown.empty() && std::find(std::begin(known), std::end(known), *mask.word) == std::end(known))
      unknown = *mask.word;
  });
  return unknown;
}

std::vector<HashKind> hashKinds(const Spec &spec) {
  std::vector<HashKind> kinds;
  forEachMask(spec.mask, [&](const VariantSpec &mask) {
    if (*mask.word == "lsh" && std::find(kinds.begin(), kinds.end(), HashKind(mask)) == kinds.end())
      kinds.push_back(HashKind(mask));
  });
  return kinds;
}

std::vector<std::pair<std::string, std::vector<int64_t>>> maskInputs(const Spec &spec, const Sizes &sizes) {
  std::vector<std::pair<std::string, std::vector<int64_t>>> list;
  auto add = [&](const std::string &name, std::vector<int64_t> shape) {
    if (std::none_of(list.begin(), list.end(), [&](const auto &input) { return input.first == name; }))
      list.push_back({name, std::move(shape)});
  };
  /// One number a token.
  auto addTokens = [&](const char *both, const char *queries, const char *keys) {
    if (keysAreQueries(spec))
      return add(both, {sizes.batch, sizes.query});
    add(queries, {sizes.batch, sizes.query});
    add(keys, {sizes.batch, sizes.key});
  };
  forEachMask(spec.mask, [&](const VariantSpec &mask) {
    if (*mask.word == "padding") {
      if (word(mask.arguments, "side", "right") != "left")
        add("key_lengths", {sizes.batch});
      if (word(mask.arguments, "side", "right") != "right")
        add("key_starts", {sizes.batch});
    }
    if (*mask.word == "global" && word(mask.arguments, "tokens", "") == "input")
      addTokens("global_tokens", "global_queries", "global_keys");
    if (*mask.word == "prefix" && mask.arguments.scalar == "input")
      add("prefix_lengths", {sizes.batch});
    if (*mask.word == "document")
      addTokens("documents", "query_documents", "key_documents");
    if (*mask.word == "tensor")
      add("mask", {lists(mask.arguments, "broadcast", "b") ? 1 : sizes.batch, lists(mask.arguments, "broadcast", "h") ? 1 : *spec.layer.heads,
                   lists(mask.arguments, "broadcast", "q") ? 1 : sizes.query, -1});
  });
  return list;
}

//===-- conditions --------------------------------------------------------------------------------------------------------------------===//

/// Rounds down, unlike C++; `b` is above 0.
static int64_t floorDivide(int64_t a, int64_t b) { return a / b - (a % b < 0); }
/// In [0, b).
static int64_t modulo(int64_t a, int64_t b) { return a - floorDivide(a, b) * b; }

/// Key block number `i` of those that a block of queries draws in head `h`. Small enough for 32-bit arithmetic: below P^2 everywhere.
static int64_t randomBlock(int64_t seed, int64_t h, int64_t queryBlock, int64_t i, int64_t blocks) {
  constexpr int64_t P = 46337;
  int64_t x = modulo(seed, P);
  for (int64_t v : {h, queryBlock, i}) {
    int64_t y = modulo(x + modulo(v, P), P);
    x = ((y + 1) * (y + 1) % P + 17 * y) % P;
  }
  return x % blocks;
}

static Condition blockSparse(const VariantSpec &mask, RowPositions positions, int64_t keys) {
  int64_t block = integer(mask, "block", 1), local = integer(mask, "local", 0), global = integer(mask, "global", 0);
  int64_t random = integer(mask, "random", 0), seed = integer(mask, "seed", 0), blocks = std::max<int64_t>(1, (keys + block - 1) / block);
  return [=](int64_t h, int64_t q, int64_t k) {
    int64_t queryBlock = floorDivide(positions.ofQuery(q), block), keyBlock = floorDivide(positions.ofKey(k), block);
    if (std::abs(queryBlock - keyBlock) <= local || (keyBlock >= 0 && keyBlock < global) || (queryBlock >= 0 && queryBlock < global))
      return true;
    for (int64_t i = 0; i < random; ++i)
      if (keyBlock == randomBlock(seed, h, queryBlock, i, blocks))
        return true;
    return false;
  };
}

static std::optional<Expression> conditionOf(const VariantSpec &mask, const Spec &spec) {
  ExpressionError error;
  return parseExpression(mask.arguments.scalar, ExpressionUse::Mask, spec.parameters, error);
}

Condition RowMask::allOf(const std::vector<VariantSpec> &list) const {
  std::vector<Condition> conditions;
  for (const VariantSpec &mask : list)
    conditions.push_back(condition(mask));
  return [conditions](int64_t h, int64_t q, int64_t k) {
    return std::all_of(conditions.begin(), conditions.end(), [&](const Condition &holds) { return holds(h, q, k); });
  };
}

Condition RowMask::condition(const VariantSpec &mask) const {
  const RowPositions at = positions;
  const int64_t start = at.keyStart, end = start + keyLength, b = this->b;
  auto input = [&](const char *name) { return &inputs.find(name)->second; };
  auto ofQueries = [&](const char *both, const char *separate) { return input(projectsKeys ? both : separate); };

  if (*mask.word == "causal")
    return [at](int64_t, int64_t q, int64_t k) { return at.ofKey(k) <= at.ofQuery(q); };
  if (*mask.word == "padding") {
    std::string_view side = word(mask.arguments, "side", "right");
    int64_t first = side == "right" ? 0 : start, last = side == "left" ? sizes.key : side == "right" ? keyLength : end;
    return [=](int64_t, int64_t, int64_t k) { return first <= k && k < last; };
  }
  if (*mask.word == "sliding_window") {
    int64_t left = integer(mask, "left", -1), right = integer(mask, "right", -1);
    return [=](int64_t, int64_t q, int64_t k) {
      int64_t distance = at.ofKey(k) - at.ofQuery(q);
      return (left < 0 || distance >= -left) && (right < 0 || distance <= right);
    };
  }
  if (*mask.word == "global" && word(mask.arguments, "tokens", "") == "input") {
    const Tensor *queries = ofQueries("global_tokens", "global_queries"), *keys = ofQueries("global_tokens", "global_keys");
    return [=](int64_t, int64_t q, int64_t k) { return queries->flag({b, q}) || keys->flag({b, k}); };
  }
  if (*mask.word == "global") {
    int64_t tokens = integer(mask, "tokens", 0);
    auto isGlobal = [tokens](int64_t position) { return position >= 0 && position < tokens; };
    return [=](int64_t, int64_t q, int64_t k) { return isGlobal(at.ofQuery(q)) || isGlobal(at.ofKey(k)); };
  }
  if (*mask.word == "prefix") {
    int64_t length = mask.arguments.scalar == "input" ? input("prefix_lengths")->integer({b}) : scalarInteger(mask);
    return [=](int64_t, int64_t, int64_t k) { return at.ofKey(k) < length; };
  }
  if (*mask.word == "document") {
    const Tensor *queries = ofQueries("documents", "query_documents"), *keys = ofQueries("documents", "key_documents");
    return [=](int64_t, int64_t q, int64_t k) { return queries->integer({b, q}) == keys->integer({b, k}); };
  }
  if (*mask.word == "chunked") {
    int64_t size = scalarInteger(mask);
    return [=](int64_t, int64_t q, int64_t k) { return floorDivide(at.ofQuery(q), size) == floorDivide(at.ofKey(k), size); };
  }
  if (*mask.word == "dilated") {
    int64_t window = integer(mask, "window", 0), step = integer(mask, "step", 1);
    return [=](int64_t, int64_t q, int64_t k) {
      int64_t distance = std::abs(at.ofQuery(q) - at.ofKey(k));
      return distance <= window * step && distance % step == 0;
    };
  }
  if (*mask.word == "lsh") {
    const int64_t group = *spec.layer.heads / *spec.layer.kvHeads, keys = sizes.key;
    return [kind = HashKind(mask), hashed = this->hashed, group, keys](int64_t h, int64_t, int64_t k) {
      return !hashed->keys || meet(hashed->query->at(kind)[h], hashed->keys->at(kind)[h / group * keys + k], hashed->certainty);
    };
  }
  if (*mask.word == "block_sparse")
    return blockSparse(mask, at, sizes.key);
  if (*mask.word == "expr") {
    std::optional<Expression> tree = conditionOf(mask, spec);
    if (!tree) // an import has reported it
      return [](int64_t, int64_t, int64_t) { return false; };
    const Sizes sizes = this->sizes;
    const Tensors &inputs = this->inputs;
    const Spec &spec = this->spec;
    return [=, &inputs, &spec](int64_t h, int64_t q, int64_t k) {
      ExpressionPoint point{b, h, q, k, at.ofQuery(q), at.ofKey(k), sizes.query, sizes.key};
      return evaluateMask(*tree, spec.parameters, inputs, point);
    };
  }
  if (*mask.word == "tensor") {
    const Tensor *values = input("mask");
    bool isFloat = word(mask.arguments, "dtype", "") == "float";
    return [=](int64_t h, int64_t q, int64_t k) {
      auto inside = [&](size_t dim, int64_t i) { return values->shape[dim] == 1 ? 0 : i; };
      if (k >= values->shape[3])
        return false;
      int64_t row = inside(0, b), head = inside(1, h), query = inside(2, q);
      return isFloat ? values->number({row, head, query, k}) != -std::numeric_limits<float>::infinity() : values->flag({row, head, query, k});
    };
  }
  if (*mask.word == "any") {
    std::vector<Condition> alternatives;
    for (const Tree &alternative : mask.arguments.items)
      alternatives.push_back(allOf(conjunctionOf(alternative)));
    return [alternatives](int64_t h, int64_t q, int64_t k) {
      return std::any_of(alternatives.begin(), alternatives.end(), [&](const Condition &holds) { return holds(h, q, k); });
    };
  }
  return [](int64_t, int64_t, int64_t) { return false; };
}

/// Absolute position of query 0.
static int64_t queryOffset(const Spec &spec, const Sizes &sizes, int64_t keyStart, int64_t keyLength) {
  switch (*spec.queryOffset) {
  case QueryOffset::BottomRight:
    return sizes.key - sizes.query;
  case QueryOffset::TopLeft:
    return 0;
  case QueryOffset::RowEnd: {
    bool leftOnly = hasPadding(spec, "left") && !hasPadding(spec, "right") && !hasPadding(spec, "both");
    int64_t validKeys = leftOnly ? sizes.key - keyStart : keyLength;
    return validKeys - sizes.query;
  }
  }
  return 0;
}

RowMask::RowMask(const Spec &spec, const Sizes &sizes, const Tensors &inputs, int64_t b)
    : spec(spec), sizes(sizes), inputs(inputs), b(b), projectsKeys(keysAreQueries(spec)) {
  auto number = [&](bool isThere, const char *name, int64_t fallback) {
    return isThere ? inputs.find(name)->second.integer({b}) : fallback;
  };
  bool both = hasPadding(spec, "both");
  keyLength = number(both || hasPadding(spec, "right"), "key_lengths", sizes.key);
  positions.keyStart = number(both || hasPadding(spec, "left"), "key_starts", 0);
  positions.offset = queryOffset(spec, sizes, positions.keyStart, keyLength);
  visible = allOf(spec.mask);
  forEachMask(spec.mask, [&](const VariantSpec &mask) {
    if (*mask.word == "tensor" && word(mask.arguments, "dtype", "") == "float")
      added = &inputs.find("mask")->second;
    if (*mask.word == "expr")
      if (std::optional<Expression> tree = conditionOf(mask, spec))
        perHead |= mhac::reference::dependsOnHead(*tree, spec.parameters);
    perHead |= (*mask.word == "tensor" && !lists(mask.arguments, "broadcast", "h")) || (*mask.word == "block_sparse" && integer(mask, "random", 0) > 0) ||
               *mask.word == "lsh";
  });
}

bool RowMask::isVisible(int64_t h, int64_t q, int64_t k) const { return visible(h, q, k); }

double RowMask::addition(int64_t h, int64_t q, int64_t k) const {
  if (!added)
    return 0;
  auto inside = [&](size_t dim, int64_t i) { return added->shape[dim] == 1 ? 0 : i; };
  return added->number({inside(0, b), inside(1, h), inside(2, q), k});
}

} // namespace mhac::reference
