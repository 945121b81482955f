#!/usr/bin/env python3
"""Calls compiled attention layers from Python: ctypes and NumPy, and nothing but the manifest.

    from mhac_call import call
    y = call("attn.so", x=x, wqkv=wqkv, bqkv=bqkv, wo=wo, bo=bo, key_lengths=lengths)

`call` returns `y` as an array; a layer with several outputs (`outputs: [y, lse]`) gives a dictionary of arrays by name, {"y": ..., "lse": ...}.
They are new arrays, or those given with `out={"y": array}`. Arguments that take strides may be any NumPy view whose last dimension is
contiguous; the others must be C-contiguous. Nothing is converted or copied. Arguments of f16 are float16; those of bf16 are uint16
(their bits) or ml_dtypes.bfloat16, and outputs of bf16 that are not given are uint16; weights of int8 are int8, those of int4 (two a byte) and fp8 are
uint8. `Artefact(path)` loads once for many calls. Errors are exceptions: TypeError and
ValueError for arrays that cannot be what the manifest asks for, MhacError for everything that the artefact itself refuses.
SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""
import ctypes
import json
import os

import numpy as np

# NumPy has no bf16: its bits, as uint16, or the type of that name that ml_dtypes has.
_DTYPES = {"f32": np.dtype(np.float32), "f16": np.dtype(np.float16), "bf16": np.dtype(np.uint16), "int8": np.dtype(np.int8),
           **{word: np.dtype(np.uint8) for word in ("int4", "fp8_e4m3", "fp8_e5m2")}, "i32": np.dtype(np.int32), "i64": np.dtype(np.int64), "bool": np.dtype(np.uint8)}
_CPU_DETECTED = 1 << 63


class MhacError(RuntimeError):
    """A call returned a status; `status` is its number, `name` its name, the text is the message in the context."""

    def __init__(self, status, name, message):
        super().__init__(f"{name}: {message}")
        self.status, self.name, self.message = status, name, message


class _ContextOptions(ctypes.Structure):
    _fields_ = [("struct_size", ctypes.c_size_t)] + [
        (name, kind)
        for name, kind in (
            ("allocator_self", ctypes.c_void_p), ("allocate", ctypes.c_void_p), ("release", ctypes.c_void_p),
            ("parallel_self", ctypes.c_void_p), ("concurrency", ctypes.c_int), ("parallel_for", ctypes.c_void_p),
            ("log_self", ctypes.c_void_p), ("log_message", ctypes.c_void_p), ("cpu_features", ctypes.c_uint64))]


class _Parallel(ctypes.Structure):
    _fields_ = [("self", ctypes.c_void_p), ("concurrency", ctypes.c_int), ("parallel_for", ctypes.c_void_p)]


class Artefact:
    """A loaded shared library and its manifest, for many calls. `manifest` defaults to the .json file beside the library."""

    def __init__(self, path, manifest=None):
        path = os.fspath(path)
        stem, suffix = os.path.splitext(path)
        if suffix in (".o", ".a"):
            raise ValueError(f"{path}: found an object to link, wanted a shared library; compile with -o {stem}.so")
        manifest = os.fspath(manifest or stem + ".json")
        try:
            with open(manifest, encoding="utf-8") as file:
                self.manifest = json.load(file)
        except FileNotFoundError:
            raise FileNotFoundError(f"found no manifest {manifest}, which mhac writes beside {path}; name another one with "
                                    f"Artefact({path!r}, manifest=...)") from None
        except ValueError as error:
            raise ValueError(f"the manifest {manifest} is not JSON: {error}") from None
        if self.manifest.get("schema") != 1:
            raise ValueError(f"the manifest of {path} has schema {self.manifest.get('schema')}, wanted 1")
        self.arguments = {argument["name"]: argument for argument in self.manifest["arguments"]}
        self._library = ctypes.CDLL(os.path.abspath(path))
        self._function(self.manifest["symbols"]["call"], ctypes.c_void_p, ctypes.c_void_p)
        self._function(self.manifest["symbols"]["workspace_bytes"], ctypes.c_void_p, ctypes.c_void_p, ctypes.POINTER(ctypes.c_size_t))
        self._function("mhac_context_create", ctypes.POINTER(_ContextOptions), ctypes.POINTER(ctypes.c_void_p))
        self._function("mhac_context_destroy", ctypes.c_void_p, returns=None)
        self._function("mhac_context_message", ctypes.c_void_p, returns=ctypes.c_char_p)
        self._function("mhac_thread_pool_create", ctypes.c_int, ctypes.c_void_p, ctypes.POINTER(ctypes.c_void_p))
        self._function("mhac_thread_pool_destroy", ctypes.c_void_p, returns=None)
        self._function("mhac_thread_pool_parallel", ctypes.c_void_p, returns=_Parallel)
        self._function("mhac_status_name", ctypes.c_int, returns=ctypes.c_char_p)
        self._function("mhac_status_string", ctypes.c_int, returns=ctypes.c_char_p)

    def __call__(self, threads=1, target=None, workspace=True, out=None, prepared=None, **arrays):
        """Runs the layer once.

        threads: 1 runs serially, n on a pool of n threads made for this call, 0 without a context.
        target: name of a target in the manifest; only kernels that need no CPU feature beyond its own are used. Default: the machine's best.
        workspace: True allocates what the layer asks for, False leaves that to the library, a writable, contiguous one-dimensional
            uint8 array is used as it is.
        prepared: what prepare() returned; None: the call computes it.
        out: dictionary of arrays to write outputs to, by name; those that are not in it are made.
        arrays: inputs, weights and parameters by name.
        """
        sizes = self._sizes(arrays)
        outputs = self._outputs(sizes, {} if out is None else out)
        block, keep = self._struct(sizes, {**arrays, **outputs})
        if prepared is not None:
            if "prepared" not in self.manifest:
                raise TypeError(f"{self.manifest['name']}: the layer has no prepared state")
            keep.append(prepared)
            self._put(block, self.manifest["prepared"]["offset"], prepared.ctypes.data)
        with _Context(self, threads, self._features(target)) as context:
            if workspace is True:
                bytes_needed = ctypes.c_size_t()
                self.check(context, getattr(self._library, self.manifest["symbols"]["workspace_bytes"])(context, block, ctypes.byref(bytes_needed)))
                workspace = np.empty(bytes_needed.value, np.uint8) if bytes_needed.value else False
            if workspace is not False:
                if not isinstance(workspace, np.ndarray) or workspace.dtype != np.uint8 or workspace.ndim != 1:
                    raise TypeError("workspace: found something else, wanted True, False or a one-dimensional uint8 array")
                if not workspace.flags.writeable:
                    raise ValueError("workspace: found an array that is read-only, wanted a writable one")
                if not workspace.flags.c_contiguous:
                    raise ValueError(f"workspace: found strides {list(workspace.strides)} in bytes, wanted a C-contiguous array")
                keep.append(workspace)
                self._put(block, self.manifest["workspace"]["offset"], workspace.ctypes.data)
                self._put(block, self.manifest["workspace"]["bytes_offset"], workspace.nbytes)
            self.check(context, getattr(self._library, self.manifest["symbols"]["call"])(context, block))
        return next(iter(outputs.values())) if len(outputs) == 1 else outputs

    def prepare(self, **sizes):
        """State that is made once, for the argument `prepared` of calls whose sequences are at most as long as the sizes given here.

        sizes: "query" and "key" where the layer has them; fixed sizes need not be given.
        """
        symbols = self.manifest["symbols"]
        if "prepare" not in symbols:
            raise TypeError(f"{self.manifest['name']}: the layer has no prepared state")
        wanted = {size["name"]: size["minimum"] for size in self.manifest["sizes"]}
        if unknown := set(sizes) - set(wanted):
            raise TypeError(f"prepare: unknown: {', '.join(sorted(unknown))}; wanted {', '.join(wanted)}")
        block, _ = self._struct({**wanted, **sizes}, {})
        self._function(symbols["prepared_bytes"], ctypes.c_void_p, ctypes.c_void_p, ctypes.POINTER(ctypes.c_size_t))
        self._function(symbols["prepare"], ctypes.c_void_p, ctypes.c_void_p, ctypes.c_void_p)
        bytes_needed = ctypes.c_size_t()
        self.check(None, getattr(self._library, symbols["prepared_bytes"])(None, block, ctypes.byref(bytes_needed)))
        alignment = self.manifest["prepared"]["alignment"]
        memory = np.empty(bytes_needed.value + alignment, np.uint8)
        memory = memory[-memory.ctypes.data % alignment:][:bytes_needed.value]
        self.check(None, getattr(self._library, symbols["prepare"])(None, block, memory.ctypes.data))
        return memory

    def check(self, context, status):
        """Raises MhacError unless the status is 0."""
        if status == 0:
            return
        message = self._library.mhac_context_message(context) if context else b""
        raise MhacError(status, self._library.mhac_status_name(status).decode(),
                        (message or self._library.mhac_status_string(status)).decode())

    def _function(self, name, *arguments, returns=ctypes.c_int):
        function = getattr(self._library, name)
        function.argtypes, function.restype = list(arguments), returns

    def _features(self, target):
        if target is None:
            return 0
        for candidate in self.manifest["targets"]:
            if candidate["name"] == target:
                return int(candidate["features"], 16) | _CPU_DETECTED
        raise ValueError(f"target: found '{target}', wanted one of {sorted({t['name'] for t in self.manifest['targets']})}")

    def _sizes(self, arrays):
        """Values of the sizes, from the shapes of the arrays."""
        inputs = [argument for argument in self.manifest["arguments"] if not argument["output"]]
        unknown = set(arrays) - {argument["name"] for argument in inputs}
        missing = [argument["name"] for argument in inputs if arrays.get(argument["name"]) is None and not argument["optional"]]
        if unknown or missing:
            raise TypeError(f"{self.manifest['name']}: wanted {', '.join(argument['name'] for argument in inputs)}; "
                            f"unknown: {', '.join(sorted(unknown)) or 'none'}; missing: {', '.join(missing) or 'none'}")
        sizes = {size["name"]: size["minimum"] for size in self.manifest["sizes"] if size["offset"] < 0}
        for argument in inputs:
            array = arrays.get(argument["name"])
            if array is None:
                continue
            self._check_array(argument, array)
            for extent, dim in zip(argument["shape"], array.shape):
                if extent["size"] is not None and extent["divisor"] == extent["factor"] == 1:
                    sizes.setdefault(extent["size"], dim)
        for argument in inputs:
            if arrays.get(argument["name"]) is not None:
                self._check_shape(argument, arrays[argument["name"]], sizes)
        return sizes

    def _outputs(self, sizes, given):
        if not isinstance(given, dict):
            raise TypeError(f"out: found {type(given).__name__}, wanted a dictionary of arrays by output, such as {{'y': array}}")
        outputs = {}
        for argument in self.manifest["arguments"]:
            if not argument["output"]:
                continue
            array = given.get(argument["name"])
            if array is None:
                array = np.empty(self._shape(argument, sizes), _DTYPES[argument["dtype"]])
            self._check_array(argument, array)
            self._check_shape(argument, array, sizes)
            if not array.flags.writeable:
                raise ValueError(f"{argument['name']}: found an array that is read-only, wanted a writable one")
            outputs[argument["name"]] = array
        if set(given) - set(outputs):
            raise TypeError(f"out: unknown outputs: {', '.join(sorted(set(given) - set(outputs)))}; wanted {', '.join(outputs)}")
        return outputs

    @staticmethod
    def _shape(argument, sizes):
        return tuple((-(-sizes[extent["size"]] // extent["divisor"]) if extent["size"] is not None else 1) * extent["factor"]
                     for extent in argument["shape"])

    def _check_array(self, argument, array):
        name, dims = argument["name"], ", ".join(argument["dims"])
        if not isinstance(array, np.ndarray):
            raise TypeError(f"{name}: found {type(array).__name__}, wanted a NumPy array of {argument['dtype']} [{dims}]")
        wanted = _DTYPES[argument["dtype"]]
        if (array.dtype != wanted and not (argument["dtype"] == "bf16" and array.dtype.name == "bfloat16")) or not array.dtype.isnative:
            raise TypeError(f"{name}: found dtype {array.dtype}, wanted {wanted}" + (" (the bits) or ml_dtypes.bfloat16" if argument["dtype"] == "bf16" else ""))
        if array.ndim != len(argument["shape"]):
            raise ValueError(f"{name}: found {array.ndim} dimensions {list(array.shape)}, wanted {len(argument['shape'])}: [{dims}]")

    def _check_shape(self, argument, array, sizes):
        wanted = self._shape(argument, sizes)
        if array.shape != wanted:
            dims = f" ([{', '.join(argument['dims'])}])" if any(extent["size"] for extent in argument["shape"]) else ""
            raise ValueError(f"{argument['name']}: found shape {list(array.shape)}, wanted {list(wanted)}{dims}")
        if argument["strides_offset"] < 0 and not array.flags.c_contiguous:
            raise ValueError(f"{argument['name']}: found strides {list(array.strides)} in bytes, wanted a C-contiguous array "
                             "(numpy.ascontiguousarray makes one)")
        if any(stride % array.itemsize for stride in array.strides):
            raise ValueError(f"{argument['name']}: found strides {list(array.strides)} in bytes, wanted multiples of the element's {array.itemsize}")

    @staticmethod
    def _put(block, offset, value):
        ctypes.c_uint64.from_buffer(block, offset).value = value

    def _struct(self, sizes, arrays):
        """The argument struct, and what must live as long as it."""
        block, keep = ctypes.create_string_buffer(self.manifest["args_bytes"]), []
        self._put(block, 0, self.manifest["args_bytes"])
        for size in self.manifest["sizes"]:
            if size["offset"] >= 0:
                self._put(block, size["offset"], sizes[size["name"]])
        for argument in self.manifest["arguments"]:
            array = arrays.get(argument["name"])
            if array is None:
                continue
            keep.append(array)
            self._put(block, argument["offset"], array.ctypes.data)
            if argument["strides_offset"] >= 0 and not array.flags.c_contiguous:
                strides = (ctypes.c_int64 * array.ndim)(*(stride // array.itemsize for stride in array.strides))
                keep.append(strides)
                self._put(block, argument["strides_offset"], ctypes.addressof(strides))
        return block, keep


class _Context:
    """A context with or without a pool; the value of the `with` is its pointer, None for no context."""

    def __init__(self, artefact, threads, features):
        self._artefact, self._library, self._threads, self._features = artefact, artefact._library, threads, features
        self._pool, self._context = ctypes.c_void_p(), ctypes.c_void_p()

    def __enter__(self):
        if self._threads == 0:
            if self._features:
                raise ValueError("target: needs a context, found threads=0")
            return None
        options = _ContextOptions(struct_size=ctypes.sizeof(_ContextOptions), cpu_features=self._features)
        try:
            if self._threads != 1:
                self._artefact.check(None, self._library.mhac_thread_pool_create(self._threads, None, ctypes.byref(self._pool)))
                parallel = self._library.mhac_thread_pool_parallel(self._pool)
                options.parallel_self, options.concurrency, options.parallel_for = parallel.self, parallel.concurrency, parallel.parallel_for
            self._artefact.check(None, self._library.mhac_context_create(ctypes.byref(options), ctypes.byref(self._context)))
        except MhacError:
            self.__exit__()
            raise
        return self._context

    def __exit__(self, *_):
        self._library.mhac_context_destroy(self._context)
        self._library.mhac_thread_pool_destroy(self._pool)


def call(path, threads=1, target=None, workspace=True, out=None, **arrays):
    """Loads the shared library at `path` and runs its layer once; see Artefact.__call__."""
    return Artefact(path)(threads=threads, target=target, workspace=workspace, out=out, **arrays)
