// The hooks of a variant: a mask, position encoding, score change or key/value layout. The rest of the compiler speaks to variants only
// through them, so that one variant is one attribute and one .cpp file.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef MHAC_ATTENTION_VARIANT_INTERFACE_TD
#define MHAC_ATTENTION_VARIANT_INTERFACE_TD

include "attention/AttentionDialect.td"
include "mlir/IR/AttrTypeBase.td"
include "mlir/IR/Interfaces.td"

def Attn_VariantInterface : AttrInterface<"VariantInterface"> {
  let cppNamespace = "::mhac::attn";
  let description = [{
    The YAML word of a variant is the mnemonic of its attribute. `info` and `fromSpec` are declared in the attribute's class but defined in
    the variant's file: forgetting one is a link error. All other hooks default to nothing; name those that a variant defines in
    `Attn_Variant<..., [hooks]>`. Hooks that take a RegionBuilder emit into the regions of attn.attention (attn-expand-variants).
  }];
  let methods = [
    StaticInterfaceMethod<"what the variant is for and the keys it takes in YAML", "const ::mhac::attn::VariantInfo &", "info", (ins)>,
    StaticInterfaceMethod<"builds the attribute from checked fields; null after an error was reported",
      "::mlir::Attribute", "fromSpec", (ins "::mhac::attn::VariantReader &":$reader)>,

    InterfaceMethod<"the run-time inputs, in the order in which they stand in the operands `params`",
      "::llvm::SmallVector<::mhac::attn::VariantParameter>", "parameters", (ins), "", "return {};">,
    InterfaceMethod<"names of sizes of the call that only this variant has, 0 to the largest size",
      "::llvm::SmallVector<::llvm::StringRef>", "sizes", (ins), "", "return {};">,
    InterfaceMethod<"the largest number of queries and of keys that the variant computes with; 0: no limit of its own",
      "int64_t", "largestSize", (ins), "", "return 0;">,
    InterfaceMethod<"masks: an i1, true where the key is visible; null: everything is",
      "::mlir::Value", "isVisible", (ins "::mhac::attn::RegionBuilder &":$region), "", "return {};">,
    InterfaceMethod<"scores and masks that add something (those last): the changed score (f32)",
      "::mlir::Value", "transformScore", (ins "::mhac::attn::RegionBuilder &":$region, "::mlir::Value":$score), "", "return score;">,
    InterfaceMethod<"scores: the constant that the score is multiplied with, when that is all the variant does; it joins the op's scale",
      "std::optional<double>", "constantFactor", (ins), "", "return std::nullopt;">,
    InterfaceMethod<"the index of the key at position 0; null: 0",
      "::mlir::Value", "firstKey", (ins "::mhac::attn::RegionBuilder &":$region), "", "return {};">,
    InterfaceMethod<"the position behind the last valid key, what query_offset row_end counts from; null: the number of keys",
      "::mlir::Value", "validKeys", (ins "::mhac::attn::RegionBuilder &":$region), "", "return {};">,
    InterfaceMethod<"whether `firstKey` can be other than 0", "bool", "shiftsKeys", (ins), "", "return false;">,
    InterfaceMethod<"whether the variant compares the positions of queries with those of keys",
      "bool", "comparesPositions", (ins), "", "return false;">,

    InterfaceMethod<"positions: the query tensor [b, h, q, d] after encoding",
      "::mlir::Value", "transformQuery", (ins "::mhac::attn::SequenceBuilder &":$sequence, "::mlir::Value":$query), "", "return query;">,
    InterfaceMethod<"positions: the key tensor [b, g, k, d] after encoding",
      "::mlir::Value", "transformKey", (ins "::mhac::attn::SequenceBuilder &":$sequence, "::mlir::Value":$key), "", "return key;">,
    InterfaceMethod<"scores: a logit (f32) of the row that joins the softmax's denominator only; null: none",
      "::mlir::Value", "updateSoftmax", (ins "::mhac::attn::RegionBuilder &":$region), "", "return {};">,
    InterfaceMethod<"the output tensor [b, h, q, e] after the variant's change",
      "::mlir::Value", "transformOutput", (ins "::mlir::OpBuilder &":$builder, "::mlir::Value":$output), "", "return output;">,
    InterfaceMethod<"layouts: the element of the cache `operand` at (b, g, k, d); null: the tensor itself is indexed",
      "::mlir::Value", "loadKeyValue", (ins "::mhac::attn::RegionBuilder &":$region, "::mlir::Value":$operand, "::mlir::Value":$width),
      "", "return {};">,
    InterfaceMethod<"attn ops ahead of attn.attention that read its encoded queries and keys; appends what they give, by the names that regions load",
      "void", "expandBefore", (ins "::mlir::OpBuilder &":$builder, "::mlir::Operation *":$attention,
      "::llvm::SmallVectorImpl<::mhac::attn::ComputedTable> &":$tables), "", "return;">
  ];
}

/// An attribute that is a variant; `hooks` names the optional hooks that it defines.
class Attn_Variant<string name, string attrMnemonic, list<string> hooks = []>
    : AttrDef<Attn_Dialect, name, [DeclareAttrInterfaceMethods<Attn_VariantInterface, hooks>]> {
  let mnemonic = attrMnemonic;
}

#endif
