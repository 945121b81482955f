#!/usr/bin/env bash
# Every test: the same set-up as quickstart.sh, a full build, then CTest without the label `performance` (timing decides nothing here).
# Ends with how many tests each suite ran and the sum. Usage: tools/test.sh [<ctest option>...], for example -R package.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
export PATH="$PWD/.venv/bin:$PATH"

tools/setup.sh

printf '\n== Testing\n'
results=build/test_results.xml
rm -f "$results"
code=0
# Suites count their own cases in their last lines, so nothing of what passing ones print may be cut off.
ctest --test-dir build -j "$(nproc)" -LE performance --output-on-failure --no-tests=error --test-output-size-passed 10000000 \
  --output-junit "$PWD/$results" "$@" || code=$?
python3 tools/summarize_tests.py "$results" || code=1
exit "$code"
