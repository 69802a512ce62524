"""Writes numpy.jsonl: gathers with the results of NumPy and JAX, which this script runs.

    pip install numpy==2.4.6 jax==0.10.2 jaxlib
    python tests/data/numpy_cases.py > tests/data/numpy.jsonl

Element n of params is n. A line has the call, the operation here, the shapes, the index values, their type if it is
not i64, the fill if it is not 0, and the output: its shape and its elements, or "error" for an index out of range. Of the random
draws the first of each call, operation, rank, and result is written, and all with indices of 8 and 16 bits.
"""

import json
import os
import random

os.environ["JAX_ENABLE_X64"] = "1"
os.environ["JAX_PLATFORMS"] = "cpu"

import jax.numpy as jnp
import numpy as np

random.seed(20261124)
written = set()

MODES = {
    "raise": ".negative_indices(FromEnd).bad_indices(Error)",
    "fill": ".negative_indices(FromEnd).bad_indices(Fill)",
    "clip": ".bad_indices(Clamp)",
    "jax clip": ".negative_indices(FromEnd).bad_indices(Clamp)",
    "wrap": ".bad_indices(Wrap)",
}


def write(call, op, params, indices, run, axis, mode):
    """Runs the call. GatherNd's indices are a list of arrays in `indices`, which are its index rows."""
    values = np.stack(indices, -1) if op == "GatherNd" else indices
    broadcast = ".broadcast(true)" if op == "GatherElements" else ""
    here = f"{op}::new().axis({axis}){broadcast}{MODES[mode]}"
    line = dict(call=call, here=here, params=list(params.shape), indices=list(values.shape))
    if values.dtype != np.int64:
        line["type"] = f"{values.dtype.kind}{8 * values.dtype.itemsize}"
    line["values"] = values.flatten().tolist()
    if mode == "fill":
        line["fill"] = -1
    try:
        output = np.asarray(run())
        line["output"] = dict(shape=list(output.shape), elements=output.flatten().tolist())
    except IndexError:
        line["output"] = "error"
    kind = (call, here, params.ndim, line["output"] == "error", params.size == 0)
    if kind in written and "type" not in line:
        return
    written.add(kind)
    print(json.dumps(line, separators=(",", ":")))


def shape(ranks, least=1):
    return [random.randint(least, 5) for _ in range(random.choice(ranks))]


def params_of(shape):
    return np.arange(np.prod(shape), dtype=np.int32).reshape(shape)


def indices_of(shape, dim, beyond):
    """Index values in -dim..dim, and beyond it with the probability `beyond`. NumPy wraps by repeated addition, so
    they stay below a million."""
    def value():
        if random.random() < beyond:
            return random.choice([dim, -dim - 1, 3 * dim + 1, -7 * dim, 999_983, -999_979])
        return random.randrange(-dim, dim)
    count = int(np.prod(shape))
    return np.array([value() for _ in range(count)], dtype=np.int64).reshape(shape)


def takes(module, modes, count):
    for n in range(count):
        mode = modes[n % len(modes)]
        params = params_of(shape([1, 2, 3, 4]))
        axis = random.randrange(-params.ndim, params.ndim)
        beyond = random.choice([0, 0.1]) if mode == "raise" else 0.4
        indices = indices_of(shape([0, 1, 2]), params.shape[axis], beyond)
        extra = dict(fill_value=-1) if mode == "fill" else {}
        run = lambda: module.take(params, indices, axis=axis, mode=mode, **extra)
        call = f'{module.__name__}.take(params, indices, axis={axis}, mode="{mode}")'
        write(call, "Gather", params, indices, run, axis=axis, mode=mode)


def places(params, axis, depth, beyond):
    rows = shape([0, 1, 2])
    return [indices_of(rows, params.shape[axis + k], beyond) for k in range(depth)]


