#!/usr/bin/env bash
# What README.md shows, with an installed mhac: one command, make, CMake, each in a folder of its own.
# Usage: run.sh <prefix> <its folder for libraries> <spec> <main.c> <folder to work in>; CMAKE names the cmake to use
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
set -euo pipefail
prefix=$1 spec=$3 source=$4 work=$5
export PATH="$prefix/bin:$PATH" PKG_CONFIG_PATH="$prefix/$2/pkgconfig"
unset MAKEFLAGS MAKELEVEL
enter() {
  mkdir -p "$work/$1"
  cp "$spec" "$source" "$(dirname "$source")/"{CMakeLists.txt,Makefile} "$work/$1"
  cd "$work/$1"
}
rm -rf "$work"

enter command
mhac bert_base_f32.yaml -o bert_base.o
gcc main.c bert_base.o $(pkg-config --cflags --libs mhac) -o app
./app

enter make
make
./app
make -q || { echo "make has something to do after a build"; exit 1; }
touch bert_base_f32.yaml
! make -q || { echo "make does not see a newer spec"; exit 1; }

enter cmake
"${CMAKE:-cmake}" -S . -B build -DCMAKE_PREFIX_PATH="$prefix"
"${CMAKE:-cmake}" --build build
build/app
