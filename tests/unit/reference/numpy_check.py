#!/usr/bin/env python3
"""Computes the layers that reference_cases prints again, with NumPy's matrix products, and compares.

Independent of compiler/reference: another language, another order of computation (whole matrices instead of rows).
SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""
import json
import subprocess
import sys

try:
    import numpy as np
except ImportError:
    print("[SKIP] NumPy is not installed")
    sys.exit(0)


def tensor(case, name):
    return np.array(case[name], dtype=np.float32).reshape([int(n) for n in case[name + "_shape"]]).astype(np.float64)


def project(case, x, weight, bias):
    w = tensor(case, weight)
    return x @ (w if case["in_out"] else w.T) + tensor(case, bias)


def split(x, heads):  # [b, s, h * d] -> [b, h, s, d]
    return x.reshape(x.shape[0], x.shape[1], heads, -1).transpose(0, 2, 1, 3)


def layer(case):
    batch, queries, keys = case["batch"], case["query"], case["key"]
    x, memory = tensor(case, "x"), tensor(case, "memory")
    group = case["heads"] // case["kv_heads"]
    q = split(project(case, x, "wq", "bq"), case["heads"])
    k = split(project(case, memory, "wk", "bk"), case["kv_heads"]).repeat(group, axis=1)
    v = split(project(case, memory, "wv", "bv"), case["kv_heads"]).repeat(group, axis=1)
    scores = q @ k.transpose(0, 1, 3, 2) / np.sqrt(q.shape[-1])
    visible = np.arange(keys) < np.array(case["key_lengths"]).reshape(batch, 1, 1, 1)
    if case["causal"]:
        visible = visible & (np.arange(keys)[None, :] <= np.arange(queries)[:, None] + keys - queries)
    weights = np.where(visible, np.exp(scores), 0)
    total = weights.sum(axis=-1, keepdims=True)
    heads = np.divide(weights, total, out=np.zeros_like(weights), where=total > 0) @ v
    with np.errstate(divide="ignore"):
        lse = np.log(total[..., 0])  # [b, h, q]
    y = project(case, heads.transpose(0, 2, 1, 3).reshape(batch, queries, -1), "wo", "bo")
    return y, lse.transpose(0, 2, 1)


def main():
    lines = subprocess.run([sys.argv[1]], check=True, capture_output=True, text=True).stdout.splitlines()
    masked_rows = 0
    for line in lines:
        case = json.loads(line)
        found_lse = np.array([float(value) for value in case["lse"]])
        y, lse = layer(case)
        masked_rows += int(np.isinf(found_lse).sum())
        np.testing.assert_allclose(case["y"], y.ravel(), rtol=1e-10, atol=1e-10, err_msg=f"y of case {case['case']}")
        np.testing.assert_allclose(found_lse, lse.ravel(), rtol=1e-10, atol=1e-10, err_msg=f"lse of case {case['case']}")
    assert len(lines) == 40 and masked_rows > 0, (len(lines), masked_rows)
    print(f"{len(lines)} layers agree with NumPy, {masked_rows} masked rows among them")


if __name__ == "__main__":
    main()
