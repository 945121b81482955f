// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "driver/LayerText.h"

#include "attention/AttentionDialect.h"
#include "driver/RegionText.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

#include "llvm/ADT/TypeSwitch.h"
#include "llvm/Support/Format.h"

#include <cmath>

using namespace mlir;

namespace mhac {

/// Normalisations and rotations of Q or K, the last one first; `heads` becomes what they begin with.
static SmallVector<Operation *> takeSteps(Value &heads) {
  SmallVector<Operation *> steps;
  for (Operation *op = heads.getDefiningOp(); isa_and_nonnull<attn::NormalizeOp, attn::RotateOp>(op); op = heads.getDefiningOp()) {
    steps.push_back(op);
    heads = op->getOperand(0);
  }
  return steps;
}

/// The part that makes a tensor of heads; null when the tensor is an input, perhaps with its dimensions exchanged.
static attn::PartAttr partOf(Value heads) {
  auto project = heads.getDefiningOp<attn::ProjectOp>();
  return project ? cast<attn::PartAttr>(project.getParts()[cast<OpResult>(heads).getResultNumber()]) : attn::PartAttr();
}

/// "2 * h", without what changes nothing.
static std::string product(int64_t factor, const std::string &name) {
  return factor == 1 ? name : std::to_string(factor) + " * " + name;
}

/// "element h of [0, 2, 5]"; "h" itself for an empty list.
static std::string elementOf(ArrayRef<int64_t> list, const std::string &index) {
  if (list.empty())
    return index;
  std::string text;
  llvm::raw_string_ostream stream(text);
  llvm::interleaveComma(list, stream);
  return "element " + index + " of [" + text + "]";
}

/// The row of a weight that makes feature j of a head; the parameters of #attn.part in words.
static std::string rowText(attn::PartAttr part, const std::string &head) {
  std::string text = part.getFirst() ? std::to_string(part.getFirst()) + " + " : "";
  bool oneGroup = part.getGroup() >= (part.getNumbers() ? part.getNumbers().asArrayRef().back() + 1 : part.getHeads());
  if (!oneGroup)
    text += product(part.getGroupStride(), part.getGroup() == 1 ? head : "(" + head + " / " + std::to_string(part.getGroup()) + ")") + " + ";
  if (oneGroup ? part.getHeads() > 1 || part.getNumbers() : part.getGroup() > 1)
    text += product(part.getHeadStride(), oneGroup ? head : "(" + head + " % " + std::to_string(part.getGroup()) + ")") + " + ";
  return text + "j";
}

static void describeWeights(attn::AttentionOp op, std::vector<std::string> &lines) {
  for (auto [name, encoded] : {std::pair("Q", op.getQuery()), {"K", op.getKey()}, {"V", op.getValue()}}) {
    Value heads = encoded;
    takeSteps(heads);
    attn::PartAttr part = partOf(heads);
    if (!part)
      continue;
    auto project = heads.getDefiningOp<attn::ProjectOp>();
    StringRef row = project.getLayout() == attn::Layout::OutIn ? "row " : "column ";
    std::string head = StringRef(name) == "Q" ? "h" : "g";
    lines.push_back("feature j of head " + head + " of " + name + " comes from " + row.str() + rowText(part, part.getNumbers() ? "n" : head) + " of " +
                    argumentName(project.getWeights()[part.getWeight()]) +
                    (part.getNumbers() ? ", n = " + elementOf(part.getNumbers(), head) : "") +
                    (part.getBias() < 0 ? "" : ", element of the same number of " + argumentName(project.getBiases()[part.getBias()])));
  }
}

static std::string numberText(double value) {
  std::string text;
  llvm::raw_string_ostream(text) << llvm::format("%.6g", value);
  return text;
}

/// What a normalisation or rotation does, in words.
static std::string stepText(Operation *op, bool isKey, std::vector<std::string> &definitions) {
  if (auto normalize = dyn_cast<attn::NormalizeOp>(op)) {
    std::string epsilon = numberText(normalize.getEpsilon().convertToDouble());
    bool isRms = normalize.getKind() == attn::Norm::Rms;
    return std::string(normalize.getAcrossHeads() ? "all heads of a token together are" : "each head is") + " divided by " +
           (isRms ? "sqrt(mean of squares + " + epsilon + ")" : "max(sqrt(sum of squares), " + epsilon + ")") +
           (normalize.getWeight() ? ", times " + argumentName(normalize.getWeight()) : "");
  }
  auto rotate = cast<attn::RotateOp>(op);
  int64_t pairs = rotate.getFrequencies().size();
  RegionFormulas position = regionFormulas(rotate.getParams(), rotate.getPosition(), {"b", isKey ? "k" : "q"});
  for (const auto &[name, formula] : position.definitions)
    definitions.push_back("with " + name + " = " + formula);
  std::string pair = rotate.getPairing() == attn::Pairing::Half ? "j and j + " + std::to_string(pairs) : "2j and 2j + 1";
  double magnitude = rotate.getMagnitude().convertToDouble();
  return "features " + pair + ", j below " + std::to_string(pairs) + ", turn by p * f[j] with p = " + position.results[0] + ", f from " +
         numberText(rotate.getFrequencies().front()) + " to " + numberText(rotate.getFrequencies().back()) +
         (magnitude == 1 ? "" : ", times " + numberText(magnitude));
}

static void describeSteps(attn::AttentionOp op, std::vector<std::string> &lines) {
  for (auto [name, encoded] : {std::pair("Q", op.getQuery()), {"K", op.getKey()}}) {
    Value heads = encoded;
    SmallVector<Operation *> steps = takeSteps(heads);
    for (Operation *step : llvm::reverse(steps)) {
      std::vector<std::string> definitions;
      std::string text = stepText(step, StringRef(name) == "K", definitions);
      lines.push_back(std::string("then in ") + name + " " + text);
      lines.insert(lines.end(), definitions.begin(), definitions.end());
    }
  }
}

/// What Q·K is multiplied with, wherever attn-fold-scale has put its factors.
static std::string scaleText(attn::AttentionOp op) {
  double scale = op.getScale().convertToDouble();
  for (Value heads : {op.getQuery(), op.getKey()}) {
    for (Operation *step : takeSteps(heads))
      scale *= llvm::TypeSwitch<Operation *, double>(step).Case<attn::NormalizeOp, attn::RotateOp>([](auto each) { return each.getScale().convertToDouble(); });
    if (attn::PartAttr part = partOf(heads); part && part.getScale())
      scale *= part.getScale().getValueAsDouble();
  }
  if (op.getBase2())
    scale *= std::log(2.0);
  int64_t width = cast<RankedTensorType>(op.getQuery().getType()).getDimSize(3);
  if (std::abs(scale * std::sqrt(double(width)) - 1) < 1e-6)
    return "1/sqrt(" + std::to_string(width) + ")";
  return numberText(scale);
}

static void describeAttention(attn::AttentionOp op, std::vector<std::string> &lines) {
  int64_t heads = cast<RankedTensorType>(op.getQuery().getType()).getDimSize(1);
  int64_t groups = cast<RankedTensorType>(op.getKey().getType()).getDimSize(1);
  std::string group = heads == groups ? "h" : groups == 1 ? "0" : "h / " + std::to_string(heads / groups);
  if (!op.getKvHeadOf().empty())
    group = elementOf(op.getKvHeadOf(), "h");
  if (!op.getHeadNumbers().empty())
    lines.push_back("head h is number n = " + elementOf(op.getHeadNumbers(), "h") + " of the whole layer, which inputs by head are indexed with");
  lines.push_back("query head h, 0 to " + std::to_string(heads - 1) + ", reads key/value head g = " + group);
  const std::string number = op.getHeadNumbers().empty() ? "h" : "n";
  RegionFormulas score = regionFormulas(op, op.getScore(), {"b", number, "q", "k", "s"});
  std::string scaled = scaleText(op) + " * sum over d of Q[b, h, q, d] * K[b, g, k, d]";
  lines.push_back("score: S[b, h, q, k] = " + scaled);
  if (!score.results.empty())
    lines.push_back("then S = " + score.results[0] + " with s the S above");
  for (const auto &[name, formula] : score.definitions)
    lines.push_back("with " + name + " = " + formula);
  RegionFormulas visible = regionFormulas(op, op.getMask(), {"b", number, "q", "k"});
  lines.push_back("query q of batch row b sees key k when " +
                  (visible.results.empty() || visible.results[0] == "true" ? std::string("it exists: no mask") : visible.results[0]));
  for (const auto &[name, formula] : visible.definitions)
    lines.push_back("with " + name + " = " + formula);
  // Positions count from the ends of both sequences unless the spec says otherwise.
  if (llvm::any_of(lines, [](StringRef line) { return line.contains("queries)") || line.contains("keys)"); }))
    lines.push_back("where queries and keys stand for their numbers in the call");
  lines.push_back("output of head h: softmax of S over the visible keys, times V; heads are concatenated in order");
  lines.push_back("a query that sees no key gets zeros from every head; queries that are padding are computed like any other");
}

/// What an output that is made from the map holds; P stands for the probabilities.
static std::string mapText(attn::MapAttr map) {
  switch (map.getKind()) {
  case attn::MapKind::Scores:
    return "attention_map[b, h, q, k]: the first S above, of hidden keys too";
  case attn::MapKind::Modified:
    return "attention_map[b, h, q, k]: S after the score list, of hidden keys too";
  case attn::MapKind::Masked:
    return "attention_map[b, h, q, k]: S, and -inf where the key is hidden";
  case attn::MapKind::Probabilities:
    return "attention_map[b, h, q, k]: P, the softmax of S over the visible keys, and 0 where the key is hidden";
  case attn::MapKind::Entropy:
    return "map_entropy[b, h, q]: -sum over k of P * ln P, with P the softmax of S over the visible keys";
  case attn::MapKind::Peak:
    return "map_peak[b, h, q]: the largest P, 0 for a query that sees no key";
  case attn::MapKind::PeakPosition:
    return "map_peak_position[b, h, q]: the smallest k with that P, -1 for a query that sees no key";
  case attn::MapKind::DiagonalMass:
    return "map_diagonal_mass[b, h, q]: sum of P over the keys at most " + std::to_string(map.getWindow()) + " positions from the query";
  case attn::MapKind::KeyMass:
    return "key_mass[b, h, k]: sum over q of P, the softmax of S over the visible keys";
  }
  return "";
}

static void describeMerge(attn::MergeStatesOp op, std::vector<std::string> &lines) {
  std::string index = op.getHeadsFirst() ? "[p, b, h, q, e]" : "[p, b, q, h, e]", sink = op.getSinks() ? " + exp(" + argumentName(op.getSinks()) + "[h])" : "";
  lines.push_back("heads: O[b, h, q, e] = sum over parts p of w * " + argumentName(op.getOutputs()) + index + " with w = exp(" + argumentName(op.getLses()) +
                  "[p, b, h, q]) / (sum over p of exp(" + argumentName(op.getLses()) + "[p, b, h, q])" + sink + ")");
  lines.push_back("a part whose lse is -inf counts for nothing, whatever its output is; without any other, the output is 0 and lse -inf");
}

static void describeOutputs(func::FuncOp function, Value heads, std::vector<std::string> &lines) {
  function.walk([&](attn::ProjectOp project) {
    if (!llvm::is_contained(project.getInputs(), heads))
      return;
    std::string text;
    llvm::raw_string_ostream stream(text);
    llvm::interleaveComma(project.getColumns(), stream);
    lines.push_back("y: the heads projected with " + argumentName(project.getWeights()[0]) +
                    (text.empty() ? "" : ", whose inputs begin at [" + text + "], one for each head") +
                    (project.getBiases().empty() ? "" : ", plus " + argumentName(project.getBiases()[0])));
  });
}

std::vector<std::string> describeLayer(ModuleOp module) {
  std::vector<std::string> lines;
  func::FuncOp first; // of several candidates all compute the same
  module.walk([&](attn::AttentionOp op) {
    auto function = op->getParentOfType<func::FuncOp>();
    if (first && function != first)
      return;
    first = function;
    describeWeights(op, lines);
    describeSteps(op, lines);
    describeAttention(op, lines);
    bool isLast = true; // of those for several widths
    for (Operation *next = op->getNextNode(); next; next = next->getNextNode())
      isLast &= !isa<attn::AttentionOp>(next);
    if (!isLast)
      return;
    describeOutputs(function, op.getOutput(), lines);
    if (op.getLse())
      lines.push_back("lse[b, h, q]: natural logarithm of the sum of exp(S) over the visible keys, -inf without any");
    for (auto map : op.getMaps().getAsRange<attn::MapAttr>())
      lines.push_back(mapText(map));
  });
  module.walk([&](attn::MergeStatesOp op) {
    describeMerge(op, lines);
    describeOutputs(op->getParentOfType<func::FuncOp>(), op.getOutput(), lines);
    if (op.getLse())
      lines.push_back("lse[b, h, q]: natural logarithm of the sum of exp(lse) over the parts, without any sink");
    return WalkResult::interrupt();
  });
  module.walk([&](attn::HeadNormsOp) {
    lines.push_back("head_norms[b, h]: square root of the sum over q and e of O[b, h, q, e]^2, O the heads' outputs");
    return WalkResult::interrupt();
  });
  return lines;
}

} // namespace mhac
