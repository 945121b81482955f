// Position encoding `rope`: pairs of features turn by the position times a frequency. All frequencies are numbers of the compiled layer; what
// the scaling kinds do to them is decided here, so that no later stage knows of kinds.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "attention/AttentionDialect.h"
#include "spec/Spec.h"

#include <cmath>
#include <numbers>

using namespace mlir;
using namespace mhac::attn;

/// A number of a scaling kind: its key, and what it is when not written (0: it must be).
struct ScalingNumber {
  StringLiteral name;
  double fallback;
};

static ArrayRef<ScalingNumber> numbersOf(StringRef kind) {
  static constexpr ScalingNumber factor[] = {{"factor", 0}};
  // The attention factor's default depends on the factor.
  static constexpr ScalingNumber yarn[] = {{"factor", 0}, {"original_max_position", 0}, {"beta_fast", 32}, {"beta_slow", 1}, {"attention_factor", -1}};
  static constexpr ScalingNumber llama3[] = {{"factor", 0}, {"low_freq_factor", 0}, {"high_freq_factor", 0}, {"original_max_position", 0}};
  return kind == "yarn" ? ArrayRef<ScalingNumber>(yarn) : kind == "llama3" ? ArrayRef<ScalingNumber>(llama3) : ArrayRef<ScalingNumber>(factor);
}

const VariantInfo &RopeAttr::info() {
  static constexpr StringLiteral pairings[] = {"half", "interleaved"}, head[] = {"head_dim"}, none[] = {"none"}, unset[] = {"default"},
                                 kinds[] = {"linear", "ntk", "yarn", "llama3"}, sources[] = {"absolute", "input"};
  static const FieldInfo fields[] = {
      {"pairing", FieldType::Word, pairings, "half", "features that turn together: i with i + rotary_dim / 2 (half), 2i with 2i + 1 (interleaved)"},
      {"base", FieldType::Number, {}, "10000", "pair j turns by position * base^(-2j / rotary_dim)", 0, /*exclusiveMinimum=*/true},
      {"rotary_dim", FieldType::Integer, head, "head_dim", "how many features of a head turn, the first ones; even", 2},
      {"positions", FieldType::Word, sources, "absolute", "those of tokens and masks, or inputs"},
      {"scaling", FieldType::Map, none, "none", "changes the frequencies for contexts longer than those of the training"},
      {"scaling.kind", FieldType::Word, kinds, "", "linear, ntk, yarn or llama3"},
      {"scaling.factor", FieldType::Number, {}, "", "how much longer contexts are", 0, true},
      {"scaling.original_max_position", FieldType::Number, unset, "default", "yarn, llama3: context length of the training", 0, true},
      {"scaling.beta_fast", FieldType::Number, unset, "default", "yarn: pairs that turn more often over the original context keep their frequency (32)", 0, true},
      {"scaling.beta_slow", FieldType::Number, unset, "default", "yarn: pairs that turn less often are slowed by the factor (1)", 0, true},
      {"scaling.attention_factor", FieldType::Number, unset, "default", "yarn: multiplies cosine and sine (0.1 ln(factor) + 1)", 0, true},
      {"scaling.low_freq_factor", FieldType::Number, unset, "default", "llama3: wavelengths above original_max_position / low_freq_factor are slowed", 0, true},
      {"scaling.high_freq_factor", FieldType::Number, unset, "default", "llama3: wavelengths below original_max_position / high_freq_factor are kept", 0, true}};
  static const VariantInfo info{getMnemonic(), VariantKind::Position, "rotary encoding: pairs of features of Q and K turn by their position", fields};
  return info;
}

