"""Arrays of libraries other than numpy: found by the modules of their types, never imported here first. Arrays on CUDA
are summed where they are, on their library's current stream, and nothing waits; their results are the library's."""

import contextlib
import math
import operator
import sys

import numpy as np

from . import _arrays, _core, _keys
from ._errors import OverflowAt
from ._state import BFLOAT16, NUMBERS, State

_DLPACK_HOST = (1, 3, 11)  # memory of the CPU, and pinned memory of CUDA and of ROCm
_DLPACK_CUDA = (2, 13)  # memory of a device, and managed memory

# As many calls as _core.scan_on_stream() makes at most, each with a word for what it skipped.
_CALLS_MOST = 32


def _device_of(x):
    device = x.__dlpack_device__()
    if not (isinstance(device, tuple) and len(device) == 2
            and all(isinstance(number, int) and not isinstance(number, bool) for number in device)
            and device[0] in _DLPACK_HOST + _DLPACK_CUDA and 0 <= device[1] < 1 << 31):  # fmt: skip
        raise TypeError(f"{type(x)!r}: its __dlpack_device__() is {device!r}, no pair of integers that stands for host "
                        "memory or CUDA")  # fmt: skip
    return device[0]


def library_of(x):
    """What sums arrays such as x; None for what numpy.asarray() is to take."""
    for root in _arrays.roots_of(x):
        if root == "torch":
            return _Torch(sys.modules["torch"])
        if root == "cupy":
            return _CuPy(sys.modules["cupy"])
        if root in ("jax", "jaxlib"):
            return _Jax(sys.modules["jax"])
    if _arrays.kind_of(x):
        _arrays.refuse_lazy(x)
        return _Frame()
    on_cuda = hasattr(x, "__cuda_array_interface__")
    if on_cuda or (hasattr(x, "__dlpack__") and not hasattr(x, "__array__")):
        return _ThroughCuPy() if on_cuda or _device_of(x) in _DLPACK_CUDA else _Other()
    return None


def cumulative_sum(x, axis, dtype, include_initial, state):
    library = None if isinstance(x, np.ndarray) else library_of(x)
    if library is None and not isinstance(x, np.ndarray):
        _arrays.refuse_missing(x, "cumulative_sum")
        x = np.asarray(x)
    dims = x.ndim if library is None else library.seen(x).ndim
    if dims == 0:
        raise ValueError("x must have at least one dimension")
    if axis is None:
        if dims != 1:
            raise ValueError("For arrays which have more than one dimension ``axis`` argument is required.")
        axis = 0
    axis = _arrays.normalize_axis_index(operator.index(axis), dims)
    if not include_initial:
        return _core.cumsum(x, axis, dtype, state=state)
    if library is not None:
        if state is not None:
            raise ValueError("include_initial: with a state it is for arrays of numpy")
        return library.with_initial(x, axis, dtype)
    return _with_initial(x, axis, dtype, state)


def _longer(shape, axis):
    """That shape with one place more along the axis, and where the sums are in it: its first place, and all behind."""
    before = (slice(None),) * axis
    longer = tuple(extent + (i == axis) for i, extent in enumerate(shape))
    return longer, (*before, slice(0, 1)), (*before, slice(1, None))


def _with_initial(x, axis, dtype, state):
    if isinstance(x, np.ma.MaskedArray):
        sums = _with_initial(_arrays.without_mask(x), axis, dtype, state)
        return np.ma.array(sums, mask=np.insert(np.ma.getmaskarray(x), 0, False, axis))
    x = np.asarray(x)
    shape, first, behind = _longer(x.shape, axis)
    sums = _arrays.sums_type(x.dtype, dtype, None)
    result = np.empty(shape, sums)
    if state is None:
        with contextlib.suppress(BufferError):  # a type of numpy's that the buffer protocol does not have
            views = _arrays.typed(x), _arrays.typed(result)
            if _core.scan(*views, axis, _arrays.OFFSETS, None, None) is None:
                return result
    known = isinstance(state, State)
    with state._lock if known else contextlib.nullcontext():  # nobody sums between these two
        initial = state.sums() if known and state.dtype is not None else None
        _arrays.of_numpy(x, axis, dtype, result[behind], None, None, state, _arrays.Options())
    result[first] = 0 if initial is None else initial.reshape(result[first].shape)
    return result


