"""Adding a mask is what CONTRIBUTING.md says: its edits are made in a copy of the sources, what they change is built and linked with the rest of
this build, and the layer of its test spec is compiled and compared with the judge.

Usage: new_mask_test.py <root> <build folder> <work folder> <ninja>
"""
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
import json
import os
import re
import shutil
import subprocess
import sys

ROOT, BUILD, WORK, NINJA = (os.path.abspath(path) for path in sys.argv[1:5])
STEP = re.compile(r"^<!-- (?:new (\S+)|in (\S+), ahead of `([^\n]+)`) -->\n```\w*\n(.*?)^```$", re.MULTILINE | re.DOTALL)
COPIED = ("compiler/attention", "compiler/reference", "tests/run/masks")


def section():
    with open(os.path.join(ROOT, "CONTRIBUTING.md"), encoding="utf-8") as file:
        text = re.search(r"^## How to add a mask\n(.*?)^###? ", file.read(), re.MULTILINE | re.DOTALL).group(1)
    assert text.count("\n") < 60, f"adding a mask takes {text.count(chr(10))} lines, it should be under 60"
    return text


def apply_steps(text):
    """Makes the edits; returns the new files and all files, as the text names them."""
    made, touched = [], []
    for new, old, anchor, block in STEP.findall(text):
        path = os.path.join(WORK, new or old)
        touched.append(new or old)
        if new:
            assert not os.path.exists(path), f"{new} exists"
            made.append(new)
            content = block
        else:
            with open(path, encoding="utf-8") as file:
                lines = file.read().split("\n")
            places = [i for i, line in enumerate(lines) if anchor in line]
            assert len(places) == 1, f"{old}: '{anchor}' stands in {len(places)} lines"
            content = "\n".join(lines[: places[0]] + block.rstrip("\n").split("\n") + lines[places[0] :])
        with open(path, "w", encoding="utf-8") as file:
            file.write(content)
    return made, touched


def run(command, cwd=BUILD):
    result = subprocess.run(command, shell=isinstance(command, str), cwd=cwd, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
    assert result.returncode == 0, f"{command}\n{result.stdout}"
    return result.stdout


def moved(command):
    """A command of this build, on the copied sources and on headers generated from them."""
    for folder in COPIED:
        command = command.replace(f"{ROOT}/{folder}", f"{WORK}/{folder}")
    return command.replace(f"-I{ROOT}/compiler ", f"-I{WORK}/compiler -I{WORK}/generated -I{ROOT}/compiler ")


def generate():
    """The headers of the dialect's attributes."""
    os.makedirs(f"{WORK}/generated/attention")
    for name in ("AttentionAttrs.h.inc", "AttentionAttrs.cpp.inc"):
        command = run([NINJA, "-t", "commands", f"compiler/attention/{name}"]).strip().split("\n")[-1]
        tblgen = moved(command.split(" && ")[1]).replace(f"-I{ROOT}/compiler", f"-I{WORK}/compiler")
        run(re.sub(r" -o \S+ -d \S+", f" -o {name}", tblgen), cwd=f"{WORK}/generated/attention")


def sources_with(text):
    """The sources of the dialect's folder that contain a text."""
    names = sorted(os.listdir(f"{WORK}/compiler/attention"))
    found = []
    for name in names:
        path = f"compiler/attention/{name}"
        if name.endswith(".cpp"):
            with open(f"{WORK}/{path}", encoding="utf-8") as file:
                found += [path] if text in file.read() else []
    assert len(found) >= 2, found
    return found


def compile_sources(sources):
    commands = {entry["file"]: entry["command"] for entry in json.loads(run([NINJA, "-t", "compdb"])) if entry["file"].endswith(".cpp")}
    sample = commands[f"{ROOT}/compiler/attention/masks/Causal.cpp"]
    objects = []
    for source in sources:
        command = commands.get(f"{ROOT}/{source}") or sample.replace("compiler/attention/masks/Causal.cpp", source)
        made = f"{WORK}/{os.path.basename(source)}.o"
        run(moved(re.sub(r" -MD -MT \S+ -MF \S+ -o \S+ -c \S+", "", command)) + f" -o {made} -c {WORK}/{source}")
        objects.append(made)
    return objects


def link(program, objects):
    """A program of this build with these objects ahead of its libraries, whose own objects of that name are then not needed."""
    command = run([NINJA, "-t", "commands", f"bin/{program}"]).strip().split("\n")[-1]
    made = f"{WORK}/{program}"
    run(command.replace(f" -o bin/{program} ", f" -o {made} {' '.join(objects)} "))
    return made


def main():
    shutil.rmtree(WORK, ignore_errors=True)
    for folder in COPIED:
        shutil.copytree(f"{ROOT}/{folder}", f"{WORK}/{folder}")
    made, touched = apply_steps(section())
    folders = {"compiler/attention", "compiler/attention/masks", "compiler/reference", "tests/run/masks"}
    assert {os.path.dirname(path) for path in touched} == folders, touched
    sources = [path for path in made if path.endswith(".cpp")]
    with open(f"{WORK}/compiler/attention/CMakeLists.txt", encoding="utf-8") as file:
        listed = file.read()
    assert sources and all(os.path.relpath(path, "compiler/attention") in listed for path in sources), "a source is not listed"

    generate()
    dialect = compile_sources([*sources_with("AttentionAttrs.cpp.inc"), *sources])
    judge = compile_sources(["compiler/reference/masks.cpp"])
    mhac, mhac_run = link("mhac", dialect), link("mhac-run", judge)
    specs = [path for path in made if path.endswith(".yaml")]
    assert len(specs) == 1, specs
    run([mhac, f"{WORK}/{specs[0]}", "-o", f"{WORK}/layer.o", "--no-perf-warnings"])
    print(run([mhac_run, f"{WORK}/layer.json", f"--runtime={BUILD}/runtime/libmhac_runtime.a", "--query=1,17,130", "--batch=2", "--strided", "--rows=0"]))


main()
