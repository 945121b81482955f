// Checks and custom syntax of the dialect's plain attributes.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "attention/AttentionDialect.h"

#include "llvm/ADT/StringExtras.h"

#include <cmath>

using namespace mlir;
using namespace mhac::attn;

FailureOr<SmallVector<StringAttr>> mhac::attn::parseStringList(AsmParser &parser) {
  SmallVector<StringAttr> list;
  auto parseElement = [&] {
    std::string text;
    if (parser.parseString(&text))
      return failure();
    list.push_back(StringAttr::get(parser.getContext(), text));
    return success();
  };
  if (parser.parseCommaSeparatedList(AsmParser::Delimiter::Square, parseElement))
    return failure();
  return list;
}

void mhac::attn::printStringList(AsmPrinter &printer, ArrayRef<StringAttr> list) {
  printer << '[';
  llvm::interleaveComma(list, printer, [&](StringAttr text) { printer.printString(text.getValue()); });
  printer << ']';
}

static bool isIdentifier(StringRef text) {
  return !text.empty() && !llvm::isDigit(text[0]) && llvm::all_of(text, [](char c) { return llvm::isAlnum(c) || c == '_'; });
}

LogicalResult ArgumentAttr::verify(llvm::function_ref<InFlightDiagnostic()> emitError, StringRef name, Role role, ArrayRef<StringAttr> dims,
                                   bool strided, ValueCheck check, StringAttr checkSize, StringAttr checkWith) {
  if (!isIdentifier(name)) // c1
    return emitError() << "name wants a C identifier, found \"" << name << "\"";
  if ((check == ValueCheck::Range || check == ValueCheck::Sum) != bool(checkSize)) // c2
    return emitError() << "argument '" << name << "': check and check_size come together";
  if ((check == ValueCheck::Sum) != bool(checkWith))
    return emitError() << "argument '" << name << "': check = sum and check_with come together";
  return success();
}

LogicalResult SizeAttr::verify(llvm::function_ref<InFlightDiagnostic()> emitError, StringRef name, int64_t minimum, int64_t maximum) {
  if (minimum < 0 || minimum > maximum || maximum > 2147352576) // c1
    return emitError() << "size '" << name << "' wants 0 <= minimum <= maximum <= 2147352576, found " << minimum << " and " << maximum;
  return success();
}

LogicalResult mhac::attn::verifyHeadNumbers(llvm::function_ref<InFlightDiagnostic()> emitError, ArrayRef<int64_t> numbers) {
  for (auto [i, number] : llvm::enumerate(numbers))
    if (number < 0 || (i > 0 && number <= numbers[i - 1]))
      return emitError() << "numbers of heads want at least 0 and increasing, found " << number << (i > 0 ? " behind " + std::to_string(numbers[i - 1]) : "");
  return success();
}

LogicalResult PartAttr::verify(llvm::function_ref<InFlightDiagnostic()> emitError, int64_t weight, int64_t bias, int64_t heads,
                               int64_t width, int64_t first, int64_t group, int64_t groupStride, int64_t headStride, FloatAttr scale,
                               DenseI64ArrayAttr numbers) {
  if (heads < 1 || width < 1 || group < 1) // c1
    return emitError() << "heads, width and group want at least 1, found " << heads << ", " << width << " and " << group;
  if (weight < 0 || first < 0 || groupStride < 0 || headStride < 0)
    return emitError() << "weight, first, group_stride and head_stride want at least 0, found " << weight << ", " << first << ", "
                       << groupStride << " and " << headStride;
  if (bias < -1)
    return emitError() << "bias wants at least -1, found " << bias;
  if (scale && !scale.getValue().isFinite()) // c2
    return emitError() << "scale wants a finite number, found " << scale;
  if (numbers && numbers.size() != heads) // c3
    return emitError() << "numbers want one a head (" << heads << "), found " << numbers.size();
  return numbers ? verifyHeadNumbers(emitError, numbers) : success();
}

PartAttr PartAttr::with(int64_t weight, int64_t bias, FloatAttr scale) const {
  return get(getContext(), weight, bias, getHeads(), getWidth(), getFirst(), getGroup(), getGroupStride(), getHeadStride(), scale, getNumbers());
}

int64_t PartAttr::getFirstRow(int64_t head) const {
  int64_t h = getNumbers() ? getNumbers()[head] : head;
  return getFirst() + h / getGroup() * getGroupStride() + h % getGroup() * getHeadStride();
}

LogicalResult MapAttr::verify(llvm::function_ref<InFlightDiagnostic()> emitError, MapKind kind, int64_t window) {
  if (window < 0 || (window > 0 && kind != MapKind::DiagonalMass)) // c1
    return emitError() << "window wants at least 0, and 0 unless for diagonal_mass, found " << window;
  return success();
}

LogicalResult GuardAttr::verify(llvm::function_ref<InFlightDiagnostic()> emitError, StringRef size, int64_t minimum, int64_t maximum, bool) {
  if (minimum < 0 || minimum > maximum) // c1
    return emitError() << "guard on '" << size << "' wants 0 <= minimum <= maximum, found " << minimum << " and " << maximum;
  return success();
}
