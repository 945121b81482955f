// Random expressions: the region that the compiler makes of one says what the reference says of its tree, no index leaves the 32 bits that
// kernels give it, and the blocks of attn-block-structure are sound. The region is run one op at a time, by an interpreter that shares nothing
// with the compiler.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "attention/AttentionDialect.h"
#include "passes/Passes.h"
#include "reference/expressions.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Transforms/Passes.h"

#include "llvm/ADT/TypeSwitch.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

using namespace mlir;
using namespace mhac;
using namespace mhac::attn;

namespace {

//===-- interpreter -----------------------------------------------------------------------------------------------------------------------===//

struct region_value {
  int64_t integer = 0;
  float number = 0;
  const reference::Tensor *tensor = nullptr;
};

int64_t floor_div(int64_t a, int64_t b) { return b == 0 ? 0 : int64_t(std::floor(double(a) / double(b))); }

bool compare_integers(arith::CmpIPredicate predicate, int64_t a, int64_t b) {
  switch (predicate) {
  case arith::CmpIPredicate::eq: return a == b;
  case arith::CmpIPredicate::ne: return a != b;
  case arith::CmpIPredicate::slt: return a < b;
  case arith::CmpIPredicate::sle: return a <= b;
  case arith::CmpIPredicate::sgt: return a > b;
  case arith::CmpIPredicate::sge: return a >= b;
  default: ADD_FAILURE() << "no expression compares unsigned"; return false;
  }
}

bool compare_floats(arith::CmpFPredicate predicate, float a, float b) {
  switch (predicate) {
  case arith::CmpFPredicate::OEQ: return a == b;
  case arith::CmpFPredicate::UNE: return a != b;
  case arith::CmpFPredicate::OLT: return a < b;
  case arith::CmpFPredicate::OLE: return a <= b;
  case arith::CmpFPredicate::OGT: return a > b;
  case arith::CmpFPredicate::OGE: return a >= b;
  default: ADD_FAILURE() << "kernels do not know this comparison"; return false;
  }
}

region_value constant(Attribute attribute) {
  if (auto number = dyn_cast<FloatAttr>(attribute))
    return {0, static_cast<float>(number.getValueAsDouble())};
  auto integer = cast<IntegerAttr>(attribute);
  return {integer.getType().isInteger(1) ? int64_t(integer.getValue().getZExtValue()) : integer.getValue().getSExtValue()};
}

region_value load(const reference::Tensor &tensor, ArrayRef<int64_t> indices) {
  int64_t offset = 0;
  for (auto [i, index] : llvm::enumerate(indices))
    offset += std::max<int64_t>(0, std::min(index, tensor.shape[i] - 1)) * tensor.strides[i];
  if (tensor.dtype == DType::I64)
    return {static_cast<const int64_t *>(tensor.data)[offset]};
  if (tensor.dtype == DType::Bool)
    return {static_cast<const uint8_t *>(tensor.data)[offset]};
  return {0, static_cast<const float *>(tensor.data)[offset]};
}

std::vector<region_value> run(Block &block, const std::vector<region_value> &arguments) {
  llvm::DenseMap<Value, region_value> values;
  for (auto [argument, given] : llvm::zip_equal(block.getArguments(), arguments))
    values[argument] = given;
  for (Operation &op : block.without_terminator()) {
    auto integer = [&](unsigned i) { return values.lookup(op.getOperand(i)).integer; };
    auto number = [&](unsigned i) { return values.lookup(op.getOperand(i)).number; };
    using V = region_value;
    V result = llvm::TypeSwitch<Operation *, V>(&op)
                   .Case([&](arith::ConstantOp o) { return constant(o.getValue()); })
                   .Case([&](arith::AddIOp) { return V{integer(0) + integer(1)}; })
                   .Case([&](arith::SubIOp) { return V{integer(0) - integer(1)}; })
                   .Case([&](arith::MulIOp) { return V{integer(0) * integer(1)}; })
                   .Case([&](FloorDivOp) { return V{floor_div(integer(0), integer(1))}; })
                   .Case([&](FloorModOp) { return V{integer(1) == 0 ? 0 : integer(0) - floor_div(integer(0), integer(1)) * integer(1)}; })
                   .Case([&](arith::MinSIOp) { return V{std::min(integer(0), integer(1))}; })
                   .Case([&](arith::MaxSIOp) { return V{std::max(integer(0), integer(1))}; })
                   .Case([&](arith::AndIOp) { return V{integer(0) & integer(1)}; })
                   .Case([&](arith::OrIOp) { return V{integer(0) | integer(1)}; })
                   .Case([&](arith::XOrIOp) { return V{integer(0) ^ integer(1)}; })
                   .Case([&](arith::SelectOp o) { return integer(0) ? values.lookup(o.getTrueValue()) : values.lookup(o.getFalseValue()); })
                   .Case([&](arith::IndexCastOp) { return V{integer(0)}; })
                   .Case([&](arith::SIToFPOp) { return V{0, float(integer(0))}; })
                   .Case([&](arith::CmpIOp o) { return V{compare_integers(o.getPredicate(), integer(0), integer(1))}; })
                   .Case([&](arith::CmpFOp o) { return V{compare_floats(o.getPredicate(), number(0), number(1))}; })
                   .Case([&](arith::AddFOp) { return V{0, number(0) + number(1)}; })
                   .Case([&](arith::SubFOp) { return V{0, number(0) - number(1)}; })
                   .Case([&](arith::MulFOp) { return V{0, number(0) * number(1)}; })
                   .Case([&](arith::DivFOp) { return V{0, number(0) / number(1)}; })
                   .Case([&](arith::NegFOp) { return V{0, -number(0)}; })
                   .Case([&](arith::MinimumFOp) { return V{0, std::min(number(0), number(1))}; })
                   .Case([&](arith::MaximumFOp) { return V{0, std::max(number(0), number(1))}; })
                   .Case([&](math::AbsFOp) { return V{0, std::abs(number(0))}; })
                   .Case([&](math::FloorOp) { return V{0, std::floor(number(0))}; })
                   .Case([&](math::ExpOp) { return V{0, std::exp(number(0))}; })
                   .Case([&](math::LogOp) { return V{0, std::log(number(0))}; })
                   .Case([&](math::TanhOp) { return V{0, std::tanh(number(0))}; })
                   .Case([&](LoadOp o) {
                     SmallVector<int64_t> indices;
                     for (Value index : o.getIndices())
                       indices.push_back(values.lookup(index).integer);
                     return load(*values.lookup(o.getParam()).tensor, indices);
                   })
                   .Default([](Operation *o) {
                     ADD_FAILURE() << "the interpreter does not know " << o->getName().getStringRef().str();
                     return V{};
                   });
    if (op.getResult(0).getType().isIndex()) {
      EXPECT_LE(std::abs(result.integer), 2147483647) << "an index leaves 32 bits";
    }
    values[op.getResult(0)] = result;
  }
  std::vector<region_value> yielded;
  for (Value value : block.getTerminator()->getOperands())
    yielded.push_back(values.lookup(value));
  return yielded;
}

//===-- expressions -----------------------------------------------------------------------------------------------------------------------===//

const std::vector<ExpressionParameter> parameters = {
    {"n", ExpressionType::Integer, ""},  {"f", ExpressionType::Float, ""},     {"rows", ExpressionType::Boolean, "b"},
    {"t", ExpressionType::Float, "hk"},  {"ids", ExpressionType::Integer, "q"}, {"m", ExpressionType::Boolean, "bhqk"}};
const std::string declarations = R"(["n i64", "f f32", "rows bool batch", "t f32 2 key", "ids i64 query", "m bool batch 2 query key"])";

/// Text of an expression of the wanted type. No float leaves f32: what min and max make of NaN is not specified.
class Generator {
public:
  explicit Generator(uint64_t seed, bool hasScore) : random(seed), hasScore(hasScore) {}

