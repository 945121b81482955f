// Recursive descent, one function a level of precedence, loosest first: or, and, not, comparison, + -, * / // %, unary minus, primary. Types are
// checked as nodes are made, so that the innermost wrong place is the one reported.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "spec/Expression.h"

#include "spec/DidYouMean.h"
#include "spec/YamlTree.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringExtras.h"

#include <cmath>

using llvm::StringRef;

namespace mhac {

namespace {

using Op = ExpressionOp;
using Type = ExpressionType;

struct NamedValue {
  StringRef word;
  Op op;
  Type type;
};
const NamedValue values[] = {{"q", Op::Query, Type::Integer},      {"k", Op::Key, Type::Integer},   {"h", Op::Head, Type::Integer},
                             {"b", Op::Batch, Type::Integer},      {"s", Op::Score, Type::Float},   {"queries", Op::Queries, Type::Integer},
                             {"keys", Op::Keys, Type::Integer}};

struct Function {
  StringRef word;
  Op op;
  size_t arguments; // exactly; Minimum and Maximum: at least
};
const Function functions[] = {{"min", Op::Minimum, 2}, {"max", Op::Maximum, 2}, {"abs", Op::Abs, 1}, {"exp", Op::Exp, 1},
                              {"log", Op::Log, 1},     {"tanh", Op::Tanh, 1},   {"where", Op::Where, 3}};
const StringRef operatorWords[] = {"and", "or", "not"};

/// What other languages write, and what it is called here.
const std::pair<StringRef, StringRef> foreign[] = {{"&&", "'and'"}, {"||", "'or'"}, {"**", "repeated '*'"}, {"<>", "'!='"},
                                                   {"<<", "'*' with a power of two"}, {">>", "'//' with a power of two"},
                                                   {"&", "'and'"},  {"|", "'or'"},  {"!", "'not'"},         {"=", "'=='"}};

struct Token {
  enum class Kind { End, Integer, Number, Word, Sign };
  Kind kind = Kind::End;
  StringRef text;
  size_t offset = 0;
  bool is(StringRef sign) const { return (kind == Kind::Sign || kind == Kind::Word) && text == sign; }
};

const std::pair<StringRef, Op> binaryOps[] = {
    {"+", Op::Add},   {"-", Op::Subtract},   {"*", Op::Multiply}, {"/", Op::Divide},        {"//", Op::FloorDivide}, {"%", Op::Modulo},
    {"<", Op::Less},  {"<=", Op::LessEqual}, {">", Op::Greater},  {">=", Op::GreaterEqual}, {"==", Op::Equal},       {"!=", Op::NotEqual}};

Op binaryOp(StringRef sign) {
  return llvm::find_if(binaryOps, [&](const auto &row) { return row.first == sign; })->second;
}

bool isComparison(const Token &token) {
  return llvm::any_of(llvm::ArrayRef(binaryOps).drop_front(6), [&](const auto &row) { return token.is(row.first); });
}

std::string quoted(StringRef word) { return "'" + word.str() + "'"; }

llvm::SmallVector<StringRef> functionWords() {
  llvm::SmallVector<StringRef> words;
  for (const Function &function : functions)
    words.push_back(function.word);
  return words;
}

template <typename... Nodes> std::vector<Expression> listOf(Nodes... nodes) {
  std::vector<Expression> list;
  list.reserve(sizeof...(nodes));
  (list.push_back(std::move(nodes)), ...);
  return list;
}

bool isLetter(char c) { return llvm::isAlpha(c) || c == '_'; }

class Parser {
public:
  Parser(StringRef text, ExpressionUse use, llvm::ArrayRef<ExpressionParameter> parameters, ExpressionError &error)
      : text(text), use(use), parameters(parameters), error(error) {}

  std::optional<Expression> run();

private:
  using Result = std::optional<Expression>; // empty: an error was reported

  /// One level of nesting, as long as it lives.
  struct Nested {
    Nested(Parser &parser, const Token &at) : parser(parser), tooDeep(++parser.nesting > maxExpressionNesting) {
      if (tooDeep)
        parser.failAt(at, "the expression is nested deeper than " + std::to_string(maxExpressionNesting) + " levels");
    }
    ~Nested() { --parser.nesting; }
    Parser &parser;
    bool tooDeep;
  };

