"""Writes masks.jsonl: masks with the results of NumPy, then of TensorFlow, then of JAX.

    pip install numpy==2.4.6 tensorflow-cpu==2.21.0 jax==0.10.2
    python tests/data/mask_cases.py > tests/data/masks.jsonl

A line has a shape, the first masked axis, the mask's entries as a hex of bytes, and as its results `numbers` (flatnonzero), the
selected elements of arange(size), and arange(size) with -1, -2, .. in their places. A mask of one dim is compress's, along any axis.
TensorFlow's lines have no assigned elements. JAX's have `numbers` of a size, with a fill.
"""

import json
import random

import jax.numpy as jnp
import numpy as np
import tensorflow as tf


def write(**line):
    print(json.dumps(line, separators=(",", ":")))


def mask_of(count):
    share = random.choice([0, .02, .5, .98, 1])
    return np.array([random.random() < share for _ in range(count)], bool)


random.seed(20261130)
for case in range(100):
    shape = [random.choice([0, 1, 2, 3, 4]) for _ in range(random.randint(1, 3))]
    if case % 4 == 0:
        shape = [1, random.choice([63, 64, 65, 129]), random.choice([1, 2])][random.randrange(2):]
    axis = random.randrange(len(shape))
    dims = 1 if axis else random.randint(1, len(shape))
    mask = mask_of(int(np.prod(shape[axis:axis + dims])))
    x = np.arange(np.prod(shape, dtype=int)).reshape(shape)
    if dims == 1:
        selected = np.compress(mask, x, axis)
    else:
        selected = x[mask.reshape(shape[:dims])]
    y = x.copy()
    places = (slice(None),) * axis + (mask.reshape(shape[axis:axis + dims]),)
    y[places] = -1 - np.arange(selected.size).reshape(y[places].shape)
    write(shape=shape, axis=axis, mask=mask.tobytes().hex(), numbers=np.flatnonzero(mask).tolist(),
          selected=selected.flatten().tolist(), assigned=y.flatten().tolist())

for case in range(50):
    shape = [random.choice([0, 1, 2, 3, 4]) for _ in range(random.randint(1, 4))]
    axis = random.randrange(len(shape))
    dims = random.randint(1, len(shape) - axis)
    mask = mask_of(int(np.prod(shape[axis:axis + dims])))
    x = np.arange(np.prod(shape, dtype=int)).reshape(shape)
    selected = tf.boolean_mask(x, mask.reshape(shape[axis:axis + dims]), axis=axis)
    write(shape=shape, axis=axis, mask=mask.tobytes().hex(), numbers=tf.where(mask)[:, 0].numpy().tolist(),
          selected=selected.numpy().flatten().tolist())

for case in range(50):
    # Of an empty mask JAX gives zeros, whatever the fill.
    mask = mask_of(random.choice([1, 2, 3, 33, 70]))
    size, fill = random.choice([0, 1, len(mask) // 2, len(mask), len(mask) + 3]), random.choice([0, -1, len(mask), 7])
    (numbers,) = jnp.nonzero(mask, size=size, fill_value=fill)
    write(mask=mask.tobytes().hex(), size=size, fill=fill, numbers=numbers.tolist())