def _stream_number(stream):
    if hasattr(stream, "__cuda_stream__"):
        return stream.__cuda_stream__()[1]
    return operator.index(stream)


class _OnHost:
    """Libraries whose arrays numpy can see without a copy."""

    def cumsum(self, x, axis, dtype, out, start, stream, state, options):
        own = self.owns(out)
        written = self.resolved(out) if own else out
        into = self.to_numpy(written) if own else out
        values = self.to_numpy(self.resolved(x))

        def copy_back():
            if written is not out:
                self.copy_into(out, written)

        try:
            sums = _arrays.of_numpy(values, axis, self.numpy_type(dtype), into, start, stream, state, options)
        except OverflowAt:  # all sums are there, and some have wrapped
            copy_back()
            raise
        copy_back()
        return out if out is not None else self.from_numpy(sums)

    def column_totals(self, x, dtype, start, state):
        values = self.to_numpy(self.resolved(x))
        totals = _keys.totals_of_numpy(values, self.numpy_type(dtype), start, state)
        return None if totals is None else self.from_numpy(np.asarray(totals))

    def owns(self, x):
        """Whether x is an array of this library that can be written."""
        return False

    def to_numpy(self, x):
        return np.asarray(x)

    def from_numpy(self, sums):
        return sums

    def seen(self, x):
        """x as an array that has dimensions and a type."""
        return x

    def numpy_type(self, dtype):
        return dtype

    def resolved(self, x):
        return x

    def with_initial(self, x, axis, dtype):
        return self.from_numpy(_with_initial(self.to_numpy(self.resolved(x)), axis, self.numpy_type(dtype), None))


class _Other(_OnHost):
    """Anything with DLPack in host memory; the result is numpy's."""

    def owns(self, x):
        return hasattr(x, "__dlpack__") and not isinstance(x, np.ndarray)

    def to_numpy(self, x):
        return np.from_dlpack(x)

    seen = to_numpy


class _Frame(_OnHost):
    """Frames, their columns and arrays of dask stay what they are: modules of their own sum them."""

    def cumsum(self, x, axis, dtype, out, start, stream, state, options):
        on_dask = _arrays.kind_of(x) == "dask.Array"
        asked = {"start": start, "state": state, "reverse": options.reverse, "check_overflow": options.check}
        refused = {"out": out, "stream": stream, "nancumsum": options.skip_nan or None}
        if on_dask:
            refused |= {name: value or None for name, value in asked.items()}
        elif axis != 0 and not (axis in (None, -1) and _arrays.kind_of(x) in _arrays.COLUMNS):
            refused["axis"] = axis
        for name, value in refused.items():
            if value is not None:
                call = "tuplescan.dask.cumsum()" if on_dask else "tuplescan.frames.cumsum()"
                raise TypeError(f"{name}: is for arrays, and {type(x)!r} is summed by {call}, which has it not")
        if on_dask:
            from . import dask

            return dask.cumsum(x, axis, dtype, exclusive=options.exclusive)
        from . import frames

        return frames.cumsum(x, dtype, exclusive=options.exclusive, **asked)

    def with_initial(self, x, axis, dtype):
        raise TypeError(f"include_initial: is for arrays; {type(x)!r} has no place for one row more")

    def seen(self, x):
        return x if hasattr(x, "ndim") else np.asarray(x)

    def to_numpy(self, x):
        return np.asanyarray(x.compute() if _arrays.kind_of(x) == "dask.Array" else x)  # masked blocks stay masked


