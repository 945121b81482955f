// A validator for the part of JSON Schema that specSchema() uses; a keyword that it does not know is reported, so that it cannot fall behind.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "spec/Spec.h"

#include "llvm/Support/JSON.h"

#include <string>

namespace mhac::test {

/// Scalars as YAML's core schema reads them.
llvm::json::Value toJson(const Tree &tree);

/// Empty when the value fits the schema; otherwise a path and a keyword, "/layer/heads: minimum".
std::string checkSchema(const llvm::json::Object &schema, const llvm::json::Value &value, const std::string &path = "");

} // namespace mhac::test
