#!/usr/bin/env python3
"""Measures the code of a compiled layer: bytes of every target and kernel, and what its innermost loops are made of.

Usage: code_budget.py <object.o> prints JSON. regenerate.py writes the same into generated/, tests/golden judges it.
"""
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
import json
import re
import subprocess
import sys

OBJDUMP = "/usr/lib/llvm-22/bin/llvm-objdump"
# Every kernel is a symbol <entry>.<target>.<kernel>, its parallel tasks <entry>.<target>.<kernel>.task<n>; those of a regime's own have its name in
# front: <entry>.<target>.few.<kernel>.
SYMBOL = re.compile(r"^[A-Za-z_]\w*\.(?P<target>[\w-]+)\.(?P<kernel>[A-Za-z_][\w.]*?)(\.(task\d+|body|\d+_\d+))*$")
FEWEST_FMA = 4  # loops with fewer are no product


def disassemble(path, objdump=OBJDUMP):
    command = [objdump, "-d", "--no-show-raw-insn", "--x86-asm-syntax=intel", path]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def functions(text):
    """Disassembly -> {symbol: [(address, mnemonic, operands), ...]}."""
    found, current = {}, None
    for line in text.splitlines():
        head = re.match(r"^[0-9a-f]+ <(.+)>:$", line)
        code = re.match(r"^\s*([0-9a-f]+):\s+(\S+)\s*(.*)$", line)
        if head:
            current = found.setdefault(head.group(1), [])
        elif code and current is not None:
            current.append((int(code.group(1), 16), code.group(2), code.group(3).split(" #")[0].strip()))
    return found


def innermostLoops(code):
    """Runs of instructions from the target of a backward jump to the jump, without those that hold another such run."""
    spans = []
    for address, mnemonic, operands in code:
        target = re.match(r"(?:0x)?([0-9a-f]+)\b", operands) if mnemonic.startswith("j") else None
        if target and code[0][0] <= int(target.group(1), 16) <= address:
            spans.append((int(target.group(1), 16), address))
    for begin, end in sorted(set(spans)):
        if not any(begin <= b and e <= end and (b, e) != (begin, end) for b, e in spans):
            yield [instruction for instruction in code if begin <= instruction[0] <= end]


def isFma(instruction):
    return re.match(r"vfn?m(add|sub)\d+p[sd]$", instruction[1]) is not None


def isSpill(instruction):
    """A whole vector register that goes to the stack or comes from it, as a move or as the operand of something else."""
    _, mnemonic, operands = instruction
    return mnemonic.startswith("v") and re.search(r"\b[xyz]mm(word)? ptr \[[^\]]*\b(rsp|frame)\b", operands) is not None


def nameFrame(code):
    """rbp is the frame only where a function makes it so; elsewhere it is a register like others."""
    if any(mnemonic == "mov" and operands == "rbp, rsp" for _, mnemonic, operands in code):
        return [(address, mnemonic, re.sub(r"\brbp\b", "frame", operands)) for address, mnemonic, operands in code]
    return code


def isStore(instruction):
    """Of a vector register: sums that end, no product in registers."""
    return re.match(r"vmov[adu]\w*$", instruction[1]) is not None and re.match(r"[xyz]mm(word)? ptr ", instruction[2]) is not None


def isComparison(instruction):
    """Of whole vectors: what a mask is made of. (Clamps of four keys at a time are scalar work in xmm registers.)"""
    return re.match(r"v(p?cmp|ptest|pmin|pmax|pblendv|blendv)", instruction[1]) is not None and re.search(r"[yz]mm", instruction[2]) is not None


def returnsWithoutComparison(code, loop):
    """Whether a way leads from the end of a loop to its beginning on which no vectors are compared: a tile without mask work."""
    place = {instruction[0]: i for i, instruction in enumerate(code)}
    pending, seen = [place[loop[-1][0]] + 1], set()
    while pending:
        i = pending.pop()
        if i in seen or i >= len(code) or isComparison(code[i]):
            continue
        seen.add(i)
        address, mnemonic, operands = code[i]
        if address == loop[0][0]:
            return True
        target = re.match(r"(?:0x)?([0-9a-f]+)\b", operands) if mnemonic.startswith("j") else None
        if target and int(target.group(1), 16) in place:
            pending.append(place[int(target.group(1), 16)])
        if mnemonic not in ("jmp", "ret"):
            pending.append(i + 1)
    return False


def loops(code):
    code = nameFrame(code)
    rows = []
    for body in innermostLoops(code):
        row = {"fma": sum(map(isFma, body)), "instructions": len(body), "spills": sum(map(isSpill, body)),
               "stores": sum(map(isStore, body)), "comparisons": sum(map(isComparison, body)), "full_tile_is_free": returnsWithoutComparison(code, body)}
        if row["fma"] >= FEWEST_FMA:
            rows.append(row)
    return sorted(rows, key=lambda row: (-row["fma"], row["instructions"], row["spills"]))


def sizeOf(code, nextAddress):
    return nextAddress - code[0][0]


def budget(text):
    """Disassembly -> {target: {"code_bytes", "kernels": {kernel: {"code_bytes", "loops": [{"fma", "instructions", ...}, ...]}}}}."""
    code = {symbol: body for symbol, body in functions(text).items() if body}
    starts = sorted(body[0][0] for body in code.values())
    result = {}
    for symbol, body in sorted(code.items()):
        name = SYMBOL.match(symbol)
        if not name:
            continue
        later = [start for start in starts if start > body[0][0]]
        size = sizeOf(body, later[0] if later else body[-1][0] + 1)
        target = result.setdefault(name["target"], {"code_bytes": 0, "kernels": {}})
        kernel = target["kernels"].setdefault(name["kernel"], {"code_bytes": 0, "loops": []})
        target["code_bytes"] += size
        kernel["code_bytes"] += size
        kernel["loops"] += loops(body)
    return result


def main():
    print(json.dumps(budget(disassemble(sys.argv[1])), indent=2))


if __name__ == "__main__":
    main()