def behind_dims(modes, count):
    """x[:, i, j]: index rows of one to three values behind dims that are copied through."""
    for n in range(count):
        mode = modes[n % len(modes)]
        params = params_of(shape([2, 3, 4, 5]))
        depth = random.randint(1, min(3, params.ndim))
        axis = random.randint(0, params.ndim - depth)
        beyond = random.choice([0, 0.1]) if mode == "raise" else 0.3
        indices = places(params, axis, depth, beyond)
        key = (slice(None),) * axis + tuple(indices)
        if mode == "raise":
            call, run = "params[:, i, ..]", lambda: params[key]
        else:
            extra = dict(fill_value=-1) if mode == "fill" else {}
            call = f'params.at[:, i, ..].get(mode="{mode}")'
            run = lambda: jnp.asarray(params).at[key].get(mode=mode, **extra)
        write("jax " * (mode != "raise") + call, "GatherNd", params, indices, run, axis=axis,
              mode="jax clip" if mode == "clip" else mode)


def empty_slices(count):
    for _ in range(count):
        dims = shape([2, 3, 4])
        depth = random.randint(1, len(dims) - 1)
        axis = random.randint(0, len(dims) - depth)
        outside = [k for k in range(len(dims)) if not axis <= k < axis + depth]
        dims[random.choice(outside)] = 0
        params = params_of(dims)
        indices = places(params, axis, depth, 0)
        key = (slice(None),) * axis + tuple(indices)
        write("params[:, i, ..]", "GatherNd", params, indices, lambda: params[key], axis=axis, mode="raise")


def narrow_takes(modes, count):
    """Indices of 8 and 16 bits, with the least and the largest values of their types."""
    types = [np.int8, np.uint8, np.int16, np.uint16]
    for n in range(count):
        mode, index_type = modes[n // len(types) % len(modes)], types[n % len(types)]
        least, most = np.iinfo(index_type).min, np.iinfo(index_type).max
        params = params_of([random.choice([1, 3, 130, 200, 256, 260, most + 1] if n % 2 else [2, 5, 7])])
        dim = params.shape[0]
        def value():
            ends = [least, least + 1, -1, most // 2, most // 2 + 1, most - 1, most, dim - 1, dim, -dim]
            choice = random.choice(ends + [random.randrange(dim) for _ in ends])
            if mode == "raise" and not -dim <= choice < dim:
                choice = choice % dim
            return min(max(choice, least), most)
        indices = np.array([value() for _ in range(random.randint(1, 9))], dtype=index_type)
        run = lambda: np.take(params, indices, mode=mode)
        write(f'numpy.take(params, indices, mode="{mode}")', "Gather", params, indices, run, axis=0, mode=mode)


def along_axis(module, modes, count):
    """Dims of 1, in params or in indices, that stretch."""
    for n in range(count):
        mode = modes[n % len(modes)]
        dims = shape([1, 2, 3, 4, 5])
        axis = random.randrange(-len(dims), len(dims))
        params_dims, indices_dims = list(dims), list(dims)
        for k in range(len(dims)):
            if k == axis % len(dims):
                indices_dims[k] = random.randint(0, 5)
            else:
                random.choice([params_dims, indices_dims, dims])[k] = 1
        params = params_of(params_dims)
        beyond = random.choice([0, 0.1]) if mode == "raise" else 0.3
        indices = indices_of(indices_dims, params.shape[axis], beyond)
        extra = {} if mode == "raise" else dict(mode=mode)
        if mode == "fill":
            extra["fill_value"] = -1
        named = "".join(f", {name}={value!r}" for name, value in extra.items())
        run = lambda: module.take_along_axis(params, indices, axis=axis, **extra)
        call = f"{module.__name__}.take_along_axis(params, indices, axis={axis}{named})"
        write(call, "GatherElements", params, indices, run, axis=axis,
              mode="jax clip" if mode == "clip" else mode)


takes(np, ["raise", "clip", "wrap", "wrap"], 120)
takes(jnp, ["wrap", "clip", "fill"], 90)
behind_dims(["raise", "raise", "clip", "fill"], 150)
empty_slices(40)
narrow_takes(["raise", "clip", "wrap"], 60)
along_axis(np, ["raise"], 100)
along_axis(jnp, ["fill", "clip"], 80)
