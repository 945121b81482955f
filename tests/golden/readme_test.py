"""What the README and CONTRIBUTING show stands in the file they name: a fenced block behind `<!-- from <file> -->` is a run of its lines.

Usage: readme_test.py <root>
"""
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
import os
import re
import sys
import unittest

ROOT = sys.argv[1]
EXCERPT = re.compile(r"^<!-- from (\S+) -->\n```\w*\n(.*?)^```$", re.MULTILINE | re.DOTALL)
FENCED = re.compile(r"^```.*?^```$", re.MULTILINE | re.DOTALL)
LINK = re.compile(r"\]\(([^)#:]+)\)")
DOCUMENTS = ("README.md", "CONTRIBUTING.md", "compiler/README.md", "generated/README.md", "specs/README.md")


def read(path):
    with open(os.path.join(ROOT, path), encoding="utf-8") as file:
        return file.read()


class Documents(unittest.TestCase):
    def testExcerptsStandInTheirFiles(self):
        count = 0
        for document in DOCUMENTS:
            for path, excerpt in EXCERPT.findall(read(document)):
                self.assertIn(excerpt, read(path), f"{document}: an excerpt of {path}")
                count += 1
        self.assertGreaterEqual(count, 5)

    def testLinksLeadSomewhere(self):
        for document in DOCUMENTS:
            for link in LINK.findall(FENCED.sub("", read(document))):
                path = os.path.join(ROOT, os.path.dirname(document), link)
                self.assertTrue(os.path.exists(path), f"{document}: {link}")

    def testTilesOfSchedulesAreExplained(self):
        builders = read("compiler/halide/BuildPipeline.cpp") + read("compiler/halide/BuildAttention.cpp")
        tiles = set(re.findall(r'\{"(\w+)", (?:tiles\.|packKeys)', builders))
        rows = set(re.findall(r"^\|[^|]*\| `(\w+)` \|", read("compiler/README.md"), re.MULTILINE))
        self.assertGreaterEqual(len(tiles), 8)
        self.assertEqual(tiles, rows)

    def testReservedVariantsAreListed(self):
        source = read("compiler/attention/VariantInterface.cpp")
        for variable, key in (("masks", "mask"), ("scores", "score")):
            words = re.search(variable + r"\[\] = \{(.*?)\};", source, re.DOTALL)
            row = re.search(rf"^\| `{key}` \| (.*?) \|$", read("specs/README.md").split("not supported yet\n")[-1].split("\n## ")[0], re.MULTILINE)
            reserved = re.findall(r'"(\w+)"', words.group(1)) if words else []
            self.assertEqual(reserved, re.findall(r"`(\w+)`", row.group(1)) if row else [], key)


unittest.main(argv=sys.argv[:1])
