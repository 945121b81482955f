#!/usr/bin/env python3
"""Times the workloads of workloads.py beside the machine's limits and prints their shares of them and their goals.

Usage: bench.py [--bin=<folder of mhac and mhac-run>] [--threads=1,2] [--target=...] [--only=<text>] [--rounds=<n>] [--series=<n>]
                [--calls=<n>] [--json=<file>] [--floor=<share>] [--scaling=<factor>]
  --only     the workloads whose names contain this
  --rounds   measure the whole list so many times and keep the best share of each
  --series, --calls  as for mhac-run, instead of what suits each workload
  --json     append the raw measurements (lines of mhac-run --json)
  --floor    fail when a workload reaches a smaller share of the limit measured in its own process
  --scaling  fail when two threads are less than this factor faster than one, with enough queries for two
Peak and bandwidth are measured between the calls, so a busy machine lowers both. FLOPs are those of visible scores. Targets that this
machine lacks are left out. Results are not checked here: the reference would take longer than everything else.
"""
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
import argparse
import functools
import json
import os
import statistics
import subprocess
import sys
import tempfile

import workloads as goals
from workloads import ROOT, WORKLOADS

sys.path.insert(0, os.path.join(ROOT, "tools"))
import code_budget  # noqa: E402


@functools.cache
def compileLayer(tools, entry, text, target, folder):
    """Path of the manifest, seconds of CPU time (the compiler has one thread, and the machine may be busy), bytes of code."""
    stem = os.path.join(folder, f"{entry}.{target}")
    command = [os.path.join(tools, "mhac"), "-", "--name=" + entry, "--target=" + target, "-o", stem + ".o"]
    before = os.times()
    subprocess.run(command, input=text, text=True, check=True)
    after = os.times()
    seconds = after.children_user + after.children_system - before.children_user - before.children_system
    return stem + ".json", seconds, code_budget.budget(code_budget.disassemble(stem + ".o"))[target]["code_bytes"]


def measure(arguments, workload, target, folder):
    """What mhac-run prints, a row for every number of threads."""
    tools = os.path.abspath(arguments.bin)
    manifest, seconds, codeBytes = compileLayer(tools, workload.entry, workload.text(), target, folder)
    command = [os.path.join(tools, "mhac-run"), manifest, "--bench", "--json", "--no-check", f"--batch={workload.batch}",
               f"--query={workload.query}", "--threads=" + arguments.threads, f"--series={arguments.series or workload.series}"]
    if arguments.calls:
        command.append(f"--calls={arguments.calls}")
    result = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=False)
    if result.returncode not in (0, 3):  # 3: the target does not run here
        raise SystemExit(f"bench: exit code {result.returncode} of {' '.join(command)}")
    for line in result.stdout.splitlines():
        row = json.loads(line)
        yield {"workload": workload.name, "share": workload.share(row), "compile_seconds": seconds, "code_bytes": codeBytes, **row}


def bestOf(rows):
    """Of every workload, target and number of threads the row with the best share; `speed_up` of two threads compares the fastest calls."""
    groups = {}
    for row in rows:
        groups.setdefault((row["workload"], row["target"], row["threads"]), []).append(row)
    fastest = {key: min(row["min_ns"] for row in group) for key, group in groups.items()}
    for (name, target, threads), group in groups.items():
        single = fastest.get((name, target, 1))
        scales = threads == 2 and single and WORKLOADS[name].query >= goals.SPEED_UP_QUERIES
        speedUp = single / fastest[name, target, threads] if scales else None
        yield {**max(group, key=lambda row: row["share"]), "speed_up": speedUp}


def printTables(best):
    print("| workload | target | threads | best ms | GFLOP/s | peak | share | goal | speed-up | goal |")
    print("|---|---|---|---|---|---|---|---|---|---|")
    for row in best:
        workload = WORKLOADS[row["workload"]]
        shares = (row["share"], workload.goals[row["target"]])
        share, goal = (f"{1 / share:.2f} x limit" if workload.weightBytes else f"{share:.1%}" for share in shares)
        speedUp = f"{row['speed_up']:.2f} | {goals.SPEED_UP}" if row["speed_up"] else " | "
        print(f"| {workload.name} | {row['target']} | {row['threads']} | {row['min_ns'] / 1e6:.3f} | {row['gflops']:.1f} | "
              f"{row['peak_gflops']:.1f} | {share} | {goal} | {speedUp} |")
    for threads in sorted({row["threads"] for row in best}):
        drawn = [row["share"] for row in best if row["threads"] == threads and row["workload"].startswith(goals.DRAWN)]
        if drawn:
            print(f"\n{len(drawn)} drawn layers, threads {threads}: median {statistics.median(drawn):.1%}, goal {goals.DRAWN_MEDIAN:.0%}; "
                  f"worst {min(drawn):.1%}, goal {goals.DRAWN_WORST:.0%}")
    print(f"\n| layer | target | compile s, goal {goals.COMPILE_SECONDS} | code KiB, goal {goals.CODE_BYTES // 1024} |")
    print("|---|---|---|---|")
    for row in {(row["name"], row["target"]): row for row in best}.values():
        print(f"| {row['name']} | {row['target']} | {row['compile_seconds']:.2f} | {row['code_bytes'] / 1024:.1f} |")


def verdicts(best, floor, scaling):
    """Sentences about what is too slow."""
    for row in best:
        label = f"{row['workload']} {row['target']}"
        if row["share"] < floor:
            yield f"{label}, {row['threads']} threads: {row['share']:.1%} of the limit, wanted {floor:.0%}"
        if row["speed_up"] and row["speed_up"] < scaling:
            yield f"{label}: two threads are {row['speed_up']:.2f} x as fast as one, wanted {scaling}"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--bin", default=os.path.join(ROOT, "build", "bin"))
    parser.add_argument("--threads", default="1,2" if os.cpu_count() > 1 else "1")
    parser.add_argument("--target", default=f"{goals.V4},{goals.V3}")
    parser.add_argument("--only", default="")
    parser.add_argument("--rounds", type=int, default=1)
    parser.add_argument("--series", type=int)
    parser.add_argument("--calls", type=int)
    parser.add_argument("--json")
    parser.add_argument("--floor", type=float, default=0)
    parser.add_argument("--scaling", type=float, default=0)
    arguments = parser.parse_args()
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        for _ in range(arguments.rounds):
            for workload in WORKLOADS.values():
                for target in workload.goals:
                    if arguments.only in workload.name and target in arguments.target.split(","):
                        rows += measure(arguments, workload, target, folder)
    if arguments.json:
        with open(arguments.json, "a", encoding="utf-8") as file:
            file.writelines(json.dumps(row) + "\n" for row in rows)
    best = list(bestOf(rows))
    printTables(best)
    slow = list(verdicts(best, arguments.floor, arguments.scaling))
    print("\n".join(slow))
    return 1 if slow or not rows else 0


sys.exit(main())
