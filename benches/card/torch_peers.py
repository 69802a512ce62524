#!/usr/bin/env python3
"""Times gathers and scatters of torch and jax, and a plain CUDA kernel, on the workloads that `wgpu-gather-bench --list` names, so
that the ratios to it hold on one card: many calls in a CUDA graph between two events, with indices and outputs that
rotate, beside copies of as many bytes in the same rounds. Outputs are compared with a gather on the CPU. A line of JSON a
figure, written at once.

    python3 torch_peers.py --workloads FILE [--json FILE] [--peer torch,jax,cuda] [--only W1,W3+] [--seconds N]
                           [--rounds N] [--device cuda|cpu] [--skip-large]
"""

import argparse
import json
import sys
import time
from math import prod

import numpy as np
import torch

START = time.monotonic()
SAMPLE_US = 1500.0
ROTATE_BYTES = 384 << 20


def words(count):
    """The words of the benchmark's tables."""
    at = np.arange(1, count + 1, dtype=np.uint32)
    at *= np.uint32(0x9E3779B1)
    return at ^ (at >> np.uint32(15))


class Workload:
    def __init__(self, line):
        self.__dict__.update(line)
        self.dtype = {1: "uint8", 2: "float16", 4: "float32"}[self.element_bytes]
        self.bits = {1: "uint8", 2: "int16", 4: "int32"}[self.element_bytes]
        self.axis_one = None
        if self.op == "gather" and self.batch_dims == 0:
            self.axis_one = self.axis
        if self.op == "nd" and self.batch_dims == 0 and self.indices[-1] == 1:
            self.axis_one = 0
        if self.op == "elements":
            self.dims = [self.params[self.axis]]
        elif self.op == "gather":
            self.dims = [self.params[self.axis]]
        else:
            self.dims = self.params[self.batch_dims : self.batch_dims + self.indices[-1]]

    def make_indices(self, seed):
        rng = np.random.default_rng(seed)
        count = prod(self.indices) // len(self.dims)
        narrow = {"u8": 256, "i8": 128}.get(self.index, 1 << 62)
        columns = [rng.integers(0, min(dim, narrow), count, dtype=np.int32) for dim in self.dims]
        values = columns[0] if len(columns) == 1 else np.stack(columns, -1)
        return values.astype({"i32": np.int32, "i64": np.int64, "u8": np.uint8}[self.index]).reshape(self.indices)

    def where(self, indices, arange):
        """The argument of params[...]"""
        if self.op == "elements":
            rows, columns = (arange(size) for size in self.indices)
            return (indices, columns[None, :]) if self.axis == 0 else (rows[:, None], indices)
        if self.op == "gather":
            ahead = (slice(None),) * self.axis
            if self.batch_dims:
                return (arange(self.indices[0])[:, None], indices)
            return ahead + (indices,)
        parts = tuple(indices[..., k] for k in range(self.indices[-1]))
        if self.batch_dims:
            return (arange(self.indices[0])[:, None],) + parts
        return parts


class Skip(Exception):
    pass


class Out:
    """Lines of JSON, and a table on standard output."""

    def __init__(self, path):
        self.file = open(path, "w") if path else None

    def line(self, **line):
        if self.file:
            self.file.write(json.dumps(line) + "\n")
            self.file.flush()
        gbps = line["out_bytes"] / line["median_us"] / 1e3
        print(f"{line['workload']:<9}{line['measure']:<34}{line['median_us']:>11.2f} us{gbps:>9.0f} GB/s of output"
              f"   {line['clock']}{'' if line['wrong'] == 0 else '   WRONG'}", flush=True)


