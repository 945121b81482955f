#!/usr/bin/env bash
# The commands that README.md shows, with an installed mhac. Usage: run.sh <prefix> <its folder for libraries> <spec> <main.c> <folder to work in>
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
set -euo pipefail
export PATH="$1/bin:$PATH" PKG_CONFIG_PATH="$1/$2/pkgconfig"
rm -rf "$5"
mkdir -p "$5"
cp "$3" "$4" "$5"
cd "$5"

mhac bert_base_f32.yaml -o bert_base.o
gcc main.c bert_base.o $(pkg-config --cflags --libs mhac) -o main
./main