/// The scaling as a dictionary; null when there is none, or after an error.
static DictionaryAttr readScaling(VariantReader &reader) {
  Builder builder(reader.context);
  if (!reader.isMap("scaling"))
    return {};
  StringRef kind = reader.word("scaling.kind");
  SmallVector<NamedAttribute> list = {builder.getNamedAttr("kind", builder.getStringAttr(kind))};
  for (StringRef name : {"factor", "original_max_position", "beta_fast", "beta_slow", "attention_factor", "low_freq_factor", "high_freq_factor"}) {
    const ScalingNumber *known = llvm::find_if(numbersOf(kind), [&](const ScalingNumber &number) { return number.name == name; });
    std::optional<double> value = reader.number(("scaling." + name).str());
    if (known == numbersOf(kind).end()) {
      if (value)
        reader.diagnostics.error(reader.location(("scaling." + name).str()), ("'" + name + "' has no effect with 'kind: " + kind + "'").str());
      continue;
    }
    if (!value && known->fallback == 0)
      reader.diagnostics.error(reader.location("scaling"), ("missing key '" + name + "' in 'scaling' of kind '" + kind + "'").str());
    if (value || known->fallback > 0)
      list.push_back(builder.getNamedAttr(name, builder.getF64FloatAttr(value ? *value : known->fallback)));
  }
  return builder.getDictionaryAttr(list);
}

Attribute RopeAttr::fromSpec(VariantReader &reader) {
  const LayerSpec &layer = reader.spec.layer;
  auto wrong = [&](StringRef field, const std::string &message) {
    reader.diagnostics.error(reader.location(field), message);
    return Attribute();
  };
  const size_t before = reader.diagnostics.all().size();
  int64_t rotaryDim = reader.integer("rotary_dim").value_or(*layer.headDim);
  if (rotaryDim % 2 != 0 || rotaryDim > *layer.headDim || rotaryDim < 2)
    return wrong("rotary_dim", "'rotary_dim' must be even and at most 'head_dim' (" + std::to_string(*layer.headDim) + "), found '" +
                                   std::to_string(rotaryDim) + "'");
  DictionaryAttr scaling = readScaling(reader);
  if (scaling && scaling.getAs<StringAttr>("kind") == "ntk" && rotaryDim == 2)
    return wrong("scaling", "'kind: ntk' wants a 'rotary_dim' of at least 4, found '2'");
  if (reader.diagnostics.all().size() != before)
    return {};
  if (auto high = scaling ? scaling.getAs<FloatAttr>("high_freq_factor") : FloatAttr())
    if (high.getValueAsDouble() <= scaling.getAs<FloatAttr>("low_freq_factor").getValueAsDouble())
      return wrong("scaling.high_freq_factor", "'high_freq_factor' must be above 'low_freq_factor'");
  PositionSource source = PositionSource::Absolute;
  if (reader.word("positions") == "input") {
    bool isShared = *layer.source == Source::Self && *reader.spec.projections.input != InputProjection::None;
    source = isShared ? PositionSource::Shared : PositionSource::Separate;
  }
  auto base = FloatAttr::get(Float64Type::get(reader.context), *reader.number("base"));
  return get(reader.context, *symbolizePairing(reader.word("pairing")), base, rotaryDim, source, scaling);
}

LogicalResult RopeAttr::verify(llvm::function_ref<InFlightDiagnostic()> emitError, Pairing, FloatAttr base, int64_t rotaryDim, PositionSource,
                               DictionaryAttr scaling) {
  if (rotaryDim < 2 || rotaryDim % 2 != 0) // c1
    return emitError() << "rotary_dim wants an even number of at least 2, found " << rotaryDim;
  if (!base.getType().isF64() || !base.getValue().isFinite() || base.getValueAsDouble() <= 0)
    return emitError() << "base wants a finite f64 above 0, found " << base;
  if (!scaling)
    return success();
  auto kind = scaling.getAs<StringAttr>("kind");
  if (!kind || !llvm::is_contained({"linear", "ntk", "yarn", "llama3"}, kind.getValue()))
    return emitError() << "scaling wants a known kind, found " << scaling;
  for (const ScalingNumber &number : numbersOf(kind.getValue())) {
    auto value = scaling.getAs<FloatAttr>(number.name);
    bool isGood = value ? value.getType().isF64() && value.getValueAsDouble() > 0 : number.fallback < 0;
    if (!isGood)
      return emitError() << "scaling of kind " << kind << " wants a number '" << number.name << "' above 0, found " << scaling;
  }
  return success();
}

//===-- frequencies -------------------------------------------------------------------------------------------------------------------===//

namespace {
struct Frequencies {
  SmallVector<double> values; // radians a position, pair after pair
  double magnitude = 1;
};
} // namespace

