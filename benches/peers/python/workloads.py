"""The workloads W1 to W10 and E1 to K2, with data of a fixed seed, and the expected output from numpy."""

from dataclasses import dataclass
from typing import Optional

import numpy as np


@dataclass(frozen=True)
class Workload:
    name: str
    params_shape: tuple
    indices_shape: tuple
    element: str = "float32"
    index: str = "int32"
    axis: Optional[int] = None  # of a gather; None for gather_nd
    batch_dims: int = 0
    elements: bool = False  # take_along_axis along `axis`

    @property
    def select_axis(self):
        """The axis of a gather with one index value an index row and no batch dims; else None."""
        if self.elements:
            return None
        if self.axis is not None:
            return self.axis
        return 0 if self.batch_dims == 0 and self.indices_shape[-1] == 1 else None


WORKLOADS = [
    Workload("W1", (16_777_216,), (4_194_304, 1)),
    Workload("W2", (4096, 4096), (4_194_304, 2)),
    Workload("W3", (1_048_576, 16), (1_048_576, 1)),
    Workload("W4", (100_000, 128), (200_000, 1)),
    Workload("W5", (50_000, 512), (50_000, 1)),
    Workload("W6", (64, 4096, 64), (64, 1024, 1), batch_dims=1),
    Workload("W7u8", (1_048_576, 16), (1_048_576, 1), element="uint8"),
    Workload("W7f16", (1_048_576, 16), (1_048_576, 1), element="float16"),
    Workload("W8", (1_048_576, 16), (1_048_576, 1), index="int64"),
    Workload("W9", (1024, 4096, 16), (512,), axis=1),
    Workload("W9s", (512, 4096, 16), (512,), axis=1),
    Workload("W10", (1000, 64), (64, 1)),
    Workload("E1", (65_536, 256), (65_536, 64), axis=1, elements=True),
    Workload("E2", (256, 65_536), (64, 65_536), axis=0, elements=True),
    Workload("E3", (100_000, 16), (100_000, 10), axis=1, elements=True),
    Workload("P1", (256, 1), (4_194_304, 1), index="uint8"),
    Workload("P4", (256, 4), (4_194_304, 1), index="uint8"),
    Workload("D3", (64, 128, 128, 16), (1_048_576, 3)),
    Workload("O1", (33_552, 1001), (16_776, 1), element="float16"),
    Workload("X1", (400_000, 100), (10,), axis=1),
    Workload("K1", (16_320, 1028), (8160, 1)),
    Workload("K2", (8192, 2048), (4096, 1)),
]


LINE = 64


def in_line(array):
    """A copy whose memory begins at a cache line, as memory from torch and onnxruntime does; numpy's need not."""
    block = np.empty(array.nbytes + LINE, np.uint8)
    start = -block.ctypes.data % LINE
    copy = block[start : start + array.nbytes].view(array.dtype).reshape(array.shape)
    copy[...] = array
    return copy


class Data:
    """A workload with its operands and its expected output, as numpy arrays that begin at a cache line."""

    def __init__(self, workload: Workload):
        self.workload = workload
        shape, depth = workload.params_shape, workload.indices_shape[-1]
        random = np.random.default_rng(0)
        if workload.element == "uint8":
            self.params = random.integers(0, 256, shape, dtype=np.uint8)
        else:
            self.params = random.random(shape, dtype=np.float32).astype(workload.element)
        self.params = in_line(self.params)
        first = workload.axis if workload.axis is not None else workload.batch_dims
        dims = [shape[first]] if workload.axis is not None else shape[first : first + depth]
        count = int(np.prod(workload.indices_shape)) // len(dims)
        columns = [random.integers(0, dim, count) for dim in dims]
        self.indices = in_line(np.stack(columns, -1).astype(workload.index).reshape(workload.indices_shape))
        self.expected = in_line(self.params[self.tuple_of(self.indices)])
        self.shared = in_line(self.expected)

    def tuple_of(self, indices, arange=np.arange):
        """The argument of `params[...]`, in any library that indexes as numpy does."""
        workload = self.workload
        if workload.elements:
            rows, columns = (arange(size) for size in workload.indices_shape)
            return (indices, columns[None, :]) if workload.axis == 0 else (rows[:, None], indices)
        if workload.axis is not None:
            return (slice(None),) * workload.axis + (indices,)
        columns = tuple(indices[..., column] for column in range(workload.indices_shape[-1]))
        if workload.batch_dims:
            batches = arange(workload.indices_shape[0])
            return (batches[:, None],) + columns
        return columns

    def flat_indices(self, narrow="uint8"):
        """The indices with one dim, as a select takes them; those of 8 bits in the type `narrow`."""
        return self.as_type(narrow).reshape(-1) if self.indices.dtype == np.uint8 else self.indices.reshape(-1)

    def as_type(self, index):
        """The indices in another type."""
        return in_line(self.indices.astype(index))

    def output(self):
        """The output that all calls share which write to one that is there, of zeros."""
        self.shared[...] = 0
        return self.shared

    def floor_bytes(self, sector: int, cache_bytes: int) -> float:
        """The bytes that must move: indices, output, and all sectors of params that slices touch and no cache holds."""
        width, slices = self.params.itemsize, 1
        output_shape = self.expected.shape
        kept = 0 if self.workload.elements else len(self.workload.params_shape) - (
            self.workload.axis + 1
            if self.workload.axis is not None
            else self.workload.batch_dims + self.workload.indices_shape[-1]
        )
        slice_bytes = width * int(np.prod(output_shape[len(output_shape) - kept :], dtype=int))
        slices = self.expected.nbytes // slice_bytes
        sectors = (slice_bytes + sector - int(np.gcd(slice_bytes, sector))) // sector
        hit = min(1.0, cache_bytes / self.params.nbytes)
        return sector * slices * sectors * (1 - hit) + self.indices.nbytes + self.expected.nbytes
