"""What the generated code of the example specs may cost: bytes, and the register tiles of the inner loops without spills.

Usage: budgets_test.py <folder of regenerate.py --out> <specs folder>
"""
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
import glob
import json
import os
import sys
import unittest

FRESH, SPECS = sys.argv[1:3]
CODE_BYTES = 96 * 1024
# Kernel -> FMAs of its largest product loop, the accumulators of a register tile: as many as the registers take, or fewer where the width asks for
# it (four rows of 32, five of 1,280).
TILES = {"x86-64-v4": {"project": 16, "project_y": 16, "few.project": 8, "few.project_y": 8, "attend": 16, "long.attend": 16},
         "x86-64-v3": {"project": 8, "project_y": 10, "attend": 12, "long.attend": 12}}  # few tokens take the same tiles
# Where the mask is a list of tiles, these are a power of two of keys high.
LISTED = {"x86-64-v4": 16, "x86-64-v3": 8}
SPILLS = 0.01  # of a product loop of attention, for an FMA: one in two tiles of keys, where all registers are taken
FULL_REGISTERS = 2.5  # instructions for an FMA of a product loop, at most


def budgets():
    """(label, target, budget) of every fresh object."""
    names = sorted(os.path.splitext(os.path.basename(path))[0] for path in glob.glob(os.path.join(SPECS, "*.yaml")))
    for name in names:
        with open(os.path.join(FRESH, name, "budget.json"), encoding="utf-8") as file:
            for target, budget in json.load(file).items():
                yield f"{name} for {target}", target, budget


def has_region(label, region):
    """Whether the layer's attention has a region of this name after lowering."""
    with open(os.path.join(FRESH, label.split()[0], "lowered.mlir"), encoding="utf-8") as file:
        return f"      {region}(" in file.read()


def multiplies_integers(label):
    """Whether the layer's projections are sums of integers, which have no FMAs."""
    with open(os.path.join(FRESH, label.split()[0], "lowered.mlir"), encoding="utf-8") as file:
        return "quantized_tokens" in file.read()


class Budgets(unittest.TestCase):
    def testEverySpecAndTargetIsJudged(self):
        self.assertEqual(len(list(budgets())), 2 * len(glob.glob(os.path.join(SPECS, "*.yaml"))))

    def testCodeIsSmall(self):
        for label, _, budget in budgets():
            self.assertLessEqual(budget["code_bytes"], CODE_BYTES, label)

    def testProjectionsKeepTheirTileInRegisters(self):
        for label, target, budget in budgets():
            if multiplies_integers(label):
                continue
            for kernel in (name for name in TILES[target] if not name.endswith("attend")):
                loops = [loop for loop in budget["kernels"][kernel]["loops"] if loop["stores"] == 0]
                self.assertTrue(loops, f"{label}: {kernel} has no product loop")
                self.assertGreaterEqual(loops[0]["fma"], TILES[target][kernel], f"{label}: {kernel}")
                for loop in loops:
                    self.assertEqual(loop["spills"], 0, f"{label}: {kernel}")
                    if loop["fma"] >= TILES[target][kernel]:  # smaller: an odd block of tokens, the rows that a width leaves over
                        self.assertLessEqual(loop["instructions"], FULL_REGISTERS * loop["fma"], f"{label}: {kernel}")

    def testAttentionKeepsItsTilesInRegisters(self):
        for label, target, budget in budgets():  # scores and weighted sum; the loops with exponentials are not products
            for kernel in (name for name in TILES[target] if name.endswith("attend")):
                fewest = LISTED[target] if has_region(label, "tiles") else TILES[target][kernel]
                loops = [loop for loop in budget["kernels"][kernel]["loops"] if loop["spills"] <= SPILLS * loop["fma"] and loop["fma"] >= fewest]
                self.assertGreaterEqual(len(loops), 2, f"{label}: {kernel}")

    def testFullTilesOfScoresHaveNoMaskWork(self):
        for label, target, budget in budgets():  # products make no comparisons; a tile that the mask does not touch must return without any, too
            if has_region(label, "score"):
                continue  # what changes a score stands between the product and the mask
            for kernel in (name for name in TILES[target] if name.endswith("attend")):
                products = [loop for loop in budget["kernels"][kernel]["loops"] if loop["comparisons"] == 0]
                self.assertGreaterEqual(len(products), 2, f"{label}: {kernel}")
                for loop in products:
                    self.assertTrue(loop["full_tile_is_free"], f"{label}: {kernel}: {loop}")


unittest.main(argv=sys.argv[:1])
