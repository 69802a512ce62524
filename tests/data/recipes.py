"""Checks that recipes give what NumPy gives, which this script runs: the outputs of examples in examples/README.md, the
checksums in their sources, and what the guide's programs assert.

    pip install numpy==2.4.6
    python tests/data/recipes.py
"""

import pathlib
import re
import zlib

import numpy as np

ROOT = pathlib.Path(__file__).parents[2]
f32 = np.float32


def check(name, lines, output):
    """Compares the lines with the example's section, and the checksum of the output with the example's."""
    page = (ROOT / "examples/README.md").read_text()
    shown = re.search(rf"^## {name}\n.*?^```text\n(.*?)^```$", page, re.DOTALL | re.MULTILINE).group(1)
    expected = "".join(f"{line}\n" for line in lines)
    if shown != expected:
        raise SystemExit(f"examples/README.md shows for {name}:\n{shown}NumPy gives:\n{expected}")
    checksum = f"0x{zlib.adler32(output.tobytes()):08x}"
    if checksum not in (ROOT / f"examples/{name}.rs").read_text().replace("_", ""):
        raise SystemExit(f"{name}.rs lacks NumPy's checksum {checksum}")
    print(f"{name}: as NumPy")


def check_page(page, *asserted):
    """Compares what a program on a page of the guide asserts with lines that hold NumPy's results."""
    text = (ROOT / f"src/guide/{page}.md").read_text()
    for line in asserted:
        if line not in text:
            raise SystemExit(f"{page}.md lacks what NumPy gives:\n{line}")
        print(f"{page}: {line}")


ids = np.arange(1000, dtype=np.uint32)
places = np.stack([ids, ids * 0.5, np.full(1000, -1)], -1).astype(f32)
life = np.maximum(ids * 37 % 101, 29) - 29
rows = places[life > 0]
check("boolean_mask", [
    f"{len(rows)} of {len(places)} particles are alive",
    f"the first {rows[:3].tolist()}",
    f"the last {rows[-1].tolist()}",
], rows)

names = np.array([["Ada", "Bob", "Cleo"], ["Finn", "Gus", "Hal"]])
scores = np.array([[70, 95, 20], [15, 60, 85]])
best = np.argsort(-scores, kind="stable")[:, :2]
best_names = str(np.take_along_axis(names, best, 1).flatten().tolist()).replace("'", '"')
check_page(
    "recipes",
    f"plan.gather(&names, &best).unwrap(), {best_names});",
    f"plan.gather(&scores, &best).unwrap(), {np.take_along_axis(scores, best, 1).flatten().tolist()});",
)

pages, block_table = np.array([[0, 1], [10, 11], [20, 21], [30, 31]]), np.array([[3, 0], [2, -1]])
numbers = block_table[[1]]
# NumPy takes -1 for the last page, so zeros are put in its place.
rows = np.where((numbers >= 0)[..., None], pages[numbers], 0)
check_page("recipes", f"output_shape(), {list(rows.shape)});", f"gather(&pages, &numbers).unwrap(), {rows.flatten().tolist()});")

data, indices = np.arange(1, 9, dtype=f32).reshape(4, 2), np.array([3, 0, -1])
updates = np.array([[9, 10], [11, 12], [0.5, 20]], f32)
outputs = [data.copy() for _ in range(4)]
outputs[0][indices] = updates
np.add.at(outputs[1], indices, updates)
np.multiply.at(outputs[2], indices, updates)
np.maximum.at(outputs[3], indices, updates)
for name, of in zip(["executor, \"none\")", "executor, \"add\")", "products", "executor, \"max\")"], outputs):
    check_page("scatter", f"{name}.unwrap(), {of.flatten().tolist()});")

vertex = np.dtype([("position", f32, 3), ("normal", f32, 3), ("uv", f32, 2)])
vertices = np.arange(16, dtype=f32).view(vertex)
for field, of in [("position", "&vertices"), ("uv", "&vertices[6..]")]:
    check_page("recipes", f"gather({of}, &[1]).unwrap(), {vertices[field][1].tolist()});")
