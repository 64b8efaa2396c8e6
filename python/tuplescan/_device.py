"""Arrays of libraries other than numpy: found by the module of their type, never imported here first. Arrays on CUDA
are summed where they are, on their library's current stream, and nothing waits; their results are the library's."""

import contextlib
import math
import operator
import sys

import numpy as np

from . import _arrays, _core
from ._errors import OverflowAt
from ._state import State

_DLPACK_CUDA = (2, 13)  # memory of a device, and managed memory

# Above this many tables that need a launch each, one table of a copy with the axis in front is faster.
_TABLES_MOST = 32


def library_of(x):
    """What sums arrays such as x; None for what numpy.asarray() is to take."""
    root = type(x).__module__.partition(".")[0]
    if root == "torch":
        return _Torch(sys.modules["torch"])
    if root == "cupy":
        return _CuPy(sys.modules["cupy"])
    if root in ("jax", "jaxlib"):
        return _Jax(sys.modules["jax"])
    on_cuda = hasattr(x, "__cuda_array_interface__")
    if on_cuda or (hasattr(x, "__dlpack__") and not hasattr(x, "__array__")):
        return _ThroughCuPy() if on_cuda or x.__dlpack_device__()[0] in _DLPACK_CUDA else _Other()
    return None


def cumulative_sum(x, axis, dtype, include_initial, state):
    library = None if isinstance(x, np.ndarray) else library_of(x)
    if library is None:
        x = np.asanyarray(x)
    if x.ndim == 0:
        raise ValueError("x must have at least one dimension")
    if axis is None:
        if x.ndim != 1:
            raise ValueError("For arrays which have more than one dimension ``axis`` argument is required.")
        axis = 0
    axis = _arrays.normalize_axis_index(operator.index(axis), x.ndim)
    if not include_initial:
        return _core.cumsum(x, axis, dtype, state=state)
    if library is not None:
        if state is not None:
            raise ValueError("include_initial: with a state it is for arrays of numpy")
        return library.with_zeros_in_front(_core.cumsum(x, axis, dtype), axis)
    shape = tuple(extent + (i == axis) for i, extent in enumerate(x.shape))
    result = np.empty(shape, _arrays.sums_type(x.dtype, dtype, None))
    first = (slice(None),) * axis + (slice(0, 1),)
    behind = (slice(None),) * axis + (slice(1, None),)
    begun = isinstance(state, State) and state.dtype is not None
    sums = state.sums() if begun else None
    _arrays.cumsum(np.asarray(x), axis, dtype, result[behind], state=state)
    result[first] = sums.reshape(result[first].shape) if begun else 0
    return result


def _stream_number(stream):
    if hasattr(stream, "__cuda_stream__"):
        return stream.__cuda_stream__()[1]
    return operator.index(stream)


class _OnHost:
    """Libraries whose arrays numpy can see without a copy."""

    def cumsum(self, x, axis, dtype, out, exclusive, reverse, start, check_overflow, stream, state):
        foreign = out is not None and not isinstance(out, np.ndarray)
        sums = _arrays.cumsum(
            self.to_numpy(self.resolved(x)),
            axis,
            self.numpy_type(dtype),
            self.to_numpy(out) if foreign else out,
            exclusive=exclusive,
            reverse=reverse,
            start=start,
            check_overflow=check_overflow,
            stream=stream,
            state=state,
        )
        if foreign:
            return out
        return sums if out is not None else self.from_numpy(sums)

    def numpy_type(self, dtype):
        return dtype

    def resolved(self, x):
        return x

    def with_zeros_in_front(self, sums, axis):
        values = self.to_numpy(sums)
        shape = tuple(1 if i == axis else extent for i, extent in enumerate(values.shape))
        zeros = np.zeros(shape, values.dtype)
        return self.from_numpy(np.concatenate([zeros, values], axis))


class _Other(_OnHost):
    """Anything with DLPack in host memory; the result is numpy's."""

    def to_numpy(self, x):
        return np.from_dlpack(x)

    def from_numpy(self, sums):
        return sums


