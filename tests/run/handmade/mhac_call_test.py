#!/usr/bin/env python3
"""mhac_call.py with the hand-made artefact. Arguments: the folder of mhac_call.py, the folder of the artefacts.

SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""
import os
import sys
import unittest

try:
    import numpy as np
except ImportError:
    print("[SKIP] NumPy is not installed")
    sys.exit(0)

sys.path.insert(0, sys.argv[1])
import mhac_call  # noqa: E402

LAYER = os.path.join(sys.argv[2], "layer_0.so")


def inputs(batch=2, query=3, key=5, seed=1):
    random = np.random.default_rng(seed)
    normal = lambda *shape: random.standard_normal(shape).astype(np.float32)
    return {"q": normal(batch, query, 3, 4), "k": normal(batch, key, 3, 4), "v": normal(batch, key, 3, 5),
            "key_lengths": np.arange(batch, dtype=np.int64) + key - batch}


def wanted(q, k, v, key_lengths):
    scores = np.einsum("bqhd,bkhd->bhqk", q, k).astype(np.float64) / np.sqrt(q.shape[3])
    rows, columns = np.arange(q.shape[1])[:, None], np.arange(k.shape[1])
    visible = (columns <= rows + k.shape[1] - q.shape[1]) & (columns < key_lengths[:, None, None, None])
    weights = np.where(visible, np.exp(scores), 0)
    return np.einsum("bhqk,bkhe->bqhe", weights / weights.sum(-1, keepdims=True), v), np.log(weights.sum(-1))


class MhacCall(unittest.TestCase):
    def compare(self, outputs, arrays):
        y, lse = wanted(**arrays)
        np.testing.assert_allclose(outputs["y"], y, atol=1e-5)
        np.testing.assert_allclose(outputs["lse"], lse, atol=1e-5)

    def test_returns_what_numpy_computes(self):
        arrays = inputs()
        for options in ({}, {"threads": 0}, {"threads": 2}, {"workspace": False}, {"target": "by_hand"}, {"workspace": np.empty(4096, np.uint8)}):
            with self.subTest(**{name: str(value)[:20] for name, value in options.items()}):
                self.compare(mhac_call.call(LAYER, **arrays, **options), arrays)

    def test_takes_views_without_copies(self):
        arrays = inputs()
        storage = np.zeros((3, 2, 5, 8), np.float32).transpose(1, 2, 0, 3)[..., :4]
        storage[:] = arrays["k"]
        strided = {**arrays, "k": storage, "v": np.broadcast_to(arrays["v"][:1], arrays["v"].shape)}
        out = {"y": np.empty((3, 2, 3, 5), np.float32).transpose(1, 0, 2, 3)}
        outputs = mhac_call.call(LAYER, out=out, **strided)
        self.assertIs(outputs["y"], out["y"])
        self.compare(outputs, strided)

    def test_empty_calls(self):
        outputs = mhac_call.call(LAYER, **inputs(batch=0))
        self.assertEqual(outputs["y"].shape, (0, 3, 3, 5))
        outputs = mhac_call.call(LAYER, **{**inputs(key=2), "k": np.empty((2, 0, 3, 4), np.float32), "v": np.empty((2, 0, 3, 5), np.float32),
                                          "key_lengths": np.zeros(2, np.int64)})
        self.assertTrue((outputs["y"] == 0).all() and (outputs["lse"] == -np.inf).all())

    def test_python_errors_name_the_argument(self):
        good = inputs()
        for change, error, words in (
                ({"q": good["q"].astype(np.float64)}, TypeError, "q: found dtype float64, wanted float32"),
                ({"q": good["q"][0]}, ValueError, "q: found 3 dimensions"),
                ({"v": good["v"][:, :4]}, ValueError, "v: found shape [2, 4, 3, 5], wanted [2, 5, 3, 5] ([batch, key, 3, 5])"),
                ({"key_lengths": [3, 4]}, TypeError, "key_lengths: found list"),
                ({"key_lengths": np.arange(4)[::2]}, ValueError, "key_lengths: found strides [16] in bytes, wanted a C-contiguous"),
                ({"x": good["q"]}, TypeError, "unknown: x"), ({"target": "sparc"}, ValueError, "target: found 'sparc'"),
                ({"q": None}, TypeError, "missing: q"),
                ({"workspace": np.empty(8192, np.uint8)[::2]}, ValueError, "workspace: found strides [2] in bytes, wanted a C-contiguous"),
                ({"workspace": np.frombuffer(bytes(4096), np.uint8)}, ValueError, "workspace: found an array that is read-only"),
                ({"out": {"z": good["q"]}}, TypeError, "unknown outputs: z"),
                ({"out": good["q"]}, TypeError, "out: found ndarray, wanted a dictionary of arrays by output")):
            with self.subTest(words), self.assertRaises(error) as caught:
                mhac_call.call(LAYER, **{**good, **change})
            self.assertIn(words, str(caught.exception))

    def test_explains_what_it_cannot_load(self):
        for path, error, words in (("attn.o", ValueError, "compile with -o attn.so"), ("absent.so", FileNotFoundError, "absent.json")):
            with self.subTest(path), self.assertRaises(error) as caught:
                mhac_call.Artefact(path)
            self.assertIn(words, str(caught.exception))

    def test_statuses_become_exceptions_with_the_message(self):
        good = inputs()
        for change, name, words in (
                ({"key_lengths": np.array([6, 1])}, "VALUE_RANGE", "key_lengths"), ({"q": good["q"][:, ::-1]}, "STRIDE", "q_strides"),
                ({"workspace": np.empty(8, np.uint8)}, "WORKSPACE_SIZE", "workspace"),
                ({"threads": 0, "workspace": False}, "WORKSPACE_MISSING", "without a context"),
                ({"threads": -1}, "INVALID_OPTION", "option")):
            with self.subTest(name), self.assertRaises(mhac_call.MhacError) as caught:
                mhac_call.call(LAYER, **{**good, **change})
            self.assertEqual(caught.exception.name, name)
            self.assertIn(words, str(caught.exception))


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
