// The text of attn.attention:
//   attn.attention %q, %k, %v params(%n : index) scale 1.25e-01 offset top_left heads [..] kv_head_of [..] masks [..] scores [..] positions [..] maps [..] base2 {..} : (types) -> (types)
//     score(%b: index, ...) { ... } mask(...) { ... } blocks(...) { ... } tiles(...) { ... } sink(...) { ... }
// where everything between the operands and the types is left out when it is empty or the default.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "attention/AttentionDialect.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

using namespace mlir;
using namespace mhac::attn;

void AttentionOp::print(OpAsmPrinter &printer) {
  printer << ' ' << getQuery() << ", " << getKey() << ", " << getValue();
  if (!getParams().empty()) {
    printer << " params(" << getParams() << " : ";
    llvm::interleaveComma(getParams().getTypes(), printer);
    printer << ')';
  }
  printer << " scale ";
  printer.printAttributeWithoutType(getScaleAttr());
  if (getQueryOffset() != Offset::BottomRight)
    printer << " offset " << stringifyOffset(getQueryOffset());
  for (auto [keyword, list] : {std::pair("heads", getHeadNumbers()), {"kv_head_of", getKvHeadOf()}})
    if (!list.empty()) {
      printer << ' ' << keyword << " [";
      llvm::interleaveComma(list, printer);
      printer << ']';
    }
  if (!getMasks().empty())
    printer << " masks " << getMasks();
  if (!getScores().empty())
    printer << " scores " << getScores();
  if (!getPositions().empty())
    printer << " positions " << getPositions();
  if (!getMaps().empty())
    printer << " maps " << getMaps();
  if (getBase2())
    printer << " base2";
  printer.printOptionalAttrDict((*this)->getAttrs(), {getScaleAttrName(), getQueryOffsetAttrName(), getMasksAttrName(), getScoresAttrName(),
                                                      getPositionsAttrName(), getBase2AttrName(), getHeadNumbersAttrName(), getKvHeadOfAttrName(),
                                                      getMapsAttrName(), getResultSegmentSizeAttr()});
  printer << " : (" << getQuery().getType() << ", " << getKey().getType() << ", " << getValue().getType() << ") -> ("
          << (*this)->getResultTypes() << ')';
  for (Region &region : (*this)->getRegions()) {
    if (region.empty())
      continue;
    printer.printNewline();
    printer << "  " << getRegionName(region.getRegionNumber()) << '(';
    llvm::interleaveComma(region.getArguments(), printer, [&](BlockArgument argument) { printer.printRegionArgument(argument); });
    printer << ") ";
    printer.printRegion(region, /*printEntryBlockArgs=*/false);
  }
}

