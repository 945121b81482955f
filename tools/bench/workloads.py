"""What bench.py measures: layers, sizes, targets, and the share of its limit that each should reach.

The limit is the peak, for few tokens the reading of the weights where that takes longer. No test depends on a goal.
"""
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
import itertools
import os
import random
from typing import NamedTuple

ROOT = os.path.normpath(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", ".."))
V4, V3 = "x86-64-v4", "x86-64-v3"
SPEED_UP, SPEED_UP_QUERIES = 1.9, 128  # two threads against one, from this many queries on
DRAWN, DRAWN_MEDIAN, DRAWN_WORST = "drawn", 0.80, 0.65
COMPILE_SECONDS, CODE_BYTES = 3, 96 * 1024  # for one target


def bertBase():
    with open(os.path.join(ROOT, "specs", "bert_base_f32.yaml"), encoding="utf-8") as file:
        return file.read() + "shape:\n  layout: bshd\n"


def layer(heads, width, causal, kvHeads=None, alone=False):
    """A layer with its projections, or attention alone."""
    return f"""mhac: 1
name: layer
layer: {{d_model: {heads * width}, heads: {heads}, kv_heads: {kvHeads or heads}}}
projections: {{{"input: none, output: false" if alone else "input: separate"}}}
mask: [{"causal" if causal else ""}]
shape:
  layout: {"bhsd" if alone else "bshd"}
"""


# Name -> YAML that ends within `shape`, where sizes may be fixed.
SPECS = {
    "bert_base": bertBase(),
    "core_full": layer(12, 64, causal=False, alone=True),
    "core_causal": layer(12, 64, causal=True, alone=True),
    "core_grouped": layer(32, 128, causal=True, kvHeads=8, alone=True),
    "core_long": layer(8, 64, causal=True, alone=True),
}
BERT_BASE_WEIGHTS = 4 * 768 * (768 + 1) * 4  # bytes of wqkv, wo and their biases


class Workload(NamedTuple):
    name: str
    spec: str
    fixed: bool  # whether batch and lengths are known to the compiler
    batch: int
    query: int  # and keys
    goals: dict  # target -> share of the limit
    weightBytes: int = 0  # when the limit may be reading them
    series: int = 3  # of calls

    @property
    def entry(self):
        """What the compiled layer is called; workloads of one entry share it."""
        return self.name if self.fixed else self.spec + "_dynamic"

    def text(self):
        sizes = f"  batch: {self.batch}\n  query: {self.query}\n  key: {self.query}\n"
        return SPECS[self.spec] + (sizes if self.fixed else "")

    def share(self, row):
        """Share of the limit; `row` is a line of mhac-run --json."""
        limit = max(row["flops"] / row["peak_gflops"], self.weightBytes / row["bandwidth_gb_per_s"])
        return limit / row["min_ns"]


LIST = [
    Workload("bert_base_n128", "bert_base", True, 1, 128, {V4: 0.94}),
    Workload("bert_base_n512", "bert_base", True, 1, 512, {V4: 0.93, V3: 0.88}),
    Workload("bert_base_b32_n128", "bert_base", True, 32, 128, {V4: 0.90}),
    Workload("bert_base_dynamic_n128", "bert_base", False, 1, 128, {V4: 0.91}),
    Workload("bert_base_dynamic_n512", "bert_base", False, 1, 512, {V4: 0.91}),
    Workload("bert_base_dynamic_b32_n128", "bert_base", False, 32, 128, {V4: 0.90}),
    Workload("core_full_n1024", "core_full", True, 1, 1024, {V4: 0.86, V3: 0.75}),
    Workload("core_full_dynamic_n1024", "core_full", False, 1, 1024, {V4: 0.81}),
    Workload("core_causal_n1024", "core_causal", True, 1, 1024, {V4: 0.81, V3: 0.71}),
    Workload("core_causal_dynamic_n1024", "core_causal", False, 1, 1024, {V4: 0.78}),
    Workload("core_grouped_n2048", "core_grouped", True, 1, 2048, {V4: 0.83}),
    Workload("core_long_n8192", "core_long", True, 1, 8192, {V4: 0.84}),
    Workload("few_tokens_n1", "bert_base", False, 1, 1, {V4: 1 / 1.5}, BERT_BASE_WEIGHTS),
    Workload("few_tokens_n4", "bert_base", False, 1, 4, {V4: 1 / 1.5}, BERT_BASE_WEIGHTS),
    Workload("few_tokens_n16", "bert_base", False, 1, 16, {V4: 1 / 1.5}, BERT_BASE_WEIGHTS),
    Workload("few_tokens_n33", "bert_base", False, 1, 33, {V4: 1 / 1.5}, BERT_BASE_WEIGHTS),
]


def draw(count, seed):
    """Whole layers of sizes that no schedule was made for, every kind of mask and lengths in turn."""
    generator = random.Random(seed)  # of its methods only random() returns the same in every version of Python
    sizes = itertools.product((40, 48, 80, 96, 112), (7, 9, 14, 20), (100, 200, 509, 777, 1500))
    for i, (width, heads, query) in enumerate(sorted(sizes, key=lambda _: generator.random())[:count]):
        causal, fixed = i % 2 == 1, i // 2 % 2 == 0
        spec = f"{DRAWN}_h{heads}_d{width}_{'causal' if causal else 'full'}"
        SPECS[spec] = layer(heads, width, causal)
        yield Workload(f"{spec}{'' if fixed else '_dynamic'}_n{query}", spec, fixed, 1, query, {V4: DRAWN_WORST}, series=1)


# The first seed that draws each size at least four times.
WORKLOADS = {workload.name: workload for workload in [*LIST, *draw(24, seed=225)]}