class _Jax(_OnHost):
    """Arrays in host memory by numpy; those on CUDA, and inside of jit() and the like, by the primitive. What that does
    not do is done by numpy, too, and the array is brought there and the sums back."""

    def __init__(self, jax):
        self.jax = jax

    def cumsum(self, x, axis, dtype, out, start, stream, state, options):
        sums = dtype if out is not None else self.sums_type(x, dtype)
        if self.on_host(x):
            return super().cumsum(x, axis, sums, out, start, stream, state, options)
        if stream is not None:
            raise TypeError("stream: is not for JAX arrays, whose streams are JAX's own")
        given = {"out": out, "start": start, "check_overflow": options.check or None, "state": state}
        given = [name for name, value in {**given, "nancumsum": options.skip_nan or None}.items() if value is not None]
        if not given:
            from . import jax as primitive

            return primitive.cumsum(x, axis, sums, exclusive=options.exclusive, reverse=options.reverse)
        if isinstance(x, self.jax.core.Tracer):
            raise TypeError(f"{given[0]}: is not for JAX arrays inside of jit()")
        result = super().cumsum(x, axis, sums, out, start, None, state, options)
        kept = out is None and result.shape == x.shape
        return self.jax.device_put(result, x.sharding) if kept else result

    def sums_type(self, x, dtype):
        """Of 32 bits where JAX has no more; it warns of an explicit type that it has not."""
        sums = _arrays.sums_type(np.dtype(x.dtype), dtype, None)
        return self.jax.dtypes.canonicalize_dtype(sums) if dtype is None else self.jax.numpy.empty(0, sums).dtype

    def column_totals(self, x, dtype, start, state):
        return super().column_totals(x, self.sums_type(x, dtype), start, state)

    def resolved(self, x):
        if isinstance(x, self.jax.core.Tracer):
            raise TypeError("x: a JAX array is refused inside of jit(), where it has no values: cumsum() alone takes "
                            "it, whose last row are the column totals, and jax.numpy sorts and counts")  # fmt: skip
        return x

    def on_host(self, x):
        return not isinstance(x, self.jax.core.Tracer) and all(device.platform == "cpu" for device in x.devices())

    def from_numpy(self, sums):
        return self.jax.numpy.asarray(sums)

    def with_initial(self, x, axis, dtype):
        jnp, sums = self.jax.numpy, _core.cumsum(x, axis, dtype)
        shape = [1 if i == axis else extent for i, extent in enumerate(sums.shape)]
        return jnp.concatenate([jnp.zeros(shape, sums.dtype), sums], axis)


def _bfloat16():
    try:
        import ml_dtypes
    except ImportError:
        raise TypeError("x: what is asked of bfloat16 in host memory wants ml_dtypes") from None
    return np.dtype(ml_dtypes.bfloat16)


_NUMBERS = {**{dtype.name: number for dtype, number in NUMBERS.items()}, "bfloat16": BFLOAT16}


def _taken(name, into):
    """Whether the library sums arrays of that type into the other one."""
    return name in _NUMBERS and into in _NUMBERS and _core.types_supported(_NUMBERS[name], _NUMBERS[into])


