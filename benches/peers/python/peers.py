#!/usr/bin/env python3
"""Times this crate, a plain loop in Rust and the Python libraries that are installed (numpy, torch, jax, onnxruntime)
on the workloads W1 to K2; benches/card/torch_peers.py times those that run on a GPU. Outputs are checked
against numpy's before anything is timed, and a time ends when the device has done the work. Operands and outputs that
are there begin at a cache line; a library that makes its output places it.

    python3 peers.py --workload W1,W3 --peer torch,jax --samples 15 --json out.jsonl
"""

import argparse
import json
import os
import sys
import time
from pathlib import Path

import numpy as np

from figures import Absent, Refusal, memcpy
from libraries import ALL
from workloads import WORKLOADS, Data

CPU_SECTOR, GPU_SECTOR = 64, 32
SMALL_BYTES = 1 << 20  # a sample on the CPU is 1,000 calls if the output is smaller
REST = 0.02  # seconds before each sample: threads of other libraries spin after their calls


def last_level_cache() -> int:
    sizes = []
    for path in Path("/sys/devices/system/cpu/cpu0/cache").glob("index*/size"):
        text = path.read_text().strip()
        if text.endswith("K") and text[:-1].isdigit():
            sizes.append(int(text[:-1]) << 10)
    return max(sizes, default=32 << 20)


def sample(figure, calls: int) -> float:
    """Milliseconds of one call. A call that is not counted precedes it, so that the peer finds caches and allocator as
    its own work leaves them."""
    time.sleep(REST)
    figure.run()
    figure.wait()
    start = time.perf_counter()
    if figure.repeat:
        figure.repeat(calls)
    else:
        for _ in range(calls):
            figure.run()
            figure.wait()
    return (time.perf_counter() - start) * 1e3 / calls


def lines_of(data: Data, figures, samples: int):
    """Takes the samples of all figures in turn; yields a line of JSON for each figure."""
    small = data.expected.nbytes < SMALL_BYTES
    times = {id(figure): [] for figure in figures}
    for _ in range(samples):
        for figure in figures:
            calls = 1000 if small and figure.device == "cpu" else 1
            times[id(figure)].append(sample(figure, calls))
    copies = {}
    for figure in figures:
        if figure.measure == "copy":
            copies[figure.device] = float(np.median(times[id(figure)]))
    for figure in figures:
        median, least = float(np.median(times[id(figure)])), min(times[id(figure)])
        line = {
            "workload": data.workload.name,
            "peer": figure.peer,
            "version": figure.version,
            "device": figure.device,
            "threads": figure.threads,
            "measure": figure.measure,
            "median_ms": median,
            "min_ms": least,
            "out_gbps": data.expected.nbytes / median / 1e6,
            "ratio_to_copy": None,
            "ratio_to_floor": None,
            "adapter": figure.adapter,
        }
        copy = copies.get(figure.device)
        if copy is not None:
            sector = CPU_SECTOR if figure.device == "cpu" else GPU_SECTOR
            moved = data.floor_bytes(sector, last_level_cache())
            floor = copy * moved / (2 * data.expected.nbytes)
            line["ratio_to_copy"], line["ratio_to_floor"] = median / copy, median / floor
        yield line


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--workload", help="W1,W3: only these")
    parser.add_argument("--peer", help=f"only these of {','.join(ALL)}")
    parser.add_argument("--samples", type=int, default=15)
    parser.add_argument("--threads", type=int, default=os.cpu_count(), help="and processors")
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    names = options.workload.split(",") if options.workload else [workload.name for workload in WORKLOADS]
    wanted = options.peer.split(",") if options.peer else list(ALL)
    for name in names:
        if name not in [workload.name for workload in WORKLOADS]:
            parser.error(f"there is no workload {name}")
    for name in wanted:
        if name not in ALL:
            parser.error(f"there is no peer {name}")

    # jax takes as many threads as there are processors.
    os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[: options.threads])
    present, absent = [], []
    for name in wanted:
        try:
            present.append(ALL[name](options.threads))
        except Absent as reason:
            absent.append(f"{name}: not here: {reason}")
    print(f"numpy {np.__version__}, {options.threads} threads, medians of {options.samples} samples")
    for line in absent:
        print(line)

    out = options.json.open("w") if options.json else None
    print(f"{'':<6}{'':<38}{'median ms':>11}{'min ms':>11}{'x copy':>9}{'x floor':>9}")
    for workload in WORKLOADS:
        if workload.name not in names:
            continue
        data = Data(workload)
        figures, refusals = list(memcpy(data)), []
        for library in present:
            for make in library.figures():
                try:
                    figure = make(data)
                    figure.run()
                    figure.wait()
                    output = figure.output()
                except Refusal as reason:
                    refusals.append(str(reason))
                    continue
                except Exception as error:  # libraries raise errors of their own types
                    refusals.append(f"{make.__name__}: {type(error).__name__}: {str(error).splitlines()[0][:100]}")
                    continue
                if not np.array_equal(output.reshape(data.expected.shape), data.expected):
                    print(f"{workload.name}: the output of {figure.peer} is wrong", file=sys.stderr)
                    return 1
                figures.append(figure)
            figures.extend(library.copies(data))
        for line in lines_of(data, figures, options.samples):
            name = f"{line['peer']}, {line['device']}" + (f", {line['threads']}T" if line["threads"] else "")
            ratios = [line["ratio_to_copy"], line["ratio_to_floor"]]
            columns = "".join(f"{'-' if ratio is None else format(ratio, '.2f'):>9}" for ratio in ratios)
            print(f"{workload.name:<6}{name:<38}{line['median_ms']:>11.4f}{line['min_ms']:>11.4f}{columns}")
            if out:
                out.write(json.dumps(line) + "\n")
                out.flush()
        for reason in refusals:
            print(f"{workload.name:<6}- {reason}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