ParseResult AttentionOp::parse(OpAsmParser &parser, OperationState &state) {
  Builder &builder = parser.getBuilder();
  SMLoc operandsLoc = parser.getCurrentLocation();
  SmallVector<OpAsmParser::UnresolvedOperand> operands(3), params;
  SmallVector<Type> types, paramTypes, resultTypes;
  if (parser.parseOperand(operands[0]) || parser.parseComma() || parser.parseOperand(operands[1]) || parser.parseComma() ||
      parser.parseOperand(operands[2]))
    return failure();
  if (succeeded(parser.parseOptionalKeyword("params")) &&
      (parser.parseLParen() || parser.parseOperandList(params) || parser.parseColonTypeList(paramTypes) || parser.parseRParen()))
    return failure();
  FloatAttr scale;
  if (parser.parseKeyword("scale") || parser.parseAttribute(scale, builder.getF64Type(), getScaleAttrName(state.name), state.attributes))
    return failure();
  Offset offset = Offset::BottomRight;
  if (succeeded(parser.parseOptionalKeyword("offset"))) {
    FailureOr<Offset> parsed = FieldParser<Offset>::parse(parser);
    if (failed(parsed))
      return failure();
    offset = *parsed;
  }
  for (auto [keyword, name] : {std::pair("heads", getHeadNumbersAttrName(state.name)), {"kv_head_of", getKvHeadOfAttrName(state.name)}}) {
    SmallVector<int64_t> list;
    auto parseNumber = [&] { return parser.parseInteger(list.emplace_back()); };
    if (succeeded(parser.parseOptionalKeyword(keyword)) && parser.parseCommaSeparatedList(AsmParser::Delimiter::Square, parseNumber))
      return failure();
    if (!list.empty())
      state.addAttribute(name, builder.getDenseI64ArrayAttr(list));
  }
  ArrayAttr masks = builder.getArrayAttr({}), scores = masks, positions = masks, maps = masks;
  if (succeeded(parser.parseOptionalKeyword("masks")) && parser.parseAttribute(masks))
    return failure();
  if (succeeded(parser.parseOptionalKeyword("scores")) && parser.parseAttribute(scores))
    return failure();
  if (succeeded(parser.parseOptionalKeyword("positions")) && parser.parseAttribute(positions))
    return failure();
  if (succeeded(parser.parseOptionalKeyword("maps")) && parser.parseAttribute(maps))
    return failure();
  state.addAttribute(getMapsAttrName(state.name), maps);
  state.addAttribute(getQueryOffsetAttrName(state.name), OffsetAttr::get(parser.getContext(), offset));
  state.addAttribute(getMasksAttrName(state.name), masks);
  state.addAttribute(getScoresAttrName(state.name), scores);
  state.addAttribute(getPositionsAttrName(state.name), positions);
  if (succeeded(parser.parseOptionalKeyword("base2")))
    state.addAttribute(getBase2AttrName(state.name), builder.getUnitAttr());
  if (parser.parseOptionalAttrDict(state.attributes) || parser.parseColon() || parser.parseLParen() || parser.parseTypeList(types) ||
      parser.parseRParen() || parser.parseArrow() || parser.parseLParen() || parser.parseTypeList(resultTypes) || parser.parseRParen())
    return failure();
  operands.append(params);
  types.append(paramTypes);
  state.addTypes(resultTypes);
  // The maps' results are the last ones; what is left beside the output is the lse.
  auto mapCount = static_cast<int32_t>(maps.size()), lseCount = static_cast<int32_t>(resultTypes.size()) - 1 - mapCount;
  if (lseCount < 0 || lseCount > 1)
    return parser.emitError(operandsLoc, "wants the output, perhaps the lse, and a result for each of ") << mapCount << " maps, found " << resultTypes.size() << " results";
  state.addAttribute(getResultSegmentSizeAttr(), builder.getDenseI32ArrayAttr({1, lseCount, mapCount}));
  if (parser.resolveOperands(operands, types, operandsLoc, state.operands))
    return failure();
  for (unsigned i = 0; i < regionCount; ++i) {
    Region *region = state.addRegion();
    if (failed(parser.parseOptionalKeyword(getRegionName(i))))
      continue;
    SmallVector<OpAsmParser::Argument> arguments;
    if (parser.parseArgumentList(arguments, OpAsmParser::Delimiter::Paren, /*allowType=*/true) ||
        parser.parseRegion(*region, arguments, /*enableNameShadowing=*/true))
      return failure();
  }
  return success();
}

void AttentionOp::getAsmBlockArgumentNames(Region &region, OpAsmSetValueNameFn setName) {
  ArrayRef<StringLiteral> names = getRegionIndexNames(region.getRegionNumber());
  unsigned firstParam = names.size();
  for (BlockArgument argument : region.getArguments()) {
    unsigned i = argument.getArgNumber(), param = i - firstParam;
    if (i < firstParam) {
      setName(argument, names[i]);
      continue;
    }
    // Params carry the names that the entry's arguments have for users.
    if (param >= getParams().size())
      continue;
    auto outer = dyn_cast<BlockArgument>(getParams()[param]);
    auto function = outer ? dyn_cast_or_null<func::FuncOp>(outer.getOwner()->getParentOp()) : func::FuncOp();
    if (auto name = function ? function.getArgAttrOfType<ArgumentAttr>(outer.getArgNumber(), kArgumentAttr) : ArgumentAttr())
      setName(argument, name.getName());
    else if (argument.getType().isIndex() && param + 2 >= getParams().size())
      setName(argument, param + 1 == getParams().size() ? "keys" : "queries");
  }
}

void AttentionOp::getAsmResultNames(OpAsmSetValueNameFn setName) {
  setName(getOutput(), "o");
  if (getLse())
    setName(getLse(), "lse");
  for (auto [attribute, result] : llvm::zip_equal(getMaps(), getMapResults()))
    setName(result, stringifyMapKind(cast<MapAttr>(attribute).getKind()));
}
