"""Arrays of libraries other than numpy: found by the modules of their types, never imported here first. Arrays on CUDA
are summed where they are, on their library's current stream, and nothing waits; their results are the library's."""

import contextlib
import importlib
import math
import operator
import sys

import numpy as np

from . import _arrays, _core
from ._errors import OverflowAt
from ._kinds import COLUMNS, kind_of, refuse_lazy, refuse_missing, roots_of
from ._tables import float_type, kept_in, recur
from ._types import (BFLOAT16, BY_NAME, CHECK_OVERFLOW, NUMBERS, OFFSETS, SUM, TOTALS, added_in, bfloat16,
                     is_bfloat16, kept_as_f64, sums_type, taken, typed)  # fmt: skip

_DLPACK_HOST = (1, 3, 11)  # memory of the CPU, and pinned memory of CUDA and of ROCm
_DLPACK_CUDA = (2, 13)  # memory of a device, and managed memory

# As many calls as _core.scan() makes at most on a stream, each with a word for what it skipped.
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
    if isinstance(x, np.ndarray):
        return None
    for root in roots_of(x):
        if root == "torch":
            return _Torch(sys.modules["torch"])
        if root == "cupy":
            return _CuPy(sys.modules["cupy"])
        if root in ("jax", "jaxlib"):
            return _Jax(sys.modules["jax"])
    if kind_of(x):
        refuse_lazy(x)
        return _Frame()
    by_dlpack = hasattr(x, "__dlpack__") and not hasattr(x, "__array__")
    if hasattr(x, "__cuda_array_interface__") or (by_dlpack and _device_of(x) in _DLPACK_CUDA):
        raise TypeError(f"{type(x)!r}: of arrays on CUDA those of CuPy, torch and JAX are taken; give cupy.asarray(x) "
                        "or torch.from_dlpack(x), which copy nothing")  # fmt: skip
    return _Other() if by_dlpack else None


class _OnHost:
    """Libraries whose arrays numpy can see without a copy."""

    def _written(self, options, call):
        """What the call makes of numpy's arrays, as this library's; where an overflow is raised, all sums are there."""
        out, overflow, result = options.out, None, None
        written = self.resolved(out) if self.owns(out) else out
        options.out = self.to_numpy(written) if self.owns(out) else out
        try:
            result = call(options)
        except OverflowAt as raised:
            overflow = raised
        if written is not out:
            out[...] = written
        if overflow:
            raise overflow
        return out if out is not None or result is None else self.from_numpy(result)

    def cumsum(self, x, options):
        options.dtype = self.numpy_type(options.dtype)
        return self._written(options, lambda asked: _arrays.of_numpy(self.to_numpy(self.resolved(x)), asked))

    def recurrence(self, a, b, options):
        return self._written(options, lambda asked: NUMPY.recurrence(a, self.to_numpy(self.resolved(b)), asked))

    def column_totals(self, x, options):
        options.dtype = self.numpy_type(options.dtype)
        totals = _arrays.totals_of_numpy(self.to_numpy(self.resolved(x)), options)
        return None if totals is None else self.from_numpy(np.asarray(totals))

    def owns(self, x):
        """Whether x is an array of this library that can be written."""
        return False

    def on_cuda(self, x):
        return False

    def to_numpy(self, x):
        return np.asarray(x)

    def from_numpy(self, sums):
        return sums

    def numpy_type(self, dtype):
        return dtype

    def resolved(self, x):
        return x

    def words(self, count, value, like):
        made = self.empty((count,), "int64", like)
        made[...] = value
        return made

    def without_nan(self, x, added, options):
        """x, with the NaNs replaced that cannot be skipped while values of that type are added."""
        floats = options.skip_nan and self.name_of(x).startswith(("float", "bfloat"))
        if not options.skip_nan or (floats and np.dtype(added).kind == "f"):
            return x
        options.skip_nan = False
        options.skipped = self.words(1, 0, x).sum()
        if floats:
            missing = self.space.isnan(x)
            options.skipped = missing.sum()
            x = self.space.where(missing, self.space.zeros_like(x), x)
        return x


