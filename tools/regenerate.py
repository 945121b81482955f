#!/usr/bin/env python3
"""Writes generated/: for every example spec what the compiler makes of it, so that a change of the compiler shows in review.

Usage: regenerate.py [--check] [--mhac=<program>] [--out=<folder>] [--jobs=<n>] [<spec name>...]
  --check  compare with generated/ instead of writing it; exit code 1 and a diff when they differ. The fresh files go to --out (default: a
           temporary folder).
A folder a spec: <entry>.h, manifest.json, explain.txt, lowered.mlir (stage 3), budget.json (code size and loops, see code_budget.py); the Halide
loops of one spec only, because they are long. Always for the same targets, so that the machine does not matter.
"""
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
import argparse
import concurrent.futures
import difflib
import glob
import json
import os
import subprocess
import sys
import tempfile

import code_budget

ROOT = os.path.normpath(os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
GENERATED = os.path.join(ROOT, "generated")
TARGETS = "x86-64-v4,x86-64-v3"
STATEMENT_OF, STATEMENT_TARGET = "bert_base_f32", "x86-64-v4"
# Another release of LLVM may move some bytes of code; more than this share is a change of ours.
CODE_BYTES_SLACK = 0.1
MOST_LINES = 100  # of diffs that --check prints


def run(*command):
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def generate(mhac, spec, folder):
    """All files of one spec, {name: text}; they and the object are left in `folder`."""
    os.makedirs(folder, exist_ok=True)
    target = "--target=" + TARGETS
    objectFile, manifest = os.path.join(folder, "layer.o"), os.path.join(folder, "manifest.json")
    header = os.path.join(folder, "layer.h")
    texts = {"explain.txt": run(mhac, spec, target, "--explain", "-o", objectFile, "--header=" + header, "--manifest=" + manifest)}
    with open(manifest, encoding="utf-8") as file:
        texts["manifest.json"] = file.read()
    with open(header, encoding="utf-8") as file:
        texts["layer.h"] = file.read()
    texts["lowered.mlir"] = run(mhac, spec, "--emit=lowered")
    texts["budget.json"] = json.dumps(code_budget.budget(code_budget.disassemble(objectFile)), indent=1) + "\n"
    if os.path.splitext(os.path.basename(spec))[0] == STATEMENT_OF:
        texts[STATEMENT_TARGET + ".stmt"] = run(mhac, spec, "--target=" + STATEMENT_TARGET, "--emit=stmt")
    for name, text in texts.items():
        with open(os.path.join(folder, name), "w", encoding="utf-8") as file:
            file.write(text)
    return texts


def sameBudget(old, new):
    """Equal but for a little code size: kernels, and the products of their loops."""
    if isinstance(old, dict) and isinstance(new, dict):
        return old.keys() == new.keys() and all(
            abs(old[key] - new[key]) <= CODE_BYTES_SLACK * old[key] if key == "code_bytes" else sameBudget(old[key], new[key]) for key in old)
    if isinstance(old, list) and isinstance(new, list):
        return [row["fma"] for row in old] == [row["fma"] for row in new]
    return old == new


def differences(name, new):
    """Lines of a diff between generated/ and the fresh files of spec `name`; empty when it is up to date."""
    folder, lines = os.path.join(GENERATED, name), []
    there = set(os.listdir(folder)) if os.path.isdir(folder) else set()
    for file in sorted(there | new.keys()):
        old = ""
        if file in there:
            with open(os.path.join(folder, file), encoding="utf-8") as stream:
                old = stream.read()
        text = new.get(file, "")
        if old == text or (file == "budget.json" and old and sameBudget(json.loads(old), json.loads(text))):
            continue
        path = f"generated/{name}/{file}"
        lines += difflib.unified_diff(old.splitlines(), text.splitlines(), path, path + " as made now", lineterm="", n=1)
    return lines


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true")
    parser.add_argument("--mhac", default=os.path.join(ROOT, "build", "bin", "mhac"))
    parser.add_argument("--out")
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("specs", nargs="*", help="names of files in specs/, without .yaml")
    arguments = parser.parse_args()

    known = sorted(os.path.splitext(os.path.basename(path))[0] for path in glob.glob(os.path.join(ROOT, "specs", "*.yaml")))
    names = arguments.specs or known
    for name in names:
        if name not in known:
            parser.error(f"no spec '{name}'; known are {', '.join(known)}")
    stale = [name for name in sorted(os.listdir(GENERATED)) if name not in known and os.path.isdir(os.path.join(GENERATED, name))]

    failed, linesLeft = bool(stale), MOST_LINES
    for name in stale:
        print(f"generated/{name}: there is no specs/{name}.yaml")
    with tempfile.TemporaryDirectory() as temporary, concurrent.futures.ThreadPoolExecutor(arguments.jobs) as pool:
        out = os.path.abspath(arguments.out or temporary)
        fresh = {name: pool.submit(generate, os.path.abspath(arguments.mhac), os.path.join(ROOT, "specs", name + ".yaml"), os.path.join(out, name))
                 for name in names}
        for name, future in fresh.items():
            try:
                texts = future.result()
            except subprocess.CalledProcessError as error:
                print(f"{name}: exit code {error.returncode} of {' '.join(error.cmd)}\n{error.stderr}")
                failed = True
                continue
            lines = differences(name, texts)
            if arguments.check:
                failed = failed or bool(lines)
                print("\n".join([f"generated/{name}: " + ("differs" if lines else "up to date"), *lines[:linesLeft]]))
                linesLeft = max(linesLeft - len(lines), 0)
            else:
                folder = os.path.join(GENERATED, name)
                os.makedirs(folder, exist_ok=True)
                for file in set(os.listdir(folder)) - texts.keys():
                    os.remove(os.path.join(folder, file))
                for file, text in texts.items():
                    with open(os.path.join(folder, file), "w", encoding="utf-8") as stream:
                        stream.write(text)
                print(f"generated/{name}: {sum(map(len, texts.values()))} bytes")
    if failed and arguments.check:
        print("run tools/regenerate.py and look at what changed" if not stale else "remove the stale folders")
    print(f"{len(names)} specs")
    return 1 if failed else 0


sys.exit(main())
