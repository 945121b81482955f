#!/usr/bin/env bash
# From a fresh clone to a running layer: set-up, build, compile BERT-base's attention, build and run the example application against the installed
# mhac, check against the reference, time; a table at the end. Works from any folder, again and again.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
export PATH="$PWD/.venv/bin:$PATH"

say() { printf '\n== %s\n' "$*"; }

tools/setup.sh mhac mhac-run mhac_runtime

work=build/quickstart
mkdir -p "$work"
say "Compiling specs/bert_base_f32.yaml for this machine: $work/attn.{o,h,json}"
start=$(date +%s%N)
build/bin/mhac specs/bert_base_f32.yaml -o "$work/attn.o"
compile_ns=$(($(date +%s%N) - start))

say "Installing to build/install"
cmake --install build --prefix build/install | grep -v -- '-- Up-to-date' || true

say "Building the example application tests/package/embed_c against it, as an outside project would"
cmake -S tests/package/embed_c -B "$work/embed_c" -G Ninja --log-level=NOTICE -DCMAKE_MAKE_PROGRAM="$PWD/.venv/bin/ninja" \
  -DCMAKE_PREFIX_PATH="$PWD/build/install"
cmake --build "$work/embed_c"

say "Running it: 128 tokens, one thread"
"$work/embed_c/embed_c" 128

say "Checking every output of $work/attn.o against the reference in double, and timing it beside the machine's peak"
build/bin/mhac-run "$work/attn.json" --query=128 --rows=0 --check --bench --json >"$work/result.json"
build/bin/mhac-run "$work/attn.json" --query=128 --rows=0 --check --bench --json --threads="$(nproc)" >>"$work/result.json"

say "Results (mhac --explain shows what was compiled and why)"
python3 - "$work" "$compile_ns" <<'PYTHON'
import json, os, sys
work, compile_ns = sys.argv[1], int(sys.argv[2])
results = [json.loads(line) for line in open(os.path.join(work, "result.json"))]
manifest = json.load(open(os.path.join(work, "attn.json")))
one = results[0]

def row(title, text):
    print(f"  {title:<22} {text}")

row("layer", f"{one['name']} for {one['target']}, f32")
for index, argument in enumerate(manifest["arguments"]):
    sizes = [str(one["shape"].get(dim, dim)) for dim in argument["dims"]]
    row("shapes" if index == 0 else "", f"{argument['name']:<12} [{', '.join(sizes)}] {argument['dtype']} {argument['role']}")
row("compile time", f"{compile_ns / 1e9:.2f} s")
row("object size", f"{os.path.getsize(os.path.join(work, 'attn.o')) / 1024:.1f} KiB")
row("maximum error", f"{max(r['max_abs_error'] for r in results):.2e} against the reference")
for r in results:
    threads = f"{r['threads']} thread" + "s" * (r["threads"] != 1)
    row(f"time a call, {threads}", f"{r['min_ns'] / 1e6:.2f} ms = {r['gflops']:.1f} GFLOP/s = {r['share_of_peak']:.0%} of the {r['peak_gflops']:.0f} "
        "measured beside it")
PYTHON
