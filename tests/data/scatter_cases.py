"""Writes scatter.jsonl: scatters with the results of TensorFlow, ONNX's node tests, ONNX Runtime, PyTorch and NumPy.

    pip install numpy==2.4.6 onnx onnxruntime tensorflow==2.21.0 torch
    python tests/data/scatter_cases.py > tests/data/scatter.jsonl

A line has the call, the plan's attributes, the update, the operands as the hex of their little-endian bytes, and the result:
`expect`, or null and `bad_row` for an index out of range. `neutral` is an element that is assigned to the same indices before
the update: PyTorch's include_self=False. Where a library leaves the order of updates open, rows are unique or the result is
exact in any order. Of the random draws the first two of each call, update, type, policy and rank are written, of NumPy and ONNX Runtime the first.
"""

import collections
import json
import os
import random
import re

os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
os.environ["CUDA_VISIBLE_DEVICES"] = ""

import numpy as np
import onnxruntime
import tensorflow as tf
import torch
from onnx import TensorProto, helper
from onnx.backend.test.case.node import collect_testcases

random.seed(20261127)
NAMES = {np.dtype(name): short for name, short in [
    ("float32", "f32"), ("float64", "f64"), ("int8", "i8"), ("uint8", "u8"), ("int16", "i16"), ("uint16", "u16"),
    ("int32", "i32"), ("uint32", "u32"), ("int64", "i64"), ("uint64", "u64")]}
written = collections.Counter()


def write(call, op, target, indices, updates, update, result, **attributes):
    """`result` is the target after the call, or the number of the bad row."""
    kind = (call, update, target.dtype, attributes.get("policy", "error"), target.ndim)
    written[kind] += "broadcast" not in attributes
    if written[kind] > (1 if call.startswith(("np.", "onnxruntime")) else 2) and "broadcast" not in attributes:
        return
    line = dict(
        call=call, op=op, axis=None, batch_dims=0, negative="invalid", policy="error", target_shape=list(target.shape),
        indices_shape=list(indices.shape), index_dtype=NAMES[indices.dtype], update=update, dtype=NAMES[target.dtype])
    line.update(attributes)
    line.update(indices=indices.flatten().tolist(), target=target.tobytes().hex(), updates=updates.tobytes().hex())
    is_bad = isinstance(result, int)
    line.update(expect=None if is_bad else result.tobytes().hex(), bad_row=result if is_bad else None)
    print(json.dumps(line, separators=(",", ":")))


def shape(ranks, least=1, most=5):
    return [random.randint(least, most) for _ in range(random.choice(ranks))]


def values(shape, dtype, update):
    """Numbers whose sums and products of a few are exact. Assigned floats have NaNs, and all floats but factors -0."""
    count = int(np.prod(shape))
    if np.dtype(dtype).kind != "f":
        return np.array([random.randint(0, 120) for _ in range(count)]).astype(dtype).reshape(shape)
    special = {"assign": [-0.0, np.inf, np.nan], "mul": [], "add": [-0.0, np.inf], "min": [-0.0, np.inf], "max": [-0.0, np.inf]}
    factors = [1.0, 2.0, -1.0, 0.5]
    def one():
        if special[update] and random.random() < 0.1:
            return random.choice(special[update])
        return random.choice(factors) if update == "mul" else random.randint(-64, 64) / 4
    return np.array([one() for _ in range(count)], dtype=dtype).reshape(shape)


def index_rows(dims, count, unique, negative=False):
    """Index rows in dims; all different if `unique`."""
    every = int(np.prod(dims))
    rows = random.sample(range(every), min(count, every)) if unique else [random.randrange(every) for _ in range(count)]
    rows = np.stack(np.unravel_index(rows, dims), -1) if dims else np.zeros((count, 0), int)
    if negative:
        rows = np.where(np.random.default_rng(random.randrange(1 << 30)).random(rows.shape) < 0.4, rows - np.array(dims), rows)
    return rows


