// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "halide/TransposeTiles.h"

#include "halide/Lanes.h"

#include <array>
#include <vector>

using namespace Halide;
using namespace Halide::Internal;

namespace mhac::halide {
namespace {

/// What the stores and loads of a transposition have in common; throws when they are not those of 16 columns.
class FindColumns : public IRVisitor {
public:
  const Store *store = nullptr;
  const Load *load = nullptr;
  Expr first; // index of the first element that is stored
  int columns = 0;

protected:
  using IRVisitor::visit;
  void visit(const Store *op) override {
    store = op;
    load = op->value.as<Load>();
    const Ramp *to = op->index.as<Ramp>(), *from = load ? load->index.as<Ramp>() : nullptr;
    if (to && columns == 0)
      first = to->base;
    if (!to || !from || to->lanes != kLanes || !is_const_one(to->stride) || !is_const(from->stride, kLanes) || !is_const(from->base, columns) ||
        !is_const(simplify(to->base - first), columns * kLanes))
      throw Error("the transposition '" + op->name + "' does not store 16 columns");
    ++columns;
  }
};

/// Transposes one block.
class TileBlock {
public:
  TileBlock(int lanes, const FindColumns &columns) : lanes(lanes), groups(lanes / 4), columns(columns) {}

  /// The stores of the columns of the block whose first row and column these are.
  Stmt transpose(int row, int column) {
    std::vector<Expr> rows;
    const Type type = columns.load->type.with_lanes(lanes);
    for (int i = 0; i < lanes; ++i) {
      Expr index = Ramp::make((row + i) * kLanes + column, 1, lanes);
      rows.push_back(named(Load::make(type, columns.load->name, index, columns.load->image, columns.load->param, const_true(lanes), ModulusRemainder())));
    }
    // Of each four rows, register j gets columns j, j + 4, ...: one in each 128 bits.
    std::vector<std::vector<Expr>> groupOf(4);
    for (int g = 0; g < groups; ++g) {
      const Expr *r = &rows[4 * g];
      Expr low01 = pick(r[0], r[1], {0, 4, 1, 5}), high01 = pick(r[0], r[1], {2, 6, 3, 7});
      Expr low23 = pick(r[2], r[3], {0, 4, 1, 5}), high23 = pick(r[2], r[3], {2, 6, 3, 7});
      groupOf[0].push_back(pick(low01, low23, {0, 1, 4, 5}));
      groupOf[1].push_back(pick(low01, low23, {2, 3, 6, 7}));
      groupOf[2].push_back(pick(high01, high23, {0, 1, 4, 5}));
      groupOf[3].push_back(pick(high01, high23, {2, 3, 6, 7}));
    }
    std::vector<Stmt> stores;
    for (int j = 0; j < 4; ++j) {
      const std::vector<Expr> turned = turnGroups(groupOf[j]);
      for (int g = 0; g < groups; ++g) {
        Expr index = Ramp::make(simplify(columns.first + (column + 4 * g + j) * kLanes + row), 1, lanes);
        stores.push_back(Store::make(columns.store->name, turned[g], index, columns.store->param, const_true(lanes), ModulusRemainder()));
      }
    }
    Stmt body = Block::make(stores);
    for (auto let = lets.rbegin(); let != lets.rend(); ++let)
      body = LetStmt::make(let->first, let->second, body);
    return body;
  }

private:
  /// The same choice in each 128 bits of two registers: 0 to 3 are the elements of the first one's, 4 to 7 of the second one's.
  Expr pick(const Expr &a, const Expr &b, const std::array<int, 4> &elements) {
    std::vector<int> indices;
    for (int g = 0; g < groups; ++g)
      for (int element : elements)
        indices.push_back(element / 4 * lanes + 4 * g + element % 4);
    return named(Shuffle::make({a, b}, indices));
  }

  /// 128 bits at a time: every second of each register, from `first` on.
  Expr pickGroups(const Expr &a, const Expr &b, int first) {
    std::vector<int> indices;
    for (int from = 0; from < 2; ++from)
      for (int g = first; g < groups; g += 2)
        for (int i = 0; i < 4; ++i)
          indices.push_back(from * lanes + 4 * g + i);
    return named(Shuffle::make({a, b}, indices));
  }

  /// The transposition of 1, 2 or 4 registers of as many times 128 bits.
  std::vector<Expr> turnGroups(const std::vector<Expr> &x) {
    if (groups == 1)
      return x;
    if (groups == 2)
      return {pickGroups(x[0], x[1], 0), pickGroups(x[0], x[1], 1)};
    Expr even01 = pickGroups(x[0], x[1], 0), odd01 = pickGroups(x[0], x[1], 1), even23 = pickGroups(x[2], x[3], 0), odd23 = pickGroups(x[2], x[3], 1);
    return {pickGroups(even01, even23, 0), pickGroups(odd01, odd23, 0), pickGroups(even01, even23, 1), pickGroups(odd01, odd23, 1)};
  }

  /// A value used more than once.
  Expr named(const Expr &value) {
    std::string name = unique_name("tile");
    lets.emplace_back(name, value);
    return Variable::make(value.type(), name);
  }

  int lanes, groups;
  const FindColumns &columns;
  std::vector<std::pair<std::string, Expr>> lets;
};

/// Replaces the stores of columns, which follow each other.
class ReplaceColumns : public IRMutator {
public:
  explicit ReplaceColumns(int lanes) : lanes(lanes) {}
  int tiles = 0;

protected:
  using IRMutator::visit;
  Stmt visit(const Block *op) override {
    if (!op->first.as<Store>())
      return IRMutator::visit(op);
    FindColumns find;
    op->accept(&find);
    if (find.columns != kLanes)
      throw Error("the transposition '" + find.store->name + "' has " + std::to_string(find.columns) + " columns");
    std::vector<Stmt> blocks;
    for (int row = 0; row < kLanes; row += lanes)
      for (int column = 0; column < kLanes; column += lanes)
        blocks.push_back(TileBlock(lanes, find).transpose(row, column));
    ++tiles;
    return Block::make(blocks);
  }
  Stmt visit(const ProducerConsumer *op) override { // the rows are made by stores, too
    return op->is_producer ? Stmt(op) : IRMutator::visit(op);
  }

private:
  int lanes;
};

} // namespace

Stmt TransposeTiles::visit(const ProducerConsumer *op) {
  if (!op->is_producer || !ends_with(op->name.substr(0, op->name.find('$')), kTransposed))
    return IRMutator::visit(op);
  ReplaceColumns replace(lanes);
  Stmt body = replace.mutate(op->body);
  if (replace.tiles != 1)
    throw Error("the transposition '" + op->name + "' has " + std::to_string(replace.tiles) + " tiles in its loops, one was expected");
  return ProducerConsumer::make_produce(op->name, body);
}

} // namespace mhac::halide
