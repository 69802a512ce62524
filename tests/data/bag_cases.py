"""Writes bags.jsonl: sums over bags by PyTorch's embedding_bag, then JAX's segment_sum.

    pip install torch==2.15.0 jax==0.10.2
    python tests/data/bag_cases.py torch > tests/data/bags.jsonl
    python tests/data/bag_cases.py jax >> tests/data/bags.jsonl

All numbers are small integers, or halves of them, so that each order gives the same sum. A mean is divided once.
"""

import json
import random
import sys


def write(**line):
    print(json.dumps(line, separators=(",", ":")))


def of_torch():
    import torch
    for case in range(60):
        rows, dim = random.randint(1, 9), random.randint(1, 5)
        sizes = [random.choice([0, 1, 2, 3, 7]) for _ in range(random.randint(1, 5))]
        sizes[-1] = max(sizes[-1], 1)
        offsets = [sum(sizes[:at]) for at in range(len(sizes) + 1)]
        ids = [random.randrange(rows) for _ in range(offsets[-1])]
        table = torch.randint(-20, 20, (rows, dim)).float() / 2
        mode = ["sum", "sum", "mean", "max"][case % 4]
        weights = torch.randint(-6, 6, (len(ids),)).float() / 2 if case % 8 == 1 else None
        has_last = case % 3 > 0
        padding = random.randrange(rows) if case % 5 == 0 else None
        bags = torch.nn.functional.embedding_bag(
            torch.tensor(ids), table, torch.tensor(offsets if has_last else offsets[:-1]), mode=mode,
            per_sample_weights=weights, include_last_offset=has_last, padding_idx=padding)
        write(call="embedding_bag", mode=mode, shape=[rows, dim], ids=ids, has_last=has_last, padding=padding,
              offsets=offsets if has_last else offsets[:-1], table=table.flatten().tolist(),
              weights=None if weights is None else weights.tolist(), bags=bags.flatten().tolist())


def of_jax():
    import jax
    import jax.numpy as jnp
    for _ in range(20):
        dim, segments = random.randint(1, 4), random.randint(1, 6)
        of_row = sorted(random.randrange(segments) for _ in range(random.randint(0, 12)))
        data = jnp.array([[random.randint(-9, 9) for _ in range(dim)] for _ in of_row], jnp.float32).reshape(-1, dim)
        sums = jax.ops.segment_sum(data, jnp.array(of_row, int), segments, indices_are_sorted=True)
        write(call="segment_sum", shape=[len(of_row), dim], segments=segments, of_row=of_row,
              table=data.flatten().tolist(), bags=sums.flatten().tolist())


random.seed(91)
if sys.argv[1] == "torch":
    import torch
    torch.manual_seed(91)
    of_torch()
else:
    of_jax()