def tensorflow(count):
    calls = {"assign": "tensor_scatter_nd_update", "add": "tensor_scatter_nd_add", "min": "tensor_scatter_nd_min",
             "max": "tensor_scatter_nd_max", "sub": "tensor_scatter_nd_sub", "zeros": "scatter_nd"}
    for n in range(count):
        kind = list(calls)[n % len(calls)]
        update = {"sub": "add", "zeros": "add"}.get(kind, kind)
        policy = ["DEFAULT", "ERROR", "IGNORE", ""][n // len(calls) % 4]
        dtype = random.choice(["float32", "int32", "float64", "int64"])
        target = np.zeros(shape([1, 2, 3]), dtype)
        depth = random.randint(1, target.ndim)
        rows = index_rows(target.shape[:depth], random.randint(1, 6), update == "assign")
        indices = rows.astype(random.choice(["int32", "int64"]))
        is_bad = random.random() < 0.5
        if is_bad:
            bad = random.randrange(len(indices))
            indices[bad, random.randrange(depth)] = random.choice([-1, 5, 77, -2**31, 2**31 - 1])
        updates = values([len(indices)] + list(target.shape[depth:]), dtype, update)
        if kind != "zeros":
            target = values(target.shape, dtype, update)
        name = calls[kind]
        try:
            if kind == "zeros":
                result = tf.raw_ops.ScatterNd(indices=indices, updates=updates, shape=np.array(target.shape, indices.dtype),
                                              bad_indices_policy=policy)
            else:
                op = getattr(tf.raw_ops, dict(assign="TensorScatterUpdate").get(kind, f"TensorScatter{kind.title()}"))
                result = op(tensor=target, indices=indices, updates=updates, bad_indices_policy=policy)
            result = result.numpy()
        except tf.errors.InvalidArgumentError as error:
            result = int(re.search(r"indices\[(\d+)", str(error))[1])
        if kind == "sub":
            updates = -updates
        write(f"tf.{name}", "gather_nd", target, indices, updates, update, result,
              policy="fill" if policy == "IGNORE" else "error")


def onnx_update(reduction):
    return {"none": "assign"}.get(reduction, reduction)


def onnx_nodes():
    for case in collect_testcases(None):
        node = case.model.graph.node[0]
        if node.op_type not in ["Scatter", "ScatterElements", "ScatterND"]:
            continue
        (target, indices, updates), (result,) = case.data_sets[0]
        attributes = {of.name: helper.get_attribute_value(of) for of in node.attribute}
        update = onnx_update(attributes.get("reduction", b"none").decode())
        is_nd = node.op_type == "ScatterND"
        write(f"onnx {case.name}", "gather_nd" if is_nd else "gather_elements", target, indices, updates, update, result,
              axis=None if is_nd else attributes.get("axis", 0), negative="from_end")


def onnx_runtime(count):
    for n in range(count):
        is_nd = n % 2 == 0
        reduction = ["none", "add", "mul", "min", "max"][n // 2 % 5]
        update = onnx_update(reduction)
        dtype = random.choice(["float32", "int32", "float64", "int64"])
        dims = shape([1, 2, 3])
        target = values(dims, dtype, update)
        if is_nd:
            depth = random.randint(1, len(dims))
            indices = index_rows(dims[:depth], random.randint(1, 5), update == "assign", True)
            updates = values([len(indices)] + dims[depth:], dtype, update)
            attributes = {}
        else:
            axis = random.randrange(len(dims))
            indices = element_indices(dims, axis, update == "assign", True)
            updates = values(indices.shape, dtype, update)
            attributes = dict(axis=axis)
        indices = indices.astype("int64")
        kind = helper.np_dtype_to_tensor_dtype(np.dtype(dtype))
        node = helper.make_node("ScatterND" if is_nd else "ScatterElements", ["t", "i", "u"], ["o"], reduction=reduction, **attributes)
        graph = helper.make_graph([node], "g", [
            helper.make_tensor_value_info("t", kind, target.shape), helper.make_tensor_value_info("i", TensorProto.INT64, indices.shape),
            helper.make_tensor_value_info("u", kind, updates.shape)], [helper.make_tensor_value_info("o", kind, target.shape)])
        model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)], ir_version=9)
        session = onnxruntime.InferenceSession(model.SerializeToString(), providers=["CPUExecutionProvider"])
        result = session.run(None, dict(t=target, i=indices, u=updates))[0]
        write(f"onnxruntime {node.op_type}", "gather_nd" if is_nd else "gather_elements", target, indices, updates, update, result,
              axis=None if is_nd else attributes["axis"], negative="from_end")


def element_indices(dims, axis, unique, negative=False):
    """Indices of a scatter of elements: no longer than the target in other dims than the axis."""
    sizes = [random.randint(1, dim) for dim in dims]
    if not unique:
        sizes[axis] = random.randint(1, 6)
    lines = sizes[:axis] + sizes[axis + 1:]
    columns = [index_rows([dims[axis]], sizes[axis], unique, negative)[:, 0] for _ in range(int(np.prod(lines)))]
    return np.moveaxis(np.array(columns).reshape(lines + [sizes[axis]]), -1, axis)