class NumPy(_OnHost):
    """A library's answers beside its calls, for numpy's arrays; subclasses differ in them."""

    space = np

    def owns(self, x):
        return isinstance(x, np.ndarray)

    def name_of(self, x):
        return x.dtype.name

    def type_named(self, name):
        return bfloat16() if name == "bfloat16" else np.dtype(name)

    def common_type(self, a, b):
        return np.result_type(a.dtype, b.dtype).name

    def types_for(self, x, options):
        """The type of the sums, and the type in which they are added."""
        sums = sums_type(x.dtype, options.dtype, None if options.out is None else options.out.dtype, options.operation)
        return sums.name, added_in(sums, options.operation).name

    def working_on(self, x, stream):
        return contextlib.nullcontext()

    def wait(self):
        pass


    def empty(self, shape, name, like):
        return self.space.empty(tuple(shape), self.type_named(name))

    def cast(self, x, name):
        return x.astype(self.type_named(name), copy=False)

    def contiguous(self, x):
        return self.space.ascontiguousarray(x)

    def put(self, x, like):
        return self.space.asarray(x)

    def brought(self, x, like):
        return seen_by_numpy(x, "a")

    def row(self, start, rest, sums, added, like):
        return np.ascontiguousarray(_arrays.row_to_start_with(start, rest, np.dtype(sums), added), added).reshape(-1)

    def typed(self, x):
        """What _core takes for x."""
        return typed(x)

    def recurrence(self, a, b, options):
        a, b, out = self.brought(a, b), np.asarray(b), options.out
        once = (slice(None) if stride else slice(1) for stride in a.strides)  # what varies along no axis
        a = a[(*once, ...)]
        if out is not None and not (self.owns(out) and out.size == b.size and out.flags.writeable):
            raise ValueError("out: must be a writable array of numpy, of the shape of the results")
        h = recur(self, a, b, options, out if out is not None and self._is_taken(out, a, b) else None)
        if out is not None and h is not out:
            np.copyto(out, h, casting="same_kind")
        return h if out is None else out

    @staticmethod
    def _is_taken(out, a, b):
        """Whether results can be written there at once; recur() looks at the type."""
        apart = not np.may_share_memory(out, b) or _arrays.same_memory(out, b)
        plain = out.shape == b.shape and out.flags.c_contiguous and out.dtype.isnative
        return plain and apart and not np.may_share_memory(out, a)


NUMPY = NumPy()


def seen_by_numpy(x, name):
    library = library_of(x)
    refuse_missing(x, name)
    return np.asarray(x) if library is None else library.to_numpy(library.resolved(x))


class _Other(_OnHost):
    """Anything with DLPack in host memory; the result is numpy's."""

    def owns(self, x):
        return hasattr(x, "__dlpack__") and not isinstance(x, np.ndarray)

    def to_numpy(self, x):
        return np.from_dlpack(x)


class _Frame(_OnHost):
    """Frames, their columns and arrays of dask stay what they are: modules of their own sum them."""

    def cumsum(self, x, options):
        if options.offsets:
            raise TypeError(f"include_initial: is for arrays; {type(x)!r} has no place for one row more")
        call, given = options.call if options.operation else "cumsum", [x, options.axis, options.dtype]
        if kind_of(x) == "dask.Array":
            return self._by("dask", call, x, given, options)
        refused = [] if options.axis == 0 or (options.axis in (None, -1) and kind_of(x) in COLUMNS) else ["axis"]
        return self._by("frames", call, x, given[::2], options, ("check_overflow", "state"), refused)

    def recurrence(self, a, b, options):
        if kind_of(b) != "dask.Array":
            return super().recurrence(a, b, options)
        return self._by("dask", "linear_recurrence", b, [a, b, options.axis], options)

    @staticmethod
    def _by(module, call, x, given, options, more=(), refused=()):
        """The call of a module, which has these options and no others."""
        has = ("exclusive", "reverse", "start", *more)
        refused = [*options.given(*has, options.call), *refused]
        if refused:
            by = f"tuplescan.{module}.{call}()"
            raise TypeError(f"{refused[0]}: is for arrays, and {type(x)!r} is summed by {by}, which has it not")
        call = getattr(importlib.import_module(f".{module}", __package__), call)
        return call(*given, **{name: getattr(options, name) for name in has})

    def to_numpy(self, x):
        return np.asanyarray(x.compute() if kind_of(x) == "dask.Array" else x)  # masked blocks stay masked