  std::string boolean(int depth) {
    if (depth == 0)
      return pick({"rows", "m", "(k <= q)", "rows[b - 1]", "m[b, h, k, q]"});
    std::string a, b;
    switch (below(8)) {
    case 0: case 1: case 2:
      a = integer(depth - 1), b = integer(depth - 1);
      return "(" + a + pick({" < ", " <= ", " > ", " >= ", " == ", " != "}) + b + ")";
    case 3:
      a = number(depth - 1), b = number(depth - 1);
      return "(" + a + pick({" < ", " <= ", " > ", " >= ", " == ", " != "}) + b + ")";
    case 4:
      return "(not " + boolean(depth - 1) + ")";
    case 5:
      a = boolean(depth - 1), b = boolean(depth - 1);
      return "(" + a + pick({" == ", " != "}) + b + ")";
    default:
      a = boolean(depth - 1), b = boolean(depth - 1);
      return "(" + a + pick({" and ", " or "}) + b + ")";
    }
  }

  std::string integer(int depth) {
    if (depth == 0)
      return pick({"q", "k", "q", "k", "h", "b", "queries", "keys", "n", "ids", "ids[k]", "0", "1", "3", "-2", "7", "1073741823"});
    std::string a, b;
    switch (below(7)) {
    case 0:
      return "abs(" + integer(depth - 1) + ")";
    case 1:
      return "-" + integer(0);
    case 2:
      a = integer(depth - 1), b = integer(depth - 1);
      return pick({"min(", "max("}) + a + ", " + b + ")";
    case 3:
      a = boolean(depth - 1), b = integer(depth - 1);
      return "where(" + a + ", " + b + ", " + integer(depth - 1) + ")";
    default:
      a = integer(depth - 1), b = integer(depth - 1);
      return "(" + a + pick({" + ", " - ", " - ", " * ", " // ", " % "}) + b + ")";
    }
  }