class _OnCuda(_OnHost):
    """Libraries with arrays on CUDA; what differs between them are the methods below."""

    def cumsum(self, x, axis, dtype, out, start, stream, state, options):
        if not self.on_cuda(x):
            return super().cumsum(x, axis, dtype, out, start, stream, state, options)
        x = self.resolved(x)
        if out is not None and not (self.owns(out) and self.on_cuda(out)):
            raise TypeError("out must be an array of x's library, on CUDA")
        if axis is None:
            x, axis = x.reshape(-1), 0
        elif x.ndim == 0:
            x = x.reshape(1)
        axis = _arrays.normalize_axis_index(operator.index(axis), x.ndim)
        if out is not None and tuple(out.shape) != tuple(x.shape):
            raise ValueError(f"out has shape {tuple(out.shape)}, the sums {tuple(x.shape)}")
        with self.working_on(x, stream) as number:
            if state is not None:
                return self._go_on(x, axis, dtype, out, start, state, options)
            return self._sum(x, axis, dtype, out, start, number, options)

    def _go_on(self, x, axis, dtype, out, start, state, options):
        """Sums from a state in host memory on, for which the stream is waited for."""
        if axis != 0:
            raise ValueError(f"state: sums go on along axis 0, not {axis}")
        sums, added_in = self.types_for(x, dtype, out)
        if options.check and sums != self.type_named(added_in):
            raise ValueError("check_overflow: is for sums of 32- and 64-bit integers on CUDA")
        rest = tuple(x.shape[1:])
        row = None if start is None else self.row(start, rest, sums, added_in, x)
        if options.skip_nan:
            x = self._without_nan(x, added_in, options)
        work, into = self._converted(x, sums, self.type_named(added_in))
        work = self.contiguous(work)
        result = self.empty(work.shape, into, x)
        found = None
        with _arrays.going_on(state, np.dtype(added_in), rest, start) as memory:
            if self.length(x) == 0:
                begun = None if start is None else self.get(row)
                _arrays.add_no_rows(memory, np.dtype(added_in), rest, begun)
            else:
                self.wait()
                found = _core.scan(self.typed(work), self.typed(result), 0, options.flags(), row, memory)
        if options.skip_nan:
            options.skipped, found = self.words(1, found or 0, x).sum(), None
        result = self.cast(result, sums)
        if out is not None:
            self.copy_into(out, result)
        if found:
            raise OverflowAt(*found)
        return result if out is None else out

    def column_totals(self, x, dtype, start, state, stream=None):
        """As tuplescan.column_totals(), for which the stream is waited for."""
        if not self.on_cuda(x):
            return super().column_totals(x, dtype, start, state)
        if x.ndim == 0:
            raise ValueError("x must have at least one dimension")
        x = self.resolved(x)
        with self.working_on(x, stream):
            sums, added_in = self.types_for(x, dtype, None)
            kept, rest = np.dtype(added_in), tuple(x.shape[1:])
            if kept.kind == "c":
                raise TypeError("complex arrays on CUDA are not summed here")
            if x.dtype != sums and not _taken(self.name_of(x), self.name_of_type(sums)):
                x = self.cast(x, sums)
            if not _taken(self.name_of(x), added_in):
                x = self.cast(x, self.type_named(added_in))
            row = None if start is None else self.get(self.row(start, rest, sums, added_in, x))
            table = self.typed(self.contiguous(x).reshape(x.shape[0], math.prod(rest)))
            with _arrays.going_on(state, kept, rest, start) as memory:
                known = memory is None or _core.state_facts(memory)[2] == 0
                totals = np.zeros(math.prod(rest), kept) if known else None
                if totals is None or totals.size:
                    self.wait()
                    _core.column_totals(table, NUMBERS[kept], totals, row, memory)
            return self.cast(self.put(totals.reshape(rest), x), sums) if known else None

    def with_initial(self, x, axis, dtype, stream=None):
        if not self.on_cuda(x):
            return super().with_initial(x, axis, dtype)
        x = self.resolved(x)
        shape, first, behind = _longer(x.shape, axis)
        with self.working_on(x, stream) as stream:
            sums = self.types_for(x, dtype, None)[0]
            result = self.empty(shape, sums, x)
            if _taken(self.name_of(x), self.name_of(result)):
                if self._queue(x, result, axis, _arrays.OFFSETS, None, None, None, stream):
                    return result
            result[first] = 0
            self._sum(x, axis, sums, result[behind], None, stream, _arrays.Options())
            return result

    def _sum(self, x, axis, dtype, out, start, stream, options):
        sums, added_in = self.types_for(x, dtype, out)
        kind = np.dtype(added_in).kind
        if kind == "c":
            raise TypeError("complex arrays on CUDA are not summed here")
        if options.check and (kind == "f" or sums != self.type_named(added_in)):
            raise ValueError("check_overflow: is for sums of 32- and 64-bit integers on CUDA")
        rest = tuple(x.shape[:axis]) + tuple(x.shape[axis + 1 :])
        if start is not None:
            start = self.row(start, rest, sums, added_in, x)
        if options.skip_nan:
            x = self._without_nan(x, added_in, options)
        work, into = self._converted(x, sums, self.type_named(added_in))
        flags = options.flags(check=False)
        count = math.prod(x.shape[:axis])
        in_place = out is not None and out.dtype == into and self.resolved(out) is out
        result = out if in_place else self.empty(work.shape, into, x)
        first = self.words(max(count, 1), -1, x) if options.check else None
        skipped = self.words(_CALLS_MOST, 0, x) if flags & _arrays.SKIP_NAN else None
        moved = not self._queue(work, result, axis, flags, start, first, skipped, stream)
        if moved:  # columns that lie apart, shared memory, or many tables that need a call each: one table of a copy
            front = self.contiguous(self.moved(work, axis, 0))
            sums_of_front = self.empty(front.shape, into, x)
            self._queue(front, sums_of_front, 0, flags, start, first, skipped, stream)
            result = self.moved(sums_of_front, 0, axis)
        if out is None:
            result = self.contiguous(self.cast(result, sums))
        elif result is not out:
            self.copy_into(out, self.cast(result, sums))
        if options.check and self.length(x):
            self._raise_overflow(first, x.shape[axis], rest, count, moved, options.reverse)
        if skipped is not None:
            options.skipped = skipped.sum()
        return result if out is None else out

    def _without_nan(self, x, added_in, options):
        """x, with the NaNs replaced that cannot be skipped while summing, as on the CPU."""
        if self.is_float(x) and np.dtype(added_in).kind == "f":
            return x
        options.skip_nan = False
        if self.is_float(x):
            x, options.skipped = self.without_nan(x)
        else:
            options.skipped = self.words(1, 0, x).sum()
        return x

    def row(self, start, rest, sums, added_in, like):
        """A new row of the type in which is added, where `like` is, by the rule of _arrays.row_to_start_with()."""
        if self.owns(start) and self.on_cuda(start):
            if start.dtype != sums and not np.can_cast(self._in_numpy(start.dtype), added_in, "same_kind"):
                raise TypeError(f"start: cannot cast {start.dtype} to {sums}")
            start = self.copied(start, like)
        else:
            start = self.put(_arrays.row_to_start_with(start, rest, self._in_numpy(sums)), like)
        row = self.cast(self.cast(start, sums), self.type_named(added_in))
        return self.contiguous(self.broadcast(row, rest)).reshape(-1)

    def _in_numpy(self, dtype):
        """numpy's type; float32 for bfloat16, which is rounded afterwards."""
        name = self.name_of_type(dtype)
        return np.dtype("float32" if name == "bfloat16" else name)

    def _converted(self, x, sums, added_in):
        """x as the library takes it, and the type that it is summed into: that of the sums where it can be."""
        names = {type_: self.name_of_type(type_) for type_ in (sums, added_in)}
        if _taken(self.name_of(x), names[sums]):
            return x, sums
        x = self.cast(x, sums)
        if _taken(names[sums], names[sums]):
            return x, sums
        return (x if _taken(names[sums], names[added_in]) else self.cast(x, added_in)), added_in

    def _queue(self, work, result, axis, flags, start, first, skipped, stream):
        """Whether the library can take the arrays as they lie."""
        arrays = self.typed(work), self.typed(result), axis, flags, start, first, skipped, stream
        queued = _core.scan_on_stream(*arrays, None)
        if queued is not None and queued is not False:
            workspace = self.empty((queued,), self.type_named("uint8"), work)
            queued = _core.scan_on_stream(*arrays, workspace)
        return queued is None

    def typed(self, x):
        """What _core takes for x."""
        return x

    def words(self, count, value, like):
        made = self.empty((count,), self.type_named("int64"), like)
        made.fill_(value) if hasattr(made, "fill_") else made.fill(value)
        return made

    @staticmethod
    def _raise_overflow(first, rows, rest, count, moved, reverse):
        columns = math.prod(rest)
        columns = columns if moved else columns // max(count, 1)
        places = [divmod(int(at), columns) + (table,) for table, at in enumerate(first.tolist()) if at != -1]
        if places:
            row, column, table = min(places, key=lambda place: (place[0], place[2], place[1]))
            raise OverflowAt(rows - 1 - row if reverse else row, table * columns + column)


