"""Each library has a class with the calls that gather, the wait that ends a call, and copies of the output's bytes."""

import ctypes
import os
from pathlib import Path

import numpy as np

from figures import Absent, Figure, Kept, Refusal, axis_of, elements_axis_of, need, nothing
from workloads import Data


class Numpy:
    def __init__(self, threads):
        pass

    def figures(self):
        return [self.take_out, self.along_axis, self.index]

    def copies(self, data):
        return []

    def along_axis(self, data: Data) -> Figure:
        axis = elements_axis_of(data, "numpy take_along_axis")
        run = Kept(lambda: np.take_along_axis(data.params, data.indices, axis))
        return Figure("numpy take_along_axis", np.__version__, "cpu", 1, "gather", run, nothing, lambda: run.value)

    def take_out(self, data: Data) -> Figure:
        axis, indices = axis_of(data, "numpy take"), data.flat_indices()
        output = data.output()

        def run():
            # Modes other than raise write to out without a buffer between.
            np.take(data.params, indices, axis=axis, out=output, mode="clip")

        return Figure("numpy take(out)", np.__version__, "cpu", 1, "gather_into", run, nothing, lambda: output)

    def index(self, data: Data) -> Figure:
        where = data.tuple_of(data.indices)
        run = Kept(lambda: data.params[where])
        return Figure("numpy x[i]", np.__version__, "cpu", 1, "gather", run, nothing, lambda: run.value)


class Torch:
    """On the CPU; benches/card/torch_peers.py times torch on a GPU."""

    def __init__(self, threads):
        self.torch = need("torch")
        self.torch.set_num_threads(threads)
        self.threads = threads

    def figures(self):
        return [self.index_select, self.index_select_out, self.gather, self.index, self.embedding]

    def tensor(self, array):
        return self.torch.from_numpy(np.ascontiguousarray(array))

    def figure(self, name, call, measure="gather") -> Figure:
        run = Kept(call)
        output = lambda: run.value.numpy()
        return Figure(f"torch {name}", self.torch.__version__, "cpu", self.threads, measure, run, nothing, output)

    def copies(self, data):
        return []

    def index_select(self, data: Data) -> Figure:
        axis = axis_of(data, "torch index_select")
        params, indices = self.tensor(data.params), self.tensor(data.flat_indices("int32"))
        return self.figure("index_select", lambda: self.torch.index_select(params, axis, indices))

    def index_select_out(self, data: Data) -> Figure:
        axis = axis_of(data, "torch index_select(out)")
        params, indices = self.tensor(data.params), self.tensor(data.flat_indices("int32"))
        output = self.tensor(data.output())
        call = lambda: self.torch.index_select(params, axis, indices, out=output)
        return self.figure("index_select(out)", call, "gather_into")

    def gather(self, data: Data) -> Figure:
        axis = elements_axis_of(data, "torch gather")
        # The only type that the call takes.
        params, indices = self.tensor(data.params), self.tensor(data.as_type(np.int64))
        return self.figure("gather", lambda: self.torch.gather(params, axis, indices))

    def index(self, data: Data) -> Figure:
        # torch takes indices of 8 bits for a mask.
        indices = data.as_type(np.int64) if data.workload.index == "uint8" else data.indices
        params, indices = self.tensor(data.params), self.tensor(indices)
        where = data.tuple_of(indices, self.torch.arange)
        return self.figure("x[i, j]" if data.workload.select_axis is None else "x[i]", lambda: params[where])

    def embedding(self, data: Data) -> Figure:
        if data.workload.select_axis != 0 or len(data.workload.params_shape) != 2:
            raise Refusal("torch embedding looks up rows of a matrix")
        params, indices = self.tensor(data.params), self.tensor(data.flat_indices("int32"))
        return self.figure("embedding", lambda: self.torch.nn.functional.embedding(indices, params))


class Jax:
    def __init__(self, threads):
        self.jax = jax = need("jax")
        jax.config.update("jax_enable_x64", True)  # without it int64 indices become int32
        self.found = jax.devices()[0]
        self.on_gpu = self.found.platform != "cpu"
        self.threads = 0 if self.on_gpu else threads

    def figures(self):
        return [self.clip, self.fill]

    def clip(self, data):
        return self.figure(data, "clip")

    def fill(self, data):
        return self.figure(data, "fill")

    def figure(self, data: Data, mode: str) -> Figure:
        jax, jnp = self.jax, self.jax.numpy
        params, indices = (jax.device_put(array, self.found) for array in (data.params, data.indices))
        axis = data.workload.select_axis
        if data.workload.elements:
            axis = data.workload.axis
            gather = jax.jit(lambda params, indices: jnp.take_along_axis(params, indices, axis=axis, mode=mode))
            name = f"jax take_along_axis {mode}"
        elif axis is not None:
            indices = indices.reshape(-1)
            gather = jax.jit(lambda params, indices: jnp.take(params, indices, axis=axis, mode=mode))
            name = f"jax take {mode}"
        else:
            gather = jax.jit(lambda params, indices: params.at[data.tuple_of(indices, jnp.arange)].get(mode=mode))
            name = f"jax x[i, j] {mode}"
        run = Kept(lambda: gather(params, indices))
        return Figure(
            name, jax.__version__, "gpu" if self.on_gpu else "cpu", self.threads,
            "resident" if self.on_gpu else "gather", run, lambda: run.value.block_until_ready(),
            lambda: np.asarray(run.value), self.found.device_kind if self.on_gpu else None,
        )

    def copies(self, data):
        return []


