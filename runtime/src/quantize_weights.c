/* Weights as numbers of few bits times scales: what runtime.h says of mhac_quantize_weights. Runs once for a model; what matters is that every
 * machine makes the same bits, so it uses the operations of float that IEEE 754 defines and no library.
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "context.h"
#include "standard.h"

static const char name[] = "mhac_quantize_weights";

typedef struct weight_format {
  const char *word;
  int bits, exponent_bits;
  float largest;
} weight_format;

static const weight_format *format_of(mhac_weight_type type) {
  static const weight_format formats[] = {
#define MHAC_WEIGHT_TYPE(name, number, word, bits, exponent_bits, largest) {word, bits, exponent_bits, largest},
#include <mhac/weight_types.def>
#undef MHAC_WEIGHT_TYPE
  };
  int index = 0;
#define MHAC_WEIGHT_TYPE(name, number, word, bits, exponent_bits, largest) \
  if ((int)type == number)                                                 \
    return &formats[index];                                                \
  ++index;
#include <mhac/weight_types.def>
#undef MHAC_WEIGHT_TYPE
  return NULL;
}

static uint32_t bits_of(float value) {
  uint32_t bits;
  memcpy(&bits, &value, sizeof(bits));
  return bits;
}

static float float_of(uint32_t bits) {
  float value;
  memcpy(&value, &bits, sizeof(value));
  return value;
}

/* To the nearest integer, ties to even, of |value| < 2^22: the sum has no place for a fraction. */
static int round_to_even(float value) {
  volatile float sum = value + 12582912.f; /* 1.5 * 2^23 */
  return (int)(sum - 12582912.f);
}

/* The pattern of the number nearest to `value`, which is not far above the largest. */
static unsigned pattern_of(const weight_format *format, float value) {
  const uint32_t sign = bits_of(value) >> 31;
  const float magnitude = float_of(bits_of(value) & 0x7fffffff), limited = magnitude < format->largest ? magnitude : format->largest;
  int fraction_bits, bias, exponent, units;
  if (format->exponent_bits == 0) {
    const int number = round_to_even(limited);
    return (unsigned)(sign ? -number : number) & ((1u << format->bits) - 1);
  }
  fraction_bits = format->bits - 1 - format->exponent_bits;
  bias = (1 << (format->exponent_bits - 1)) - 1;
  /* In units of the last place, which is that of the smallest normal number for all below it; a carry moves into the exponent. */
  exponent = (int)(bits_of(limited) >> 23) - 127;
  if (exponent < 1 - bias)
    exponent = 1 - bias;
  units = round_to_even(limited * float_of((uint32_t)(127 + fraction_bits - exponent) << 23));
  return ((unsigned)(exponent + bias - 1) << fraction_bits) + (unsigned)units + (sign << (format->bits - 1));
}

/* Where the weight of an output and an input lies among the rows of `width` of the matrix. */
typedef struct place {
  int64_t row, column;
} place;

static place place_of(const mhac_quantize_args *args, int64_t output, int64_t input) {
  place at;
  at.row = args->in_out ? input : output;
  at.column = args->in_out ? output : input;
  return at;
}

static float weight_at(const mhac_quantize_args *args, int64_t output, int64_t input) {
  const place at = place_of(args, output, input);
  return args->weights[at.row * (args->in_out ? args->outputs : args->inputs) + at.column];
}

/* Of two numbers in a byte the first one comes first, whichever way the matrix lies. */
static void put_number(const mhac_quantize_args *args, const weight_format *format, int64_t output, int64_t input, unsigned pattern) {
  const place at = place_of(args, output, input);
  const int64_t width = args->in_out ? args->outputs : args->inputs, per_byte = 8 / format->bits;
  uint8_t *byte = (uint8_t *)args->numbers + at.row * ((width + per_byte - 1) / per_byte) + at.column / per_byte;
  if (at.column % per_byte == 0)
    *byte = (uint8_t)pattern;
  else
    *byte = (uint8_t)(*byte | pattern << format->bits);
}

