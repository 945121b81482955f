// Attributes of the attn dialect that are not variants: arguments, sizes, row maps of weights, guards, schedules.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef MHAC_ATTENTION_ATTRS_TD
#define MHAC_ATTENTION_ATTRS_TD

include "attention/AttentionDialect.td"
include "mlir/IR/AttrTypeBase.td"
include "mlir/IR/EnumAttr.td"

class Attn_Attr<string name, string attrMnemonic> : AttrDef<Attn_Dialect, name> { let mnemonic = attrMnemonic; }

/// A list of strings in brackets: the default list syntax has none and would swallow the parameters behind it.
class Attn_StringList<string desc = ""> : ArrayRefParameter<"::mlir::StringAttr", desc> {
  let parser = "::mhac::attn::parseStringList($_parser)";
  let printer = "::mhac::attn::printStringList($_printer, $_self)";
}

def Attn_Role : I32Enum<"Role", "what an argument of an entry is for", [
    I32EnumCase<"Input", 0, "input">, I32EnumCase<"Weight", 1, "weight">,
    I32EnumCase<"Parameter", 2, "parameter">, I32EnumCase<"Output", 3, "output">]> {
  let cppNamespace = "::mhac::attn";
}
def Attn_ValueCheck : I32Enum<"ValueCheck", "how the values inside an integer argument are checked before a call runs", [
    I32EnumCase<"None", 0, "none">, I32EnumCase<"Range", 1, "range">, I32EnumCase<"Sum", 2, "sum">,
    I32EnumCase<"Position", 3, "position">]> {
  let cppNamespace = "::mhac::attn";
}
def Attn_Offset : I32Enum<"Offset", "absolute position of query 0 (semantics section 3)", [
    I32EnumCase<"BottomRight", 0, "bottom_right">, I32EnumCase<"TopLeft", 1, "top_left">,
    I32EnumCase<"RowEnd", 2, "row_end">]> {
  let cppNamespace = "::mhac::attn";
}
def Attn_Layout : I32Enum<"Layout", "how a weight matrix lies in memory", [
    I32EnumCase<"OutIn", 0, "out_in">, I32EnumCase<"InOut", 1, "in_out">]> {
  let cppNamespace = "::mhac::attn";
}
def Attn_Span : I32Enum<"Span", "how far an index of a tile reaches", [
    I32EnumCase<"Point", 0, "point">, I32EnumCase<"Queries", 1, "queries">, I32EnumCase<"Keys", 2, "keys">]> {
  let cppNamespace = "::mhac::attn";
}
def Attn_SpanAttr : EnumAttr<Attn_Dialect, Attn_Span, "span"> { let assemblyFormat = "`<` $value `>`"; }
def Attn_SpanArrayAttr : TypedArrayAttrBase<Attn_SpanAttr, "one span a dimension">;
def Attn_Pairing : I32Enum<"Pairing", "which features a rotation turns together: i with i + pairs, or 2i with 2i + 1", [
    I32EnumCase<"Half", 0, "half">, I32EnumCase<"Interleaved", 1, "interleaved">]> {
  let cppNamespace = "::mhac::attn";
}
def Attn_Norm : I32Enum<"Norm", "what a normalisation divides by: the root mean square, or the Euclidean length", [
    I32EnumCase<"Rms", 0, "rms">, I32EnumCase<"L2", 1, "l2">]> {
  let cppNamespace = "::mhac::attn";
}
def Attn_PairingAttr : EnumAttr<Attn_Dialect, Attn_Pairing, "pairing"> { let assemblyFormat = "`<` $value `>`"; }
def Attn_NormAttr : EnumAttr<Attn_Dialect, Attn_Norm, "norm"> { let assemblyFormat = "`<` $value `>`"; }
def Attn_OffsetAttr : EnumAttr<Attn_Dialect, Attn_Offset, "offset"> { let assemblyFormat = "`<` $value `>`"; }
def Attn_LayoutAttr : EnumAttr<Attn_Dialect, Attn_Layout, "layout"> { let assemblyFormat = "`<` $value `>`"; }

def Attn_ArgumentAttr : Attn_Attr<"Argument", "argument"> {
  let summary = "how an argument or result of an entry appears in the C interface";
  let description = [{
    On every argument and result of an entry, under the name `attn.argument`. `dims` names each dimension of the tensor, outermost first, by
    a size of the entry (`attn.sizes`) or by a number. `check = range` wants 0 <= value <= size `check_size`; `sum` also wants that the
    value plus that of the argument `check_with` stays within the size; `position` wants -2^30 <= value <= 2^30. (c1) The name is a C identifier. (c2) `range` and `sum` name
    the size, and `sum`, only `sum`, the other argument.
  }];
  let parameters = (ins StringRefParameter<>:$name, EnumParameter<Attn_Role>:$role, Attn_StringList<>:$dims,
      DefaultValuedParameter<"bool", "false">:$strided,
      DefaultValuedParameter<"::mhac::attn::ValueCheck", "::mhac::attn::ValueCheck::None">:$check,
      DefaultValuedParameter<"::mlir::StringAttr", "::mlir::StringAttr()">:$check_size,
      DefaultValuedParameter<"::mlir::StringAttr", "::mlir::StringAttr()">:$check_with);
  let genVerifyDecl = 1;
  let assemblyFormat = "`<` struct(params) `>`";
}

