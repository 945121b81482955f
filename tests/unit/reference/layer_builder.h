// Makes specs and inputs by hand, so that the tests of the reference do not need the reader.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "reference/LayerReference.h"

#include <deque>

namespace mhac::reference {

/// A variant that stands alone (`causal`), has a scalar (`scale: 0.5`) or one field (`padding: {side: left}`).
inline VariantSpec variant(std::string word) {
  VariantSpec v;
  v.word.value = std::move(word);
  return v;
}
inline VariantSpec variant(std::string word, std::string scalar) {
  VariantSpec v = variant(std::move(word));
  v.arguments.kind = Tree::Kind::Scalar;
  v.arguments.scalar = std::move(scalar);
  return v;
}
inline Tree scalarTree(std::string text) {
  Tree tree;
  tree.kind = Tree::Kind::Scalar;
  tree.scalar = std::move(text);
  return tree;
}
inline Tree listTree(std::vector<Tree> items) {
  Tree tree;
  tree.kind = Tree::Kind::List;
  tree.items = std::move(items);
  return tree;
}
inline VariantSpec variant(std::string word, std::vector<std::pair<std::string, Tree>> fields) {
  VariantSpec v = variant(std::move(word));
  v.arguments.kind = Tree::Kind::Map;
  for (auto &[key, value] : fields) {
    Located<std::string> name;
    name.value = key;
    v.arguments.fields.emplace_back(name, value);
  }
  return v;
}
inline VariantSpec variant(std::string word, std::string key, std::string scalar) {
  return variant(std::move(word), {{std::move(key), scalarTree(std::move(scalar))}});
}
/// The variant as an element of a list inside another one.
inline Tree elementTree(const VariantSpec &v) {
  if (v.arguments.kind == Tree::Kind::Null)
    return scalarTree(*v.word);
  Tree tree;
  tree.kind = Tree::Kind::Map;
  tree.fields.emplace_back(v.word, v.arguments);
  return tree;
}
/// `any: [...]`, an alternative of several masks being a list.
inline VariantSpec anyOf(const std::vector<std::vector<VariantSpec>> &alternatives) {
  VariantSpec v = variant("any");
  v.arguments.kind = Tree::Kind::List;
  for (const std::vector<VariantSpec> &alternative : alternatives) {
    std::vector<Tree> items;
    for (const VariantSpec &mask : alternative)
      items.push_back(elementTree(mask));
    v.arguments.items.push_back(items.size() == 1 ? items[0] : listTree(std::move(items)));
  }
  return v;
}

/// A list of words or numbers.
inline Tree listTree(const std::vector<std::string> &scalars) {
  std::vector<Tree> items;
  for (const std::string &scalar : scalars)
    items.push_back(scalarTree(scalar));
  return listTree(std::move(items));
}

/// `heads` heads that share `kvHeads` keys and values; q, k, v are inputs and the heads are the output; scale 1.
inline Spec plainSpec(int64_t heads, int64_t kvHeads, int64_t headDim, int64_t vHeadDim) {
  Spec spec;
  spec.name.value = "layer";
  spec.layer.dModel.value = spec.layer.kvDModel.value = heads * headDim;
  spec.layer.heads.value = heads;
  spec.layer.kvHeads.value = kvHeads;
  spec.layer.headDim.value = headDim;
  spec.layer.vHeadDim.value = vHeadDim;
  spec.projections.input.value = InputProjection::None;
  spec.score = {variant("scale", "1.0")};
  return spec;
}

/// Dense inputs that own their memory.
class Inputs {
public:
  Inputs &add(const std::string &name, std::vector<int64_t> shape, std::vector<float> values) {
    floats.push_back(std::move(values));
    tensors[name] = dense(DType::F32, floats.back().data(), std::move(shape));
    return *this;
  }
  Inputs &add(const std::string &name, std::vector<int64_t> values) {
    std::vector<int64_t> shape = {int64_t(values.size())};
    return addIntegers(name, shape, std::move(values));
  }
  Inputs &addIntegers(const std::string &name, std::vector<int64_t> shape, std::vector<int64_t> values) {
    integers.push_back(std::move(values));
    tensors[name] = dense(DType::I64, integers.back().data(), std::move(shape));
    return *this;
  }
  Inputs &addFlags(const std::string &name, std::vector<int64_t> shape, std::vector<uint8_t> values) {
    bytes.push_back(std::move(values));
    tensors[name] = dense(DType::I64, bytes.back().data(), std::move(shape)); // Tensor::flag asks for no dtype
    return *this;
  }
  Tensors tensors;

private:
  static Tensor dense(DType dtype, const void *data, std::vector<int64_t> shape) {
    std::vector<int64_t> strides(shape.size());
    int64_t stride = 1;
    for (size_t i = shape.size(); i-- > 0; stride *= shape[i])
      strides[i] = stride;
    return {dtype, data, std::move(shape), std::move(strides)};
  }
  std::deque<std::vector<float>> floats;
  std::deque<std::vector<int64_t>> integers;
  std::deque<std::vector<uint8_t>> bytes;
};

} // namespace mhac::reference
