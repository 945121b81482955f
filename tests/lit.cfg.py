# lit: every text test of the repository; CTest runs it as `lit`.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
import os

import lit.formats

config.name = "mhac"
config.test_format = lit.formats.ShTest(execute_external=False)
config.suffixes = [".mlir", ".yaml", ".test"]
config.excludes = ["inputs", "golden", "package", "unit", "run", "fuzz", "performance", "abi"]
config.test_source_root = os.path.dirname(__file__)
config.test_exec_root = os.path.join(config.mhac_binary_dir, "tests", "lit")

# The first ones win: %mhac-opt before %mhac.
config.substitutions += [
    ("%mhac-opt", os.path.join(config.mhac_bin, "mhac-opt")),
    ("%mhac-run", os.path.join(config.mhac_bin, "mhac-run")),
    ("%mhac", os.path.join(config.mhac_bin, "mhac")),
    ("%specs", os.path.join(config.mhac_source_dir, "specs")),
    ("%runtime_include", os.path.join(config.mhac_source_dir, "runtime", "include")),
    ("%python", config.python),
    ("%cc", config.c_compiler),
]
# FileCheck, not, llvm-nm, ... come from the LLVM that the compiler is built on.
config.environment["PATH"] = os.pathsep.join([config.llvm_tools, os.environ.get("PATH", "")])
