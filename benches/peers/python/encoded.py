#!/usr/bin/env python3
"""Times gguf-py's decoding of gathered rows, of the shapes of examples/encoded: `dequantize(table[ids])`."""

import time

import gguf
import numpy as np
from gguf import GGMLQuantizationType as Type

TABLE, OUTPUT, SAMPLES = 100_000 * 128, 200_000 * 128, 5

for name, length in [("Q8_0", 128), ("Q4_0", 128), ("Q4_K", 256), ("Q6_K", 256), ("F16", 128), ("BF16", 128)]:
    rng = np.random.default_rng(0)
    block_len, block_bytes = gguf.GGML_QUANT_SIZES[Type[name]]
    rows = TABLE // length
    table = rng.integers(0, 256, (rows, length // block_len * block_bytes), dtype=np.uint8) & 0xBF
    ids = rng.integers(0, rows, OUTPUT // length)
    times = []
    for _ in range(SAMPLES):
        start = time.perf_counter()
        gguf.quants.dequantize(table[ids], Type[name])
        times.append((time.perf_counter() - start) * 1e3)
    print(f"{name:<5} gguf-py {np.median(times):.1f} ms")