class TorchClock:
    """Times K calls: by a CUDA graph and events, or by the host's clock on the CPU."""

    def __init__(self, device):
        self.device, self.on_gpu = device, device == "cuda"

    def wait(self):
        if self.on_gpu:
            torch.cuda.synchronize()

    def plain(self, call, calls):
        if self.on_gpu:
            start, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
            start.record()
            for k in range(calls):
                call(k)
            end.record()
            end.synchronize()
            return start.elapsed_time(end) * 1e3 / calls
        begin = time.perf_counter()
        for k in range(calls):
            call(k)
        return (time.perf_counter() - begin) * 1e6 / calls

    def sampler(self, call):
        """A function that gives the microseconds of one call, the number of calls in a sample, and the clock's name."""
        for k in range(3):
            call(k)
        self.wait()
        each = max(self.plain(call, 4), 0.5)
        calls = int(min(max(SAMPLE_US / each, 2), 256)) if self.on_gpu else 2
        if self.on_gpu:
            try:
                graph = torch.cuda.CUDAGraph()
                with torch.cuda.graph(graph):
                    for k in range(calls):
                        call(k)

                def sample():
                    start, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
                    start.record()
                    graph.replay()
                    end.record()
                    end.synchronize()
                    return start.elapsed_time(end) * 1e3 / calls

                sample()
                return sample, calls, "graph"
            except Exception as error:
                print(f"  no graph: {type(error).__name__}: {str(error).splitlines()[0][:90]}", flush=True)
                torch.cuda.synchronize()
        return (lambda: self.plain(call, calls)), calls, "events" if self.on_gpu else "host"


