#!/usr/bin/env python3
"""mhac-run accepts the hand-made artefact and finds each of its mistakes. Arguments: mhac-run, the folder of the artefacts.

SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""
import json
import os
import subprocess
import sys
import tempfile
import unittest

RUN, FOLDER = sys.argv[1], sys.argv[2]
SEED = 3  # its strides leave a gap behind every head of y


def run(artefact, *options):
    result = subprocess.run([RUN, os.path.join(FOLDER, artefact + ".json"), *options], capture_output=True, text=True)
    return result.returncode, result.stdout, result.stderr


class MhacRun(unittest.TestCase):
    def test_accepts_a_right_layer(self):
        code, out, err = run("layer_0", "--batch=0,1,5", "--query=0,1,7", "--key=0,1,9", "--threads=0,1,2", "--strided", "--seed=3")
        self.assertEqual(code, 0, err)
        self.assertEqual(out.count(": ok, largest error"), 81)

    def test_links_an_object_with_the_runtime(self):
        code, out, err = run("layer_object", "--query=5")
        self.assertEqual((code, out.count(": ok")), (0, 1), err)

    def test_finds_every_mistake(self):
        words = {1: ["y[b=", "found", "wanted", "ULP apart", "allowed", f"seed {SEED}"], 2: ["y[b=", "found nan"],
                 3: ["beside 'y'"], 4: ["between the elements of the output 'y'"], 5: ["lse[b=", "wanted -inf"], 6: ["beside 'workspace'"]}
        for mistake, expected in words.items():
            code, _, err = run(f"layer_{mistake}", "--batch=4", "--query=6", "--key=20", "--strided", f"--seed={SEED}")
            self.assertEqual(code, 1, f"mistake {mistake}")
            for word in expected:
                self.assertIn(word, err)

    def test_every_seed_leaves_a_row_with_keys_and_some_leave_empty_ones(self):
        one_query = ["--query=1", "--key=20"]
        scale = [run("layer_1", "--batch=1", *one_query, f"--seed={seed}")[0] for seed in range(8)]
        self.assertEqual(scale, [1] * 8, "a wrong scale shows in rows with keys only")
        empty = [run("layer_5", "--batch=3", *one_query, f"--seed={seed}")[0] for seed in range(8)]
        self.assertIn(1, empty, "a wrong lse of empty rows shows in empty rows only")

    def test_benchmark_prints_all_fields(self):
        code, out, err = run("layer_0", "--bench", "--json", "--query=16", "--series=1", "--calls=5")
        self.assertEqual(code, 0, err)
        fields = json.loads(out)
        self.assertEqual(list(fields), [
            "name", "entry", "shape", "dtype", "threads", "target", "runs", "min_ns", "median_ns", "flops", "gflops", "peak_gflops", "share_of_peak",
            "bytes", "gb_per_s", "bandwidth_gb_per_s", "share_of_bandwidth", "max_abs_error", "workspace_bytes", "peak_rss_bytes"])
        self.assertEqual(fields["shape"], {"batch": 1, "key": 16, "query": 16})
        self.assertEqual(fields["flops"], 2 * (16 * 17 // 2) * 3 * (4 + 5))  # causal: half of the pairs
        self.assertEqual(fields["runs"], 5)
        self.assertGreaterEqual(fields["median_ns"], fields["min_ns"])
        self.assertGreater(fields["peak_gflops"], 0)

    def test_checked_calls_as_json(self):
        for layer, ok in (("layer_0", True), ("layer_1", False)):
            code, out, err = run(layer, "--json", "--query=16,17")
            self.assertEqual(code, 0 if ok else 1, err)
            lines = [json.loads(line) for line in out.splitlines()]
            self.assertEqual([line["shape"]["query"] for line in lines], [16, 17])
            for fields in lines:
                self.assertEqual(list(fields), ["name", "entry", "shape", "dtype", "threads", "target", "max_abs_error", "allowed", "ok"])
                self.assertEqual(fields["ok"], ok)
                self.assertEqual(fields["max_abs_error"] <= fields["allowed"], ok)

    def test_reports_wrong_usage(self):
        self.assertEqual(subprocess.run([RUN], capture_output=True).returncode, 2)
        code, _, err = run("layer_0", "--querry=3")
        self.assertEqual(code, 2)
        self.assertIn("unknown option '--querry'; did you mean '--query'?", err)
        self.assertEqual(run("layer_0", "--query=3x")[0], 2)
        code, _, err = run("layer_0", "--target=sparc")
        self.assertEqual(code, 2)
        self.assertIn("--target: found 'sparc', wanted one of ", err)
        code, _, err = run("absent")
        self.assertEqual(code, 2)
        self.assertIn("cannot read", err)
        code, _, err = run("layer_0", "--spec=absent.yaml")
        self.assertEqual(code, 2)
        self.assertIn("cannot read absent.yaml", err)

    def test_refuses_sizes_that_the_layer_does_not_take(self):
        with open(os.path.join(FOLDER, "layer_0.json")) as file:
            manifest = json.load(file)
        sizes = {size["name"]: size for size in manifest["sizes"]}
        sizes["query"]["maximum"] = 9
        sizes["batch"].update(minimum=2, maximum=2, offset=-1)
        manifest["sizes"] = [sizes["batch"], sizes["query"]]
        with tempfile.NamedTemporaryFile("w", suffix=".json", dir=FOLDER, delete=False) as file:
            json.dump({**manifest, "arguments": []}, file)
        for option, words in (("--batch=3", "--batch: found 3, wanted 2, which"), ("--query=4,10", "--query: found 10, wanted 0 to 9"),
                              ("--key=4", "takes no size 'key': its keys are the queries")):
            code, _, err = run(os.path.basename(file.name)[:-5], option)
            self.assertEqual(code, 2)
            self.assertIn(words, err)
        os.unlink(file.name)

    def test_refuses_damaged_manifests(self):
        with open(os.path.join(FOLDER, "layer_0.json")) as file:
            good = json.load(file)
        for change, words in (({"schema": 2}, "expected 1"), ({"args_bytes": 100}, "do not fit together"),
                              ({"arguments": [{"name": 3}]}, "expected string"), ({"object": "absent.so"}, "absent.so")):
            with tempfile.NamedTemporaryFile("w", suffix=".json", dir=FOLDER, delete=False) as file:
                json.dump({**good, **change}, file)
            code, _, err = run(os.path.basename(file.name)[:-5])
            os.unlink(file.name)
            self.assertEqual(code, 2)
            self.assertIn(words, err)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
