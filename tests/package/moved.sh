#!/bin/sh
# The installed programs name no library in the source tree, and run from another prefix. Arguments: prefix, its folder of programs, source
# tree, scratch folder.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
set -eu
prefix=$1 programs=$2 source=$3 scratch=$4
for program in mhac mhac-run; do
  if readelf -d "$prefix/$programs/$program" | grep -F "$source"; then
    echo "$program looks for libraries in the source tree" >&2
    exit 1
  fi
done
rm -rf "$scratch"
mkdir -p "$scratch"
# Links instead of copies: Halide is large, and the loader follows $ORIGIN of the program itself.
cp -rl "$prefix" "$scratch/prefix"
"$scratch/prefix/$programs/mhac" "$source/specs/minilm_f32.yaml" --target=x86-64-v3 -o "$scratch/minilm.so"
"$scratch/prefix/$programs/mhac-run" "$scratch/minilm.json" --query=5
