"""The parts of a measurement: a call, the wait that ends it, and a copy of the output's bytes."""

from dataclasses import dataclass
from typing import Callable, Optional

import numpy as np

from workloads import Data


class Absent(Exception):
    """The library is not installed, or finds no device."""


class Refusal(Exception):
    """The call cannot do the workload."""


def nothing():
    """The wait of calls that return when they are done."""


@dataclass
class Figure:
    peer: str
    version: str
    device: str  # cpu or gpu
    threads: int  # 0 on a GPU
    measure: str
    run: Callable[[], object]
    wait: Callable[[], object]
    output: Optional[Callable[[], np.ndarray]] = None
    adapter: Optional[str] = None
    # Makes so many calls with no Python between them.
    repeat: Optional[Callable[[int], object]] = None


class Kept:
    """A call that keeps its last output until the next call replaces it."""

    def __init__(self, call):
        self.call, self.value = call, None

    def __call__(self):
        self.value = self.call()


def need(module: str):
    try:
        return __import__(module)
    except Exception as error:  # a broken installation raises more than ImportError
        raise Absent(f"{type(error).__name__}: {str(error).splitlines()[0][:80] if str(error) else ''}") from error


def axis_of(data: Data, what: str) -> int:
    axis = data.workload.select_axis
    if axis is None:
        raise Refusal(f"{what} takes one index along one axis, without batch dims")
    return axis


def elements_axis_of(data: Data, what: str) -> int:
    if not data.workload.elements:
        raise Refusal(f"{what} takes elements along an axis")
    return data.workload.axis


def memcpy(data: Data):
    """numpy's copy of the output's bytes, on one thread, to existing memory."""
    source, target = data.expected, data.output()
    yield Figure("memcpy", np.__version__, "cpu", 1, "copy", lambda: np.copyto(target, source), nothing)
