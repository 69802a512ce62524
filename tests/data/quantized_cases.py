"""Writes the recorded rows of quantised tables whose scales are floats of whole rows, or lie beside the values:

- quantized.jsonl: a case a line, of ONNX Runtime's com.microsoft.GatherBlockQuantized on its CPU; scales that it lacks there
  (bfloat16) are of the formula (q - zero) * scale in NumPy, as the case says.
- encoded/row_wise_{8,4}_{rows,values}.npy: rows of random bytes with random and special scales and biases, as PyTorch and FBGEMM
  lay them out, and the values q * scale + bias of NumPy, rounded after each step. row_wise_{8,4}_torch.npy are PyTorch's, which rounds
  once for 8 bits, and has 0 for -0.

    pip install onnxruntime==1.32.0 onnx ml_dtypes torch==2.15.0 numpy && python3 quantized_cases.py
"""

import json
from pathlib import Path

import ml_dtypes
import numpy as np

FOLDER = Path(__file__).parent
SCALES = {"f32": np.float32, "f16": np.float16, "bf16": ml_dtypes.bfloat16}


def unpacked(packed, bits, count):
    per_byte = 8 // bits
    numbers = np.stack([(packed >> (bits * j)) & ((1 << bits) - 1) for j in range(per_byte)], -1)
    return numbers.reshape(*packed.shape[:-1], -1)[..., :count].astype(np.int32)


