#!/usr/bin/env python3
"""Times scatters of this crate, of a plain loop in Rust, and of those of numpy, torch and onnxruntime that are installed:
sums and assigns of f32 by i64 indices, in unique rows, in rows that meet eight updates on average, and all in one row. Each
target is compared with numpy's before anything is timed, and restored before each sample. onnxruntime copies the target.

    cargo build --release --no-default-features --lib
    python3 python/scatter.py --threads 1 --samples 9
"""

import argparse
import ctypes
import os
import time
from pathlib import Path

import numpy as np

# The rows and columns of the target, the index rows, and the indices of each of its rows, if each element has one.
WORKLOADS = {
    "rows of 64 B": (1 << 20, 16, 1 << 20, 0),
    "W1, 4 B": (1 << 24, 1, 1 << 22, 0),
    "W4, 512 B": (200_000, 128, 200_000, 0),
    "E1, elements": (65_536, 256, 65_536, 64),
}
KINDS = ["unique", "mean 8", "one row"]


class Operands(ctypes.Structure):
    _fields_ = [(name, ctypes.c_size_t) for name in ("rows", "columns", "count", "index_columns")] + [
        (name, ctypes.c_void_p) for name in ("updates", "indices", "target")]


def indices_of(random, rows, columns, count, index_columns, kind):
    if index_columns:
        if kind == "unique":
            return np.argsort(random.random((count, columns)), axis=1)[:, :index_columns]
        return random.integers(0, max(index_columns // 8, 1) if kind == "mean 8" else 1, (count, index_columns))
    if kind == "unique":
        return np.resize(random.permutation(rows), count)
    return random.integers(0, min(count // 8, rows), count) if kind == "mean 8" else np.full(count, rows // 2)


def calls_of(library, is_sum, operands, target, indices, updates, threads):
    """Pairs of a name and a call that scatters into `target`, or returns the target."""
    elements = operands.index_columns > 0
    names = ["this crate", "this crate, unique", "plain loop"]
    for number, name in enumerate(names):
        yield name, lambda number=number: library.scatter(number, is_sum, ctypes.byref(operands))
    if elements and is_sum:
        rows = np.arange(len(indices))[:, None]
        yield "numpy add.at", lambda: np.add.at(target, (rows, indices), updates)
    elif elements:
        yield "numpy put_along_axis", lambda: np.put_along_axis(target, indices, updates, 1)
    elif is_sum:
        yield "numpy add.at", lambda: np.add.at(target, indices, updates)
    else:
        yield "numpy a[i] = v", lambda: target.__setitem__(indices, updates)
    try:
        import torch

        torch.set_num_threads(threads)
        t, i, u = (torch.from_numpy(array) for array in (target, indices, updates))
        name = ("scatter_add_" if is_sum else "scatter_") if elements else ("index_add_" if is_sum else "index_copy_")
        yield f"torch {name}", lambda: getattr(t, name)(1 if elements else 0, i, u)
    except ImportError:
        pass
    try:
        import onnxruntime
        from onnx import TensorProto, helper

        of = "ScatterElements" if elements else "ScatterND"
        inputs = dict(t=target, i=indices if elements else indices[:, None], u=updates)
        kinds = dict(t=TensorProto.FLOAT, i=TensorProto.INT64, u=TensorProto.FLOAT)
        attributes = dict(reduction="add" if is_sum else "none", **(dict(axis=1) if elements else {}))
        node = helper.make_node(of, list(inputs), ["o"], **attributes)
        graph = helper.make_graph(
            [node], "g", [helper.make_tensor_value_info(name, kinds[name], value.shape) for name, value in inputs.items()],
            [helper.make_tensor_value_info("o", TensorProto.FLOAT, target.shape)])
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = threads
        model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)], ir_version=9)
        session = onnxruntime.InferenceSession(model.SerializeToString(), options, providers=["CPUExecutionProvider"])
        yield f"onnxruntime {of}", lambda: session.run(None, inputs)[0]
    except ImportError:
        pass


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--samples", type=int, default=9)
    parser.add_argument("--threads", type=int, default=os.cpu_count(), help="and processors")
    options = parser.parse_args()
    os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[: options.threads])
    os.environ["RAYON_NUM_THREADS"] = str(options.threads)
    built = Path(__file__).resolve().parents[1] / "target/release/libwgpu_gather_peers.so"
    library = ctypes.CDLL(os.environ.get("WGPU_GATHER_PEERS", built))
    library.scatter.argtypes = [ctypes.c_uint8, ctypes.c_bool, ctypes.POINTER(Operands)]
    print(f"{options.threads} threads, medians of {options.samples} samples, ms; beside the plain loop")
    for workload, (rows, columns, count, index_columns) in WORKLOADS.items():
        for kind in KINDS:
            random = np.random.default_rng(1)
            indices = indices_of(random, rows, columns, count, index_columns, kind).astype(np.int64)
            shape = indices.shape if index_columns else (count, columns)
            # All sums are exact, that of one row too.
            updates = random.integers(0, 3, shape).astype(np.float32)
            old = random.integers(0, 1000, (rows, columns)).astype(np.float32)
            target = old.copy()
            operands = Operands(rows, columns, count, index_columns, updates.ctypes.data, indices.ctypes.data, target.ctypes.data)
            for is_sum in [True, False]:
                expected, times = None, {}
                calls = list(calls_of(library, is_sum, operands, target, indices, updates, options.threads))
                for name, call in calls:
                    if name == "this crate, unique" and kind != "unique":
                        continue
                    np.copyto(target, old)
                    made = call()
                    found = (made if isinstance(made, np.ndarray) else target).copy()
                    if name == "this crate":
                        expected = found
                    if not np.array_equal(found, expected):
                        print(f"  {name}: another result")
                        continue
                    times[name] = []
                for _ in range(options.samples):
                    for name, call in calls:
                        if name in times:
                            np.copyto(target, old)
                            # Threads of other libraries spin after their calls.
                            time.sleep(0.02)
                            start = time.perf_counter()
                            call()
                            times[name].append((time.perf_counter() - start) * 1e3)
                loop = np.median(times["plain loop"])
                cells = [f"{name} {np.median(of):.1f} ({np.median(of) / loop:.2f})" for name, of in times.items()]
                print(f"{workload}, {kind}, {'sums' if is_sum else 'assigns'}: " + ", ".join(cells), flush=True)


if __name__ == "__main__":
    main()
