#!/bin/sh
# Fuzzes the reader with a new seed each round until something fails or the time is over.
#   tests/fuzz/run_long.sh [seconds a round, default 60] [rounds, default 60] [first seed, default 1]
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
set -eu
root=$(cd "$(dirname "$0")/../.." && pwd)
fuzzer=$(find "${MHAC_BUILD:-$root/build}" -name fuzz_reader -type f -perm -u+x | head -n 1)
[ -n "$fuzzer" ] || { echo "fuzz_reader is not built; build the target fuzz_reader first" >&2; exit 2; }
seconds=${1:-60} rounds=${2:-60} seed=${3:-1}
while [ "$rounds" -gt 0 ]; do
  printf 'seed %s: ' "$seed"
  "$fuzzer" "$seconds" "$seed" "$root"/specs/*.yaml "$root"/tests/spec/*.yaml
  seed=$((seed + 1)) rounds=$((rounds - 1))
done