class Case:
    """A table of `lead` rows of `row_len` values, and a gather along an axis of `lead`."""

    def __init__(self, rng, bits, block, zero, scales, kind="uint8", lead=(7,), row_len=None, axis=0):
        self.bits, self.block, self.zero, self.scales = bits, block, zero, scales
        self.kind, self.lead, self.axis = kind, lead, axis
        self.row_len = row_len or block + 8
        blocks = -(-self.row_len // block)
        rows = lambda bytes: rng.integers(0, 256, (*lead, bytes), dtype=np.uint8)
        self.data = rows(self.row_len * bits // 8)
        self.scale_values = rng.standard_normal((*lead, blocks)).astype(SCALES[scales])
        self.zero_points = rows(-(-blocks * bits // 8)) if zero == "points" else None
        self.blocks = blocks
        self.indices = np.array([[lead[axis] - 1, 0], [-1, -lead[axis]]], np.int64)

    def formula(self):
        count = lambda packed, count: unpacked(packed, self.bits, count)
        values = count(self.data, self.row_len)
        if self.zero_points is not None:
            zero = count(self.zero_points, self.blocks)
        else:
            middle = 1 << (self.bits - 1) if self.kind == "uint8" else 0
            zero = np.full(self.scale_values.shape, middle)
        if self.kind == "int4":
            values, zero = (values ^ 8) - 8, (zero ^ 8) - 8 if self.zero_points is not None else zero
        spread = lambda of_block: np.repeat(of_block, self.block, -1)[..., : self.row_len]
        exact = (values - spread(zero)).astype(np.float32) * spread(self.scale_values.astype(np.float32))
        # Zeros for an index out of range, as ONNX Runtime gives them.
        bad = (self.indices < -self.lead[self.axis]) | (self.indices >= self.lead[self.axis])
        found = np.take(exact.astype(SCALES[self.scales]), np.where(bad, 0, self.indices), self.axis)
        found[(slice(None),) * self.axis + (bad,)] = 0
        return found

    def onnx(self, indices):
        import onnx
        import onnxruntime as ort
        from onnx import TensorProto as P
        from onnx import helper as h

        types = {"uint8": P.UINT8, "uint4": P.UINT4, "int4": P.INT4, "f32": P.FLOAT, "f16": P.FLOAT16}
        kind, scales = types[self.kind], types[self.scales]
        inputs, stored = [], []

        def constant(name, array, packed_len, of_kind):
            shape = array.shape if of_kind == P.UINT8 or of_kind == scales else (*self.lead, packed_len)
            stored.append(h.make_tensor(name, of_kind, shape, array.tobytes(), raw=True))
            inputs.append(name)

        constant("data", self.data, self.row_len, kind)
        inputs.append("indices")
        constant("scales", self.scale_values, self.blocks, scales)
        if self.zero_points is not None:
            constant("zero_points", self.zero_points, self.blocks, kind)
        node = h.make_node(
            "GatherBlockQuantized", inputs, ["output"], domain="com.microsoft", bits=self.bits,
            block_size=self.block, gather_axis=self.axis, quantize_axis=len(self.lead),
        )
        graph = h.make_graph(
            [node], "gather", [h.make_tensor_value_info("indices", P.INT64, indices.shape)],
            [h.make_tensor_value_info("output", scales, None)], stored,
        )
        opsets = [h.make_opsetid("", 21), h.make_opsetid("com.microsoft", 1)]
        model = h.make_model(graph, opset_imports=opsets, ir_version=10)
        options = ort.SessionOptions()
        options.log_severity_level = 4
        session = ort.InferenceSession(model.SerializeToString(), options, providers=["CPUExecutionProvider"])
        return session.run(None, {"indices": indices})[0], ort.__version__

    def line(self, file, bad=False):
        bits_of = lambda array: array.tobytes().hex()
        if bad:
            self.indices[1] = [self.lead[self.axis], -self.lead[self.axis] - 1]
        judge, output = "NumPy's formula", self.formula()
        if self.scales != "bf16":
            found, version = self.onnx(self.indices)
            assert np.array_equal(found.view(np.uint8), output.view(np.uint8)), self.__dict__
            judge, output = f"onnxruntime {version}", found
        case = {
            "judge": judge, "bits": self.bits, "block": self.block, "kind": self.kind, "scale_kind": self.scales,
            "shape": [*self.lead, self.row_len], "axis": self.axis, "data": bits_of(self.data),
            "scales": bits_of(self.scale_values),
            "zero_points": None if self.zero_points is None else bits_of(self.zero_points),
            "indices": self.indices.tolist(), "output": bits_of(output),
        }
        file.write(json.dumps(case) + "\n")


def write_block_quantized():
    rng = np.random.default_rng(0)
    with open(FOLDER / "quantized.jsonl", "w") as file:
        for bits in (2, 4, 8):
            for block in (16, 32, 64, 128, 256):
                for zero in ("none", "points"):
                    for scales in SCALES:
                        Case(rng, bits, block, zero, scales).line(file)
            for zero in ("none", "points"):
                # Blocks whose zero points fill no byte, and slices of several rows of the last dim.
                Case(rng, bits, 16, zero, "f32", row_len=80).line(file)
                Case(rng, bits, 16, zero, "f16", lead=(5, 3), row_len=40).line(file)
            Case(rng, bits, 16, "points", "f32").line(file, bad=True)
        for kind in ("int4", "uint4"):
            for zero in ("none", "points"):
                for scales in SCALES:
                    Case(rng, 4, 16, zero, scales, kind, row_len=32).line(file)
                Case(rng, 4, 32, zero, "f32", kind, lead=(3, 5), row_len=64, axis=1).line(file)


def write_row_wise():
    import torch

    rng = np.random.default_rng(1)
    special = [0.0, -0.0, 1.0, -1.0, 2.0**-60, 3.0e30, 65504.0, 2.0**-14]
    for bits, ends, op in [
        (8, "<f4", torch.ops.quantized.embedding_bag_byte_rowwise_offsets),
        (4, "<f2", torch.ops.quantized.embedding_bag_4bit_rowwise_offsets),
    ]:
        row_len, count = 64, 200 + len(special) ** 2
        data = rng.integers(0, 256, (count, row_len * bits // 8), dtype=np.uint8)
        both = rng.standard_normal((count, 2))
        both[:100, 1] *= 100
        both[200:] = [[scale, bias] for scale in special for bias in special]
        with np.errstate(over="ignore"):
            both = both.astype(ends)
        rows = np.concatenate([data, both.view(np.uint8)], 1)
        scale, bias = both[:, :1].astype(np.float32), both[:, 1:].astype(np.float32)
        with np.errstate(all="ignore"):
            values = unpacked(data, bits, row_len).astype(np.float32) * scale + bias
        indices = torch.arange(count)
        offsets = torch.arange(count + 1)
        found = op(torch.from_numpy(rows), indices, offsets, False, 0, False, None, None, True).numpy()
        same = found.view(np.uint32) == values.view(np.uint32)
        print(f"{bits} bits: {same.sum()} of {same.size} values have the bits of PyTorch {torch.__version__}'s")
        name = f"encoded/row_wise_{bits}"
        np.save(FOLDER / f"{name}_rows.npy", rows)
        np.save(FOLDER / f"{name}_values.npy", values.view(np.uint32))
        np.save(FOLDER / f"{name}_torch.npy", found.view(np.uint32))


if __name__ == "__main__":
    write_row_wise()
    write_block_quantized()
