#!/usr/bin/env python3
"""Times compiled layers beside the machine's peak and prints a table.

Usage: bench.py [--bin=<folder of mhac and mhac-run>] [--threads=1,2] [--target=...] [--only=<text>] [--json=<file>] [--floor=<share>]
                [--scaling=<factor>]
  --json     append the raw measurements (lines of mhac-run --json)
  --floor    fail when a whole layer reaches a smaller share of the peak measured in its own process
  --scaling  fail when two threads are less than this factor faster than one
Peak and bandwidth are measured between the calls, so a busy machine lowers both. Targets that this machine lacks are left out.
"""
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
import argparse
import json
import os
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.normpath(os.path.join(HERE, "..", ".."))
# (spec, query counts): the layers that the README speaks of, then attention alone.
LIST = [(os.path.join(ROOT, "specs", "bert_base_f32.yaml"), [128, 512]), (os.path.join(HERE, "core_full.yaml"), [512, 2048]),
        (os.path.join(HERE, "core_causal.yaml"), [512, 2048])]
WHOLE_LAYERS = ("bert_base",)


def measure(tools, spec, queries, targets, threads, folder):
    """One line a measurement, as mhac-run prints it."""
    stem = os.path.join(folder, os.path.splitext(os.path.basename(spec))[0])
    subprocess.run([os.path.join(tools, "mhac"), spec, "--target=" + targets, "-o", stem + ".o"], check=True)
    command = [os.path.join(tools, "mhac-run"), stem + ".json", "--bench", "--json", "--target=" + targets, "--threads=" + threads,
               "--query=" + ",".join(map(str, queries))]
    result = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=False)
    if result.returncode not in (0, 3):  # 3: a target does not run here
        raise SystemExit(f"bench: exit code {result.returncode} of {' '.join(command)}")
    return [json.loads(line) for line in result.stdout.splitlines()]


def printTable(rows):
    print("| layer | batch x queries | target | threads | best ms | median ms | GFLOP/s | peak | share | error |")
    print("|---|---|---|---|---|---|---|---|---|---|")
    for row in rows:
        shape = row["shape"]
        print(f"| {row['name']} | {shape['batch']} x {shape['query']} | {row['target']} | {row['threads']} | {row['min_ns'] / 1e6:.3f} | "
              f"{row['median_ns'] / 1e6:.3f} | {row['gflops']:.1f} | {row['peak_gflops']:.1f} | {row['share_of_peak']:.1%} | "
              f"{row['max_abs_error']:.1e} |")


def verdicts(rows, floor, scaling):
    """Sentences about what is too slow."""
    best = {}
    for row in rows:
        best[row["name"], json.dumps(row["shape"]), row["target"], row["threads"]] = row
    for (name, shape, target, threads), row in best.items():
        if name not in WHOLE_LAYERS:
            continue
        label = f"{name} {shape} {target}"
        if row["share_of_peak"] < floor:
            yield f"{label}, {threads} threads: {row['share_of_peak']:.1%} of the peak, wanted {floor:.0%}"
        single = best.get((name, shape, target, 1))
        if threads == 2 and single and single["min_ns"] < scaling * row["min_ns"]:
            yield f"{label}: two threads are {single['min_ns'] / row['min_ns']:.2f} x as fast as one, wanted {scaling}"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--bin", default=os.path.join(ROOT, "build", "bin"))
    parser.add_argument("--threads", default="1,2" if os.cpu_count() > 1 else "1")
    parser.add_argument("--target", default="x86-64-v4,x86-64-v3")
    parser.add_argument("--only", default="")
    parser.add_argument("--json")
    parser.add_argument("--floor", type=float, default=0)
    parser.add_argument("--scaling", type=float, default=0)
    arguments = parser.parse_args()
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        for spec, queries in LIST:
            if arguments.only in os.path.basename(spec):
                rows += measure(os.path.abspath(arguments.bin), spec, queries, arguments.target, arguments.threads, folder)
    if arguments.json:
        with open(arguments.json, "a", encoding="utf-8") as file:
            file.writelines(json.dumps(row) + "\n" for row in rows)
    printTable(rows)
    slow = list(verdicts(rows, arguments.floor, arguments.scaling))
    print("\n".join(slow))
    return 1 if slow or not rows else 0


sys.exit(main())
