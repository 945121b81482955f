#!/usr/bin/env python3
"""A real model's layer, compiled and called from Python by its manifest alone, against NumPy.

Arguments: mhac, the folder of mhac_call.py, the folder of the example specs.
SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""
import json
import os
import subprocess
import sys
import tempfile
import unittest

try:
    import numpy as np
except ImportError:
    print("[SKIP] NumPy is not installed")
    sys.exit(0)

MHAC, TOOLS, SPECS = sys.argv[1:4]
sys.path.insert(0, TOOLS)
import mhac_call  # noqa: E402

HEADS, WIDTH = 12, 64


def layer(x, wqkv, bqkv, wo, bo, visible):
    """GPT-2's and BERT's layer; weights [outputs, inputs], visible broadcast to [b, h, q, k]."""
    b, n, m = x.shape
    q, k, v = (x.astype(np.float64) @ wqkv.T + bqkv).reshape(b, n, 3, HEADS, WIDTH).transpose(2, 0, 3, 1, 4)
    weights = np.where(visible, np.exp(q @ k.transpose(0, 1, 3, 2) / np.sqrt(WIDTH)), 0)
    heads = weights / np.maximum(weights.sum(-1, keepdims=True), 1e-300) @ v
    return heads.transpose(0, 2, 1, 3).reshape(b, n, m) @ wo.T + bo


class CompiledCall(unittest.TestCase):
    def compile(self, spec, folder):
        library = os.path.join(folder, "layer.so")
        subprocess.run([MHAC, os.path.join(SPECS, spec), "-o", library], check=True)
        return library

    def arrays(self, batch, n):
        random = np.random.default_rng(5)
        normal = lambda *shape, scale: (random.standard_normal(shape) * scale).astype(np.float32)
        m = HEADS * WIDTH
        return {"x": normal(n, batch, m, scale=1).transpose(1, 0, 2), "wqkv": normal(3 * m, m, scale=m**-0.5), "bqkv": normal(3 * m, scale=0.1),
                "wo": normal(m, m, scale=m**-0.5), "bo": normal(m, scale=0.1)}

    def test_prepared_state_gives_the_same_bits(self):
        with tempfile.TemporaryDirectory() as folder:
            spec = os.path.join(folder, "layer.yaml")
            with open(spec, "w", encoding="utf-8") as file:
                file.write("{mhac: 1, name: f, layer: {d_model: 32, heads: 2}, projections: {output: false}, mask: [causal], position: [rope]}")
            layer = mhac_call.Artefact(self.compile(spec, folder))
            random = np.random.default_rng(1)
            tensor = lambda *shape: random.standard_normal(shape).astype(np.float32)
            weights = {name: tensor(32, 32) for name in ("wq", "wk", "wv")}
            prepared = layer.prepare(query=40)
            for n in (1, 17, 40):
                x = tensor(2, n, 32)
                np.testing.assert_array_equal(layer(x=x, prepared=prepared, **weights), layer(x=x, **weights))
            with self.assertRaisesRegex(mhac_call.MhacError, "PREPARED.*up to 40, wanted 41"):
                layer(x=tensor(2, 41, 32), prepared=prepared, **weights)

    def test_workspace_is_linear_in_the_tokens(self):
        with tempfile.TemporaryDirectory() as folder:
            self.compile("transformer_cross_f32.yaml", folder)
            with open(os.path.join(folder, "layer.json"), encoding="utf-8") as file:
                targets = json.load(file)["targets"]
        self.assertTrue(targets)
        for target in targets:
            # Scratch of a worker is a number; an intermediate has one dimension of tokens: nothing is queries x keys.
            self.assertIsInstance(target["arena_bytes"], int)
            self.assertGreaterEqual(len(target["workspace"]), 5)
            for buffer in target["workspace"]:
                sizes = [extent["size"] for extent in buffer["dims"] if extent["size"] in ("query", "key")]
                self.assertEqual(len(sizes), 1, buffer)

    def test_nan_and_infinity_of_visible_scores_arrive(self):
        random = np.random.default_rng(1)
        with tempfile.TemporaryDirectory() as folder:
            spec = os.path.join(folder, "core.yaml")
            with open(spec, "w", encoding="utf-8") as file:
                file.write("mhac: 1\nname: core\nlayer: {d_model: 16, heads: 2}\nprojections: {input: none, output: false}\noutputs: [y, lse]\n")
            library = self.compile(spec, folder)
            for value in (np.nan, np.inf):
                q, k, v = (random.standard_normal((1, 20, 2, 8)).astype(np.float32) for _ in range(3))
                k[0, 5, 0, 3] = value
                result = mhac_call.call(library, q=q, k=k, v=v)
                # An infinite key makes the score +inf, and so the row NaN, where the query's element is positive.
                rows = np.ones(20, bool) if np.isnan(value) else q[0, :, 0, 3] > 0
                self.assertEqual(np.isnan(result["lse"][0, 0]).tolist(), rows.tolist())
                self.assertEqual(np.isnan(result["y"][0, :, 0]).all(-1).tolist(), rows.tolist())
                self.assertTrue(np.isfinite(result["y"][0, :, 1]).all())

    def write(self, folder, name, text):
        spec = os.path.join(folder, name + ".yaml")
        with open(spec, "w", encoding="utf-8") as file:
            file.write(f"mhac: 1\nname: {name}\nlayer: {{d_model: 16, heads: 2}}\nprojections: {{input: none, output: false}}\n{text}")
        library = os.path.join(folder, name + ".so")
        subprocess.run([MHAC, spec, "-o", library], check=True)
        return library

    def test_parts_of_the_keys_join(self):
        random = np.random.default_rng(2)
        q, k, v = (random.standard_normal((2, n, 2, 8)).astype(np.float32) for n in (19, 40, 40))
        with tempfile.TemporaryDirectory() as folder:
            core, merge = self.write(folder, "core", "outputs: [y, lse]\n"), self.write(folder, "merge", "merge_states: {parts: dynamic}\noutputs: [y, lse]\n")
            whole = mhac_call.call(core, q=q, k=k, v=v)
            parts = [mhac_call.call(core, q=q, k=k[:, a:b], v=v[:, a:b]) for a, b in ((0, 7), (7, 7), (7, 39), (39, 40))]
            joined = mhac_call.call(merge, outputs=np.stack([p["y"] for p in parts]), lses=np.stack([p["lse"] for p in parts]))
        self.assertTrue(np.isneginf(parts[1]["lse"]).all())
        for name in ("y", "lse"):
            np.testing.assert_allclose(joined[name], whole[name], atol=2e-6, rtol=2e-6)

    def test_of_equal_probabilities_the_first_is_the_peak(self):
        k = np.ones((2, 50, 2, 8), np.float32)
        with tempfile.TemporaryDirectory() as folder:
            library = self.write(folder, "peaks", "query_offset: row_end\nmask: [causal, padding: {side: left}]\noutputs: [y, map_statistics]\n")
            result = mhac_call.call(library, q=k, k=k, v=k, key_starts=np.array([0, 21]))
        for b, start in enumerate((0, 21)):
            visible = np.clip(np.arange(50) + 1 - start, 0, None)  # of each query
            self.assertEqual(result["map_peak_position"][b, 0].tolist(), np.where(visible > 0, start, -1).tolist())
            np.testing.assert_allclose(result["map_peak"][b, 1], np.where(visible > 0, 1 / np.maximum(visible, 1), 0), atol=1e-6)
            np.testing.assert_allclose(result["map_entropy"][b, 1], np.log(np.maximum(visible, 1)), atol=5e-6)

    def test_long_sums_of_narrow_floats_do_not_stick(self):
        # The mean of 100,000 values: in 16 bits the sum of the weights would end at 256 or 2,048.
        random = np.random.default_rng(3)
        q, k = np.zeros((1, 3, 2, 8), np.float32), random.standard_normal((1, 100_000, 2, 8)).astype(np.float32)
        v = 1 + random.standard_normal((1, 100_000, 2, 8)).astype(np.float32) / 8
        for name, narrow, wide in (("bf16", lambda x: (x.view(np.uint32) >> 16).astype(np.uint16), lambda x: (x.astype(np.uint32) << 16).view(np.float32)),
                                   ("f16", lambda x: x.astype(np.float16), lambda x: x.astype(np.float32))):
            with self.subTest(name), tempfile.TemporaryDirectory() as folder:
                library = self.write(folder, name, f"outputs: [y, lse]\ndtype: {{activations: {name}}}\n")
                result = mhac_call.call(library, q=narrow(q), k=narrow(k), v=narrow(v))
                wanted = wide(narrow(v)).astype(np.float64).mean(axis=1, keepdims=True)
                np.testing.assert_allclose(wide(result["y"]), np.broadcast_to(wanted, result["y"].shape), rtol=4e-3 if name == "bf16" else 5e-4)
                np.testing.assert_allclose(result["lse"], np.log(100_000), rtol=1e-6)

    def test_nan_and_infinity_reach_only_what_depends_on_them(self):
        random = np.random.default_rng(4)
        q, k, v = (random.standard_normal((1, 21, 2, 8)).astype(np.float16) for _ in range(3))
        v[0, 5, 0, 2], v[0, 6, 1, 3], q[0, 9, 0, 0] = np.nan, np.inf, np.nan
        with tempfile.TemporaryDirectory() as folder:
            y = mhac_call.call(self.write(folder, "special", "dtype: {activations: f16}\n"), q=q, k=k, v=v)
        wanted = np.zeros(y.shape, bool)
        wanted[0, :, 0, 2] = wanted[0, 9, 0, :] = True
        np.testing.assert_array_equal(np.isnan(y), wanted)
        wanted[:] = False
        wanted[0, :, 1, 3] = True
        np.testing.assert_array_equal(np.isposinf(y), wanted)

    def test_bert_with_padding_and_strides(self):
        arrays, lengths = self.arrays(3, 37), np.array([37, 0, 20])
        with tempfile.TemporaryDirectory() as folder:
            library = self.compile("bert_base_f32.yaml", folder)
            y = mhac_call.call(library, threads=2, key_lengths=lengths, **arrays)
        y = y["y"] if isinstance(y, dict) else y
        visible = np.arange(37) < lengths[:, None, None, None]
        np.testing.assert_allclose(y, layer(visible=visible, **arrays), atol=1e-5)

    def test_gpt2_with_transposed_weights(self):
        arrays = self.arrays(2, 19)
        transposed = {**arrays, "wqkv": np.ascontiguousarray(arrays["wqkv"].T), "wo": np.ascontiguousarray(arrays["wo"].T)}
        with tempfile.TemporaryDirectory() as folder:
            y = mhac_call.call(self.compile("gpt2_f32.yaml", folder), **transposed)
        y = y["y"] if isinstance(y, dict) else y
        np.testing.assert_allclose(y, layer(visible=np.tri(19, dtype=bool), **arrays), atol=1e-5)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
