"""Libraries for CUDA; torch runs on the CPU too. Each has a class with the calls that gather, the wait that ends a
call, and copies of the output's bytes."""

import numpy as np

from figures import Absent, Figure, Kept, Refusal, axis_of, elements_axis_of, need, nothing
from workloads import Data


class Torch:
    def __init__(self, threads):
        self.torch = torch = need("torch")
        self.on_gpu = torch.cuda.is_available()
        self.device = "cuda" if self.on_gpu else "cpu"
        torch.set_num_threads(threads)
        self.threads = 0 if self.on_gpu else threads
        self.adapter = torch.cuda.get_device_name() if self.on_gpu else None

    def figures(self):
        return [self.index_select, self.index_select_out, self.gather, self.index, self.embedding]

    def tensor(self, array):
        return self.torch.from_numpy(np.ascontiguousarray(array)).to(self.device)

    def flat_indices(self, data):
        # The calls take indices of 32 and 64 bits.
        indices = data.flat_indices()
        return indices.astype(np.int32) if data.workload.index == "uint8" else indices

    def figure(self, name, call, measure="run") -> Figure:
        run = Kept(call)
        wait = self.torch.cuda.synchronize if self.on_gpu else nothing
        clock = (lambda calls: self.device_ms(run, calls)) if self.on_gpu else None
        return Figure(
            f"torch {name}", self.torch.__version__, "gpu" if self.on_gpu else "cpu", self.threads,
            "resident" if self.on_gpu else measure, run, wait, lambda: run.value.cpu().numpy(), self.adapter, clock,
        )

    def device_ms(self, run, calls) -> float:
        start, end = (self.torch.cuda.Event(enable_timing=True) for _ in range(2))
        start.record()
        for _ in range(calls):
            run()
        end.record()
        end.synchronize()
        return start.elapsed_time(end) / calls

    def copies(self, data):
        if not self.on_gpu:
            return
        source = self.tensor(data.expected)
        target = self.torch.empty_like(source)
        figure = self.figure("copy_", lambda: target.copy_(source))
        figure.measure = "copy"
        yield figure

    def index_select(self, data: Data) -> Figure:
        axis = axis_of(data, "torch index_select")
        params, indices = self.tensor(data.params), self.tensor(self.flat_indices(data))
        return self.figure("index_select", lambda: self.torch.index_select(params, axis, indices))

    def index_select_out(self, data: Data) -> Figure:
        axis = axis_of(data, "torch index_select(out)")
        params, indices = self.tensor(data.params), self.tensor(self.flat_indices(data))
        output = self.torch.zeros_like(self.torch.index_select(params, axis, indices))
        call = lambda: self.torch.index_select(params, axis, indices, out=output)
        return self.figure("index_select(out)", call, "run_into")

    def gather(self, data: Data) -> Figure:
        axis = elements_axis_of(data, "torch gather")
        # The only type that the call takes.
        params, indices = self.tensor(data.params), self.tensor(data.indices.astype(np.int64))
        return self.figure("gather", lambda: self.torch.gather(params, axis, indices))

    def index(self, data: Data) -> Figure:
        # torch takes indices of 8 bits for a mask.
        indices = data.indices.astype(np.int64) if data.workload.index == "uint8" else data.indices
        params, indices = self.tensor(data.params), self.tensor(indices)
        where = data.tuple_of(indices, lambda end: self.torch.arange(end, device=self.device))
        return self.figure("x[i, j]" if data.workload.select_axis is None else "x[i]", lambda: params[where])

    def embedding(self, data: Data) -> Figure:
        if data.workload.select_axis != 0 or len(data.workload.params_shape) != 2:
            raise Refusal("torch embedding looks up rows of a matrix")
        params, indices = self.tensor(data.params), self.tensor(self.flat_indices(data))
        return self.figure("embedding", lambda: self.torch.nn.functional.embedding(indices, params))


class Cupy:
    def __init__(self, threads):
        self.cupy = cupy = need("cupy")
        try:
            self.adapter = cupy.cuda.runtime.getDeviceProperties(0)["name"].decode()
        except Exception as error:
            raise Absent(f"no device: {error}") from error

    def figures(self):
        return [self.take_out, self.index]

    def figure(self, name, call, measure="resident") -> Figure:
        run = Kept(call)
        return Figure(
            f"cupy {name}", self.cupy.__version__, "gpu", 0, measure, run,
            self.cupy.cuda.Device().synchronize, lambda: self.cupy.asnumpy(run.value), self.adapter,
            lambda calls: self.device_ms(run, calls),
        )

    def device_ms(self, run, calls) -> float:
        start, end = self.cupy.cuda.Event(), self.cupy.cuda.Event()
        start.record()
        for _ in range(calls):
            run()
        end.record()
        end.synchronize()
        return self.cupy.cuda.get_elapsed_time(start, end) / calls

    def take_out(self, data: Data) -> Figure:
        axis = axis_of(data, "cupy take")
        params, indices = self.cupy.asarray(data.params), self.cupy.asarray(data.flat_indices())
        output = self.cupy.zeros(data.expected.shape, data.expected.dtype)
        return self.figure("take(out)", lambda: self.cupy.take(params, indices, axis=axis, out=output))

    def index(self, data: Data) -> Figure:
        where = data.tuple_of(self.cupy.asarray(data.indices), self.cupy.arange)
        params = self.cupy.asarray(data.params)
        return self.figure("x[i]", lambda: params[where])

    def copies(self, data):
        source = self.cupy.asarray(data.expected)
        target = self.cupy.empty_like(source)
        yield self.figure("copyto", lambda: self.cupy.copyto(target, source), "copy")


class Triton:
    """A kernel as written by hand: one program for each tile of slices, with masked loads."""

    def __init__(self, threads):
        self.triton = need("triton")
        self.base = Torch(threads)
        if not self.base.on_gpu:
            raise Absent("triton needs a GPU that torch sees")
        import triton_gather

        self.gather = triton_gather.gather

    def figures(self):
        return [self.rows]

    def rows(self, data: Data) -> Figure:
        if axis_of(data, "the triton kernel") != 0:
            raise Refusal("the triton kernel gathers rows")
        rows = data.workload.params_shape[0]
        params = self.base.tensor(data.params.reshape(rows, -1))
        indices = self.base.tensor(data.flat_indices())
        output = self.base.torch.zeros_like(self.base.tensor(data.expected.reshape(len(indices), -1)))
        figure = self.base.figure("", lambda: self.gather(params, indices, output))
        figure.peer, figure.version = "triton kernel", self.triton.__version__
        return figure

    def copies(self, data):
        return []