class Tables:
    """The table of all workloads, on the CPU and on the device."""

    def __init__(self, device, most_bytes):
        self.host = torch.from_numpy(words((most_bytes + 3) // 4).view(np.int32))
        self.device = self.host.to(device)

    def of(self, where, workload):
        count = prod(workload.params)
        flat = (self.host if where == "host" else self.device).view(getattr(torch, workload.bits))
        return flat[:count].view(getattr(torch, workload.dtype)).view(workload.params)


def rotation(out_bytes):
    return int(min(max(-(-ROTATE_BYTES // max(out_bytes, 1)), 2), 8))


def expected_of(workload, tables, indices):
    params = tables.of("host", workload)
    index = torch.from_numpy(indices.astype(np.int64))
    if workload.op == "elements":
        return torch.gather(params, workload.axis, index)
    if workload.axis_one is not None:
        return torch.index_select(params, workload.axis_one, index.reshape(-1))
    return params[workload.where(index, torch.arange)]


def is_wrong(found, expected, bits):
    kind = getattr(torch, bits)
    found = found.reshape(-1).contiguous().view(kind)
    expected = expected.reshape(-1).contiguous().view(kind)
    if found.numel() != expected.numel():
        return -1
    wrong, part = 0, 1 << 26
    for at in range(0, found.numel(), part):
        wrong += int((found[at : at + part] != expected[at : at + part].to(found.device)).sum())
    return wrong


def torch_figures(workload, params, indices, outs, device):
    """(name, call): call(k) gathers by index set k into output k, and keeps its output in `kept[k]`."""
    ring, sets = len(outs), len(indices)
    long = [index.to(torch.int64) for index in indices]
    flat = [(index if workload.index != "u8" else index.to(torch.int32)).reshape(-1) for index in indices]
    kept = [None] * ring

    def keep(k, value):
        kept[k % ring] = value

    calls = []
    axis = workload.axis_one
    if axis is not None:
        shape = list(workload.params)
        shape[axis] = flat[0].numel()
        views = [out.view(shape) for out in outs]
        calls.append(("torch.index_select(out)", lambda k: keep(k, torch.index_select(params, axis, flat[k % sets], out=views[k % ring]))))
        if axis == 0 and params.dim() == 2:
            calls.append(("torch.embedding", lambda k: keep(k, torch.nn.functional.embedding(flat[k % sets], params))))
    if workload.op == "elements":
        shape = workload.indices
        views = [out.view(shape) for out in outs]
        calls.append(("torch.gather(out, i64)", lambda k: keep(k, torch.gather(params, workload.axis, long[k % sets], out=views[k % ring]))))
        calls.append(("torch.take_along_dim(i64)", lambda k: keep(k, torch.take_along_dim(params, long[k % sets], workload.axis))))
    else:
        wheres = [workload.where(index, lambda end: torch.arange(end, device=device)) for index in long]
        calls.append(("torch x[i64]", lambda k: keep(k, params[wheres[k % sets]])))
    if workload.batch_dims == 1 and workload.op in ("nd", "gather") and params.dim() == 3:
        tall = [index.reshape(index.shape[0], -1, 1).expand(-1, -1, params.shape[2]) for index in long]
        calls.append(("torch.gather(expanded i64)", lambda k: keep(k, torch.gather(params, 1, tall[k % sets]))))
    return calls, kept


CUDA = r"""
template<typename U> __device__ void rows(const U* p, const int* ix, U* out, unsigned units, unsigned count, unsigned last) {
    // A lane has a unit of each of four rows, a quarter of the rows apart; neighbours have neighbouring units.
    unsigned lane = blockIdx.x * blockDim.x + threadIdx.x, quarter = count / 4;
    unsigned row = lane / units, unit = lane - row * units;
    if (row >= quarter) return;
    U v[4];
    unsigned k[4];
    #pragma unroll
    for (int r = 0; r < 4; r++) k[r] = min((unsigned)ix[row + r * quarter], last);
    #pragma unroll
    for (int r = 0; r < 4; r++) v[r] = p[(size_t)k[r] * units + unit];
    #pragma unroll
    for (int r = 0; r < 4; r++) out[(size_t)(row + r * quarter) * units + unit] = v[r];
}
extern "C" __global__ void rows16(const uint4* p, const int* ix, uint4* o, unsigned u, unsigned n, unsigned l) { rows(p, ix, o, u, n, l); }
extern "C" __global__ void rows4(const unsigned* p, const int* ix, unsigned* o, unsigned u, unsigned n, unsigned l) { rows(p, ix, o, u, n, l); }
"""


def cuda_figure(workload, params, indices, outs):
    """A kernel as a CUDA programmer writes it for rows: four rows a lane, 16 bytes or a word of each."""
    import cupy

    slice_bytes = prod(workload.params[1:]) * workload.element_bytes
    count = prod(workload.indices)
    if workload.op == "elements" or workload.axis_one != 0 or workload.index != "i32" or slice_bytes % 4 or count % 4:
        raise Skip("not rows of words")
    if not hasattr(cuda_figure, "module"):
        cuda_figure.module = cupy.RawModule(code=CUDA, options=("-std=c++17",), backend="nvrtc")
    unit = 16 if slice_bytes % 16 == 0 else 4
    kernel = cuda_figure.module.get_function(f"rows{unit}")
    units, last = slice_bytes // unit, workload.params[0] - 1
    lanes = count // 4 * units
    grid = ((lanes + 255) // 256,)
    stream = lambda: cupy.cuda.ExternalStream(torch.cuda.current_stream().cuda_stream)
    kept = [None] * len(outs)

    def call(k):
        out, index = outs[k % len(outs)], indices[k % len(indices)]
        with stream():
            kernel(grid, (256,), (params.data_ptr(), index.data_ptr(), out.data_ptr(), np.uint32(units), np.uint32(count), np.uint32(last)))
        kept[k % len(outs)] = out

    return "cuda rows x 4", call, kept


class Jax:
    """Each call is dispatched from the host without waiting, so calls of less than some 20 us are the host's time."""

    def __init__(self):
        import jax

        jax.config.update("jax_enable_x64", True)
        self.jax, self.device = jax, jax.devices()[0]

    def figures(self, workload, indices, table):
        jax, jnp = self.jax, self.jax.numpy
        params = jax.device_put(table, self.device)
        sets = [jax.device_put(index, self.device) for index in indices]
        for mode in ("clip", "fill"):
            if workload.op == "elements":
                name = f"jax take_along_axis {mode}"
                run = jax.jit(lambda p, i, mode=mode: jnp.take_along_axis(p, i, axis=workload.axis, mode=mode))
            elif workload.axis_one is not None:
                name = f"jax take {mode}"
                run = jax.jit(lambda p, i, mode=mode: jnp.take(p, i.reshape(-1), axis=workload.axis_one, mode=mode))
            else:
                name = f"jax x[i] {mode}"
                run = jax.jit(lambda p, i, mode=mode: p.at[workload.where(i, jnp.arange)].get(mode=mode))
            yield name, (lambda k, run=run: run(params, sets[k % len(sets)]))


def jax_lines(workload, indices, table, expected, options, out, base):
    jax = Jax.one
    for name, call in jax.figures(workload, indices, table):
        first = np.asarray(call(0))
        wrong = int((first.reshape(-1).view(workload.bits) != expected.reshape(-1).view(workload.bits)).sum())
        begin = time.perf_counter()
        [call(k) for k in range(4)][-1].block_until_ready()
        each = (time.perf_counter() - begin) * 1e6 / 4
        calls = int(min(max(2 * SAMPLE_US / max(each, 1), 2), 64))
        samples = []
        for _ in range(options.rounds):
            begin = time.perf_counter()
            kept = [None] * 4
            for k in range(calls):
                kept[k % 4] = call(k)
            kept[(calls - 1) % 4].block_until_ready()
            samples.append((time.perf_counter() - begin) * 1e6 / calls)
        out.line(**base, measure=name, median_us=float(np.median(samples)), min_us=min(samples), calls=calls,
                 clock="host", wrong=wrong, version=jax.jax.__version__)


def measure(workload, tables, options, out, device, clock):
    slices_shape = output_shape(workload)
    out_bytes = prod(slices_shape) * workload.element_bytes
    ring = rotation(out_bytes)
    host_indices = [workload.make_indices(seed + 1) for seed in range(min(ring, 3))]
    base = dict(workload=workload.name, out_bytes=out_bytes, adapter=options.adapter)
    params = tables.of(device, workload)
    indices = [torch.from_numpy(index).to(device) for index in host_indices]
    kind = getattr(torch, workload.dtype)
    outs = [torch.empty(prod(slices_shape), dtype=kind, device=device) for _ in range(ring)]
    expected = expected_of(workload, tables, host_indices[0])
    figures = []  # name, call, kept
    if "torch" in options.peers:
        calls, kept = torch_figures(workload, params, indices, outs, device)
        figures += [(name, call, kept, torch.__version__) for name, call in calls]
    if "cuda" in options.peers and device == "cuda":
        try:
            name, call, kept = cuda_figure(workload, params, indices, outs)
            figures.append((name, call, kept, "cuda"))
        except Skip:
            pass
        except Exception as error:
            print(f"{workload.name:<9}cuda: {type(error).__name__}: {str(error).splitlines()[0][:90]}", flush=True)
    source = torch.empty(out_bytes, dtype=torch.uint8, device=device)
    raw = [buffer.view(torch.uint8) for buffer in outs]
    ready = []
    copy, calls, name = clock.sampler(lambda k: raw[k % ring].copy_(source))
    ready.append(("torch copy_", copy, calls, name, 0, torch.__version__))
    for name, call, kept, version in figures:
        try:
            for buffer in outs:
                buffer.view(torch.uint8).fill_(0xA5)
            call(0)
            clock.wait()
            wrong = is_wrong(kept[0], expected, workload.bits)
            sample, calls, kind_of_clock = clock.sampler(call)
            ready.append((name, sample, calls, kind_of_clock, wrong, version))
        except Exception as error:
            print(f"{workload.name:<9}{name}: {type(error).__name__}: {str(error).splitlines()[0][:90]}", flush=True)
    samples = {entry[0]: [] for entry in ready}
    for _ in range(options.rounds):
        for entry in ready:
            samples[entry[0]].append(entry[1]())
    for name, _, calls, kind_of_clock, wrong, version in ready:
        times = samples[name]
        out.line(**base, measure=name, median_us=float(np.median(times)), min_us=min(times), calls=calls,
                 clock=kind_of_clock, wrong=wrong, version=version)
    del ready, figures, outs, raw, source, params
    if device == "cuda":
        torch.cuda.empty_cache()
    if "jax" in options.peers and hasattr(Jax, "one") and params_bytes(workload) <= options.jax_bytes:
        try:
            jax_lines(workload, host_indices, tables.of("host", workload).numpy(), expected.numpy(), options, out, base)
        except Exception as error:
            print(f"{workload.name:<9}jax: {type(error).__name__}: {str(error).splitlines()[0][:90]}", flush=True)


def params_bytes(workload):
    return prod(workload.params) * workload.element_bytes


def output_shape(workload):
    if workload.op == "elements":
        return list(workload.indices)
    if workload.op == "gather":
        ahead = workload.params[: workload.axis]
        return ahead + workload.indices[workload.batch_dims :] + workload.params[workload.axis + 1 :]
    depth = workload.indices[-1]
    return workload.indices[:-1] + workload.params[workload.batch_dims + depth :]


def decode_lines(options, out, device, clock):
    """Rows of 2,048 values of F16, BF16 and 8-bit floats, gathered and made f32 by two kernels of torch."""
    values, count = 2048, 65_536 // options.decode_scale
    kinds = [("F16", torch.float16), ("BF16", torch.bfloat16), ("F8_E4M3", torch.float8_e4m3fn), ("F8_E5M2", torch.float8_e5m2)]
    for name, kind in kinds:
        width = torch.empty(0, dtype=kind).element_size()
        rows = max((1 << 28) // options.decode_scale // (values * width), 64)
        table = torch.randint(0, 0x3C, (rows, values * width), dtype=torch.uint8, device=device)
        index = torch.randint(0, rows, (count,), device=device)
        kept = [None] * 3

        def call(k):
            kept[k % 3] = torch.index_select(table, 0, index).view(kind).to(torch.float32)

        try:
            sample, calls, of_clock = clock.sampler(call)
            times = [sample() for _ in range(options.rounds)]
        except Exception as error:
            print(f"D:{name:<7}{type(error).__name__}: {str(error).splitlines()[0][:90]}", flush=True)
            continue
        out.line(workload=f"D:{name}", out_bytes=4 * values * count, adapter=options.adapter, wrong=0, clock=of_clock,
                 measure="torch index_select + to(float32)", median_us=float(np.median(times)), min_us=min(times), calls=calls,
                 version=torch.__version__)


def scatter_lines(line, options, out, device, clock):
    """Assigns and sums of rows by torch, also in its deterministic mode, and sums by jax. Sums of whole numbers are exact."""
    rows, slice_len, updates = line["rows"], line["slice_len"], line["updates"]
    rng = np.random.default_rng(1)
    selected = {
        "Unique": lambda: rng.permutation(rows),
        "Random": lambda: rng.integers(0, rows, updates),
        "HalfOne": lambda: rng.integers(0, rows, updates) * (np.arange(updates) % 2),
        "Sorted": lambda: np.arange(updates) * rows // updates,
    }[line["select"]]()
    index = torch.from_numpy(selected).to(device)
    added = torch.randint(0, 4, (updates, slice_len), device=device).to(torch.float32)
    target = torch.zeros(rows, slice_len, device=device)
    summed = torch.zeros(rows, slice_len, dtype=torch.float64, device=device).index_add_(0, index, added.to(torch.float64))
    base = dict(workload=line["name"], out_bytes=updates * slice_len * 4, adapter=options.adapter)
    calls = [("torch index_add_", lambda: target.index_add_(0, index, added))]
    if line["select"] == "Unique":
        calls.append(("torch index_copy_", lambda: target.index_copy_(0, index, added)))
    calls.append(("torch index_put_", lambda: target.index_put_((index,), added)))
    for is_fixed in (False, True):
        torch.use_deterministic_algorithms(is_fixed)
        for name, call in calls:
            name += " deterministic" if is_fixed else ""
            try:
                target.zero_()
                call()
                clock.wait()
                # Of an assign to one row, any update may stay.
                is_sum = "index_add_" in name or line["select"] == "Unique"
                wrong = int((target.to(torch.float64) != summed).sum()) if is_sum else 0
                sample, count, of_clock = clock.sampler(lambda _: call())
                times = [sample() for _ in range(options.rounds)]
                out.line(**base, measure=name, median_us=float(np.median(times)), min_us=min(times), calls=count,
                         clock=of_clock, wrong=wrong, version=torch.__version__)
            except Exception as error:
                print(f"{line['name']:<9}{name}: {type(error).__name__}: {str(error).splitlines()[0][:90]}", flush=True)
    torch.use_deterministic_algorithms(False)
    if "jax" in options.peers and hasattr(Jax, "one") and target.numel() * 4 <= options.jax_bytes:
        jax, jnp = Jax.one.jax, Jax.one.jax.numpy
        start, ids = jnp.zeros((rows, slice_len), jnp.float32), jax.device_put(selected)
        values = jax.device_put(added.cpu().numpy())
        run = jax.jit(lambda t, i, v: t.at[i].add(v, mode="drop"))
        found = np.asarray(run(start, ids, values))
        times = []
        for _ in range(options.rounds):
            begin = time.perf_counter()
            [run(start, ids, values) for _ in range(4)][-1].block_until_ready()
            times.append((time.perf_counter() - begin) * 1e6 / 4)
        out.line(**base, measure="jax at[].add", median_us=float(np.median(times)), min_us=min(times), calls=4, clock="host",
                 wrong=int((found != summed.cpu().numpy()).sum()), version=jax.__version__)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--workloads", required=True)
    parser.add_argument("--json")
    parser.add_argument("--peer", default="torch,cuda,jax")
    parser.add_argument("--only", default="")
    parser.add_argument("--seconds", type=float, default=600)
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--device", default="")
    parser.add_argument("--skip-large", action="store_true")
    parser.add_argument("--decode-scale", type=int, default=1)
    parser.add_argument("--jax-bytes", type=int, default=600 << 20, help="no table of more bytes for jax")
    options = parser.parse_args()
    options.peers = options.peer.split(",")
    only = [name for name in options.only.split(",") if name]
    lines = [json.loads(line) for line in open(options.workloads) if line.strip()]
    scatters = [line for line in lines if line["op"] == "scatter" and (not only or line["name"] in only)]
    workloads = [Workload(line) for line in lines if line["op"] != "scatter"]
    workloads = [w for w in workloads if w.encoding is None and w.shards == 1 and (not only or w.name in only)]
    if options.skip_large:
        workloads = [w for w in workloads if not w.is_large]
    out = Out(options.json)
    device = options.device or ("cuda" if torch.cuda.is_available() else "cpu")
    options.adapter = torch.cuda.get_device_name() if device == "cuda" else "CPU"
    clock = TorchClock(device)
    tables = Tables(device, max(map(params_bytes, workloads), default=16))
    print(f"torch {torch.__version__} on {options.adapter}", flush=True)
    if device == "cuda":
        ceiling(options, out, clock)
    if "jax" in options.peers:
        try:
            import os

            os.environ.setdefault("XLA_PYTHON_CLIENT_PREALLOCATE", "false")
            Jax.one = Jax()
            print(f"jax {Jax.one.jax.__version__} on {Jax.one.device}", flush=True)
        except Exception as error:
            print(f"no jax: {type(error).__name__}: {str(error)[:90]}", flush=True)
    wrong = False
    for line in scatters:
        if time.monotonic() - START > options.seconds:
            print(f"{line['name']}: no time is left", flush=True)
            continue
        try:
            scatter_lines(line, options, out, device, clock)
        except Exception as error:
            wrong = True
            print(f"{line['name']}: {type(error).__name__}: {str(error).splitlines()[0][:120] if str(error) else ''}", flush=True)
        if device == "cuda":
            torch.cuda.empty_cache()
    for workload in workloads:
        if time.monotonic() - START > options.seconds:
            print(f"{workload.name}: no time is left", flush=True)
            continue
        try:
            measure(workload, tables, options, out, device, clock)
        except Exception as error:
            wrong = True
            print(f"{workload.name}: {type(error).__name__}: {str(error).splitlines()[0][:120] if str(error) else ''}", flush=True)
    if time.monotonic() - START < options.seconds and (not only or any(n.startswith("D:") for n in only)):
        decode_lines(options, out, device, clock)
    return int(wrong)


def ceiling(options, out, clock):
    source = torch.empty(1 << 30, dtype=torch.uint8, device="cuda")
    target = torch.empty_like(source)
    # Clocks rise under load.
    end = time.monotonic() + 0.3
    while time.monotonic() < end:
        target.copy_(source)
        torch.cuda.synchronize()
    empty = torch.zeros(1, device="cuda")
    for name, call, size in (
        ("torch copy_ 1 GiB", lambda k: target.copy_(source), 1 << 30),
        ("torch add_ of one value", lambda k: empty.add_(1), 4),
    ):
        sample, calls, of_clock = clock.sampler(call)
        times = [sample() for _ in range(options.rounds)]
        out.line(workload="ceiling", out_bytes=size, adapter=options.adapter, measure=name, median_us=float(np.median(times)),
                 min_us=min(times), calls=calls, clock=of_clock, wrong=0, version=torch.__version__)


if __name__ == "__main__":
    sys.exit(main())
