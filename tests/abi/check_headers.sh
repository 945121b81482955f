#!/bin/sh
# check_headers.sh <cc> <c++> <repository>: the headers of the example specs (generated/) in strict C99 and C++11, each alone.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
set -eu
cc=$1 cxx=$2 root=$3
count=0
for header in "$root"/generated/*/*.h; do
  [ -e "$header" ] || continue
  "$cc" -std=c99 -pedantic-errors -Wall -Wextra -Werror -fsyntax-only -I "$root/runtime/include" -include "$header" -x c /dev/null
  "$cxx" -std=c++11 -pedantic-errors -Wall -Wextra -Werror -fsyntax-only -I "$root/runtime/include" -include "$header" -x c++ /dev/null
  count=$((count + 1))
done
[ "$count" -gt 0 ] || echo "[SKIP] no headers under generated/"
echo "$count headers"
