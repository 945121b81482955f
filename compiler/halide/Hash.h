// attn.hash, attn.sort_buckets and attn.bucket_ranges as Halide Funcs: buckets of the vectors of Q or K by random rotations, and orders by them.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "halide/Lanes.h"

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace mhac::halide {

/// What is known of a dense buffer of integers (element, row, head, batch).
void constrainTable(Halide::OutputImageParam buffer, int rows);

struct HashProblem {
  std::string name;
  Halide::ImageParam lanes; // the vectors, lane-major
  int heads = 1, features = 1;
  int vectors = 1; // the buffer has a multiple of so many blocks of tokens
  int buckets = 2, rounds = 1;
  uint32_t seed = 0;
  std::vector<int64_t> rotations; // the number of each head's rotations
};

/// (token, round, head, batch) -> bucket; what lies in the padding of the last blocks is hashed too.
Halide::Func hashHeads(const HashProblem &problem);

struct SortProblem {
  std::string name;
  Halide::ImageParam buckets; // (token, round, head, batch)
  int heads = 1, rounds = 1, bucketCount = 2;
  Halide::Expr tokens;
};

/// (i, row, round * heads + head, batch) as attn.sort_buckets has it. The buffer takes `bucketCount` elements along i unless there are no tokens.
Halide::Func sortBuckets(const SortProblem &problem);

struct RangesProblem {
  std::string name;
  Halide::ImageParam buckets;       // of queries
  Halide::ImageParam queries, keys; // their orders
  int heads = 1, rounds = 1, bucketCount = 2;
  Halide::Expr queryCount, keyCount;
  std::function<Halide::Expr(Halide::Expr head)> keyHead; // of all rounds
};

/// (place, end, round * heads + head, batch) as attn.bucket_ranges has it.
Halide::Func bucketRanges(const RangesProblem &problem);

} // namespace mhac::halide
