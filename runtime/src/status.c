/* Names and sentences of the status codes, generated from status.def.
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include <mhac/runtime.h>

const char *mhac_status_string(mhac_status status) {
  switch ((int)status) {
#define MHAC_STATUS(name, number, sentence) \
  case number:                              \
    return sentence;
#include <mhac/status.def>
#undef MHAC_STATUS
  default:
    return "unknown status";
  }
}

const char *mhac_status_name(mhac_status status) {
  switch ((int)status) {
#define MHAC_STATUS(name, number, sentence) \
  case number:                              \
    return #name;
#include <mhac/status.def>
#undef MHAC_STATUS
  default:
    return "UNKNOWN";
  }
}
