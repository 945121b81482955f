// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Operands.h"

#include "ParameterValues.h"
#include "ScoreValues.h"
#include "reference/masks.h"

#include <mhac/runtime.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <numeric>

namespace mhac::artefact {

/// Normally distributed numbers by Box and Muller, from a counter: fast enough for the weights of large models, the same on every machine.
class Normals {
public:
  explicit Normals(uint64_t seed) : state(seed * 0x9e3779b97f4a7c15u + 1) {}
  float next() {
    if (hasSpare) {
      hasSpare = false;
      return spare;
    }
    uint64_t bits = mix();
    float u = (float(bits >> 40) + 1) * 0x1p-24f, angle = float(bits & 0xffffff) * 0x1p-24f * 6.2831853f;
    float radius = std::sqrt(-2 * std::log(u));
    spare = radius * std::sin(angle);
    hasSpare = true;
    return radius * std::cos(angle);
  }

private:
  uint64_t mix() { // splitmix64
    uint64_t z = state += 0x9e3779b97f4a7c15u;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
  }
  uint64_t state;
  float spare = 0;
  bool hasSpare = false;
};

namespace {

int64_t countOf(const std::vector<int64_t> &shape) {
  return std::accumulate(shape.begin(), shape.end(), int64_t(1), std::multiplies<int64_t>());
}

/// Elements between the first and the last of a strided tensor, both included.
int64_t spanOf(const std::vector<int64_t> &shape, const std::vector<int64_t> &strides) {
  int64_t span = 1;
  for (size_t i = 0; i < shape.size(); ++i) {
    if (shape[i] == 0)
      return 0;
    span += (shape[i] - 1) * strides[i];
  }
  return span;
}

/// Calls f(offset, index) for every element, innermost dimension fastest.
template <typename F> void forEachElement(const std::vector<int64_t> &shape, const std::vector<int64_t> &strides, F f) {
  if (countOf(shape) == 0)
    return;
  std::vector<int64_t> index(shape.size(), 0);
  int64_t offset = 0;
  while (true) {
    f(offset, index);
    size_t dim = shape.size();
    while (dim > 0) {
      --dim;
      offset += strides[dim];
      if (++index[dim] < shape[dim])
        break;
      offset -= shape[dim] * strides[dim];
      index[dim] = 0;
      if (dim == 0)
        return;
    }
    if (shape.empty())
      return;
  }
}

/// Strides of a tensor that lies with its outer dimensions in random order, with gaps, and perhaps one batch for all. Innermost stride 1.
std::vector<int64_t> randomStrides(const std::vector<int64_t> &shape, bool broadcast, std::mt19937_64 &random) {
  std::vector<size_t> order(shape.size());
  std::iota(order.rbegin(), order.rend(), size_t(0)); // innermost first
  std::shuffle(order.begin() + 1, order.end(), random);
  std::vector<int64_t> strides(shape.size());
  int64_t stride = 1;
  for (size_t dim : order) {
    strides[dim] = stride;
    stride *= std::max<int64_t>(shape[dim], 1);
    stride += int64_t(random() % 3) * int64_t(random() % 5);
  }
  if (broadcast && shape.size() > 1 && random() % 3 == 0)
    strides[0] = 0;
  return strides;
}

std::vector<int64_t> denseStrides(const std::vector<int64_t> &shape) {
  std::vector<int64_t> strides(shape.size());
  int64_t stride = 1;
  for (size_t i = shape.size(); i-- > 0; stride *= std::max<int64_t>(shape[i], 1))
    strides[i] = stride;
  return strides;
}

} // namespace

SizeValues chooseSizes(const Manifest &manifest, const SizeValues &wanted) {
  SizeValues sizes;
  for (const SizeField &size : manifest.sizes) {
    auto found = wanted.find(size.name);
    int64_t value = found != wanted.end() ? found->second : wanted.count("query") ? wanted.at("query") : 1;
    if (size.name == "mask_keys" && found == wanted.end()) { // at most as many as keys; fewer for some
      int64_t keys = sizes.count("key") ? sizes.at("key") : sizes.at("query");
      value = keys % 2 ? keys - keys / 4 : keys;
    }
    if (size.name == "parts" && found == wanted.end())
      value = value % 5; // none among them
    sizes[size.name] = std::clamp(value, size.minimum, size.maximum);
  }
  return sizes;
}

Operands::Operands(const Manifest &manifest, const Spec &spec, SizeValues sizes, const FillOptions &options, const Operands *weightsOf)
    : manifest(manifest), spec(spec), sizeValues(std::move(sizes)) {
  batchSize = sizeValues.count("batch") ? sizeValues.at("batch") : 1;
  querySize = sizeValues.count("query") ? sizeValues.at("query") : 1;
  keySize = sizeValues.count("key") ? sizeValues.at("key") : querySize;

  std::mt19937_64 random(options.seed);
  for (const Argument &argument : manifest.arguments)
    place(argument, options, weightsOf, random);
  fillParameters(options, random);
  findWhatMatters(options, random);
  fillScores(options);
  if (weightsOf)
    originals = weightsOf->originals;
  for (Buffer &buffer : buffers)
    if (dtypeInfo(buffer.argument->dtype).isScaled() && buffer.memory.use_count() == 1)
      quantize(buffer, options, options.seed + 1000 * size_t(&buffer - buffers.data()));
  auto isScales = [&](const Argument &argument) {
    return std::any_of(buffers.begin(), buffers.end(), [&](const Buffer &other) { return other.argument->scales == argument.name; });
  };
  for (Buffer &buffer : buffers)
    if (!dtypeInfo(buffer.argument->dtype).isScaled() && !isScales(*buffer.argument) && (buffer.argument->role == Role::Input || buffer.argument->role == Role::Weight) && buffer.memory.use_count() == 1)
      fillNumbers(buffer, options, options.seed + 1000 * size_t(&buffer - buffers.data()));
  for (Buffer &buffer : buffers)
    if (!buffer.argument->isOutput())
      buffer.memory->makeReadOnly();
  writeStructure();
}

reference::Sizes Operands::sizes() const { return {batchSize, querySize, keySize}; }

void Operands::place(const Argument &argument, const FillOptions &options, const Operands *weightsOf, std::mt19937_64 &random) {
  Buffer buffer{&argument, nullptr, shapeOf(argument, sizeValues), {}};
  bool strided = options.strided && argument.stridesOffset >= 0;
  buffer.strides = strided ? randomStrides(buffer.shape, !argument.isOutput(), random) : denseStrides(buffer.shape);
  if (weightsOf && argument.role == Role::Weight)
    buffer.memory = weightsOf->buffers[buffers.size()].memory;
  else
    buffer.memory = std::make_shared<GuardedMemory>(size_t(spanOf(buffer.shape, buffer.strides) * dtypeInfo(argument.dtype).bytes()),
                                                    options.placement);
  reference::Tensor view{argument.dtype, buffer.memory->data(), buffer.shape, buffer.strides};
  if (const int shared = dtypeInfo(argument.dtype).numbersPerByte(); shared > 1) { // seen in numbers
    view.shape.back() = std::stoll(argument.dims.back());
    for (size_t i = 0; i + 1 < view.strides.size(); ++i)
      view.strides[i] *= shared;
  }
  views[argument.name] = view;
  buffers.push_back(std::move(buffer));
}

void Operands::fillParameters(const FillOptions &options, std::mt19937_64 &random) {
  for (Buffer &buffer : buffers)
    if (auto parameter = std::find_if(spec.parameters.begin(), spec.parameters.end(), [&](const ExpressionParameter &each) { return each.name == buffer.argument->name; });
        parameter != spec.parameters.end())
      fillExpressionParameter(views.at(buffer.argument->name), buffer.memory->data(), options.seed + 77 * size_t(&buffer - buffers.data()));
    else if (buffer.argument->role == Role::Parameter)
      fillMaskInput(buffer.argument->name, views.at(buffer.argument->name), buffer.memory->data(), options.seed, options.fullLengths);
  auto data = [](const Buffer &buffer) { return static_cast<int64_t *>(buffer.memory->data()); };
  // Position ids: mostly those of long contexts, of either sign; some at the far ends of what is allowed.
  std::mt19937_64 positions(options.seed);
  for (Buffer &buffer : buffers)
    if (buffer.argument->name.ends_with("position_ids"))
      for (int64_t i = 0, count = countOf(buffer.shape); i < count; ++i) {
        const int64_t limit = positions() % 16 ? 1 << 20 : 1 << 30;
        data(buffer)[i] = int64_t(positions() % uint64_t(2 * limit + 1)) - limit;
      }
  // A Sum needs the other values first. Where keys may begin later (`key_starts`), "full" means 0; a count is full at the size.
  for (ValueCheck check : {ValueCheck::Range, ValueCheck::Sum})
    for (Buffer &buffer : buffers) {
      const Argument &argument = *buffer.argument;
      if (argument.dtype != DType::I64 || argument.check != check)
        continue;
      const int64_t size = argument.checkSize == "key" ? keySize : sizeValues.count(argument.checkSize) ? sizeValues.at(argument.checkSize) : keySize;
      const bool isStart = argument.name == "key_starts";
      // A batch whose rows are all empty would test nothing; one of them, another one for every seed, has a key.
      const int64_t rows = countOf(buffer.shape), kept = size > 0 && rows > 0 ? int64_t(options.seed % uint64_t(rows)) : -1;
      for (int64_t i = 0; i < rows; ++i) {
        int64_t limit = size, atLeast = i == kept ? 1 : 0;
        if (check == ValueCheck::Sum)
          for (const Buffer &other : buffers)
            if (other.argument->name == argument.checkWith)
              limit -= std::max<int64_t>(data(other)[i], 0); // -1: not filled yet
        uint64_t kind = options.fullLengths ? 0 : (uint64_t(i) + options.seed) % 4;
        switch (kind == 1 && i == kept ? 2 : kind) {
        case 0: // everything valid
          data(buffer)[i] = isStart ? 0 : limit;
          break;
        case 1: // nothing valid
          data(buffer)[i] = isStart ? limit : 0;
          break;
        default:
          data(buffer)[i] = (isStart ? 0 : atLeast) + int64_t(random() % uint64_t(limit + 1 - atLeast));
        }
      }
    }
}

void Operands::findWhatMatters(const FillOptions &options, std::mt19937_64 &random) {
  keyMatters.assign(size_t(batchSize * keySize), spec.mask.empty() || !options.poison);
  queryMatters.assign(size_t(batchSize * querySize), (spec.mask.empty() && keySize > 0) || !options.poison);
  excluded.assign(size_t(batchSize * querySize), false);
  if (options.poison && !spec.mask.empty())
    for (int64_t b = 0; b < batchSize; ++b) {
      reference::RowMask mask(spec, sizes(), views, b);
      const int64_t heads = mask.dependsOnHead() ? *spec.layer.heads : 1;
      for (int64_t h = 0; h < heads; ++h)
        for (int64_t q = 0; q < querySize; ++q)
          for (int64_t k = 0; k < keySize; ++k)
            if (mask.isVisible(h, q, k))
              keyMatters[size_t(b * keySize + k)] = queryMatters[size_t(b * querySize + q)] = true;
    }
  // A token of self-attention is query and key. One that no query sees may be NaN although it is a query of its own: then its row of the
  // output may be anything, but no other row may change. Half of these rows are tried so, the others stay to be compared.
  tokenMatters = queryMatters;
  if (*spec.layer.source != Source::Self || *spec.projections.input == InputProjection::None)
    return;
  // Outputs that are sums over all queries would be NaN with one of them.
  const bool sumsQueries = spec.hasOutput(OutputKind::KeyMass) || spec.hasOutput(OutputKind::HeadNorms);
  for (size_t i = 0; i < tokenMatters.size(); ++i) {
    if (keyMatters[i])
      tokenMatters[i] = true;
    else if (queryMatters[i] && !sumsQueries && random() % 2)
      tokenMatters[i] = false, excluded[i] = true;
  }
}

/// What the score list reads. A bias at a pair that is hidden stays NaN.
void Operands::fillScores(const FillOptions &options) {
  std::vector<std::unique_ptr<reference::RowMask>> masks;
  if (options.poison && !spec.mask.empty())
    for (int64_t b = 0; b < batchSize; ++b)
      masks.push_back(std::make_unique<reference::RowMask>(spec, sizes(), views, b));
  auto matters = [&](int64_t b, int64_t h, int64_t q, int64_t k) { return masks.empty() || masks[size_t(b)]->isVisible(h, q, k); };
  const bool isExpressed = std::any_of(spec.score.begin(), spec.score.end(), [](const VariantSpec &score) { return *score.word == "expr"; });
  const CallShape call{batchSize, *spec.layer.heads, querySize, isExpressed};
  for (Buffer &buffer : buffers)
    if (buffer.argument->role == Role::Parameter)
      fillScoreInput(buffer.argument->name, views.at(buffer.argument->name), buffer.memory->data(), options.seed, call, matters);
}

/// Such that every projection gives numbers of about unit variance.
double Operands::deviation(const Argument &argument, const std::vector<int64_t> &shape) const {
  if (argument.role != Role::Weight)
    return 1;
  if (shape.size() < 2)
    return 0.25;
  return 1 / std::sqrt(double(*spec.projections.weightLayout == WeightLayout::OutIn ? shape[1] : shape[0]));
}

/// Floats as for a weight of f32, rounded by the runtime. Those that are never read get the lowest number, or NaN, and scales of these only NaN.
void Operands::quantize(Buffer &numbers, const FillOptions &options, uint64_t seed) {
  const Argument &argument = *numbers.argument;
  const reference::Tensor &view = views.at(argument.name);
  const bool outIn = *spec.projections.weightLayout == WeightLayout::OutIn;
  const float factor = float(deviation(argument, view.shape));
  Normals normals(seed);
  auto original = std::make_shared<std::vector<float>>(size_t(countOf(view.shape)));
  for (float &value : *original)
    value = factor * normals.next();
  auto scales = std::find_if(buffers.begin(), buffers.end(), [&](const Buffer &other) { return other.argument->name == argument.scales; });
  const int64_t groups = scales->shape[1];
  mhac_quantize_args args = MHAC_QUANTIZE_ARGS_INIT;
#define MHAC_WEIGHT_TYPE(name, number, text, bits, exponent_bits, largest) \
  if (dtypeInfo(argument.dtype).word == text)                              \
    args.type = MHAC_WEIGHT_##name;
#include <mhac/weight_types.def>
#undef MHAC_WEIGHT_TYPE
  args.in_out = !outIn, args.outputs = view.shape[outIn ? 0 : 1], args.inputs = view.shape[outIn ? 1 : 0], args.group = args.inputs / groups;
  args.weights = original->data(), args.numbers = numbers.memory->data(), args.scales = static_cast<float *>(scales->memory->data());
  if (mhac_quantize_weights(nullptr, &args) != MHAC_STATUS_OK)
    std::abort(); // it was asked for what it cannot do
  originals[argument.name] = original;
  if (!options.poison || spec.layer.prunedHeads.empty())
    return;
  const std::vector<bool> used = reference::usedParts(spec, argument.name);
  const bool areInputs = argument.name == "wo"; // the parts
  const float poison = dtypeInfo(argument.dtype).isFloat() ? std::numeric_limits<float>::quiet_NaN() : -128.f;
  for (int64_t output = 0; output < args.outputs; ++output)
    for (int64_t group = 0; group < groups; ++group) {
      bool isRead = false;
      for (int64_t input = group * args.group; input < (group + 1) * args.group; ++input) {
        const size_t part = size_t(areInputs ? input : output);
        if (part < used.size() && used[part])
          isRead = true;
        else
          storeElement(argument.dtype, numbers.memory->data(), outIn ? view.offset({output, input}) : view.offset({input, output}), poison);
      }
      if (!isRead)
        args.scales[output * groups + group] = std::numeric_limits<float>::quiet_NaN();
    }
}

reference::Tensors Operands::originalWeights() const {
  reference::Tensors tensors;
  for (const auto &[name, values] : originals) {
    const std::vector<int64_t> &shape = views.at(name).shape;
    tensors[name] = {DType::F32, values->data(), shape, denseStrides(shape)};
  }
  return tensors;
}

/// The memory is all NaN; numbers are written over it where they matter. Elements that lie on each other (broadcast) matter when one does.
void Operands::fillNumbers(Buffer &buffer, const FillOptions &options, uint64_t seed) {
  const Argument &argument = *buffer.argument;
  const float factor = float(deviation(argument, buffer.shape));
  auto put = [&](int64_t offset, float value) { storeElement(argument.dtype, buffer.memory->data(), offset, value); };
  Normals normals(seed);
  // What belongs to pruned heads is never read.
  const std::vector<bool> used = options.poison && !spec.layer.prunedHeads.empty() ? reference::usedParts(spec, argument.name) : std::vector<bool>();
  auto isUsed = [&](int64_t part) { return used.empty() || (part < int64_t(used.size()) && used[size_t(part)]); };
  if (argument.role == Role::Weight) {
    const bool rowsFirst = (*spec.projections.weightLayout == WeightLayout::OutIn) != (argument.name == "wo");
    const int64_t columns = buffer.shape.size() < 2 ? 1 : buffer.shape[1];
    for (int64_t i = 0, count = countOf(buffer.shape); i < count; ++i) {
      float value = factor * normals.next();
      if (isUsed(buffer.shape.size() < 2 || rowsFirst ? i / columns : i % columns))
        put(i, value);
    }
    return;
  }
  if (spec.mergeParts) {
    fillParts(buffer, normals);
    return;
  }
  std::optional<size_t> batch = argument.dim("batch"), query = argument.dim("query"), key = argument.dim("key");
  // Fixed sizes have numbers in `dims`; then position tells which one it is.
  size_t tokens = query ? *query : key ? *key : argument.dims.size() == 4 && *spec.shape.layout == ActivationLayout::Bhsd ? 2 : 1;
  bool isKey = argument.name == "k" || argument.name == "v" || argument.name == "memory";
  const std::vector<char> &flags = isKey ? keyMatters : argument.name == "x" ? tokenMatters : queryMatters;
  int64_t count = isKey ? keySize : querySize;
  const size_t heads = tokens == 1 ? 2 : 1; // of inputs with heads
  forEachElement(buffer.shape, buffer.strides, [&](int64_t offset, const std::vector<int64_t> &index) {
    float value = factor * normals.next();
    if (index.size() == 4 && !isUsed(index[heads]))
      return;
    if (!options.poison || flags[size_t(index[batch.value_or(0)] * count + index[tokens])])
      put(offset, value);
  });
}

/// Every fourth part saw nothing: its lse is -inf, and its output is left NaN, unless one lse stands for all parts.
void Operands::fillParts(Buffer &buffer, Normals &normals) {
  auto put = [&](int64_t offset, float value) { storeElement(buffer.argument->dtype, buffer.memory->data(), offset, value); };
  const bool isLse = buffer.argument->name == "lses", headsFirst = *spec.shape.layout == ActivationLayout::Bhsd;
  forEachElement(buffer.shape, buffer.strides, [&](int64_t offset, const std::vector<int64_t> &index) {
    const int64_t q = isLse || headsFirst ? index[3] : index[2], h = isLse || headsFirst ? index[2] : index[3];
    const bool sawNothing = (index[0] * 7 + q * 3 + h) % 4 == 0 || q % 11 == 5;
    const float value = normals.next();
    if (isLse)
      put(offset, sawNothing ? -std::numeric_limits<float>::infinity() : 4 * value);
    else if (!sawNothing || views.at("lses").strides[0] == 0)
      put(offset, value);
  });
}

void Operands::writeStructure() {
  structure.assign(size_t(manifest.argsBytes), 0);
  if (manifest.pointerBytes != sizeof(void *))
    return;
  auto put = [&](int64_t offset, auto value) {
    static_assert(sizeof value == 8);
    std::memcpy(&structure[size_t(offset)], &value, sizeof value);
  };
  put(0, size_t(manifest.argsBytes));
  for (const SizeField &size : manifest.sizes)
    if (!size.isFixed())
      put(size.offset, sizeValues.at(size.name));
  for (const Buffer &buffer : buffers) {
    put(buffer.argument->offset, buffer.memory->data());
    if (buffer.argument->stridesOffset >= 0 && buffer.strides != denseStrides(buffer.shape))
      put(buffer.argument->stridesOffset, buffer.strides.data());
  }
  put(manifest.workspaceOffset, workspace ? workspace->data() : nullptr);
  put(manifest.workspaceBytesOffset, workspace ? workspace->bytes() : size_t(0));
  if (manifest.preparedOffset >= 0)
    put(manifest.preparedOffset, prepared);
}

std::vector<Operands::Field> Operands::fields() {
  std::vector<Field> result;
  for (const SizeField &size : manifest.sizes)
    if (!size.isFixed())
      result.push_back({Field::Kind::Number, size.offset, &sizeValues.at(size.name), sizeof(int64_t)});
  for (Buffer &buffer : buffers) {
    const Field::Kind kind = buffer.argument->isOutput() ? Field::Kind::Output : Field::Kind::Memory;
    result.push_back({kind, buffer.argument->offset, buffer.memory->data(), buffer.memory->bytes()});
    if (buffer.argument->stridesOffset >= 0 && buffer.strides != denseStrides(buffer.shape))
      result.push_back({Field::Kind::Memory, buffer.argument->stridesOffset, buffer.strides.data(), buffer.strides.size() * sizeof(int64_t)});
  }
  return result;
}

void Operands::setWorkspace(size_t bytes) {
  workspace = bytes ? std::make_unique<GuardedMemory>(bytes, GuardedMemory::Placement::End) : nullptr;
  writeStructure();
}

void Operands::setPrepared(const void *state) {
  prepared = state;
  writeStructure();
}

void Operands::resetOutputs() {
  for (Buffer &buffer : buffers)
    if (buffer.argument->isOutput())
      buffer.memory->reset();
  if (workspace)
    workspace->reset();
}

std::string Operands::outputBytes() const {
  std::string bytes;
  for (const Buffer &buffer : buffers)
    if (buffer.argument->isOutput())
      bytes.append(static_cast<const char *>(buffer.memory->data()), buffer.memory->bytes());
  return bytes;
}

std::string Operands::findStrayWrite() const {
  if (workspace && !workspace->isIntact())
    return "something was written beside the workspace";
  for (const Buffer &buffer : buffers) {
    if (!buffer.argument->isOutput())
      continue;
    if (!buffer.memory->isIntact())
      return "something was written beside the output '" + buffer.argument->name + "'";
    if (spanOf(buffer.shape, buffer.strides) == countOf(buffer.shape))
      continue;
    const size_t bytes = size_t(dtypeInfo(buffer.argument->dtype).bytes());
    std::string copy(static_cast<const char *>(buffer.memory->data()), buffer.memory->bytes());
    forEachElement(buffer.shape, buffer.strides, [&](int64_t offset, const std::vector<int64_t> &) { std::memset(&copy[size_t(offset) * bytes], 0xff, bytes); });
    if (const size_t stray = copy.find_first_not_of('\xff'); stray != std::string::npos)
      return "something was written between the elements of the output '" + buffer.argument->name + "', " + std::to_string(stray / bytes) +
             " elements from its beginning";
  }
  return "";
}

const char *Operands::ownerOf(const void *address) const {
  if (workspace && workspace->surrounds(address))
    return "workspace";
  for (const Buffer &buffer : buffers)
    if (buffer.memory->surrounds(address))
      return buffer.argument->name.c_str();
  return nullptr;
}

double Operands::bytes() const {
  double sum = 0;
  for (const Buffer &buffer : buffers)
    sum += double(countOf(buffer.shape)) * dtypeInfo(buffer.argument->dtype).bytes();
  return sum;
}

} // namespace mhac::artefact