class _Jax(_OnHost):
    """Arrays in host memory by numpy; those on CUDA, and inside of jit() and the like, by the primitive."""

    def __init__(self, jax):
        self.jax = jax

    def cumsum(self, x, axis, dtype, out, exclusive, reverse, start, check_overflow, stream, state):
        if self.on_host(x):
            return super().cumsum(x, axis, dtype, out, exclusive, reverse, start, check_overflow, stream, state)
        options = {"out": out, "start": start, "check_overflow": check_overflow or None, "stream": stream}
        for name, value in {**options, "state": state}.items():
            if value is not None:
                raise TypeError(f"{name}: is not for JAX arrays on CUDA and inside of jit()")
        from . import jax as primitive

        sums = self.jax.dtypes.canonicalize_dtype(_arrays.sums_type(np.dtype(x.dtype), dtype, None))
        return primitive.cumsum(x, axis, sums, exclusive=exclusive, reverse=reverse)

    def on_host(self, x):
        return not isinstance(x, self.jax.core.Tracer) and all(device.platform == "cpu" for device in x.devices())

    def to_numpy(self, x):
        return np.asarray(x)

    def from_numpy(self, sums):
        return self.jax.numpy.asarray(sums)

    def with_zeros_in_front(self, sums, axis):
        jnp = self.jax.numpy
        shape = [1 if i == axis else extent for i, extent in enumerate(sums.shape)]
        return jnp.concatenate([jnp.zeros(shape, sums.dtype), sums], axis)


class _OnCuda(_OnHost):
    """Libraries with arrays on CUDA; what differs between them are the methods below."""

    def cumsum(self, x, axis, dtype, out, exclusive, reverse, start, check_overflow, stream, state):
        if not self.on_cuda(x):
            return super().cumsum(x, axis, dtype, out, exclusive, reverse, start, check_overflow, stream, state)
        x = self.resolved(x)
        if state is not None:
            raise TypeError("state: is for arrays in host memory")
        if out is not None and not (type(out) is type(x) and self.on_cuda(out)):
            raise TypeError("out must be an array of x's library, on CUDA")
        if axis is None:
            x, axis = x.reshape(-1), 0
        elif x.ndim == 0:
            x = x.reshape(1)
        axis = _arrays.normalize_axis_index(operator.index(axis), x.ndim)
        if out is not None and tuple(out.shape) != tuple(x.shape):
            raise ValueError(f"out has shape {tuple(out.shape)}, the sums {tuple(x.shape)}")
        with self.working_on(x, stream) as number:
            return self._sum(x, axis, dtype, out, exclusive, reverse, start, check_overflow, number)

    def _sum(self, x, axis, dtype, out, exclusive, reverse, start, check, stream):
        sums, added_in = self.types_for(x, dtype, out)
        if np.dtype(added_in).kind == "c":
            raise TypeError("complex arrays on CUDA are not summed here")
        if check and np.dtype(added_in).kind == "f":
            raise ValueError("check_overflow: is for sums of integers")
        if check and sums != self.type_named(added_in):
            raise ValueError("check_overflow: is for sums of 32- and 64-bit integers on CUDA")
        rest = tuple(x.shape[:axis]) + tuple(x.shape[axis + 1 :])
        if start is not None:
            start = self.row(start, rest, added_in, x)
        work = self.flipped(x, axis) if reverse else x
        if not self.pair_is_taken(work, added_in):
            work = self.cast(self.cast(work, sums), self.type_named(added_in))
        count = 1
        for extent in x.shape[:axis]:
            count *= extent
        at_once = not check and self.is_row_major(work) and (out is None or self.is_row_major(out))
        moved = count > _TABLES_MOST and not at_once
        if moved:
            work = self.contiguous(self.moved(work, axis, 0))
        along = 0 if moved else axis
        in_place = out is not None and not reverse and not moved and out.dtype == self.type_named(added_in)
        in_place = in_place and self.resolved(out) is out
        result = out if in_place else self.empty(work.shape, self.type_named(added_in), x)
        first = self.empty((1 if moved else max(count, 1),), self.type_named("int64"), x) if check else None
        if not self._queue(work, result, along, exclusive, start, first, stream):
            work = self.contiguous(work)
            fresh = self.empty(work.shape, self.type_named(added_in), x)
            if not self._queue(work, fresh, along, exclusive, start, first, stream):
                raise ValueError("x: cannot be summed as it lies")  # does not happen: it lies side by side
            result = fresh
        sums_array = result
        if moved:
            sums_array = self.moved(sums_array, 0, axis)
        if reverse:
            sums_array = self.flipped(sums_array, axis)
        if out is None:
            sums_array = self.contiguous(self.cast(sums_array, sums))
        elif sums_array is not out:
            self.copy_into(out, self.cast(sums_array, sums))
        if check and self.length(x):
            self._raise_overflow(first, x.shape[axis], rest, count, moved, reverse)
        return sums_array if out is None else out

    def _queue(self, work, result, axis, exclusive, start, first, stream):
        if first is not None:
            first.fill_(-1) if hasattr(first, "fill_") else first.fill(-1)
        queued = _core.scan_on_stream(work, result, axis, bool(exclusive), start, first, stream, None)
        if queued is not None and queued is not False:
            workspace = self.empty((queued,), self.type_named("uint8"), work)
            queued = _core.scan_on_stream(work, result, axis, bool(exclusive), start, first, stream, workspace)
        return queued is None

    @staticmethod
    def _raise_overflow(first, rows, rest, count, moved, reverse):
        columns = 1
        for extent in rest:
            columns *= extent
        columns = columns if moved else columns // max(count, 1)
        places = [divmod(int(at), columns) + (table,) for table, at in enumerate(first.tolist()) if at != -1]
        if places:
            row, column, table = min(places, key=lambda place: (place[0], place[2], place[1]))
            raise OverflowAt(rows - 1 - row if reverse else row, table * columns + column)

    def pair_is_taken(self, x, added_in):
        pair = (self.name_of(x), added_in)
        return pair[0] == pair[1] or pair in _PAIRS


