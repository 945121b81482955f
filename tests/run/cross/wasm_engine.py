"""Runs a WebAssembly program (WASI) with this program's standard input and output: wasm_engine.py <program.wasm>
SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""
import sys

try:
    import wasmtime
except ImportError:
    sys.exit("[SKIP] there is no WebAssembly engine: the Python package wasmtime")


def main():
    engine = wasmtime.Engine()
    store = wasmtime.Store(engine)
    wasi = wasmtime.WasiConfig()
    wasi.inherit_stdin()
    wasi.inherit_stdout()
    wasi.inherit_stderr()
    store.set_wasi(wasi)
    linker = wasmtime.Linker(engine)
    linker.define_wasi()
    instance = linker.instantiate(store, wasmtime.Module.from_file(engine, sys.argv[1]))
    try:
        instance.exports(store)["_start"](store)
    except wasmtime.ExitTrap as end:
        return end.code
    return 0


sys.exit(main())
