"""Writes masks.jsonl: masks with the results of NumPy.

    pip install numpy==2.4.6
    python tests/data/mask_cases.py > tests/data/masks.jsonl

A line has a shape, the first masked axis, the mask's entries as a hex of bytes, and as its results `numbers` (flatnonzero), the
selected elements of arange(size), and arange(size) with -1, -2, .. in their places. A mask of one dim is compress's, along any axis.
"""

import json
import random

import numpy as np

random.seed(20261130)
for case in range(200):
    shape = [random.choice([0, 1, 2, 3, 4]) for _ in range(random.randint(1, 3))]
    if case % 4 == 0:
        shape = [1, random.choice([63, 64, 65, 129]), random.choice([1, 2])][random.randrange(2):]
    axis = random.randrange(len(shape))
    dims = 1 if axis else random.randint(1, len(shape))
    share = random.choice([0, .02, .5, .98, 1])
    mask = np.array([random.random() < share for _ in range(int(np.prod(shape[axis:axis + dims])))], bool)
    x = np.arange(np.prod(shape, dtype=int)).reshape(shape)
    if dims == 1:
        selected = np.compress(mask, x, axis)
    else:
        selected = x[mask.reshape(shape[:dims])]
    y = x.copy()
    places = (slice(None),) * axis + (mask.reshape(shape[axis:axis + dims]),)
    y[places] = -1 - np.arange(selected.size).reshape(y[places].shape)
    print(json.dumps(dict(
        shape=shape, axis=axis, mask=mask.tobytes().hex(), numbers=np.flatnonzero(mask).tolist(),
        selected=selected.flatten().tolist(), assigned=y.flatten().tolist()), separators=(",", ":")))