  std::string number(int depth) {
    if (depth == 0)
      return pick({hasScore ? "s" : "f", "f", "t", "t[h, q - k]", "0.5", "2.0", "1e-3"});
    std::string a = number(depth - 1), b = number(depth - 1);
    switch (below(10)) {
    case 0: return "exp(min(" + a + ", 5))";
    case 1: return "log(1 + abs(" + a + "))";
    case 2: return "tanh(" + a + ") * " + b;
    case 3: return a + " / (1.0 + abs(" + b + "))";
    case 4: return "(" + a + pick({" // ", " % "}) + "4.0)";
    case 5: return "(0.5 * " + integer(depth - 1) + ")";
    case 6: return pick({"min(", "max("}) + a + ", " + b + ")";
    case 7: return "where(" + boolean(depth - 1) + ", " + a + ", " + b + ")";
    default: return "(" + a + pick({" + ", " - "}) + b + ")";
    }
  }

private:
  size_t below(size_t bound) { return random() % bound; }
  std::string pick(std::initializer_list<std::string> list) { return list.begin()[below(list.size())]; }
  std::mt19937_64 random; // its numbers are fixed by the standard
  bool hasScore;
};

/// Numbers for the parameters, in memory that their tensors point to.
struct Numbers {
  Numbers(int64_t queries, int64_t keys, uint64_t seed) {
    std::mt19937_64 random(seed);
    auto small = [&] { return int64_t(random() % 9) - 4; };
    n = {seed % 5 == 0 ? std::numeric_limits<int64_t>::max() : small()};
    f = {0.25f * float(small())};
    for (auto *list : {&rows, &m})
      for (int64_t i = 0; i < 2 * 2 * queries * keys + 2; ++i)
        list->push_back(random() % 3 ? 2 : 0);
    for (int64_t i = 0; i < 2 * keys; ++i)
      t.push_back(0.5f * float(small()));
    for (int64_t i = 0; i < queries; ++i)
      ids.push_back(random() % 7 ? small() : std::numeric_limits<int64_t>::min());
    tensors = {{"n", {DType::I64, n.data(), {1}, {1}}},
               {"f", {DType::F32, f.data(), {1}, {1}}},
               {"rows", {DType::Bool, rows.data(), {2}, {1}}},
               {"t", {DType::F32, t.data(), {2, keys}, {keys, 1}}},
               {"ids", {DType::I64, ids.data(), {queries}, {1}}},
               {"m", {DType::Bool, m.data(), {2, 2, queries, keys}, {2 * queries * keys, queries * keys, keys, 1}}}};
  }
  std::vector<int64_t> n, ids;
  std::vector<float> f, t;
  std::vector<uint8_t> rows, m;
  reference::Tensors tensors;
};

class Expressions : public ::testing::Test {
protected:
  Expressions() {
    DialectRegistry registry;
    registerAttentionDialects(registry);
    context.appendDialectRegistry(registry);
    context.loadAllAvailableDialects();
  }