class _Jax(_OnHost):
    """Arrays in host memory by numpy; those on CUDA, and inside of jit() and the like, by the primitive. What that does
    not do is done by numpy, too, and the array is brought there and the sums back."""

    def __init__(self, jax):
        self.jax = jax

    def cumsum(self, x, options):
        if options.out is None:
            options.dtype = self.sums_type(x, options.dtype, options.operation)
        if self.on_host(x):
            return super().cumsum(x, options)
        if options.stream is not None:
            raise TypeError("stream: is not for JAX arrays, whose streams are JAX's own")
        given = options.given("exclusive", "reverse", "include_initial", options.call)
        if not given:
            return self._by_the_primitive(x, options)
        if isinstance(x, self.jax.core.Tracer):
            raise TypeError(f"{given[0]}: is not for JAX arrays inside of jit()")
        kept = options.out is None and options.axis is not None and not options.offsets
        result = super().cumsum(x, options)
        return self.jax.device_put(result, x.sharding) if kept and result.shape == x.shape else result

    def _by_the_primitive(self, x, options):
        from . import jax as primitive

        axis, jnp = options.axis, self.jax.numpy
        call = getattr(primitive, options.call if options.operation else "cumsum")
        sums = call(x, axis, options.dtype, exclusive=options.exclusive, reverse=options.reverse)
        if not options.offsets:
            return sums
        shape = [1 if i == axis else extent for i, extent in enumerate(sums.shape)]
        return jnp.concatenate([jnp.zeros(shape, sums.dtype), sums], axis)

    def recurrence(self, a, b, options):
        traced = any(isinstance(x, self.jax.core.Tracer) for x in (a, b, options.start))
        given = options.given("exclusive", "reverse", "start")
        if given and traced:
            raise TypeError(f"{given[0]}: is not for JAX arrays inside of jit()")
        if given or (not traced and self.on_host(b)):
            return super().recurrence(a, b, options)
        from . import jax as primitive

        asked = {"exclusive": options.exclusive, "reverse": options.reverse, "start": options.start}
        return primitive.linear_recurrence(a, b, options.axis, **asked)

    def sums_type(self, x, dtype, operation=SUM):
        """Of 32 bits where JAX has no more; it warns of an explicit type that it has not."""
        sums = sums_type(np.dtype(x.dtype), dtype, None, operation)
        return self.jax.dtypes.canonicalize_dtype(sums) if dtype is None else self.jax.numpy.empty(0, sums).dtype

    def column_totals(self, x, options):
        options.dtype = self.sums_type(x, options.dtype)
        return super().column_totals(x, options)

    def resolved(self, x):
        if isinstance(x, self.jax.core.Tracer):
            raise TypeError("x: a JAX array is refused inside of jit(), where it has no values: cumsum() alone takes "
                            "it, whose last row are the column totals, and jax.numpy sorts and counts")  # fmt: skip
        return x

    def on_host(self, x):
        return not isinstance(x, self.jax.core.Tracer) and all(device.platform == "cpu" for device in x.devices())

    def from_numpy(self, sums):
        return self.jax.numpy.asarray(sums)


def _stream_number(stream):
    return stream.__cuda_stream__()[1] if hasattr(stream, "__cuda_stream__") else operator.index(stream)


class _Work:
    """A sum on CUDA, prepared: x along an axis as the library takes it, the names of the types of the sums, of the
    added values and of the library's results, and the row that the sums begin with."""

    def __init__(self, library, x, axis, options):
        self.rest = tuple(x.shape[:axis]) + tuple(x.shape[axis + 1 :])
        self.axis, self.sums, self.added = axis, *library.types_for(x, options)
        if np.dtype(self.added).kind == "c":
            raise TypeError("complex arrays on CUDA are not summed here")
        if options.check_overflow and (np.dtype(self.added).kind == "f" or self.sums != self.added):
            raise ValueError("check_overflow: is for sums of 32- and 64-bit integers on CUDA")
        self.start = None if options.start is None else library.row(options.start, self.rest, self.sums, self.added, x)
        self.x = library.without_nan(x, self.added, options)
        self.into = self.sums
        operation = options.operation
        if not taken(library.name_of(self.x), self.sums, operation):
            self.x = library.cast(self.x, self.sums)
            if not taken(self.sums, self.sums, operation):
                self.into = self.added
                if not taken(self.sums, self.added, operation):
                    self.x = library.cast(self.x, self.added)