class _Torch(_OnCuda):
    def __init__(self, torch):
        self.torch = torch
        self.news = _core.tensors_are_here(torch.Tensor, torch.cuda.current_device)

    def cumsum(self, x, axis, dtype, out, start, stream, state, options):
        others = (dtype, start, stream, state)
        if self.news and not (options.check or options.skip_nan or any(other is not None for other in others)):
            # Without numpy, which has not all types: the call could not do so before torch was known.
            return _core.cumsum(x, axis, None, out, exclusive=options.exclusive, reverse=options.reverse)
        return super().cumsum(x, axis, dtype, out, start, stream, state, options)

    def owns(self, x):
        return isinstance(x, self.torch.Tensor)

    def to_numpy(self, x):
        self._refuse_graph(x)
        return x.view(self.torch.int16).numpy().view(_bfloat16()) if x.dtype == self.torch.bfloat16 else x.numpy()

    def numpy_type(self, dtype):
        if dtype == self.torch.bfloat16:
            return _bfloat16()
        return str(dtype).removeprefix("torch.") if isinstance(dtype, self.torch.dtype) else dtype

    def from_numpy(self, sums):
        if _arrays.is_bfloat16(sums.dtype):
            return self.torch.from_numpy(sums.view(np.int16)).view(self.torch.bfloat16)
        return self.torch.from_numpy(sums)

    def _refuse_graph(self, x):
        if x.requires_grad:
            raise TypeError("x requires gradients, which are lost here: tuplescan.torch.cumsum(x), or x.detach()")

    def on_cuda(self, x):
        return x.is_cuda

    def resolved(self, x):
        """Without torch's flags that say that values are to be negated, or conjugated."""
        return x.resolve_conj().resolve_neg()

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
        return self.name_of_type(x.dtype)

    def name_of_type(self, dtype):
        return str(dtype).removeprefix("torch.")

    def is_float(self, x):
        return x.is_floating_point()

    def wait(self):
        self.torch.cuda.current_stream().synchronize()

    def get(self, x):
        return x.cpu().numpy()

    def put(self, x, like):
        return self.torch.from_numpy(x).to(like.device)

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

    def moved(self, x, source, target):
        return x.movedim(source, target)

    def copy_into(self, out, x):
        out.copy_(x)

    def copied(self, x, like):
        return x.to(like.device, copy=True)

    def broadcast(self, x, shape):
        return x.broadcast_to(shape)

    def without_nan(self, x):
        missing = x.isnan()
        return x.masked_fill(missing, 0), missing.sum()