  /// The op behind the passes that read and write its regions.
  AttentionOp lower(const std::string &attributes) {
    std::string params = "tensor<1xi64>, tensor<1xf32>, tensor<?xi8>, tensor<2x?xf32>, tensor<?xi64>, tensor<?x2x?x?xi8>", type = "tensor<?x2x?x4xf32>";
    module = parseSourceString<ModuleOp>("func.func @f(%q: " + type + ", %k: " + type + ", %n: tensor<1xi64>, %f: tensor<1xf32>, %rows: tensor<?xi8>, "
                                         "%t: tensor<2x?xf32>, %ids: tensor<?xi64>, %m: tensor<?x2x?x?xi8>) -> " + type + " {\n"
                                         "  %o = attn.attention %q, %k, %k params(%n, %f, %rows, %t, %ids, %m : " + params + ") scale 1.0 " + attributes +
                                         " : (" + type + ", " + type + ", " + type + ") -> (" + type + ")\n  return %o : " + type + "\n}", &context);
    if (!module)
      return {};
    PassManager manager(&context, ModuleOp::getOperationName());
    manager.addNestedPass<func::FuncOp>(createExpandVariantsPass());
    manager.addNestedPass<func::FuncOp>(createCanonicalizerPass());
    manager.addNestedPass<func::FuncOp>(createBlockStructurePass());
    EXPECT_TRUE(succeeded(manager.run(*module)));
    AttentionOp found;
    module->walk([&](AttentionOp op) { found = op; });
    return found;
  }

  static std::vector<region_value> arguments(std::initializer_list<int64_t> indices, const Numbers &numbers, int64_t queries, int64_t keys) {
    std::vector<region_value> list;
    for (int64_t index : indices)
      list.push_back({index});
    for (const ExpressionParameter &parameter : parameters)
      list.push_back({0, 0, &numbers.tensors.find(parameter.name)->second});
    list.push_back({queries});
    list.push_back({keys});
    return list;
  }