class _OnCuda(_OnHost):
    """Libraries with arrays on CUDA; they differ in the methods after these. Types have their names."""

    def cumsum(self, x, options):
        if not self.on_cuda(x):
            return super().cumsum(x, options)
        x, out, axis = self.resolved(x), options.out, options.axis
        if out is not None and not (self.owns(out) and self.on_cuda(out)):
            raise TypeError("out must be an array of x's library, on CUDA")
        x, axis = _arrays.along(x, axis)
        if out is not None and tuple(out.shape) != tuple(x.shape):
            raise ValueError(f"out has shape {tuple(out.shape)}, the sums {tuple(x.shape)}")
        with self.working_on(x, options.stream) as stream:
            if options.offsets:
                return self._offsets(x, axis, stream, options)
            work = _Work(self, x, axis, options)
            result = (self._queued if options.state is None else self._gone_on)(work, stream, options)
            return result if out is None else out

    def _offsets(self, x, axis, stream, options):
        shape, first, behind = _arrays.offsets_of(x.shape, axis)
        sums = self.types_for(x, options)[0]
        result = self.empty(shape, sums, x)
        result[first] = 0
        options.out, options.dtype = result[behind], self.type_named(sums)
        self._queued(_Work(self, x, axis, options), stream, options)
        return result

    def _queued(self, work, stream, options):
        out, x, axis = options.out, work.x, work.axis
        count = math.prod(x.shape[:axis])
        own = out is not None and self.resolved(out) is out
        rounding = kept_as_f64(work.into, self.name_of(x), self.name_of(out), options.operation) if own else 0
        in_place = own and (rounding or self.name_of(out) == work.into)
        result = out if in_place else self.empty(x.shape, work.into, x)
        first = self.words(max(count, 1), -1, x) if options.check_overflow else None
        skipped = self.words(_CALLS_MOST, 0, x) if options.skip_nan else None
        asked = stream, (options.bits() & ~CHECK_OVERFLOW) | rounding, work.start, first, skipped
        moved = not self._queue(x, result, axis, *asked)
        if moved:  # columns that lie apart, shared memory, or many tables that need a call each: one table of a copy
            front = self.contiguous(self.space.moveaxis(x, axis, 0))
            sums_of_front = self.empty(front.shape, work.into, x)
            self._queue(front, sums_of_front, 0, *asked)
            result = self.space.moveaxis(sums_of_front, 0, axis)
        if out is None:
            result = self.contiguous(self.cast(result, work.sums))
        elif result is not out:
            out[...] = self.cast(result, work.sums)
        if options.check_overflow and math.prod(x.shape):
            self._raise_overflow(first, x.shape[axis], work.rest, count, moved, options.reverse)
        if skipped is not None:
            options.skipped = skipped.sum()
        return result

    def _gone_on(self, work, stream, options):
        """Sums from a state in host memory on, for which the stream is waited for."""
        if work.axis != 0:
            raise ValueError(f"state: sums go on along axis 0, not {work.axis}")
        x, kept, found = self.contiguous(work.x), np.dtype(work.added), None
        result = self.empty(x.shape, work.into, x)
        with _arrays.going_on(options.state, kept, work.rest, work.start, options.operation) as memory:
            if math.prod(x.shape) == 0:
                start = None if work.start is None else self.get(work.start)
                _arrays.add_no_rows(memory, kept, work.rest, start, options.operation)
            else:
                self.wait()
                found = _core.scan(self.typed(x), self.typed(result), 0, options.bits(), work.start, memory)
        if options.skip_nan:
            options.skipped, found = self.words(1, found or 0, x).sum(), None
        result = self.cast(result, work.sums)
        if options.out is not None:
            options.out[...] = result
        if found:
            raise OverflowAt(*found)
        return result

    def column_totals(self, x, options):
        """As tuplescan.column_totals(), for which the stream is waited for."""
        if not self.on_cuda(x):
            return super().column_totals(x, options)
        if x.ndim == 0:
            raise ValueError("x must have at least one dimension")
        x = self.resolved(x)
        with self.working_on(x, options.stream):
            work = _Work(self, x, 0, options)
            kept, columns = np.dtype(work.added), math.prod(work.rest)
            table = self.contiguous(work.x)
            if not taken(self.name_of(table), work.added, options.operation):
                table = self.cast(table, work.added)
            with _arrays.going_on(options.state, kept, work.rest, work.start, options.operation) as memory:
                known = memory is None or _core.state_facts(memory)[2] == 0
                totals = np.zeros(columns, kept) if known else None
                if columns:
                    self.wait()
                    row = None if work.start is None else self.get(work.start)
                    table = self.typed(table.reshape(x.shape[0], columns))
                    _core.column_totals(table, NUMBERS[kept], totals, row, memory, options.operation)
            return self.cast(self.put(totals.reshape(work.rest), x), work.sums) if known else None

    def recurrence(self, a, b, options):
        if not self.on_cuda(b):
            return super().recurrence(a, b, options)
        a, b, out = self.brought(a, b), self.resolved(b), options.out
        if options.dtype in (None, self.name_of(b)) and not options.given("out", "exclusive", "reverse", "start"):
            h = _core.at_once(b, options.axis, out, options.bits(), a, options.start)
            if h is not None:
                return h
        with self.working_on(b, None) as stream:
            h = recur(self, a, b, options, self._as_results(out, b), stream)
        if out is None:
            return h
        if tuple(out.shape) != tuple(h.shape):
            raise ValueError(f"out has shape {tuple(out.shape)}, the results {tuple(h.shape)}")
        if h is not out:
            out[...] = h
        return out

    def _as_results(self, out, like):
        """out, if its values lie side by side where `like` is, in its shape, so that results can be written there."""
        plain = self.owns(out) and out.device == like.device and out.shape == like.shape
        plain = plain and not getattr(out, "requires_grad", False) and self.resolved(out) is out
        return out if plain and self.contiguous(out) is out else None

    def brought(self, x, like):
        """x as an array where `like` is."""
        if isinstance(x, (int, float)):  # nothing is copied from the host
            made = self.empty((), kept_in(float_type(self.name_of(like))), like)
            made[...] = x
            return made
        x = self.seen_on_device(x)
        return self.resolved(x) if self.owns(x) and self.on_cuda(x) else self.put(seen_by_numpy(x, "x"), like)

    def row(self, start, rest, sums, added, like):
        """A new row of the type in which is added, where `like` is, by the rule of _arrays.row_to_start_with()."""
        own = np.dtype("float32" if sums == "bfloat16" else sums)  # bfloat16 is rounded afterwards
        start = self.seen_on_device(start)
        if self.owns(start) and self.on_cuda(start):
            kind = "float32" if self.name_of(start) == "bfloat16" else self.name_of(start)
            if start.dtype != self.type_named(sums) and not np.can_cast(kind, added, "same_kind"):
                raise TypeError(f"start: cannot cast {start.dtype} to {sums}")
            start = self.copied(start, like)
        else:
            start = self.put(_arrays.row_to_start_with(start, rest, own, added), like)
        row = self.cast(self.cast(start, sums), added)
        return self.contiguous(self.space.broadcast_to(row, rest)).reshape(-1)

    def _queue(self, x, result, axis, stream, bits, start=None, first=None, skipped=None):
        """Whether the library can take the arrays as they lie."""
        asked = self.typed(x), self.typed(result), axis, bits, start, None, first, skipped, stream
        queued = _core.scan(*asked, None)
        if queued is not None and queued is not False:
            queued = _core.scan(*asked, self.empty((queued,), "uint8", x))
        return queued is None

    @staticmethod
    def _raise_overflow(first, rows, rest, count, moved, reverse):
        columns = math.prod(rest)
        columns = columns if moved else columns // max(count, 1)
        places = [divmod(int(at), columns) + (table,) for table, at in enumerate(first.tolist()) if at != -1]
        if places:
            row, column, table = min(places, key=lambda place: (place[0], place[2], place[1]))
            raise OverflowAt(rows - 1 - row if reverse else row, table * columns + column)

    @contextlib.contextmanager
    def working_on(self, x, stream):
        """On x's device, and the stream that is given or the library's current one, whose number this gives."""
        with self.device(x):
            if stream is None:
                yield self.current_stream(x)
                return
            number = _stream_number(stream)
            with self.external_stream(number, x):
                yield number

    def name_of(self, x):
        return str(x.dtype).removeprefix("torch.")

    def seen_on_device(self, start):
        return start

    def typed(self, x):
        """What _core takes for x."""
        return x


