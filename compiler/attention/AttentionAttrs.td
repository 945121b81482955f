// Attributes of the attn dialect that are not variants: arguments, sizes, row maps of weights, guards, schedules.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef MHAC_ATTENTION_ATTRS_TD
#define MHAC_ATTENTION_ATTRS_TD

include "attention/AttentionDialect.td"
include "mlir/IR/AttrTypeBase.td"
include "mlir/IR/EnumAttr.td"

class Attn_Attr<string name, string attrMnemonic> : AttrDef<Attn_Dialect, name> { let mnemonic = attrMnemonic; }

def Attn_Role : I32EnumAttr<"Role", "what an argument of an entry is for", [
    I32EnumAttrCase<"Input", 0, "input">, I32EnumAttrCase<"Weight", 1, "weight">,
    I32EnumAttrCase<"Parameter", 2, "parameter">, I32EnumAttrCase<"Output", 3, "output">]> {
  let cppNamespace = "::mhac::attn";
}
def Attn_ValueCheck : I32EnumAttr<"ValueCheck", "how the values inside an integer argument are checked before a call runs", [
    I32EnumAttrCase<"None", 0, "none">, I32EnumAttrCase<"Range", 1, "range">, I32EnumAttrCase<"Sum", 2, "sum">]> {
  let cppNamespace = "::mhac::attn";
}
def Attn_Offset : I32EnumAttr<"Offset", "absolute position of query 0 (semantics section 3)", [
    I32EnumAttrCase<"BottomRight", 0, "bottom_right">, I32EnumAttrCase<"TopLeft", 1, "top_left">,
    I32EnumAttrCase<"RowEnd", 2, "row_end">]> {
  let cppNamespace = "::mhac::attn";
}
def Attn_Layout : I32EnumAttr<"Layout", "how a weight matrix lies in memory", [
    I32EnumAttrCase<"OutIn", 0, "out_in">, I32EnumAttrCase<"InOut", 1, "in_out">]> {
  let cppNamespace = "::mhac::attn";
}
def Attn_OffsetAttr : EnumAttr<Attn_Dialect, Attn_Offset, "offset">;
def Attn_LayoutAttr : EnumAttr<Attn_Dialect, Attn_Layout, "layout">;

def Attn_ArgumentAttr : Attn_Attr<"Argument", "argument"> {
  let summary = "how an argument or result of an entry appears in the C interface";
  let description = [{
    On every argument and result of an entry, under the name `attn.argument`. `dims` names each dimension of the tensor, outermost first, by a
    size of the entry (`attn.sizes`) or by a number. `check = range` wants 0 <= value <= size `check_size`; `sum` also wants that the value
    plus that of the argument `check_with` stays within the size.
  }];
  let parameters = (ins StringRefParameter<>:$name, "Role":$role, ArrayRefParameter<"::mlir::StringAttr">:$dims,
      DefaultValuedParameter<"bool", "false">:$strided, DefaultValuedParameter<"ValueCheck", "ValueCheck::None">:$check,
      DefaultValuedParameter<"::mlir::StringAttr", "::mlir::StringAttr()">:$check_size,
      DefaultValuedParameter<"::mlir::StringAttr", "::mlir::StringAttr()">:$check_with);
  let assemblyFormat = "`<` struct(params) `>`";
}

def Attn_SizeAttr : Attn_Attr<"Size", "size"> {
  let summary = "a size of the call: fixed (minimum = maximum), bounded or dynamic (maximum 2147483647)";
  let parameters = (ins StringRefParameter<>:$name, "int64_t":$minimum, "int64_t":$maximum);
  let assemblyFormat = "`<` struct(params) `>`";
}

def Attn_PartAttr : Attn_Attr<"Part", "part"> {
  let summary = "which rows of which weight make one result of attn.project";
  let description = [{
    Feature i of head h is row `first + (h / group) * group_stride + (h % group) * head_stride + i` of weight number `weight` (rows are output
    features; a column of the matrix in memory when the layout is in_out). `bias` is the number of the bias operand, -1 for none, indexed by the
    same row. The result is multiplied by `scale` (used for the score scale, see attn-fold-scale).
  }];
  let parameters = (ins "int64_t":$weight, "int64_t":$bias, "int64_t":$heads, "int64_t":$width, "int64_t":$first, "int64_t":$group,
      "int64_t":$group_stride, "int64_t":$head_stride, DefaultValuedParameter<"::mlir::FloatAttr", "::mlir::FloatAttr()">:$scale);
  let assemblyFormat = "`<` struct(params) `>`";
}

def Attn_GuardAttr : Attn_Attr<"Guard", "guard"> {
  let summary = "a candidate applies when minimum <= size <= maximum; the size `workers` is the context's concurrency";
  let parameters = (ins StringRefParameter<>:$size, "int64_t":$minimum, "int64_t":$maximum);
  let assemblyFormat = "`<` struct(params) `>`";
}

def Attn_ScheduleAttr : Attn_Attr<"Schedule", "schedule"> {
  let summary = "how one op is computed: the name of the rule that chose it, the reason, and its tile sizes";
  let description = [{
    `tiles` maps names to integers; which names an op reads is documented by its builder in compiler/halide. The Halide stage makes no choice
    beyond these numbers, so a schedule can be read in the IR, edited by hand and replayed.
  }];
  let parameters = (ins StringRefParameter<>:$rule, StringRefParameter<>:$reason, "::mlir::DictionaryAttr":$tiles);
  let assemblyFormat = "`<` struct(params) `>`";
}

#endif
