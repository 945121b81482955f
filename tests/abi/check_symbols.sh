#!/bin/sh
# check_symbols.sh <nm> <entry> <object>: fails when the object defines a global symbol that is not public, or needs one that neither our
# runtime nor libc's mem* functions give.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
set -eu
nm=$1 entry=$2 object=$3
defined=$("$nm" -g --defined-only "$object" | awk 'NF == 3 { print $3 }' | sort | tr '\n' ' ')
wanted=$(printf '%s\n' "$entry" "${entry}_info" "${entry}_workspace_bytes" | sort | tr '\n' ' ')
if [ "$defined" != "$wanted" ]; then
  echo "$object defines: $defined; wanted: $wanted"
  exit 1
fi
foreign=$("$nm" -u "$object" | awk '{ print $NF }' | grep -vE '^(mhac_.*|mem(cpy|move|set))$' || true)
if [ -n "$foreign" ]; then
  echo "$object needs: $foreign; wanted only mhac_* and mem*"
  exit 1
fi
echo "$object: $defined"