class _Torch(_OnCuda):
    def __init__(self, torch):
        self.space = torch
        device = getattr(torch._C, "_cuda_getDevice", torch.cuda.current_device)  # what the latter asks after checks
        self.news = _core.tensors_are_here(torch.Tensor, device)

    def cumsum(self, x, options):
        if self.news and options.dtype is None and not options.given("out", "exclusive", "reverse"):
            # Without numpy, which has not all types: the call could not do so before torch was known.
            asked = {"exclusive": options.exclusive, "reverse": options.reverse}
            return _core.cumsum(x, options.axis, None, options.out, **asked)
        return super().cumsum(x, options)

    def owns(self, x):
        return isinstance(x, self.space.Tensor)

    def to_numpy(self, x):
        self._refuse_graph(x)
        return x.view(self.space.int16).numpy().view(bfloat16()) if x.dtype == self.space.bfloat16 else x.numpy()

    def numpy_type(self, dtype):
        if dtype == self.space.bfloat16:
            return bfloat16()
        return str(dtype).removeprefix("torch.") if isinstance(dtype, self.space.dtype) else dtype

    def from_numpy(self, sums):
        if is_bfloat16(sums.dtype):
            return self.space.from_numpy(sums.view(np.int16)).view(self.space.bfloat16)
        return self.space.from_numpy(sums)

    def _refuse_graph(self, x):
        if x.requires_grad:
            raise TypeError("x requires gradients, which are lost here: tuplescan.torch.cumsum(x), or x.detach()")

    def on_cuda(self, x):
        return x.is_cuda

    def resolved(self, x):
        """Without torch's flags that say that values are to be negated, or conjugated."""
        return x.resolve_conj().resolve_neg()

    def device(self, x):
        self._refuse_graph(x)
        return self.space.cuda.device(x.device)

    def current_stream(self, x):
        return self.space.cuda.current_stream(x.device).cuda_stream

    def external_stream(self, number, x):
        return self.space.cuda.stream(self.space.cuda.ExternalStream(number, x.device))

    def wait(self):
        self.space.cuda.current_stream().synchronize()

    def get(self, x):
        return x.cpu().numpy()

    def put(self, x, like):
        return self.space.from_numpy(x).to(like.device)

    def type_named(self, name):
        return getattr(self.space, name)

    def common_type(self, a, b):
        try:
            return str(self.space.promote_types(a.dtype, b.dtype)).removeprefix("torch.")
        except RuntimeError:  # it promotes unsigned integers of 8 bits alone
            return np.result_type(self.name_of(a), self.name_of(b)).name

    def types_for(self, x, options):
        name = None if options.out is None else self.common_type(x, options.out)
        if options.dtype is not None:
            name = str(options.dtype).removeprefix("torch.")
        if (name or self.name_of(x)) == "bfloat16":
            return "bfloat16", "float32"
        sums = sums_type(np.dtype(self.name_of(x)), name, None, options.operation)
        return sums.name, added_in(sums, options.operation).name

    def empty(self, shape, name, like):
        return self.space.empty(tuple(shape), dtype=self.type_named(name), device=like.device)

    def cast(self, x, name):
        return x.to(self.type_named(name))

    def contiguous(self, x):
        return x.contiguous()

    def copied(self, x, like):
        return x.to(like.device, copy=True)


class _CuPy(_OnCuda, NumPy):
    def __init__(self, cupy):
        self.space, cuda = cupy, cupy.cuda
        _core.cupy_is_here(cupy.ndarray, cupy.empty, cuda.alloc, cuda.runtime.getDevice, cuda.get_current_stream)

    def owns(self, x):
        return isinstance(x, self.space.ndarray)

    def on_cuda(self, x):
        return True

    def device(self, x):
        return x.device

    def current_stream(self, x):
        return self.space.cuda.get_current_stream().ptr

    def external_stream(self, number, x):
        return self.space.cuda.ExternalStream(number, x.device.id)

    def wait(self):
        self.space.cuda.get_current_stream().synchronize()

    def get(self, x):
        return self.space.asnumpy(x)

    def typed(self, x):
        """Of bool and bfloat16 by their numbers, for which not every CuPy has a DLPack."""
        if x.dtype == np.bool_:
            return x.view(np.uint8), BY_NAME["bool"]
        return (x.view(np.uint16), BFLOAT16) if is_bfloat16(x.dtype) else x

    def copied(self, x, like):
        return x.copy()

    def seen_on_device(self, start):
        return self.space.asarray(start) if hasattr(start, "__cuda_array_interface__") else start
