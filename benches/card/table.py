#!/usr/bin/env python3
"""Joins the figures of wgpu-gather-bench and torch_peers.py into one table of Markdown.

    python3 table.py FOLDER      the folder with ours.jsonl and peers.jsonl; either may be missing
"""

import argparse
import json
from pathlib import Path


# Sets of workloads that are gathers.
GATHERS = ("usual", "large")


def lines(path):
    if not path.exists():
        return []
    found = []
    for text in path.read_text(errors="replace").splitlines():
        try:
            found.append(json.loads(text))
        except ValueError:
            pass  # the last line of a program that was stopped
    return found


def best(figures, names):
    """The shortest time of the figures whose names start with one of these, and the name."""
    of = [(line["median_us"], line["measure"]) for line in figures if line["measure"].startswith(names)]
    return min(of) if of else (None, "")


def number(value, digits=2):
    return "-" if value is None else f"{value:.{digits}f}"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    options = parser.parse_args()
    ours, peers = lines(options.folder / "ours.jsonl"), lines(options.folder / "peers.jsonl")
    adapters = sorted({str(line.get("adapter")) for line in ours + peers if line.get("adapter")})
    print("card:", "; ".join(adapters) or "none", "\n")

    ceilings = [line for line in ours + peers if line["workload"] == "ceiling"]
    moved = lambda line: line.get("moved_bytes") or 2 * line["out_bytes"]
    is_copy = lambda line: "copy" in line["measure"]
    copy = max((moved(line) / line["median_us"] / 1e3 for line in ceilings if is_copy(line)), default=None)
    seen = {}
    for line in ceilings:
        rate = f", {moved(line) / line['median_us'] / 1e3:.0f} GB/s read and written" if is_copy(line) else ""
        seen.setdefault(f"{line['measure']}", []).append(f"{line['median_us']:.2f} us{rate}")
    for name, all_of in seen.items():
        print(f"- {name}: {'; '.join(all_of)}")
    print()
    print("us, medians; GB/s of output; `floor`: bytes in sectors of 32 B at the rate of the 1 GiB copy, no cache, divided by the"
          " time, blocks of up to 30 MiB read once (above 1: a cache helped); `naive`: as a user would write it; the ratios are our time divided by theirs, below 1 ours is faster.\n")
    print("| workload | output MiB | ours | GB/s | floor | / copy | / naive | unchecked | best of torch | / torch | jax | cuda rows | kernel |")
    print("|" + "---|" * 13)
    names = list(dict.fromkeys(line["workload"] for line in ours if line.get("set") in GATHERS))
    names += [name for name in dict.fromkeys(line["workload"] for line in peers) if name not in names and name != "ceiling"]
    scattered = dict.fromkeys(line["workload"] for line in ours if line.get("set") == "scatter")
    names = [name for name in names if name not in scattered]
    wrong = []
    for name in names:
        mine = [line for line in ours if line["workload"] == name and line.get("set") in GATHERS]
        theirs = [line for line in peers if line["workload"] == name]
        figure = {line["measure"]: line for line in mine}
        us = figure["ours"]["median_us"] if "ours" in figure else None
        out = (mine or theirs)[0]["out_bytes"]
        copied = [figure[of]["median_us"] for of in ("copy", "shader_copy") if of in figure]
        copied += [line["median_us"] for line in theirs if line["measure"] == "torch copy_"]
        torch, which = best([line for line in theirs if line["measure"] != "torch copy_"], ("torch",))
        jax, _ = best(theirs, ("jax",))
        cuda, _ = best(theirs, ("cuda",))
        other = lambda of: figure[of]["median_us"] if of in figure else None
        ratio = lambda to: us / to if us and to else None
        floor = mine[0]["moved_32"] / copy / 1e3 / us if mine and us and copy else None
        print("|", " | ".join([
            name, f"{out / 2**20:.1f}", number(us), number(out / us / 1e3 if us else None, 0), number(floor),
            number(ratio(min(copied, default=None))), number(ratio(other("naive"))), number(other("ours_unchecked")),
            f"{number(torch)} {which.removeprefix('torch').strip('. ')}" if torch else "-", number(ratio(torch)), number(jax), number(cuda),
            (mine[0].get("kernel") or "").split(";")[0] if mine else "",
        ]), "|")
        for line in mine[:1]:
            wrong += [f"{name} {of['measure']}: {of['values']} values, {of['most_ulps']} ulps" for of in line.get("wrong", []) if of["values"]]
        wrong += [f"{name} {line['measure']}" for line in theirs if line.get("wrong")]
    if scattered:
        print("\n| scatter | updates into rows | ours | floor | torch | / torch | torch deterministic | / that | jax |\n" + "|---" * 9 + "|")
    for name in scattered:
        theirs = [line for line in peers if line["workload"] == name]
        wrong += [f"{name} {line['measure']}" for line in theirs if line["wrong"]]
        for line in (line for line in ours if line["workload"] == name):
            us = line["median_us"]
            calls = ("torch index_add_",) if line["measure"] == "add" else ("torch index_copy_", "torch index_put_")
            free, fixed = (best([of for of in theirs if ("deterministic" in of["measure"]) == is_fixed], calls)[0] for is_fixed in (False, True))
            jax, _ = best(theirs, ("jax",)) if line["measure"] == "add" else (None, "")
            print("|", " | ".join([
                f"{name} {line['measure']}", line["shape"], number(us), number(line["moved_bytes"] / copy / 1e3 / us if copy else None),
                number(free), number(us / free if free else None), number(fixed), number(us / fixed if fixed else None), number(jax),
            ]), "|")
    resting = [f"{line['workload']} {line['measure']}: {line['resting']} samples" for line in ours if line.get("resting")]
    print("\nsamples below 0.9 of the highest clock:", "; ".join(resting) or "none")
    print("\nwrong outputs:", "; ".join(wrong) or "none")
    edits = [line for line in ours if str(line["measure"]).startswith("ours:")]
    if edits:
        print("\n| workload | edit | us | / ours of the same run |\n|---|---|---|---|")
        for line in edits:
            of = [other["median_us"] for other in ours if other["workload"] == line["workload"] and other["measure"] == "ours"]
            print(f"| {line['workload']} | {line['measure'][5:]} | {line['median_us']:.2f} | {number(line['median_us'] / of[-1] if of else None)} |")


if __name__ == "__main__":
    main()