def pytorch(count):
    for n in range(count):
        call = ["scatter", "scatter_reduce", "index_add", "index_copy", "scatter_add"][n % 5]
        reduce = random.choice(["sum", "prod", "amin", "amax"])
        update = {"scatter": "assign", "index_copy": "assign", "scatter_reduce": dict(sum="add", prod="mul", amin="min", amax="max")[reduce]}.get(call, "add")
        dtype = random.choice(["float32", "int32", "float64", "int64", "uint8", "int16"])
        dims = shape([1, 2, 3])
        axis = random.randrange(len(dims))
        target = values(dims, dtype, update)
        attributes = dict(axis=axis)
        if call.startswith("index"):
            op = "gather"
            indices = index_rows([dims[axis]], random.randint(1, 6), call == "index_copy")[:, 0].astype("int64")
            updates = values(dims[:axis] + [len(indices)] + dims[axis + 1:], dtype, update)
            result = getattr(torch.tensor(target), call)(axis, torch.tensor(indices), torch.tensor(updates))
        else:
            op = "gather_elements"
            indices = element_indices(dims, axis, update == "assign").astype("int64")
            updates = values(indices.shape, dtype, update)
            operands = (axis, torch.tensor(indices), torch.tensor(updates))
            if call == "scatter_reduce":
                include_self = random.random() < 0.5
                if not include_self:
                    is_float = np.dtype(dtype).kind == "f"
                    ends = (np.inf, -np.inf) if is_float else (np.iinfo(dtype).max, np.iinfo(dtype).min)
                    neutral = dict(add=0, mul=1, min=ends[0], max=ends[1])[update]
                    attributes["neutral"] = np.array(neutral, dtype).tobytes().hex()
                result = torch.tensor(target).scatter_reduce(*operands, reduce=reduce, include_self=include_self)
            else:
                result = getattr(torch.tensor(target), call)(*operands)
        write(f"torch.{call}", op, target, indices, updates, update, result.numpy(), **attributes)


def numpy(count):
    for n in range(count):
        call = ["a[i] = v", "add.at", "put_along_axis", "a[:, i] = v"][n % 4]
        update = "add" if call == "add.at" else "assign"
        dtype = random.choice(list(NAMES))
        dims = shape([1, 2, 3] if call != "a[:, i] = v" else [2, 3])
        target = values(dims, dtype, update)
        result = target.copy()
        attributes = dict(negative="from_end")
        if call == "put_along_axis":
            axis = random.randrange(len(dims))
            # Indices of 1 repeat over outer dims and over a slice: broadcasts() has the others.
            first, last = random.randint(0, axis), random.randint(axis + 1, len(dims))
            sizes = [dim if k < first or axis < k < last else 1 for k, dim in enumerate(dims)]
            sizes[axis] = random.randint(1, 4)
            indices = np.random.default_rng(n).integers(-dims[axis], dims[axis], sizes)
            output = [sizes[k] if k == axis else dims[k] for k in range(len(dims))]
            updates = values(output, dtype, update)
            np.put_along_axis(result, indices, updates, axis)
            write(f"np.{call}", "gather_elements", target, indices, updates, update, result, axis=axis, broadcast=True, **attributes)
            continue
        axis = 1 if call == "a[:, i] = v" else 0
        rows = index_rows([dims[axis]], random.randint(1, 6), False, True)[:, 0]
        indices = rows.astype(random.choice(["int64", "int32", "int8"]))
        updates = values(dims[:axis] + [len(indices)] + dims[axis + 1:], dtype, update)
        if call == "add.at":
            np.add.at(result, indices, updates)
        elif axis == 1:
            result[:, indices] = updates
        else:
            result[indices] = updates
        write(f"np.{call}", "gather", target, indices, updates, update, result, axis=axis, **attributes)


def broadcasts(count):
    """put_along_axis with each dim of indices but the axis whole or 1: all patterns of rank 3, and some of rank 4."""
    def one(dims, axis, is_whole):
        dtype = random.choice(list(NAMES))
        sizes = [dim if whole else 1 for dim, whole in zip(dims, is_whole)]
        sizes[axis] = random.randint(1, 4)
        indices = np.array([random.randrange(-dims[axis], dims[axis]) for _ in range(int(np.prod(sizes)))]).reshape(sizes)
        target = values(dims, dtype, "assign")
        updates = values([sizes[k] if k == axis else dim for k, dim in enumerate(dims)], dtype, "assign")
        result = target.copy()
        np.put_along_axis(result, indices, updates, axis)
        write("np.put_along_axis", "gather_elements", target, indices, updates, "assign", result, axis=axis, broadcast=True,
              negative="from_end")

    for axis in range(3):
        for bits in range(4):
            others = [bool(bits & 1), bool(bits & 2)]
            one([2, 3, 4], axis, others[:axis] + [True] + others[axis:])
    for _ in range(count):
        one(shape([4], 2, 4), random.randrange(4), [random.random() < 0.5 for _ in range(4)])


tensorflow(240)
onnx_nodes()
onnx_runtime(500)
pytorch(300)
with np.errstate(all="ignore"):
    numpy(240)
    broadcasts(24)
