"""Checks that the recipes among the examples give what NumPy gives, which this script runs: their outputs in
examples/README.md, and the checksums in their sources.

    pip install numpy==2.4.6
    python tests/data/recipes.py
"""

import pathlib
import re
import zlib

import numpy as np

ROOT = pathlib.Path(__file__).parents[2]
f32 = np.float32


def check(name, lines, output=None, folder="examples"):
    """Compares the lines with the example's section, and the checksum of the output with the example's."""
    page = (ROOT / "examples/README.md").read_text()
    shown = re.search(rf"^## {name}\n.*?^```text\n(.*?)^```$", page, re.DOTALL | re.MULTILINE).group(1)
    expected = "".join(f"{line}\n" for line in lines)
    if shown != expected:
        raise SystemExit(f"examples/README.md shows for {name}:\n{shown}NumPy gives:\n{expected}")
    if output is not None:
        checksum = f"0x{zlib.adler32(output.tobytes()):08x}"
        if checksum not in (ROOT / folder / f"{name}.rs").read_text().replace("_", ""):
            raise SystemExit(f"{name}.rs lacks NumPy's checksum {checksum}")
    print(f"{name}: as NumPy")


ids = np.arange(1000, dtype=np.uint32)
places = np.stack([ids, ids * 0.5, np.full(1000, -1)], -1).astype(f32)
life = ids * 37 % 101
rows = places[life >= 30]
check("boolean_mask", [
    f"{len(rows)} of {len(places)} particles are alive",
    f"the first {rows[:3].tolist()}",
    f"the last {rows[-1].tolist()}",
], rows)

depth = (ids * 37 % 101).astype(f32) - 50
places = np.stack([ids, np.full(1000, 0.5), depth], -1).astype(f32)
colours = np.stack([ids % 251, ids % 7, ids * 0, ids * 0 + 255], -1).astype(np.uint8)
order = np.argsort(depth, kind="stable")
rows = places[order]
check("sort_by_key", [
    f"from {rows[:3].tolist()}",
    f"to {rows[-3:].tolist()}",
    f"the colours of the nearest {colours[order[:4]].tolist()}",
], rows)

page, token = np.mgrid[:8, :4]
keys = (page + token / 8).astype(f32)
pages = np.stack([keys, -keys], -1)
block_table = np.array([[4, 1, 6], [0, -1, -1], [7, 3, -1]])
sequences = np.array([2, 0])
numbers = block_table[sequences]
# NumPy takes -1 for the last page, so zeros are put in its place.
rows = np.where((numbers >= 0)[..., None, None], pages[numbers], f32(0))
lines = [f"sequence {s} {page.flatten().tolist()}" for s, found in zip(sequences, rows) for page in found]
check("paged_table", [list(rows.shape), *lines])

tokens = np.array([[1, 2], [3, 4], [5, 6], [9, 9]], f32)
slots = np.array([9, 2, 7, -1])
cache = np.zeros((12, 2), f32)
# NumPy takes -1 for the last slot, so padding is left out.
cache[slots[slots >= 0]] = (tokens @ np.array([[0, 0.5], [0.5, 0]], f32))[slots >= 0]
block_table = np.array([[4, 1], [3, 0]])
read = cache.reshape(6, 4)[block_table]
check("kv_cache", [f"pages {of.tolist()} {rows.flatten().tolist()}" for of, rows in zip(block_table, read)])

data, indices = np.arange(1, 9, dtype=f32).reshape(4, 2), np.array([3, 0, -1])
updates = np.array([[9, 10], [11, 12], [0.5, 20]], f32)
outputs = [data.copy() for _ in range(4)]
outputs[0][indices] = updates
np.add.at(outputs[1], indices, updates)
np.multiply.at(outputs[2], indices, updates)
np.maximum.at(outputs[3], indices, updates)
check("scatter_nd", [f"{name:4} {of.flatten().tolist()}" for name, of in zip(["none", "add", "mul", "max"], outputs)])

table = (np.arange(15, dtype=f32) * f32(0.3) - f32(2)).reshape(5, 3)
tokens = np.array([3, 1, 3, 0, 4, 3, 0, 0])
gradient_of_rows = f32(2) * (table[tokens] - np.array([0.25, -0.5, 1], f32)) / f32(24)
gradient = np.zeros_like(table)
np.add.at(gradient, tokens, gradient_of_rows)
np.add.at(table, tokens, f32(-0.1) * gradient_of_rows)
lines = [f"{name:8} [{', '.join(map(str, of.flatten()))}]" for name, of in [("gradient", gradient), ("table", table)]]
check("embedding", lines)

vertex = np.dtype([("position", f32, 3), ("normal", f32, 3), ("uv", f32, 2)])
corners = np.array([[0, 0], [2, 0], [2, 2], [0, 2]], f32)
vertices = np.zeros(4, vertex)
vertices["position"][:, :2], vertices["position"][:, 2], vertices["uv"] = corners, 1, corners / 2
triangles = np.array([0, 1, 2, 0, 2, 3], np.uint16)
rows = zip(vertices["position"][triangles].tolist(), vertices["uv"][triangles].tolist())
check("vertices", [f"position {position} uv {uv}" for position, uv in rows])

# NumPy has no bfloat16 and no float8: a gather only moves their bytes.
lines = []
for name, dtype, numpy_type, shape in [
    ("flags", "BOOL", "u1", [3, 2]),
    ("ids", "I64", "<i8", [3]),
    ("nibbles", "F4", None, [3, 2]),
    ("scales", "F8_E8M0", "u1", [3, 3]),
    ("weights", "BF16", "<u2", [3, 2, 2]),
]:
    if numpy_type is None:
        lines.append(f"{name} {dtype}: elements of 4 bits are no whole bytes")
        continue
    size = np.prod(shape) * np.dtype(numpy_type).itemsize
    rows = np.arange(size, dtype=np.uint8).view(numpy_type).reshape(shape)[[2, 0]]
    lines.append(f"{name} {dtype} {list(rows.shape)}: {list(rows.tobytes())}")
check("any_dtype", lines, folder="cli/examples")