_PAIRS = {
    ("uint8", "uint32"),
    ("uint8", "uint64"),
    ("uint16", "uint32"),
    ("uint16", "uint64"),
    ("uint32", "uint64"),
    ("int32", "int64"),
    ("float32", "float64"),
}


class _Torch(_OnCuda):
    def __init__(self, torch):
        self.torch = torch
        _core.tensors_are_here(torch.Tensor, torch.cuda.current_device)

    def to_numpy(self, x):
        self._refuse_graph(x)
        return x.numpy()

    def numpy_type(self, dtype):
        return str(dtype).removeprefix("torch.") if isinstance(dtype, self.torch.dtype) else dtype

    def from_numpy(self, sums):
        return self.torch.from_numpy(sums)

    def _refuse_graph(self, x):
        if x.requires_grad:
            raise TypeError("x requires gradients, which are lost here: tuplescan.torch.cumsum(x), or x.detach()")

    def on_cuda(self, x):
        return x.is_cuda

    def resolved(self, x):
        """Without torch's flag that says that values are to be negated."""
        return x.resolve_neg()

    def length(self, x):
        return x.numel()

    @contextlib.contextmanager
    def working_on(self, x, stream):
        self._refuse_graph(x)
        cuda = self.torch.cuda
        with cuda.device(x.device):
            if stream is None:
                yield cuda.current_stream(x.device).cuda_stream
                return
            number = _stream_number(stream)
            with cuda.stream(cuda.ExternalStream(number, x.device)):
                yield number

    def name_of(self, x):
        return str(x.dtype).removeprefix("torch.")

    def type_named(self, name):
        return getattr(self.torch, str(np.dtype(name)))

    def types_for(self, x, dtype, out):
        """The type of the sums, and the name of the type in which they are added."""
        torch = self.torch
        chosen = dtype if dtype is not None else x.dtype
        if out is not None and dtype is None:
            chosen = torch.promote_types(x.dtype, out.dtype)
        if chosen is torch.bfloat16:
            return chosen, "float32"
        name = str(chosen).removeprefix("torch.")
        explicit = dtype is not None or out is not None
        sums = _arrays.sums_type(np.dtype(name), name if explicit else None, None)
        return self.type_named(sums), str(_arrays.added_in(sums))

    def empty(self, shape, dtype, like):
        return self.torch.empty(tuple(shape), dtype=dtype, device=like.device)

    def cast(self, x, dtype):
        return x.to(dtype)

    def contiguous(self, x):
        return x.contiguous()

    def is_row_major(self, x):
        return x.is_contiguous()

    def flipped(self, x, axis):
        return x.flip(axis)

    def moved(self, x, source, target):
        return x.movedim(source, target)

    def copy_into(self, out, x):
        out.copy_(x)

    def row(self, start, rest, dtype, like):
        row = self.torch.as_tensor(start, dtype=self.type_named(dtype), device=like.device)
        return row.broadcast_to(rest).contiguous().reshape(-1)

    def with_zeros_in_front(self, sums, axis):
        shape = [1 if i == axis else extent for i, extent in enumerate(sums.shape)]
        return self.torch.cat([self.torch.zeros(shape, dtype=sums.dtype, device=sums.device), sums], axis)


