"""Writes tests/data/encoded/: for each encoding, rows of bytes and the values that gguf-py decodes from them, as the bits of
f32. 200 rows are random bytes; the rows after them have scales of special values.

    pip install gguf==0.19.0 && python3 encoded_cases.py
"""

from pathlib import Path

import gguf
import numpy as np
from gguf import GGMLQuantizationType as Type

# The blocks of a row, and where a block has half floats as scales.
FORMATS = {
    "F16": (32, []),
    "BF16": (32, []),
    "Q8_0": (2, [0]),
    "Q4_0": (2, [0]),
    "Q4_K": (1, [0, 2]),
    "Q6_K": (1, [208]),
}

# 0, -0, the smallest and the largest subnormal, the smallest normal, the largest, infinities, NaNs.
SPECIAL = [0x0000, 0x8000, 0x0001, 0x83FF, 0x0400, 0x7BFF, 0x7C00, 0xFC00, 0x7C01, 0xFE55]


def main():
    folder = Path(__file__).parent / "encoded"
    folder.mkdir(exist_ok=True)
    for name, (blocks, scales) in FORMATS.items():
        rng = np.random.default_rng(0)
        block_len, block_bytes = gguf.GGML_QUANT_SIZES[Type[name]]
        rows = rng.integers(0, 256, (200, blocks, block_bytes), dtype=np.uint8)
        if scales:
            special = rng.integers(0, 256, (len(SPECIAL) * len(scales), blocks, block_bytes), dtype=np.uint8)
            for number, row in enumerate(special):
                at = scales[number // len(SPECIAL)]
                row[:, at : at + 2] = np.array([SPECIAL[number % len(SPECIAL)]], "<u2").view(np.uint8)
            rows = np.concatenate([rows, special])
        rows = rows.reshape(len(rows), blocks * block_bytes)
        with np.errstate(all="ignore"):
            values = gguf.quants.dequantize(rows, Type[name])
        assert values.shape == (len(rows), blocks * block_len) and values.dtype == np.float32
        np.save(folder / f"{name.lower()}_rows.npy", rows)
        np.save(folder / f"{name.lower()}_values.npy", values.view(np.uint32))


if __name__ == "__main__":
    main()