static mhac_status check(mhac_context *context, const mhac_quantize_args *args, const weight_format *format) {
  int64_t output, input;
  if (format == NULL)
    return mhac_context_fail(context, MHAC_STATUS_INVALID_OPTION, name, "argument 'type': found %d, wanted a mhac_weight_type", (int)args->type);
  if (args->in_out != 0 && args->in_out != 1)
    return mhac_context_fail(context, MHAC_STATUS_INVALID_OPTION, name, "argument 'in_out': found %d, wanted 0 or 1", args->in_out);
  if (args->outputs < 0 || args->inputs < 0)
    return mhac_context_fail(context, MHAC_STATUS_SIZE_NEGATIVE, name, "argument '%s': found %" PRId64 ", wanted >= 0",
                             args->outputs < 0 ? "outputs" : "inputs", args->outputs < 0 ? args->outputs : args->inputs);
  if (args->inputs != 0 && args->outputs > INT32_MAX / args->inputs)
    return mhac_context_fail(context, MHAC_STATUS_SIZE_TOO_LARGE, name, "arguments 'outputs' and 'inputs': found %" PRId64 " and %" PRId64
                             ", wanted a product <= %d", args->outputs, args->inputs, INT32_MAX);
  if (args->group < 0 || (args->group > 0 && args->inputs % args->group != 0))
    return mhac_context_fail(context, MHAC_STATUS_SIZE_BOUND, name, "argument 'group': found %" PRId64 ", wanted 0 or a divisor of inputs, %" PRId64,
                             args->group, args->inputs);
  if (args->outputs == 0)
    return MHAC_STATUS_OK;
  if ((args->weights == NULL || args->numbers == NULL) && args->inputs > 0)
    return mhac_context_fail(context, MHAC_STATUS_NULL_ARGUMENT, name, "argument '%s': found NULL, wanted a pointer",
                             args->weights == NULL ? "weights" : "numbers");
  if (args->scales == NULL)
    return mhac_context_fail(context, MHAC_STATUS_NULL_ARGUMENT, name, "argument 'scales': found NULL, wanted a pointer");
  if ((uintptr_t)args->weights % sizeof(float) != 0 || (uintptr_t)args->scales % sizeof(float) != 0)
    return mhac_context_fail(context, MHAC_STATUS_ALIGNMENT, name, "argument '%s': found a pointer that is not a multiple of %d, wanted one that is",
                             (uintptr_t)args->weights % sizeof(float) != 0 ? "weights" : "scales", (int)sizeof(float));
  for (output = 0; output < args->outputs; ++output)
    for (input = 0; input < args->inputs; ++input) {
      const uint32_t magnitude = bits_of(weight_at(args, output, input)) & 0x7fffffff;
      if (magnitude >= 0x7f800000)
        return mhac_context_fail(context, MHAC_STATUS_VALUE_RANGE, name,
                                 "argument 'weights': found %s at output %" PRId64 ", input %" PRId64 ", wanted a finite number",
                                 magnitude == 0x7f800000 ? "infinity" : "NaN", output, input);
    }
  return MHAC_STATUS_OK;
}

mhac_status mhac_quantize_weights(mhac_context *context, const mhac_quantize_args *args) {
  const weight_format *format;
  mhac_status status;
  int64_t group, groups, output, input, g;
  mhac_context_clear(context);
  if (args == NULL)
    return mhac_context_fail(context, MHAC_STATUS_NULL_ARGUMENT, name, "argument 'args': found NULL, wanted a pointer");
  if (args->struct_size != sizeof(*args))
    return mhac_context_fail(context, MHAC_STATUS_STRUCT_SIZE, name, "argument 'struct_size': found %zu, wanted %zu", args->struct_size, sizeof(*args));
  format = format_of(args->type);
  status = check(context, args, format);
  if (status != MHAC_STATUS_OK)
    return status;
  group = args->group > 0 ? args->group : args->inputs;
  groups = args->group > 0 ? args->inputs / args->group : 1;
  for (output = 0; output < args->outputs; ++output)
    for (g = 0; g < groups; ++g) {
      const int64_t first = g * group;
      float largest = 0, scale;
      for (input = first; input < first + group; ++input) {
        const float magnitude = float_of(bits_of(weight_at(args, output, input)) & 0x7fffffff);
        largest = magnitude > largest ? magnitude : largest;
      }
      scale = largest / format->largest;
      args->scales[output * groups + g] = scale;
      for (input = first; input < first + group; ++input)
        put_number(args, format, output, input, scale > 0 ? pattern_of(format, weight_at(args, output, input) / scale) : 0);
    }
  return MHAC_STATUS_OK;
}