  std::nullopt_t fail(size_t offset, size_t length, std::string message);
  std::nullopt_t failAt(const Token &token, std::string message) {
    return fail(token.offset, std::max<size_t>(1, token.text.size()), std::move(message));
  }
  std::nullopt_t failAt(const Expression &node, std::string message) { return fail(node.offset, node.length, std::move(message)); }

  bool advance();
  bool readNumber();
  std::string found(const Token &token) const { return token.kind == Token::Kind::End ? "the end" : "'" + shownText(token.text) + "'"; }
  bool expect(StringRef sign, StringRef where);

  Result parseOr();
  Result parseAnd();
  Result parseNot();
  Result parseComparison();
  Result parseSum();
  Result parseProduct();
  Result parseUnary();
  Result parsePrimary();
  Result parseWord();
  Result parseCall(const Function &function, const Token &name);
  Result parseParameter(unsigned parameter, const Token &name);
  bool parseList(StringRef close, StringRef what, std::vector<Expression> &list);

  static std::string remedyFor(StringRef word, llvm::ArrayRef<StringRef> known, StringRef what);
  std::string source(const Expression &node) const { return text.substr(node.offset, node.length).str(); }
  Result unknownName(const Token &name);
  Result constant(const Token &token);
  Result makeNode(Op op, Type type, std::vector<Expression> operands, size_t offset);
  Result makeBoolean(Op op, StringRef word, std::vector<Expression> operands, size_t offset);
  Result makeComparison(const Token &sign, Expression left, Expression right);
  Result makeArithmetic(const Token &sign, Expression left, Expression right);
  Result makeCall(const Function &function, const Token &name, std::vector<Expression> arguments);
  bool wantNumber(const Expression &node, StringRef where);
  bool unify(std::vector<Expression> &nodes, size_t first = 0);
  Expression toFloat(Expression node);

