#!/usr/bin/env python3
"""Checks that the tree keeps its shape: who includes whom, names at the top, depth, listed sources, licence lines, sizes of files.

Usage: check_layout.py [<root>]; prints one line a violation, exit code 1 when there is one. CONTRIBUTING.md gives the reasons.
"""
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
import os
import re
import subprocess
import sys

# Folder of compiler/ -> those whose headers it may include. The dependency rule, written once.
INCLUDES = {"support": [], "spec": ["support"], "reference": ["support", "spec"], "attention": ["support", "spec"]}
for stage in ("passes", "targets", "halide", "nvgpu"):
    INCLUDES[stage] = ["support", "spec", "attention"]
INCLUDES["emit"] = ["support", "spec", "attention", "passes", "targets", "halide", "nvgpu"]
INCLUDES["driver"] = INCLUDES["emit"] + ["emit"]

# Header prefix -> folders that may include it.
FOREIGN = {"yaml-cpp/": ["compiler/spec"], "Halide": ["compiler/halide", "compiler/emit"]}

TOP_LEVEL = {"compiler", "runtime", "specs", "generated", "tests", "tools", "CMakeLists.txt", "README.md", "CMakePresets.json", "CONTRIBUTING.md",
             "CHANGELOG.md", "LICENSE", "requirements.txt"}
DEEPEST = 4  # folders above a file
LONGEST = 800  # lines of a file
CODE = (".c", ".cpp", ".h", ".td", ".def", ".py", ".sh", ".cmake")
TABLES = (".def",)
GENERATED = "generated/"


def files(root):
    """All files of the tree, sorted: what git knows or would take, everything where there is no git."""
    git = subprocess.run(["git", "-C", root, "ls-files", "-z", "--cached", "--others", "--exclude-standard"], capture_output=True, check=False)
    if git.returncode == 0:
        paths = {os.fsdecode(path) for path in git.stdout.split(b"\0") if path}
    else:
        paths = set()
        for folder, folders, names in os.walk(root):
            folders[:] = [name for name in folders if not name.startswith(("build", ".", "__pycache__"))]
            paths.update(os.path.relpath(os.path.join(folder, name), root) for name in names)
    return sorted(path for path in paths if os.path.isfile(os.path.join(root, path)))


def isCode(path):
    return path.endswith(CODE) or os.path.basename(path) == "CMakeLists.txt"


def checkPlace(path):
    top = path.split("/")[0]
    if top not in TOP_LEVEL and not top.startswith("."):
        yield f"{path}: '{top}' is no name of the top level; known are {', '.join(sorted(TOP_LEVEL))}"
    if path.count("/") > DEEPEST:
        yield f"{path}: lies {path.count('/')} folders deep, at most {DEEPEST} are allowed"
    folder = path.split("/")[1] if path.startswith("compiler/") and path.count("/") > 1 else None
    if folder and folder not in INCLUDES and folder != "decisions":
        yield f"{path}: '{folder}' is no stage; write into tools/check_layout.py what it may include"


def checkIncludes(path, lines):
    parts = path.split("/")
    for number, line in enumerate(lines, 1):
        found = re.match(r'\s*#\s*include\s*([<"])([^>"]+)[>"]', line) or re.match(r'(include) "([^"]+)"', line)
        if not found:
            continue
        header = found.group(2)
        for prefix, owners in FOREIGN.items():
            if header.startswith(prefix) and parts[0] == "compiler" and "/".join(parts[:2]) not in owners:
                yield f"{path}:{number}: includes '{header}'; only {' and '.join(owners)} may"
        target = header.split("/")[0]
        if parts[0] == "compiler":
            if header.startswith("mhac/") or "runtime/" in header:
                yield f"{path}:{number}: includes '{header}'; compiler and runtime meet in the generated header only"
            elif target in INCLUDES and target != parts[1] and target not in INCLUDES.get(parts[1], []):
                yield f"{path}:{number}: includes '{header}'; {parts[1]} may include {', '.join(INCLUDES[parts[1]]) or 'nothing'}"
        elif parts[0] == "runtime" and (target in INCLUDES or "compiler/" in header):
            yield f"{path}:{number}: includes '{header}'; the runtime includes nothing of the compiler"


def checkText(path, lines):
    if isCode(path) and not any("SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception" in line for line in lines[:16]):
        yield f"{path}: has no SPDX line at its top"
    if isCode(path) and not path.endswith(TABLES) and len(lines) > LONGEST:
        yield f"{path}: has {len(lines)} lines, split it at {LONGEST}"


def checkListed(path, lists):
    """A source must stand in the CMakeLists.txt of its folder or of one above, else nobody builds it."""
    if not path.endswith((".c", ".cpp")):
        return
    folder = os.path.dirname(path)
    while folder:
        name = os.path.relpath(path, folder)
        if re.search(r"(?:(?<![\w./-])|(?<=\}/))" + re.escape(name) + r"(?![\w-])", lists.get(folder, "")):
            return
        folder = os.path.dirname(folder)
    yield f"{path}: stands in no CMakeLists.txt or Makefile"


def main():
    root = sys.argv[1] if len(sys.argv) > 1 else os.path.join(os.path.dirname(os.path.abspath(__file__)), "..")
    paths, text, lists = files(root), {}, {}
    for path in paths:
        if path.startswith(GENERATED):
            continue
        with open(os.path.join(root, path), encoding="utf-8", errors="replace") as file:
            text[path] = file.read()
        if os.path.basename(path) in ("CMakeLists.txt", "Makefile"):
            folder = os.path.dirname(path)
            lists[folder] = lists.get(folder, "") + text[path]
    problems = []
    for path in paths:
        problems += checkPlace(path)
    for path, content in text.items():
        lines = content.splitlines()
        problems += [*checkIncludes(path, lines), *checkText(path, lines), *checkListed(path, lists)]
    for problem in problems:
        print(problem)
    print(f"check_layout: {len(paths)} files, {len(problems)} violations")
    return 1 if problems or not paths else 0


sys.exit(main())