class Onnxruntime:
    def __init__(self, threads):
        self.runtime = need("onnxruntime")
        self.onnx = need("onnx")
        providers = self.runtime.get_available_providers()
        self.on_gpu = "CUDAExecutionProvider" in providers
        self.provider = "CUDAExecutionProvider" if self.on_gpu else "CPUExecutionProvider"
        self.count = threads

    def figures(self):
        return [self.gather_nd, self.gather, self.gather_one_thread, self.gather_elements]

    def session(self, op, data, indices, threads, **attributes):
        """A session of a model with one node, with operands and output bound once."""
        helper, types = self.onnx.helper, self.onnx.helper.np_dtype_to_tensor_dtype
        value = lambda name, array: helper.make_tensor_value_info(name, types(array.dtype), array.shape)
        graph = helper.make_graph(
            [helper.make_node(op, ["params", "indices"], ["output"], **attributes)], "gather",
            [value("params", data.params), value("indices", indices)], [value("output", data.expected)],
        )
        model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
        options = self.runtime.SessionOptions()
        options.intra_op_num_threads = threads
        session = self.runtime.InferenceSession(model.SerializeToString(), options, [self.provider])
        device = "cuda" if self.on_gpu else "cpu"
        held = [self.runtime.OrtValue.ortvalue_from_numpy(array, device, 0) for array in (data.params, indices)]
        output = self.runtime.OrtValue.ortvalue_from_numpy(data.output(), device, 0)
        binding = session.io_binding()
        binding.bind_ortvalue_input("params", held[0])
        binding.bind_ortvalue_input("indices", held[1])
        binding.bind_ortvalue_output("output", output)

        def run():
            session.run_with_iobinding(binding)

        return Figure(
            f"onnxruntime {op}", self.runtime.__version__, "gpu" if self.on_gpu else "cpu",
            0 if self.on_gpu else threads, "resident" if self.on_gpu else "gather_into", run,
            binding.synchronize_outputs, lambda: (held, output.numpy())[1],
        )

    def gather_nd(self, data: Data) -> Figure:
        if data.workload.axis is not None:
            raise Refusal("onnxruntime GatherND selects in the leading dims only")
        indices = data.as_type(np.int64)  # the only type that the operator takes
        return self.session("GatherND", data, indices, self.count, batch_dims=data.workload.batch_dims)

    def gather(self, data: Data) -> Figure:
        axis = axis_of(data, "onnxruntime Gather")
        return self.session("Gather", data, data.flat_indices("int32"), self.count, axis=axis)

    def gather_elements(self, data: Data) -> Figure:
        axis = elements_axis_of(data, "onnxruntime GatherElements")
        return self.session("GatherElements", data, data.indices, self.count, axis=axis)

    def gather_one_thread(self, data: Data) -> Figure:
        if self.on_gpu or self.count == 1:
            raise Refusal("onnxruntime Gather, 1 thread: timed above")
        axis = axis_of(data, "onnxruntime Gather")
        return self.session("Gather", data, data.flat_indices("int32"), 1, axis=axis)

    def copies(self, data):
        return []


class Operands(ctypes.Structure):
    """Addresses and numbers of bytes of params, indices and output, as src/python.rs takes them."""

    _fields_ = [field for name in ("params", "indices", "output")
                for field in ((name, ctypes.c_void_p), (f"{name}_bytes", ctypes.c_size_t))]


class WgpuGather:
    """This crate, and the plain loop that a user would write, from the dynamic library of this benchmark."""

    GATHER_INTO, GATHER, PLAIN_LOOP, READ = range(4)

    def __init__(self, threads):
        path = Path(__file__).parents[1] / "target/release/libwgpu_gather_peers.so"
        try:
            self.library = ctypes.CDLL(os.environ.get("WGPU_GATHER_PEERS", path))
        except OSError as error:
            raise Absent(f"{error}; cargo build --release --no-default-features --lib makes it") from error
        self.library.job.restype = ctypes.c_void_p
        self.library.job.argtypes = [ctypes.c_char_p]
        os.environ["RAYON_NUM_THREADS"] = str(threads)
        self.library.run.argtypes = [ctypes.c_void_p, ctypes.c_uint8, ctypes.c_size_t, ctypes.POINTER(Operands)]
        self.threads = threads

    def figures(self):
        return [self.gather_into, self.run, self.plain_loop]

    def figure(self, name, data, threads, call, measure) -> Figure:
        job = self.library.job(data.workload.name.encode())
        output = data.output()
        arrays = (data.params, data.indices, output)
        operands = Operands(*(part for array in arrays for part in (array.ctypes.data, array.nbytes)))
        repeat = lambda times, call=call: self.library.run(job, call, times, ctypes.byref(operands))

        def read():
            if call == self.GATHER:
                repeat(1, self.READ)
            return output

        return Figure(name, "here", "cpu", threads, measure, lambda: repeat(1), nothing, read, repeat=repeat)

    def gather_into(self, data):
        return self.figure("wgpu-gather", data, self.threads, self.GATHER_INTO, "gather_into")

    def run(self, data):
        return self.figure("wgpu-gather", data, self.threads, self.GATHER, "gather")

    def plain_loop(self, data):
        return self.figure("plain loop", data, 1, self.PLAIN_LOOP, "gather_into")

    def copies(self, data):
        return []


ALL = {
    "wgpu-gather": WgpuGather,
    "numpy": Numpy,
    "torch": Torch,
    "jax": Jax,
    "onnxruntime": Onnxruntime,
}