  StringRef text;
  ExpressionUse use;
  llvm::ArrayRef<ExpressionParameter> parameters;
  ExpressionError &error;
  Token token;      // the next one
  size_t next = 0;  // behind it
  size_t end = 0;   // of the one before
  unsigned nesting = 0;
};

std::nullopt_t Parser::fail(size_t offset, size_t length, std::string message) {
  error = {offset, length, std::move(message)};
  return std::nullopt;
}

//===-- tokens ----------------------------------------------------------------------------------------------------------------------------===//

/// Reads the next token; false after reporting characters that are none.
bool Parser::advance() {
  end = token.offset + token.text.size();
  while (next < text.size() && StringRef(" \t\r\n").contains(text[next]))
    ++next;
  token = {Token::Kind::End, StringRef(), next};
  if (next == text.size())
    return true;
  StringRef rest = text.substr(next);
  if (llvm::isDigit(rest[0]) || (rest[0] == '.' && rest.size() > 1 && llvm::isDigit(rest[1])))
    return readNumber();
  auto take = [&](Token::Kind kind, size_t length) {
    token = {kind, rest.take_front(length), next};
    next += length;
    return true;
  };
  if (isLetter(rest[0]))
    return take(Token::Kind::Word, rest.take_while([](char c) { return isLetter(c) || llvm::isDigit(c); }).size());
  for (StringRef sign : {"//", "<=", ">=", "==", "!="})
    if (rest.starts_with(sign))
      return take(Token::Kind::Sign, 2);
  for (const auto &[sign, remedy] : foreign)
    if (rest.starts_with(sign)) {
      fail(next, sign.size(), "'" + sign.str() + "' is not an operator of expressions; use " + remedy.str());
      return false;
    }
  if (StringRef("+-*/%<>()[],").contains(rest[0]))
    return take(Token::Kind::Sign, 1);
  size_t length = 1; // a whole character, not its first byte
  while (length < rest.size() && (static_cast<unsigned char>(rest[length]) & 0xC0) == 0x80)
    ++length;
  fail(next, length, "unexpected '" + shownText(rest.take_front(length)) + "' in an expression");
  return false;
}

/// 12, 1.5, .5, 1e-3. What follows at once must not continue a word: 12k is no number.
bool Parser::readNumber() {
  StringRef rest = text.substr(next);
  auto digits = [&](size_t at) { return rest.substr(at).take_while(llvm::isDigit).size(); };
  size_t length = digits(0);
  bool isInteger = true;
  if (length < rest.size() && rest[length] == '.') {
    isInteger = false;
    length += 1 + digits(length + 1);
  }
  if (length < rest.size() && (rest[length] == 'e' || rest[length] == 'E')) {
    size_t sign = length + 1 < rest.size() && (rest[length + 1] == '-' || rest[length + 1] == '+') ? 1 : 0;
    if (size_t exponent = digits(length + 1 + sign)) {
      isInteger = false;
      length += 1 + sign + exponent;
    }
  }
  token = {isInteger ? Token::Kind::Integer : Token::Kind::Number, rest.take_front(length), next};
  size_t more = rest.substr(length).take_while([](char c) { return isLetter(c) || llvm::isDigit(c) || c == '.'; }).size();
  if (more > 0) {
    fail(next, length + more, "'" + shownText(rest.take_front(length + more)) + "' is not a number");
    return false;
  }
  next += length;
  return true;
}

bool Parser::expect(StringRef sign, StringRef where) {
  if (token.is(sign))
    return advance();
  failAt(token, ("expected '" + sign + "' " + where + ", found " + found(token)).str());
  return false;
}

//===-- types -----------------------------------------------------------------------------------------------------------------------------===//

Expression Parser::toFloat(Expression node) {
  if (node.type == Type::Float)
    return node;
  Expression result{Op::ToFloat, Type::Float};
  result.offset = node.offset;
  result.length = node.length;
  result.depth = node.depth + 1;
  result.operands.push_back(std::move(node));
  return result;
}

bool Parser::wantNumber(const Expression &node, StringRef where) {
  if (node.type != Type::Boolean)
    return true;
  failAt(node, (where + " wants a number, found a boolean; where(condition, a, b) makes a number of one").str());
  return false;
}

/// Makes all of them floats when one is.
bool Parser::unify(std::vector<Expression> &nodes, size_t first) {
  bool isFloat = std::any_of(nodes.begin() + first, nodes.end(), [](const Expression &node) { return node.type == Type::Float; });
  for (size_t i = first; isFloat && i < nodes.size(); ++i)
    nodes[i] = toFloat(std::move(nodes[i]));
  return isFloat;
}

/// A node that ends with the token before the next one.
Parser::Result Parser::makeNode(Op op, Type type, std::vector<Expression> operands, size_t offset) {
  Expression node{op, type};
  for (const Expression &operand : operands)
    node.depth = std::max(node.depth, operand.depth + 1);
  node.operands = std::move(operands);
  node.offset = offset;
  node.length = end - offset;
  if (node.depth > maxExpressionDepth)
    return failAt(node, "the expression has more than " + std::to_string(maxExpressionDepth) + " operators one after the other");
  return node;
}

Parser::Result Parser::makeBoolean(Op op, StringRef word, std::vector<Expression> operands, size_t offset) {
  for (const Expression &operand : operands)
    if (operand.type != Type::Boolean)
      return failAt(operand, ("'" + word + "' wants booleans, found " + describeType(operand.type) + "; write a comparison such as '!= 0'").str());
  return makeNode(op, Type::Boolean, std::move(operands), offset);
}

Parser::Result Parser::makeComparison(const Token &sign, Expression left, Expression right) {
  Op op = binaryOp(sign.text);
  size_t offset = left.offset;
  bool isEquality = op == Op::Equal || op == Op::NotEqual;
  if (!isEquality || left.type != Type::Boolean || right.type != Type::Boolean)
    for (const Expression *side : {&left, &right})
      if (!wantNumber(*side, quoted(sign.text)))
        return std::nullopt;
  std::vector<Expression> sides = listOf(std::move(left), std::move(right));
  unify(sides);
  return makeNode(op, Type::Boolean, std::move(sides), offset);
}

Parser::Result Parser::makeArithmetic(const Token &sign, Expression left, Expression right) {
  for (const Expression *side : {&left, &right})
    if (!wantNumber(*side, quoted(sign.text)))
      return std::nullopt;
  size_t offset = left.offset;
  Op op = binaryOp(sign.text);
  std::vector<Expression> sides = listOf(std::move(left), std::move(right));
  if (op == Op::Divide)
    for (Expression &side : sides)
      side = toFloat(std::move(side));
  Type type = unify(sides) ? Type::Float : Type::Integer;
  return makeNode(op, type, std::move(sides), offset);
}

//===-- grammar ---------------------------------------------------------------------------------------------------------------------------===//

Parser::Result Parser::parseOr() {
  Result left = parseAnd();
  while (left && token.is("or")) {
    if (!advance())
      return std::nullopt;
    Result right = parseAnd();
    if (!right)
      return std::nullopt;
    size_t offset = left->offset;
    left = makeBoolean(Op::Or, "or", listOf(std::move(*left), std::move(*right)), offset);
  }
  return left;
}

Parser::Result Parser::parseAnd() {
  Result left = parseNot();
  while (left && token.is("and")) {
    if (!advance())
      return std::nullopt;
    Result right = parseNot();
    if (!right)
      return std::nullopt;
    size_t offset = left->offset;
    left = makeBoolean(Op::And, "and", listOf(std::move(*left), std::move(*right)), offset);
  }
  return left;
}

Parser::Result Parser::parseNot() {
  Token word = token;
  if (!token.is("not"))
    return parseComparison();
  Nested nested(*this, word);
  if (nested.tooDeep || !advance())
    return std::nullopt;
  Result operand = parseNot();
  return operand ? makeBoolean(Op::Not, "not", listOf(std::move(*operand)), word.offset) : std::nullopt;
}

Parser::Result Parser::parseComparison() {
  Result left = parseSum();
  if (!left || !isComparison(token))
    return left;
  Token sign = token;
  if (!advance())
    return std::nullopt;
  Result right = parseSum();
  if (!right)
    return std::nullopt;
  if (isComparison(token)) {
    std::string middle = source(*right), first = source(*left) + " " + sign.text.str() + " " + middle;
    return failAt(token, "comparisons do not chain; write '" + shownText(first + " and " + middle + " " + token.text.str() + " ...") + "'");
  }
  return makeComparison(sign, std::move(*left), std::move(*right));
}

Parser::Result Parser::parseSum() {
  Result left = parseProduct();
  while (left && (token.is("+") || token.is("-"))) {
    Token sign = token;
    if (!advance())
      return std::nullopt;
    Result right = parseProduct();
    if (!right)
      return std::nullopt;
    left = makeArithmetic(sign, std::move(*left), std::move(*right));
  }
  return left;
}

Parser::Result Parser::parseProduct() {
  Result left = parseUnary();
  while (left && (token.is("*") || token.is("/") || token.is("//") || token.is("%"))) {
    Token sign = token;
    if (!advance())
      return std::nullopt;
    Result right = parseUnary();
    if (!right)
      return std::nullopt;
    left = makeArithmetic(sign, std::move(*left), std::move(*right));
  }
  return left;
}

Parser::Result Parser::parseUnary() {
  Token sign = token;
  if (!token.is("-"))
    return parsePrimary();
  Nested nested(*this, sign);
  if (nested.tooDeep || !advance())
    return std::nullopt;
  Result operand = parseUnary();
  if (!operand || !wantNumber(*operand, "'-'"))
    return std::nullopt;
  Type type = operand->type;
  return makeNode(Op::Negate, type, listOf(std::move(*operand)), sign.offset);
}

Parser::Result Parser::parsePrimary() {
  Token first = token;
  Nested nested(*this, first);
  if (nested.tooDeep)
    return std::nullopt;
  switch (token.kind) {
  case Token::Kind::Integer:
  case Token::Kind::Number:
    return advance() ? constant(first) : std::nullopt;
  case Token::Kind::Word:
    if (!llvm::is_contained(operatorWords, token.text))
      return parseWord();
    break;
  case Token::Kind::Sign:
    if (!token.is("("))
      break;
    if (!advance())
      return std::nullopt;
    if (Result inner = parseOr(); inner && expect(")", "to close '('"))
      return inner;
    return std::nullopt;
  case Token::Kind::End:
    break;
  }
  return failAt(token, "expected a number, a name or '(', found " + found(token));
}

Parser::Result Parser::constant(const Token &number) {
  Expression node{number.kind == Token::Kind::Integer ? Op::Integer : Op::Number, Type::Integer};
  node.offset = number.offset;
  node.length = number.text.size();
  if (node.op == Op::Integer) {
    if (number.text.getAsInteger(10, node.integer) || node.integer > largestInteger)
      return failAt(number, "an integer must be at most " + std::to_string(largestInteger) + ", found '" + shownText(number.text) +
                                "'; a float has a fraction or an exponent");
    return node;
  }
  node.type = Type::Float;
  // Kernels compute with f32.
  if (number.text.getAsDouble(node.number) || !std::isfinite(static_cast<float>(node.number)))
    return failAt(number, "a float must be within the range of f32, found '" + shownText(number.text) + "'");
  return node;
}

Parser::Result Parser::parseWord() {
  Token name = token;
  if (!advance())
    return std::nullopt;
  for (const Function &function : functions)
    if (function.word == name.text)
      return parseCall(function, name);
  if (token.is("("))
    return failAt(name, "unknown function '" + shownText(name.text) + "'" + remedyFor(name.text, functionWords(), "functions"));
  for (const NamedValue &value : values)
    if (value.word == name.text) {
      if (value.op == Op::Score && use != ExpressionUse::Score)
        return failAt(name, "'s', the score, is known in score expressions only");
      if (token.is("["))
        return failAt(token, "'" + name.text.str() + "' is a number and has no elements");
      return makeNode(value.op, value.type, {}, name.offset);
    }
  for (const auto &[i, parameter] : llvm::enumerate(parameters))
    if (parameter.name == name.text)
      return parseParameter(i, name);
  return unknownName(name);
}

std::string Parser::remedyFor(StringRef word, llvm::ArrayRef<StringRef> known, StringRef what) {
  std::string remedy = didYouMean(word, known);
  return remedy.empty() ? ("; known " + what + " are " + listWords(known, "and")).str() : remedy;
}

Parser::Result Parser::unknownName(const Token &name) {
  llvm::SmallVector<StringRef> known;
  for (const NamedValue &value : values)
    if (value.op != Op::Score || use == ExpressionUse::Score)
      known.push_back(value.word);
  for (const ExpressionParameter &parameter : parameters)
    known.push_back(parameter.name);
  return failAt(name, "unknown name '" + shownText(name.text) + "'" + remedyFor(name.text, known, "names"));
}

/// Expressions between commas up to the closing sign, which is read too.
bool Parser::parseList(StringRef close, StringRef what, std::vector<Expression> &list) {
  while (true) {
    Result element = parseOr();
    if (!element)
      return false;
    list.push_back(std::move(*element));
    if (!token.is(","))
      return expect(close, what);
    if (!advance())
      return false;
  }
}

Parser::Result Parser::parseCall(const Function &function, const Token &name) {
  if (!expect("(", ("behind the function '" + name.text + "'").str()))
    return std::nullopt;
  std::vector<Expression> arguments;
  if (token.is(")") ? !advance() : !parseList(")", "or ',' behind an argument", arguments))
    return std::nullopt;
  bool isOpen = function.op == Op::Minimum || function.op == Op::Maximum;
  if (isOpen ? arguments.size() < function.arguments : arguments.size() != function.arguments) {
    std::string wanted = (isOpen ? "at least " : "") + std::to_string(function.arguments) + (function.arguments == 1 ? " argument" : " arguments");
    return failAt(name, "'" + name.text.str() + "' takes " + wanted + ", found " + std::to_string(arguments.size()));
  }
  size_t firstNumber = function.op == Op::Where ? 1 : 0;
  if (function.op == Op::Where) {
    if (arguments[0].type != Type::Boolean)
      return failAt(arguments[0], ("the first argument of 'where' must be a boolean, found " + describeType(arguments[0].type)).str());
    if (arguments[1].type == Type::Boolean && arguments[2].type == Type::Boolean)
      return makeNode(Op::Where, Type::Boolean, std::move(arguments), name.offset);
  }
  for (const Expression &argument : llvm::ArrayRef(arguments).drop_front(firstNumber))
    if (!wantNumber(argument, quoted(name.text)))
      return std::nullopt;
  bool isFloat = unify(arguments, firstNumber);
  if (function.op == Op::Exp || function.op == Op::Log || function.op == Op::Tanh) {
    arguments[0] = toFloat(std::move(arguments[0]));
    isFloat = true;
  }
  return makeNode(function.op, isFloat ? Type::Float : Type::Integer, std::move(arguments), name.offset);
}

Parser::Result Parser::parseParameter(unsigned place, const Token &name) {
  const ExpressionParameter &parameter = parameters[place];
  std::vector<Expression> indices;
  if (token.is("[")) {
    Token bracket = token;
    if (parameter.dims.empty())
      return failAt(token, "'" + name.text.str() + "' is a number and has no elements");
    if (!advance() || !parseList("]", "or ',' behind an index", indices))
      return std::nullopt;
    if (indices.size() != parameter.dims.size())
      return failAt(bracket, "'" + name.text.str() + "' has " + std::to_string(parameter.dims.size()) +
                                 (parameter.dims.size() == 1 ? " dimension" : " dimensions") + ", found " + std::to_string(indices.size()) +
                                 (indices.size() == 1 ? " index" : " indices"));
    for (const Expression &index : indices)
      if (index.type != Type::Integer)
        return failAt(index, ("an index must be an integer, found " + describeType(index.type)).str());
  }
  Result node = makeNode(Op::Parameter, parameter.type, std::move(indices), name.offset);
  if (node)
    node->parameter = place;
  return node;
}

std::optional<Expression> Parser::run() {
  if (text.size() > maxExpressionLength)
    return fail(0, 1, "an expression has at most " + std::to_string(maxExpressionLength) + " characters, found " + std::to_string(text.size()));
  if (!advance())
    return std::nullopt;
  Result result = parseOr();
  if (!result)
    return std::nullopt;
  if (token.kind != Token::Kind::End)
    return failAt(token, "expected an operator or the end of the expression, found " + found(token));
  if (use == ExpressionUse::Mask && result->type != Type::Boolean)
    return failAt(*result, ("a mask must be a condition, found " + describeType(result->type) + "; write a comparison such as '!= 0'").str());
  if (use == ExpressionUse::Score && !wantNumber(*result, "a score"))
    return std::nullopt;
  return use == ExpressionUse::Score ? toFloat(std::move(*result)) : std::move(*result);
}

} // namespace

std::optional<Expression> parseExpression(StringRef text, ExpressionUse use, llvm::ArrayRef<ExpressionParameter> parameters,
                                          ExpressionError &error) {
  return Parser(text, use, parameters, error).run();
}

StringRef describeType(ExpressionType type) {
  switch (type) {
  case ExpressionType::Boolean:
    return "a boolean";
  case ExpressionType::Integer:
    return "an integer";
  case ExpressionType::Float:
    return "a float";
  }
  return "";
}

StringRef parameterDType(ExpressionType type) {
  return type == ExpressionType::Boolean ? "bool" : type == ExpressionType::Integer ? "i64" : "f32";
}

bool isExpressionWord(StringRef word) {
  return llvm::is_contained(operatorWords, word) || llvm::any_of(values, [&](const NamedValue &value) { return value.word == word; }) ||
         llvm::any_of(functions, [&](const Function &function) { return function.word == word; });
}

static void collectParameters(const Expression &expression, std::vector<unsigned> &found) {
  if (expression.op == ExpressionOp::Parameter)
    found.push_back(expression.parameter);
  for (const Expression &operand : expression.operands)
    collectParameters(operand, found);
}

std::vector<unsigned> usedParameters(const Expression &expression) {
  std::vector<unsigned> found;
  collectParameters(expression, found);
  llvm::sort(found);
  found.erase(std::unique(found.begin(), found.end()), found.end());
  return found;
}

} // namespace mhac
