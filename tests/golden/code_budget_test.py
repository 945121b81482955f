"""Finding loops and what is in them, on a listing written by hand. Usage: code_budget_test.py <tools folder>"""
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
import sys
import unittest

sys.dont_write_bytecode = True
sys.path.insert(0, sys.argv[1])
import code_budget  # noqa: E402

# An outer loop from 10 to 40 with an inner one from 14 to 30; a forward jump at 34; then another function.
LISTING = """
0000000000000010 <f.x86-64-v4.project.task0>:
      10:     \txor\teax, eax
      14:     \tvfmadd231ps\tzmm0, zmm1, dword ptr [rsi + 4*rax]{1to16}
      18:     \tvfmadd231ps\tzmm2, zmm1, zmmword ptr [rsp + 0x40] # spilled
      1c:     \tvfmadd213ps\tzmm3, zmm1, zmm4
      20:     \tvfnmadd231ps\tzmm3, zmm1, zmm4
      24:     \tvfmadd231ss\txmm3, xmm1, dword ptr [rsp + 0x8]
      28:     \tvmovups\tzmmword ptr [rsp + 0x80], zmm3
      2c:     \tadd\trax, 0x1
      30:     \tjne\t0x14 <f.x86-64-v4.project.task0+0x4>
      34:     \tje\t0x40 <f.x86-64-v4.project.task0+0x30>
      38:     \tmov\trax, qword ptr [rsp]
      40:     \tjl\t0x10 <f.x86-64-v4.project.task0>
0000000000000050 <f>:
      50:     \tret
"""


class CodeBudget(unittest.TestCase):
    def testCountsOnlyTheInnermostLoop(self):
        budget = code_budget.budget(LISTING)
        self.assertEqual(budget["x86-64-v4"]["kernels"]["project"]["loops"], 
                         [{"fma": 4, "instructions": 8, "spills": 2, "stores": 1, "comparisons": 0, "full_tile_is_free": True}])

    def testAComparisonBetweenTwoRoundsOfALoopIsMaskWork(self):
        masked = LISTING.replace("mov\trax, qword ptr [rsp]", "vpcmpled\tk1, zmm20, zmm21")
        loop = lambda listing: code_budget.budget(listing)["x86-64-v4"]["kernels"]["project"]["loops"][0]
        self.assertTrue(loop(masked)["full_tile_is_free"])  # the jump at 34 leads around it
        self.assertFalse(loop(masked.replace("\tje\t0x40 <f.x86-64-v4.project.task0+0x30>", "\tnop"))["full_tile_is_free"])

    def testTheBasePointerIsAFrameOnlyWhereItIsMadeOne(self):
        spilled = lambda first: code_budget.budget(LISTING.replace("xor\teax, eax", first).replace("zmmword ptr [rsp + 0x40]", "zmmword ptr [rbp + 0x40]"))
        loops = [spilled(first)["x86-64-v4"]["kernels"]["project"]["loops"][0]["spills"] for first in ("xor\teax, eax", "mov\trbp, rsp")]
        self.assertEqual(loops, [1, 2])

    def testCodeReachesToTheNextSymbol(self):
        self.assertEqual(code_budget.budget(LISTING)["x86-64-v4"]["code_bytes"], 0x40)

    def testKernelsOfARegimeAreApart(self):
        kernels = code_budget.budget(LISTING.replace(".project", ".few.project"))["x86-64-v4"]["kernels"]
        self.assertEqual(list(kernels), ["few.project"])

    def testEntriesBelongToNoTarget(self):
        self.assertEqual(list(code_budget.budget(LISTING)), ["x86-64-v4"])


unittest.main(argv=sys.argv[:1])
