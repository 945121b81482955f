#!/usr/bin/env python3
"""Counts the cases in a CTest JUnit file: GoogleTest, lit and unittest say how many they ran, every other test is one.

Usage: summarize_tests.py <results.xml>; the last line is "<n> passed, <n> failed, <n> skipped"; exit code 1 when anything failed or nothing ran.
"""
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
import re
import sys
import xml.etree.ElementTree as ElementTree


def number(pattern, text):
    """The number that `pattern` finds last, 0 without one."""
    found = re.findall(pattern, text, re.MULTILINE)
    return int(found[-1]) if found else 0


def counts(case, text):
    """(passed, failed, skipped) of one CTest test."""
    if case.find("skipped") is not None or case.get("status") in ("notrun", "disabled"):
        return 0, 0, 1
    failed_whole = case.find("failure") is not None or case.get("status") == "fail"
    gtest = number(r"^\[==========\] (\d+) tests? from .* ran", text)
    lit = re.search(r"^Total Discovered Tests: (\d+)", text, re.MULTILINE)
    unittest = number(r"^Ran (\d+) tests? in", text)
    if gtest:
        failed = number(r"^\s*(\d+) FAILED TESTS?", text)
        skipped = number(r"^\[  SKIPPED \] (\d+) tests?", text)
        passed = gtest - failed - skipped
    elif lit:
        failed = sum(number(rf"^\s*{word}\s*: (\d+)", text) for word in ("Failed", "Timed Out", "Unresolved", "Unexpectedly Passed"))
        skipped = sum(number(rf"^\s*{word}\s*: (\d+)", text) for word in ("Unsupported", "Skipped", "Excluded"))
        passed = int(lit.group(1)) - failed - skipped
    elif unittest:
        failed = number(r"FAILED \(.*?failures=(\d+)", text) + number(r"FAILED \(.*?errors=(\d+)", text)
        skipped = number(r"skipped=(\d+)", text)
        passed = unittest - failed - skipped
    else:
        passed, failed, skipped = 1, 0, 0
    # A suite that ended badly has failed, whatever it counted before it did.
    if failed_whole and failed == 0:
        return max(passed - 1, 0), 1, skipped
    return passed, failed, skipped


def main():
    cases = list(ElementTree.parse(sys.argv[1]).getroot().iter("testcase"))
    total = [0, 0, 0]
    print("\n%-34s %7s %7s %7s %9s" % ("suite", "passed", "failed", "skipped", "seconds"))
    for case in sorted(cases, key=lambda case: case.get("name")):
        text = case.findtext("system-out") or ""
        result = counts(case, text)
        total = [sum(pair) for pair in zip(total, result)]
        print("%-34s %7d %7d %7d %9.1f" % (case.get("name"), *result, float(case.get("time") or 0)))
        for reason in re.findall(r"^.*(\[SKIP\].*)$", text, re.MULTILINE):
            print("    " + reason)
    print("\n%d passed, %d failed, %d skipped" % tuple(total))
    return 1 if total[1] or not total[0] else 0


sys.exit(main())
