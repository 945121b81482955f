// Registration of the attn dialect and the checks of attributes on functions, where a layer's C interface stands.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "attention/AttentionDialect.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace mhac::attn;

#include "attention/AttentionDialect.cpp.inc"
#include "attention/AttentionEnums.cpp.inc"
#define GET_ATTRDEF_CLASSES
#include "attention/AttentionAttrs.cpp.inc"

void AttnDialect::initialize() {
  addAttributes<
#define GET_ATTRDEF_LIST
#include "attention/AttentionAttrs.cpp.inc"
      >();
  addOperations<
#define GET_OP_LIST
#include "attention/AttentionOps.cpp.inc"
      >();
}

void mhac::registerAttentionDialects(DialectRegistry &registry) {
  registry.insert<AttnDialect, arith::ArithDialect, func::FuncDialect, math::MathDialect, tensor::TensorDialect>();
}

namespace {
using Sizes = llvm::StringMap<SizeAttr>;

LogicalResult verifySizes(func::FuncOp function, Attribute value, Sizes &sizes) {
  auto list = dyn_cast<ArrayAttr>(value);
  if (!list)
    return function.emitOpError("'attn.sizes' wants an array of #attn.size");
  for (Attribute element : list) {
    auto size = dyn_cast<SizeAttr>(element);
    if (!size)
      return function.emitOpError("'attn.sizes' wants an array of #attn.size, found ") << element;
    if (!sizes.try_emplace(size.getName(), size).second)
      return function.emitOpError("'attn.sizes' has size '") << size.getName() << "' twice";
  }
  return success();
}

/// One argument or result of a function with sizes; `what` names it in messages.
LogicalResult verifyArgument(func::FuncOp function, const Twine &what, Type type, Attribute value, const Sizes &sizes,
                             llvm::StringSet<> &names) {
  auto argument = dyn_cast_or_null<ArgumentAttr>(value);
  if (!argument)
    return function.emitOpError() << what << " wants an 'attn.argument' because the function has 'attn.sizes'";
  if (!names.insert(argument.getName()).second)
    return function.emitOpError() << what << ": the name '" << argument.getName() << "' is taken by another argument";
  auto tensor = dyn_cast<RankedTensorType>(type);
  if (!tensor || tensor.getRank() != static_cast<int64_t>(argument.getDims().size()))
    return function.emitOpError() << what << " '" << argument.getName() << "' has " << argument.getDims().size()
                                  << " dims, its type is " << type;
  for (auto [dim, extent] : llvm::zip_equal(argument.getDims(), tensor.getShape())) {
    int64_t number;
    if (!dim.getValue().getAsInteger(10, number)) {
      if (number != extent)
        return function.emitOpError() << what << " '" << argument.getName() << "': dim " << dim << " does not fit the type " << type;
      continue;
    }
    auto size = sizes.find(dim.getValue());
    if (size == sizes.end())
      return function.emitOpError() << what << " '" << argument.getName() << "': dim " << dim << " is no size of the function";
    bool isFixed = size->second.getMinimum() == size->second.getMaximum();
    if (isFixed ? extent != size->second.getMinimum() : !ShapedType::isDynamic(extent))
      return function.emitOpError() << what << " '" << argument.getName() << "': size " << dim << " does not fit the type " << type;
  }
  if (argument.getCheckSize() && !sizes.contains(argument.getCheckSize().getValue()))
    return function.emitOpError() << what << " '" << argument.getName() << "': check_size " << argument.getCheckSize()
                                  << " is no size of the function";
  return success();
}
} // namespace

LogicalResult AttnDialect::verifyOperationAttribute(Operation *op, NamedAttribute attribute) {
  if (attribute.getName() != kSizesAttr)
    return success();
  auto function = dyn_cast<func::FuncOp>(op);
  if (!function)
    return op->emitOpError("'attn.sizes' belongs on a function");
  Sizes sizes;
  if (failed(verifySizes(function, attribute.getValue(), sizes)))
    return failure();
  llvm::StringSet<> names; // c1
  for (unsigned i = 0; i < function.getNumArguments(); ++i)
    if (failed(verifyArgument(function, "argument " + Twine(i), function.getArgumentTypes()[i], function.getArgAttr(i, kArgumentAttr),
                              sizes, names)))
      return failure();
  for (unsigned i = 0; i < function.getNumResults(); ++i)
    if (failed(verifyArgument(function, "result " + Twine(i), function.getResultTypes()[i], function.getResultAttr(i, kArgumentAttr), sizes,
                              names)))
      return failure();
  return success();
}
