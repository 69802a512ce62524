"""Writes tests/data/encoded/: for each encoding, rows of bytes and the values that gguf-py decodes from them, as the bits of
f32; model.gguf with the first rows of each encoding that GGUF has; and halves.json with a sum of all those values as f16 and as
bf16, by NumPy's and ml_dtypes' rounding, each times its number from 1 on, with one NaN for each. 200 rows are random bytes; the rows after them have scales of special values. The values of the 8-bit floats are those
of ml_dtypes.

    pip install gguf==0.19.0 ml_dtypes==0.6.0 && python3 encoded_cases.py
"""

import json
from pathlib import Path

import gguf
import ml_dtypes
import numpy as np
from gguf import GGMLQuantizationType as Type

# The blocks of a row, and where a block has half floats as scales. The scale of MXFP4 is its first byte.
FORMATS = {
    "F32": (32, []),
    "F16": (32, []),
    "BF16": (32, []),
    "F8_E4M3": (32, []),
    "F8_E5M2": (32, []),
    "Q8_0": (2, [0]),
    "Q4_0": (2, [0]),
    "Q4_1": (2, [0, 2]),
    "Q5_0": (2, [0]),
    "Q5_1": (2, [0, 2]),
    "IQ4_NL": (2, [0]),
    "IQ4_XS": (1, [0]),
    "MXFP4": (2, []),
    "Q2_K": (1, [80, 82]),
    "Q3_K": (1, [108]),
    "Q4_K": (1, [0, 2]),
    "Q5_K": (1, [0, 2]),
    "Q6_K": (1, [208]),
}
MODEL_ROWS = 8
FLOATS_OF_8_BITS = {"F8_E4M3": ml_dtypes.float8_e4m3fn, "F8_E5M2": ml_dtypes.float8_e5m2}

# 0, -0, the smallest and the largest subnormal, the smallest normal, the largest, infinities, NaNs.
SPECIAL = [0x0000, 0x8000, 0x0001, 0x83FF, 0x0400, 0x7BFF, 0x7C00, 0xFC00, 0x7C01, 0xFE55]


def decoded(name, rows):
    if name in FLOATS_OF_8_BITS:
        return rows.view(FLOATS_OF_8_BITS[name]).astype(np.float32)
    return gguf.quants.dequantize(rows, Type[name])


def write_model(folder):
    """Tensors named as their encodings, after metadata of each kind."""
    writer = gguf.GGUFWriter(folder / "model.gguf", "test")
    writer.add_array("tokenizer.ggml.tokens", ["a", "", "é"])
    writer.add_array("test.numbers", [1, 2, 3])
    writer.add_bool("test.bool", True)
    writer.add_float64("test.float64", 0.5)
    writer.add_uint8("test.uint8", 1)
    writer.add_custom_alignment(64)
    for name in FORMATS:
        if name not in FLOATS_OF_8_BITS and name != "F32":
            rows = np.load(folder / f"{name.lower()}_rows.npy")[:MODEL_ROWS]
            if name == "F16":
                writer.add_tensor(name, rows.view(np.float16))
            else:
                writer.add_tensor(name, rows, raw_dtype=Type[name])
    writer.add_tensor("F32", np.arange(24, dtype=np.float32).reshape(4, 3, 2))
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()


def sums_of_halves(folder):
    """A file's name, and the sum of its halves for each type."""
    for file in sorted(folder.glob("*_values.npy")):
        values = np.load(file).view(np.float32).reshape(-1)
        sums = {}
        with np.errstate(all="ignore"):
            for name, kind, nan in [("f16", np.float16, 0x7E00), ("bf16", ml_dtypes.bfloat16, 0x7FC0)]:
                halves = np.where(np.isnan(values), nan, values.astype(kind).view(np.uint16)).astype(np.uint64)
                sums[name] = int((halves * np.arange(1, len(halves) + 1, dtype=np.uint64)).sum())
        yield file.name.removesuffix("_values.npy"), sums


def main():
    folder = Path(__file__).parent / "encoded"
    folder.mkdir(exist_ok=True)
    for name, (blocks, scales) in FORMATS.items():
        rng = np.random.default_rng(0)
        block_len, block_bytes = (1, 1) if name in FLOATS_OF_8_BITS else gguf.GGML_QUANT_SIZES[Type[name]]
        random_rows = lambda count: rng.integers(0, 256, (count, blocks, block_bytes), dtype=np.uint8)
        rows = random_rows(200)
        if scales:
            special = random_rows(len(SPECIAL) * len(scales))
            for number, row in enumerate(special):
                at = scales[number // len(SPECIAL)]
                row[:, at : at + 2] = np.array([SPECIAL[number % len(SPECIAL)]], "<u2").view(np.uint8)
            rows = np.concatenate([rows, special])
        if name == "MXFP4":
            # Each scale, with each half byte.
            special = random_rows(256)
            special[:, 0, 1:] = np.arange(16) * 17
            special[:, :, 0] = np.arange(256)[:, None]
            rows = np.concatenate([rows, special])
        rows = rows.reshape(len(rows), blocks * block_bytes)
        if name in FLOATS_OF_8_BITS:
            rows = np.concatenate([rows, np.arange(256, dtype=np.uint8).reshape(8, 32)])
        with np.errstate(all="ignore"):
            values = decoded(name, rows)
        assert values.shape == (len(rows), blocks * block_len) and values.dtype == np.float32
        np.save(folder / f"{name.lower()}_rows.npy", rows)
        np.save(folder / f"{name.lower()}_values.npy", values.view(np.uint32))
    write_model(folder)
    (folder / "halves.json").write_text(json.dumps(dict(sums_of_halves(folder)), indent=1) + "\n")


if __name__ == "__main__":
    main()
