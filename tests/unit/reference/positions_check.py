#!/usr/bin/env python3
"""Position encodings and QK-norm of the reference against NumPy: pairs as complex numbers, frequencies of all pairs at once.

Independent of compiler/reference. The scaling kinds are those of Hugging Face's modeling_rope_utils, as its documents describe them.
SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""
import itertools
import json
import subprocess
import sys

try:
    import numpy as np
except ImportError:
    print("[SKIP] NumPy is not installed")
    sys.exit(0)

SCALINGS = [
    {},
    {"kind": "linear", "factor": 4.0},
    {"kind": "ntk", "factor": 8.0},
    {"kind": "yarn", "factor": 16.0, "original_max_position": 512},
    {"kind": "yarn", "factor": 0.5, "original_max_position": 64, "beta_fast": 8, "beta_slow": 2},
    {"kind": "yarn", "factor": 4.0, "original_max_position": 4096, "attention_factor": 1.5},
    {"kind": "llama3", "factor": 8.0, "low_freq_factor": 1.0, "high_freq_factor": 4.0, "original_max_position": 128},
]
NORMS = [None] + [{"kind": kind, "epsilon": 1e-3, "scope": scope, "weight": weight, "place": place}
                  for kind, scope, weight, place in itertools.product(["rms", "l2"], ["head", "all"], [True, False], ["before_rope", "after_rope"])]


def frequencies(dim, base, scaling):
    """Radians a position of each pair, and the factor of cosine and sine."""
    exponent = np.arange(0, dim, 2) / dim
    kind, factor = scaling.get("kind"), scaling.get("factor", 1.0)
    if kind == "ntk":
        base = base * factor ** (dim / (dim - 2))
    inv_freq = 1.0 / base**exponent
    if kind == "linear":
        return inv_freq / factor, 1.0
    if kind == "yarn":
        original = scaling["original_max_position"]
        correction = lambda rotations: dim * np.log(original / (rotations * 2 * np.pi)) / (2 * np.log(base))
        low = max(np.floor(correction(scaling.get("beta_fast", 32))), 0)
        high = min(np.ceil(correction(scaling.get("beta_slow", 1))), dim - 1)
        ramp = np.clip((np.arange(dim // 2) - low) / (high - low if high != low else 0.001), 0, 1)
        default = 1.0 if factor <= 1 else 0.1 * np.log(factor) + 1
        return inv_freq / factor * ramp + inv_freq * (1 - ramp), scaling.get("attention_factor", default)
    if kind == "llama3":
        low, high, original = scaling["low_freq_factor"], scaling["high_freq_factor"], scaling["original_max_position"]
        wavelength = 2 * np.pi / inv_freq
        smooth = (original / wavelength - low) / (high - low)
        blended = (1 - smooth) * inv_freq / factor + smooth * inv_freq
        return np.where(wavelength > original / low, inv_freq / factor, np.where(wavelength < original / high, inv_freq, blended)), 1.0
    return inv_freq, 1.0


def rotate(heads, position, dim, base, interleaved, scaling):
    inv_freq, magnitude = frequencies(dim, base, scaling)
    turn = magnitude * np.exp(1j * position * inv_freq)
    turned = heads.copy()
    first, second = (slice(0, dim, 2), slice(1, dim, 2)) if interleaved else (slice(0, dim // 2), slice(dim // 2, dim))
    pairs = (heads[:, first] + 1j * heads[:, second]) * turn
    turned[:, first], turned[:, second] = pairs.real, pairs.imag
    return turned


def normalize(heads, weight, norm):
    x = heads.reshape(1, -1) if norm["scope"] == "all" else heads
    if norm["kind"] == "rms":
        x = x / np.sqrt(np.mean(x**2, axis=1, keepdims=True) + norm["epsilon"])
    else:
        x = x / np.maximum(np.linalg.norm(x, axis=1, keepdims=True), norm["epsilon"])
    return (x * weight[: x.shape[1]] if norm["weight"] else x).reshape(heads.shape)


def main():
    cases = []
    for i, (scaling, norm, interleaved) in enumerate(itertools.product(SCALINGS, NORMS, [False, True])):
        width, dim = [(8, 8), (16, 12), (12, 6)][i % 3]
        cases.append((scaling, norm, interleaved, width, dim, [0, 1, -5, 77, 100000][i % 5], [10000.0, 500.0][i % 2]))
    lines = []
    for scaling, norm, interleaved, width, dim, position, base in cases:
        rope = {"pairing": "interleaved" if interleaved else "half", "rotary_dim": dim, "base": base, **({"scaling": scaling} if scaling else {})}
        layer = {"d_model": 3 * width, "heads": 3, "head_dim": width, **({"qk_norm": norm} if norm else {})}
        spec = json.dumps({"mhac": 1, "name": "f", "layer": layer, "position": [{"rope": rope}]})
        lines.append(f"{position} {spec}")
    output = subprocess.run([sys.argv[1]], input="\n".join(lines).replace('"', "") + "\n", check=True, capture_output=True, text=True).stdout.splitlines()
    assert len(output) == len(cases), (len(output), len(cases))
    for line, (scaling, norm, interleaved, width, dim, position, base) in zip(output, cases):
        found = json.loads(line)
        heads, weight = np.array(found["heads"]).reshape(3, width), np.array(found["weight"])
        if norm and norm["place"] == "before_rope":
            heads = normalize(heads, weight, norm)
        heads = rotate(heads, position, dim, base, interleaved, scaling)
        if norm and norm["place"] == "after_rope":
            heads = normalize(heads, weight, norm)
        np.testing.assert_allclose(found["encoded"], heads.ravel(), rtol=1e-9, atol=1e-9, err_msg=f"{scaling} {norm} {interleaved} {position}")
    print(f"{len(cases)} encodings agree with NumPy")


if __name__ == "__main__":
    main()