class _CuPy(_OnCuda):
    def __init__(self, cupy):
        self.cupy = cupy

    def on_cuda(self, x):
        return True

    def length(self, x):
        return x.size

    @contextlib.contextmanager
    def working_on(self, x, stream):
        cuda = self.cupy.cuda
        with x.device:
            if stream is None:
                yield cuda.get_current_stream().ptr
                return
            number = _stream_number(stream)
            with cuda.ExternalStream(number, x.device.id):
                yield number

    def name_of(self, x):
        return str(x.dtype)

    def type_named(self, name):
        return np.dtype(name)

    def types_for(self, x, dtype, out):
        sums = _arrays.sums_type(x.dtype, dtype, out)
        return sums, str(_arrays.added_in(sums))

    def empty(self, shape, dtype, like):
        return self.cupy.empty(tuple(shape), dtype)

    def cast(self, x, dtype):
        return x.astype(dtype, copy=False)

    def contiguous(self, x):
        return self.cupy.ascontiguousarray(x)

    def is_row_major(self, x):
        return x.flags.c_contiguous

    def flipped(self, x, axis):
        return self.cupy.flip(x, axis)

    def moved(self, x, source, target):
        return self.cupy.moveaxis(x, source, target)

    def copy_into(self, out, x):
        out[...] = x

    def row(self, start, rest, dtype, like):
        row = self.cupy.asarray(start, dtype)
        return self.cupy.ascontiguousarray(self.cupy.broadcast_to(row, rest)).reshape(-1)

    def with_zeros_in_front(self, sums, axis):
        shape = [1 if i == axis else extent for i, extent in enumerate(sums.shape)]
        return self.cupy.concatenate([self.cupy.zeros(shape, sums.dtype), sums], axis)


class _ThroughCuPy(_CuPy):
    """Arrays on CUDA of other libraries, seen by CuPy without a copy. Results are CuPy's; of numba's arrays numba's."""

    def __init__(self):
        try:
            import cupy
        except ImportError:
            raise TypeError("x: arrays on CUDA but those of torch and JAX are summed where CuPy is installed") from None
        super().__init__(cupy)

    def cumsum(self, x, axis, dtype, out, *options):
        seen = None if out is None else self.seen(out)
        *options, stream, state = options
        if stream is None and hasattr(x, "__cuda_array_interface__"):
            stream = x.__cuda_array_interface__.get("stream")  # where the values come from, if it is said
        sums = super().cumsum(self.seen(x), axis, dtype, seen, *options, stream, state)
        return out if out is not None else self.given_back(sums, x)

    def seen(self, x):
        if isinstance(x, self.cupy.ndarray):
            return x
        if not hasattr(x, "__cuda_array_interface__"):
            return self.cupy.from_dlpack(x)
        # cupy.asarray() would wait for the stream that the array's values come from.
        face, cuda = x.__cuda_array_interface__, self.cupy.cuda
        shape, dtype = face["shape"], np.dtype(face["typestr"])
        if 0 in shape:
            return self.cupy.empty(shape, dtype)
        memory = cuda.UnownedMemory(face["data"][0], math.prod(shape) * dtype.itemsize, x)
        return self.cupy.ndarray(shape, dtype, cuda.MemoryPointer(memory, 0), face.get("strides"))

    def given_back(self, sums, x):
        if type(x).__module__.partition(".")[0] != "numba":
            return sums
        return sys.modules["numba.cuda"].as_cuda_array(sums, sync=False)

    def with_zeros_in_front(self, sums, axis):
        return self.given_back(super().with_zeros_in_front(self.seen(sums), axis), sums)