  MLIRContext context;
  OwningOpRef<ModuleOp> module;
  int64_t points = 0;
};

const std::pair<int64_t, int64_t> sizes[] = {{1, 1}, {3, 3}, {2, 5}, {4, 2}};

std::string quoted(const std::string &text, const char *word) { return "#attn." + std::string(word) + "<\"" + text + "\", " + declarations + ">"; }

TEST_F(Expressions, MasksAreWhatTheReferenceSays) {
  for (uint64_t seed = 0; seed < 400 && !HasFailure(); ++seed) {
    std::string text = Generator(seed, false).boolean(1 + int(seed % 4));
    SCOPED_TRACE(text);
    ExpressionError error;
    std::optional<Expression> tree = parseExpression(text, ExpressionUse::Mask, parameters, error);
    ASSERT_TRUE(tree) << error.message;
    AttentionOp op = lower("masks [" + quoted(text, "mask_expr") + "]");
    ASSERT_TRUE(op);
    for (auto [queries, keys] : sizes) {
      Numbers numbers(queries, keys, seed + queries);
      int64_t b = int64_t(seed % 2), h = int64_t(seed / 2 % 2);
      std::vector<std::vector<bool>> visible(queries, std::vector<bool>(keys, true));
      for (int64_t q = 0; q < queries; ++q)
        for (int64_t k = 0; k < keys; ++k, ++points) {
          reference::ExpressionPoint point{b, h, q, k, q + keys - queries, k, queries, keys};
          visible[q][k] = reference::evaluateMask(*tree, parameters, numbers.tensors, point);
          bool found = op.getMask().empty() || run(op.getMask().front(), arguments({b, h, q, k}, numbers, queries, keys))[0].integer;
          ASSERT_EQ(found, visible[q][k]) << "q " << q << " of " << queries << ", k " << k << " of " << keys;
        }
      for (int64_t first = 0; first < queries && !op.getBlocks().empty(); ++first)
        for (int64_t last = first; last < queries; ++last) {
          std::vector<region_value> ends = run(op.getBlocks().front(), arguments({b, h, first, last}, numbers, queries, keys));
          for (int64_t q = first; q <= last; ++q)
            for (int64_t k = 0; k < keys; ++k) {
              ASSERT_TRUE(!visible[q][k] || (ends[0].integer <= k && k < ends[1].integer)) << "a visible key lies outside: q " << q << ", k " << k;
              ASSERT_TRUE(visible[q][k] || k < ends[2].integer || k >= ends[3].integer) << "a hidden key is called visible: q " << q << ", k " << k;
            }
        }
    }
  }
  EXPECT_EQ(points, 400 * (1 + 9 + 10 + 8));
}

TEST_F(Expressions, ScoresAreWhatTheReferenceSays) {
  for (uint64_t seed = 0; seed < 400 && !HasFailure(); ++seed) {
    std::string text = Generator(seed + 1000, true).number(1 + int(seed % 4));
    SCOPED_TRACE(text);
    ExpressionError error;
    std::optional<Expression> tree = parseExpression(text, ExpressionUse::Score, parameters, error);
    ASSERT_TRUE(tree) << error.message;
    AttentionOp op = lower("scores [" + quoted(text, "score_expr") + "]");
    ASSERT_TRUE(op);
    for (auto [queries, keys] : sizes) {
      Numbers numbers(queries, keys, seed + queries);
      for (int64_t q = 0; q < queries; ++q)
        for (int64_t k = 0; k < keys; ++k, ++points) {
          float score = 0.75f * float(q - k) - 0.1f;
          reference::ExpressionPoint point{1, 0, q, k, q + keys - queries, k, queries, keys};
          float wanted = reference::evaluateScore<float>(*tree, parameters, numbers.tensors, point, score), found = score;
          if (!op.getScore().empty()) {
            std::vector<region_value> list = arguments({1, 0, q, k}, numbers, queries, keys);
            list.insert(list.begin() + 4, {0, score});
            found = run(op.getScore().front(), list)[0].number;
          }
          ASSERT_EQ(found, wanted) << "q " << q << " of " << queries << ", k " << k << " of " << keys;
        }
    }
  }
  EXPECT_EQ(points, 400 * (1 + 9 + 10 + 8));
}

/// What the blocks say for a tile of queries, with 9 queries and keys: "[lo, hi) full [lo, hi)".
TEST_F(Expressions, ClosedFormsAreFound) {
  const std::pair<const char *, std::vector<int64_t>> cases[] = {
      {"k <= q", {0, 6, 0, 5}},
      {"q - k < 3 and k <= q", {2, 6, 3, 5}},
      {"abs(q - k) <= 1", {3, 7, 4, 6}},
      {"max(k, 2) < min(q, 100)", {0, 5, 0, 4}},
      {"k <= q + n", {0, 3, 0, 2}},
      {"k + n <= q", {0, 9, 0, 8}},
      {"not (q < -1 * k * -1)", {0, 6, 0, 5}},
      {"keys - 2 <= k", {7, 9, 7, 9}},
      {"k <= q + 2 * 8 - 16", {0, 6, 0, 5}}};
  for (const auto &[text, wanted] : cases) {
    SCOPED_TRACE(text);
    AttentionOp op = lower("masks [" + quoted(text, "mask_expr") + "]");
    ASSERT_TRUE(op);
    Numbers numbers(9, 9, 1);
    numbers.n[0] = -3;
    std::vector<int64_t> found;
    for (const region_value &end : run(op.getBlocks().front(), arguments({0, 0, 4, 5}, numbers, 9, 9)))
      found.push_back(end.integer);
    EXPECT_EQ(found, wanted);
  }
}

/// Constants disappear before the kernel sees them.
TEST_F(Expressions, ConstantsFold) {
  for (auto [text, operations] : {std::pair("k <= q + 2 * 8 - 16", 2), {"where(1 < 2, k, q) <= 7 // 2", 2}, {"exp(0) * f > -0.0 - 3 * 2", 4}}) {
    AttentionOp op = lower("masks [" + quoted(text, "mask_expr") + "]");
    ASSERT_TRUE(op);
    int count = 0;
    for (Operation &inner : op.getMask().front().without_terminator())
      count += !isa<arith::ConstantOp>(inner) && !isa<arith::AddIOp, arith::SubIOp>(inner);
    EXPECT_LE(count, operations) << text;
  }
}

} // namespace