def Attn_SizeAttr : Attn_Attr<"Size", "size"> {
  let summary = "a size of the call: fixed (minimum = maximum), bounded or dynamic (maximum 2147352576)";
  let description = "(c1) 0 <= minimum <= maximum <= 2147352576.";
  let parameters = (ins StringRefParameter<>:$name, "int64_t":$minimum, "int64_t":$maximum);
  let genVerifyDecl = 1;
  let assemblyFormat = "`<` struct(params) `>`";
}

def Attn_PartAttr : Attn_Attr<"Part", "part"> {
  let summary = "which rows of which weight make one result of attn.project";
  let description = [{
    Feature i of head h is row `first + (h / group) * group_stride + (h % group) * head_stride + i` of weight number `weight` (rows are
    output features; a column of the matrix in memory when the layout is in_out). `bias` is the number of the bias operand, -1 for none,
    indexed by the same row. The result is multiplied by `scale` (used for the score scale, see attn-fold-scale). With `numbers`, h in the formula
    is numbers[h]: heads that are left out are rows that are never read. (c1) Heads, width and group are at least 1; weight, first and the strides at
    least 0; bias at least -1. (c2) The scale is finite. (c3) Numbers are one a head, at least 0 and increasing.
  }];
  let parameters = (ins "int64_t":$weight, "int64_t":$bias, "int64_t":$heads, "int64_t":$width, "int64_t":$first, "int64_t":$group,
      "int64_t":$group_stride, "int64_t":$head_stride, DefaultValuedParameter<"::mlir::FloatAttr", "::mlir::FloatAttr()">:$scale,
      DefaultValuedParameter<"::mlir::DenseI64ArrayAttr", "::mlir::DenseI64ArrayAttr()">:$numbers);
  let genVerifyDecl = 1;
  let extraClassDeclaration = [{
    /// The same rows of other operands, or times another factor.
    PartAttr with(int64_t weight, int64_t bias, ::mlir::FloatAttr scale) const;
    /// The first row of a head.
    int64_t getFirstRow(int64_t head) const;
  }];
  let assemblyFormat = "`<` struct(params) `>`";
}

def Attn_MapKind : I32Enum<"MapKind", "an output of attn.attention that is made from the map of queries and keys", [
    I32EnumCase<"Scores", 0, "scores">, I32EnumCase<"Modified", 1, "modified">, I32EnumCase<"Masked", 2, "masked">,
    I32EnumCase<"Probabilities", 3, "probabilities">, I32EnumCase<"Entropy", 4, "entropy">, I32EnumCase<"Peak", 5, "peak">,
    I32EnumCase<"PeakPosition", 6, "peak_position">, I32EnumCase<"DiagonalMass", 7, "diagonal_mass">, I32EnumCase<"KeyMass", 8, "key_mass">]> {
  let cppNamespace = "::mhac::attn";
}
def Attn_MapAttr : Attn_Attr<"Map", "map"> {
  let summary = "a result of attn.attention that is made from the map of queries and keys";
  let description = [{
    With P the probabilities [b, h, q, k]: the map itself, `scores` (scaled), `modified` (after the score region), `masked` (hidden keys are
    -inf) or `probabilities`; of each row its `entropy` -sum P ln P, its `peak` max P, the `peak_position` (smallest k with the peak, i64; -1
    when the row sees nothing) and the `diagonal_mass` sum of P over |p_k - p_q| <= window; of each key its `key_mass`, the sum of P over q.
    (c1) The window is at least 0, and 0 unless for `diagonal_mass`.
  }];
  let parameters = (ins EnumParameter<Attn_MapKind>:$kind, DefaultValuedParameter<"int64_t", "0">:$window);
  let genVerifyDecl = 1;
  let assemblyFormat = "`<` $kind (`,` `window` `=` $window^)? `>`";
}

def Attn_GuardAttr : Attn_Attr<"Guard", "guard"> {
  let summary = "a candidate applies when minimum <= size <= maximum; the size `workers` is the context's concurrency";
  let description = "With `per_worker` it is the size divided by the workers, rounded down. (c1) 0 <= minimum <= maximum.";
  let parameters = (ins StringRefParameter<>:$size, "int64_t":$minimum, "int64_t":$maximum, DefaultValuedParameter<"bool", "false">:$per_worker);
  let genVerifyDecl = 1;
  let assemblyFormat = "`<` struct(params) `>`";
}

def Attn_ScheduleAttr : Attn_Attr<"Schedule", "schedule"> {
  let summary = "how one op is computed: the name of the rule that chose it, the reason, and its tile sizes";
  let description = [{
    `tiles` maps names to integers; which names an op reads is documented by its builder in compiler/halide. The Halide stage makes no
    choice beyond these numbers, so a schedule can be read in the IR, edited by hand and replayed.
  }];
  let parameters = (ins StringRefParameter<>:$rule, StringRefParameter<>:$reason, "::mlir::DictionaryAttr":$tiles);
  let assemblyFormat = "`<` struct(params) `>`";
}

#endif
