#!/usr/bin/env bash
# Makes this machine able to build mhac, and builds it: Debian packages, the virtual environment .venv, configure, build. What is there is kept.
# Usage: tools/setup.sh [<ninja target>...]    default: everything. Works from any folder, again and again; as a user when the packages are there.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

say() { printf '\n== %s\n' "$*"; }
fail() { printf 'setup: error: %s\n' "$*" >&2; exit 1; }

# MLIR and LLVM 22 are in Debian 12's security archive; the tests also use valgrind, make and pkg-config, and qemu-user for
# the CPUs that this machine is not.
packages=(g++ make pkg-config python3-venv qemu-user libmlir-22-dev mlir-22-tools llvm-22-dev llvm-22-tools libyaml-cpp-dev libgtest-dev valgrind)

installMissingPackages() {
  command -v dpkg-query >/dev/null || { echo "This is not Debian: ${packages[*]} or their like must be there already."; return 0; }
  local missing=() package
  for package in "${packages[@]}"; do
    [ "$(dpkg-query -W -f '${db:Status-Status}' "$package" 2>/dev/null)" = installed ] || missing+=("$package")
  done
  if [ ${#missing[@]} -eq 0 ]; then
    echo "Debian packages: all ${#packages[@]} are there."
    return 0
  fi
  local root=()
  if [ "$(id -u)" -ne 0 ]; then
    command -v sudo >/dev/null || fail "missing Debian packages; as root: apt-get install ${missing[*]}"
    root=(sudo)
  fi
  say "Installing Debian packages: ${missing[*]}"
  "${root[@]}" apt-get update || echo "apt-get update failed; trying with the lists that are there"
  "${root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends "${missing[@]}" ||
    fail "apt-get could not install ${missing[*]} (MLIR and LLVM 22 come from bookworm-security)"
}

# Debian's own Python where it is new enough: what a version manager puts before it may vanish with the next upgrade.
findPython() {
  local python
  for python in /usr/bin/python3 python3; do
    if "$python" -c 'import sys, venv, ensurepip; sys.exit(sys.version_info < (3, 11))' 2>/dev/null; then
      echo "$python"
      return 0
    fi
  done
  fail "no Python 3.11 or newer with venv was found (Debian: python3-venv)"
}

# A virtual environment knows its own path, so the stamp holds it beside the requirements; one that was moved is made anew.
makeVirtualEnvironment() {
  local stamp found=
  stamp="$PWD"$'\n'"$(cat requirements.txt)"
  [ -e .venv/mhac-stamp ] && found=$(cat .venv/mhac-stamp)
  if [ -x .venv/bin/python3 ] && [ "$found" = "$stamp" ]; then
    echo "Python environment: .venv is up to date."
    return 0
  fi
  local python
  python=$(findPython)
  say "Making .venv with $python: $(tr '\n' ' ' <requirements.txt)"
  if [ "${found%%$'\n'*}" != "${found:+$PWD}" ] || ! .venv/bin/python3 -m pip --version >/dev/null 2>&1; then
    "$python" -m venv --clear .venv
  fi
  .venv/bin/python3 -m pip install --disable-pip-version-check -r requirements.txt || fail "pip could not install requirements.txt into .venv"
  printf '%s\n' "$stamp" >.venv/mhac-stamp
}

installMissingPackages
makeVirtualEnvironment
export PATH="$PWD/.venv/bin:$PATH"

say "Configuring"
cmake --preset default --log-level=NOTICE
say "Building${*:+: $*}"
cmake --build build ${*:+--target "$@"}
