#!/usr/bin/env python3
"""Prints tables of guide::performance and of benches/results from files that peers.py wrote, a column for each: this crate's time, and after it
that of the fastest other library; the shorter of the two is bold. The plain loop, which has one thread, has columns of its
own.

    python3 table.py gather_into|gather FILE...
"""

import json
import sys
from pathlib import Path

OURS, LOOP = "wgpu-gather", "plain loop"


def read(path: str, measure: str):
    """By workload: this crate's time, the shortest of another library with its name, and the loop's."""
    found = {}
    for line in Path(path).read_text().splitlines():
        figure = json.loads(line)
        if figure["measure"] != measure:
            continue
        times = found.setdefault(figure["workload"], {})
        name = figure["peer"].removesuffix(" clip").removesuffix(" fill").replace("(out)", "")
        time = figure["median_ms"]
        times[name] = min(time, times.get(name, time))
    return found


def number(time: float) -> str:
    return f"{time:.3g}" if time >= 0.01 else f"{time:.5f}"


def cells(times, has_loop: bool):
    ours = times[OURS]
    others = {name: time for name, time in times.items() if name not in (OURS, LOOP)}
    name = min(others, key=others.get, default=None)
    if name is None:
        yield number(ours)
    elif others[name] < ours:
        yield f"{number(ours)}, **{number(others[name])}** {name}"
    else:
        yield f"**{number(ours)}**, {number(others[name])} {name}"
    if has_loop:
        yield number(times[LOOP])


def main() -> int:
    if len(sys.argv) < 3 or sys.argv[1] not in ("gather_into", "gather"):
        print(__doc__, file=sys.stderr)
        return 2
    measure, paths = sys.argv[1], sys.argv[2:]
    columns = [read(path, measure) for path in paths]
    loops = [measure == "gather_into" and path.endswith("-1.jsonl") for path in paths]
    heads = [head for path, loop in zip(paths, loops) for head in [Path(path).stem] + ["loop"] * loop]
    print("| | " + " | ".join(heads) + " |")
    print("|---" * (len(heads) + 1) + "|")
    for workload in columns[0]:
        row = [cell for times, loop in zip(columns, loops) for cell in cells(times[workload], loop)]
        print(f"| {workload} | " + " | ".join(row) + " |")
    return 0


if __name__ == "__main__":
    sys.exit(main())
