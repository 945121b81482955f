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


def t5_bucket(relative_position, bidirectional, num_buckets, max_distance):
    """As T5's published code computes it, in f32."""
    first = 0
    if bidirectional:
        num_buckets //= 2
        first = (relative_position > 0) * num_buckets
        ago = np.abs(relative_position)
    else:
        ago = -np.minimum(relative_position, 0)
    exact = num_buckets // 2
    logarithm = np.log(np.maximum(ago, 1).astype(np.float32) / np.float32(exact)) / np.float32(np.log(max_distance / exact))
    far = np.minimum(exact + (logarithm * (num_buckets - exact)).astype(int), num_buckets - 1)
    return first + np.where(ago < exact, ago, far)


def slopes(heads):
    """As BLOOM computes them."""
    if heads & (heads - 1) == 0:
        return [2 ** (-8 * (i + 1) / heads) for i in range(heads)]
    power = 1 << (heads.bit_length() - 1)
    return slopes(power) + slopes(2 * power)[0::2][: heads - power]


def change_scores(case, scores):
    """Applies the score list; returns the scores and the sinks."""
    distance = np.arange(case["key"])[None, :] - np.arange(case["query"])[:, None] - (case["key"] - case["query"])
    sinks = None
    for word in case["score"]:
        if word == "bias":
            scores = scores + tensor(case, "score_bias")
        elif word == "alibi":
            steps = distance if case["one_sided"] else -np.abs(distance)
            scores = scores + np.array(slopes(case["heads"]))[:, None, None] * steps
        elif word == "relative_bias":
            table = tensor(case, "relative_bias")
            scores = scores + table[t5_bucket(distance, case["bidirectional"], 6, 5)].transpose(2, 0, 1)
        elif word == "softcap":
            scores = 1.5 * np.tanh(scores / 1.5)
        elif word == "sink":
            sinks = tensor(case, "sinks")[:, None, None]
    return scores, sinks


def layer(case):
    batch, queries, keys = case["batch"], case["query"], case["key"]
    x, memory = tensor(case, "x"), tensor(case, "memory")
    group = case["heads"] // case["kv_heads"]
    q = split(project(case, x, "wq", "bq"), case["heads"])
    k = split(project(case, memory, "wk", "bk"), case["kv_heads"]).repeat(group, axis=1)
    v = split(project(case, memory, "wv", "bv"), case["kv_heads"]).repeat(group, axis=1)
    scores = q @ k.transpose(0, 1, 3, 2) / np.sqrt(q.shape[-1])
    scores, sinks = change_scores(case, scores)
    visible = np.arange(keys) < np.array(case["key_lengths"]).reshape(batch, 1, 1, 1)
    if case["causal"]:
        visible = visible & (np.arange(keys)[None, :] <= np.arange(queries)[:, None] + keys - queries)
    weights = np.where(visible, np.exp(scores), 0)
    total = weights.sum(axis=-1, keepdims=True)
    denominator = total if sinks is None else total + np.exp(sinks)
    heads = np.divide(weights, denominator, out=np.zeros_like(weights), where=total > 0) @ v
    with np.errstate(divide="ignore"):
        lse = np.log(total[..., 0])  # [b, h, q]
    y = project(case, heads.transpose(0, 2, 1, 3).reshape(batch, queries, -1), "wo", "bo")
    return y, lse.transpose(0, 2, 1)


def main():
    lines = subprocess.run([sys.argv[1]], check=True, capture_output=True, text=True).stdout.splitlines()
    masked_rows, words = 0, set()
    for line in lines:
        case = json.loads(line)
        found_lse = np.array([float(value) for value in case["lse"]])
        y, lse = layer(case)
        words |= set(case["score"])
        masked_rows += int(np.isinf(found_lse).sum())
        np.testing.assert_allclose(case["y"], y.ravel(), rtol=1e-10, atol=1e-10, err_msg=f"y of case {case['case']}")
        np.testing.assert_allclose(found_lse, lse.ravel(), rtol=1e-10, atol=1e-10, err_msg=f"lse of case {case['case']}")
    assert len(lines) == 120 and masked_rows > 0 and len(words) == 5, (len(lines), masked_rows, words)
    print(f"{len(lines)} layers agree with NumPy, {masked_rows} masked rows among them")


if __name__ == "__main__":
    main()
