// Encodes one token of Q by the reference for each line of standard input, "<position> <spec as one line of YAML>", and prints a JSON object a line:
// the token's heads, the weight, and the result. positions_check.py chooses the specs and computes them again.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "reference/positions.h"
#include "spec/SpecReader.h"

#include <cstdio>
#include <iostream>
#include <random>

using namespace mhac;

static std::vector<float> normals(std::mt19937 &random, int64_t count) {
  std::normal_distribution<float> normal;
  std::vector<float> values(static_cast<size_t>(count));
  for (float &value : values)
    value = normal(random);
  return values;
}

template <typename T> static void print(const char *name, const std::vector<T> &values, const char *end) {
  std::printf("\"%s\": [", name);
  for (size_t i = 0; i < values.size(); ++i)
    std::printf("%s%.17g", i ? ", " : "", double(values[i]));
  std::printf("]%s", end);
}

int main() {
  std::mt19937 random(7);
  int64_t position;
  std::string yaml;
  while (std::cin >> position && std::getline(std::cin, yaml)) {
    Diagnostics diagnostics;
    std::optional<Spec> spec = readSpec(yaml, "case.yaml", diagnostics);
    if (!spec || diagnostics.hasErrors()) {
      std::fprintf(stderr, "cannot read %s\n", yaml.c_str());
      return 1;
    }
    const int64_t features = *spec->layer.heads * *spec->layer.headDim;
    std::vector<float> values = normals(random, features), weight = normals(random, features);
    reference::Tensors inputs;
    inputs["q_norm_weight"] = {DType::F32, weight.data(), {features}, {1}};
    std::vector<double> heads(values.begin(), values.end());
    reference::Positions(*spec, {1, 1, 1}, inputs).encode(/*isKey=*/false, 0, 0, position, heads);
    std::printf("{");
    print("heads", values, ", ");
    print("weight", weight, ", ");
    print("encoded", heads, "}\n");
  }
}
