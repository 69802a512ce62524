#!/usr/bin/env python3
"""Runs a command whose memory lies on pages of one kind, so that libraries are compared and not their allocators: small
pages of 4 KiB, or huge pages of 2 MiB wherever a block of memory has room for one. Linux with glibc 2.35 or later.

    python3 pages.py small|huge COMMAND...
"""

import ctypes
import os
import sys
from pathlib import Path

PR_SET_THP_DISABLE = 41  # for this process and the programs that it becomes and starts
ENABLED = Path("/sys/kernel/mm/transparent_hugepage/enabled")


def main() -> int:
    if len(sys.argv) < 3 or sys.argv[1] not in ("small", "huge"):
        print(__doc__, file=sys.stderr)
        return 2
    kind, command = sys.argv[1], sys.argv[2:]
    tunables = ["glibc.malloc.mmap_threshold=1048576"]
    if kind == "small":
        libc = ctypes.CDLL(None, use_errno=True)
        if libc.prctl(PR_SET_THP_DISABLE, 1, 0, 0, 0) != 0:
            print(f"small pages: {os.strerror(ctypes.get_errno())}", file=sys.stderr)
            return 1
    elif "[never]" in ENABLED.read_text():
        print(f"huge pages: {ENABLED} says never", file=sys.stderr)
        return 1
    else:
        # malloc then asks for huge pages wherever a block has room for one.
        tunables.append("glibc.malloc.hugetlb=1")
    os.environ["GLIBC_TUNABLES"] = ":".join(tunables)
    os.execvp(command[0], command)


if __name__ == "__main__":
    sys.exit(main())