/// The formulas of the models' own code (Hugging Face's `modeling_rope_utils`), in double.
static Frequencies frequenciesOf(RopeAttr rope) {
  const double dim = static_cast<double>(rope.getRotaryDim());
  double base = rope.getBase().getValueAsDouble();
  DictionaryAttr scaling = rope.getScaling();
  StringRef kind = scaling ? scaling.getAs<StringAttr>("kind").getValue() : StringRef();
  auto number = [&](StringRef name) { return scaling.getAs<FloatAttr>(name).getValueAsDouble(); };
  if (kind == "ntk")
    base *= std::pow(number("factor"), dim / (dim - 2));
  Frequencies result;
  for (double j = 0; 2 * j < dim; ++j)
    result.values.push_back(std::pow(base, -2 * j / dim));
  if (kind == "linear")
    for (double &value : result.values)
      value /= number("factor");
  if (kind == "yarn") {
    // The pair that turns `rotations` times over the original context.
    auto pairOf = [&](double rotations) {
      return dim * std::log(number("original_max_position") / (rotations * 2 * std::numbers::pi)) / (2 * std::log(base));
    };
    double low = std::max(std::floor(pairOf(number("beta_fast"))), 0.), high = std::min(std::ceil(pairOf(number("beta_slow"))), dim - 1);
    if (low == high)
      high += 0.001;
    for (auto [j, value] : llvm::enumerate(result.values)) {
      double slowed = std::clamp((static_cast<double>(j) - low) / (high - low), 0., 1.);
      value = value / number("factor") * slowed + value * (1 - slowed);
    }
    if (auto factor = scaling.getAs<FloatAttr>("attention_factor"))
      result.magnitude = factor.getValueAsDouble();
    else
      result.magnitude = number("factor") <= 1 ? 1 : 0.1 * std::log(number("factor")) + 1;
  }
  if (kind == "llama3") {
    const double original = number("original_max_position"), low = number("low_freq_factor"), high = number("high_freq_factor");
    for (double &value : result.values) {
      const double wavelength = 2 * std::numbers::pi / value;
      const double smooth = std::clamp((original / wavelength - low) / (high - low), 0., 1.);
      value = (1 - smooth) * value / number("factor") + smooth * value;
    }
  }
  return result;
}

//===-- hooks -------------------------------------------------------------------------------------------------------------------------===//

static VariantParameter idsOf(StringRef name, StringRef sequence) {
  VariantParameter ids;
  ids.name = name, ids.dtype = "i64", ids.dims = {"batch", sequence.str()}, ids.check = ValueCheck::Position;
  return ids;
}

SmallVector<VariantParameter> RopeAttr::parameters() const {
  switch (getPositions()) {
  case PositionSource::Absolute:
    return {};
  case PositionSource::Shared:
    return {idsOf("position_ids", "query")};
  case PositionSource::Separate:
    return {idsOf("query_position_ids", "query"), idsOf("key_position_ids", "key")};
  }
  return {};
}

static Value rotate(RopeAttr rope, SequenceBuilder &sequence, Value heads, bool isKey) {
  const Frequencies frequencies = frequenciesOf(rope);
  auto op = RotateOp::create(sequence.builder, sequence.loc, heads.getType(), heads, sequence.params(), rope.getPairing(), frequencies.values,
                             llvm::APFloat(frequencies.magnitude), llvm::APFloat(1.0), /*prepared=*/rope.getPositions() == PositionSource::Absolute);
  sequence.fill(op.getPosition(), op.getParamsMutable(), [&](RegionBuilder &region) -> Value {
    switch (rope.getPositions()) {
    case PositionSource::Absolute:
      return isKey ? region.keyPosition() : region.queryPosition();
    case PositionSource::Shared:
      return region.load("position_ids", {region.b, region.q});
    case PositionSource::Separate:
      return region.load(isKey ? "key_position_ids" : "query_position_ids", {region.b, region.q});
    }
    return {};
  });
  return op.getResult();
}

Value RopeAttr::transformQuery(SequenceBuilder &sequence, Value query) const { return rotate(*this, sequence, query, /*isKey=*/false); }
Value RopeAttr::transformKey(SequenceBuilder &sequence, Value key) const { return rotate(*this, sequence, key, /*isKey=*/true); }