class _CuPy(_OnCuda):
    def __init__(self, cupy):
        self.cupy, cuda = cupy, cupy.cuda
        _core.cupy_is_here(cupy.ndarray, cupy.empty, cuda.alloc, cuda.runtime.getDevice, cuda.get_current_stream)

    def owns(self, x):
        return isinstance(x, self.cupy.ndarray)

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
        return x.dtype.name

    def name_of_type(self, dtype):
        return dtype.name

    def is_float(self, x):
        return x.dtype.kind == "f" or _arrays.is_bfloat16(x.dtype)

    def wait(self):
        self.cupy.cuda.get_current_stream().synchronize()

    def get(self, x):
        return self.cupy.asnumpy(x)

    def put(self, x, like):
        return self.cupy.asarray(x)

    def typed(self, x):
        """Of bool and bfloat16 by their numbers, for which not every CuPy has a DLPack."""
        if x.dtype == np.bool_:
            return x.view(np.uint8), _NUMBERS["bool"]
        return (x.view(np.uint16), _arrays.BFLOAT16) if _arrays.is_bfloat16(x.dtype) else x

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

    def moved(self, x, source, target):
        return self.cupy.moveaxis(x, source, target)

    def copy_into(self, out, x):
        out[...] = x

    def copied(self, x, like):
        return x.copy()

    def broadcast(self, x, shape):
        return self.cupy.broadcast_to(x, tuple(shape))

    def without_nan(self, x):
        missing = self.cupy.isnan(x)
        return self.cupy.where(missing, x.dtype.type(0), x), missing.sum()

    def row(self, start, rest, sums, added_in, like):
        start = self.cupy.asarray(start) if hasattr(start, "__cuda_array_interface__") else start
        return super().row(start, rest, sums, added_in, like)


class _ThroughCuPy(_CuPy):
    """Arrays on CUDA of other libraries, seen by CuPy without a copy. Results are CuPy's; of numba's arrays numba's."""

    def __init__(self):
        try:
            import cupy
        except ImportError:
            raise TypeError("x: arrays on CUDA but those of torch and JAX are summed where CuPy is installed") from None
        super().__init__(cupy)

    def cumsum(self, x, axis, dtype, out, start, stream, state, options):
        seen = None if out is None else self.seen(out)
        stream = self.stream_of(x) if stream is None else stream
        sums = super().cumsum(self.seen(x), axis, dtype, seen, start, stream, state, options)
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
        if not type(x).__module__.startswith("numba"):
            return sums
        return sys.modules["numba.cuda"].as_cuda_array(sums, sync=False)

    def with_initial(self, x, axis, dtype):
        return self.given_back(super().with_initial(self.seen(x), axis, dtype, self.stream_of(x)), x)

    def column_totals(self, x, dtype, start, state):
        totals = super().column_totals(self.seen(x), dtype, start, state, self.stream_of(x))
        return None if totals is None else self.given_back(totals, x)

    def stream_of(self, x):
        """Where the values come from, if it is said."""
        return x.__cuda_array_interface__.get("stream") if hasattr(x, "__cuda_array_interface__") else None
