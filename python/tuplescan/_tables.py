"""Linear recurrences of arrays of any library, as the C library has them: tables, rows and columns."""

import dataclasses
import math

import numpy as np

from . import _arrays, _core
from ._types import RECURRENCE, kept_as_f64

_FLOATS = ("float16", "bfloat16", "float32", "float64")


def three_axes(shape, axis):
    """An array's extents as tables, rows and columns."""
    return math.prod(shape[:axis]), shape[axis], math.prod(shape[axis + 1 :])


def coefficients_shape(a, b, axis):
    """The shape to which coefficients of the shape `a`, which broadcasts to `b`, must be brought, so that they are one
    or all of b's tables, one or all of its rows and one or all of its columns."""
    a, shape = (1,) * (len(b) - len(a)) + tuple(a), ()
    for part in (slice(axis), slice(axis, axis + 1), slice(axis + 1, None)):
        shape += a[part] if all(extent == 1 for extent in a[part]) else tuple(b[part])
    return shape


def kept_in(name):
    return "float32" if name in ("float16", "bfloat16") else name


def _faster_as_one(tables, rows, columns):
    """Whether tables in host memory take less time as the columns of a copy. 1000 x 5000 x 1 f32 took 20 ms so, and 29
    as they lay; 1000 x 500 x 4 took 23 so, and 17 as they lay (x86-64, two threads)."""
    return tables > 1 and (rows * columns < 64 or (columns == 1 and tables > 8))


def float_type(name):
    """The type of the results of that type: floats, of 64 bits for integers."""
    name = "float64" if name.startswith(("bool", "int", "uint")) else name
    if name not in _FLOATS:
        raise TypeError(f"{name} has no recurrences here: tuplescan takes integers and floats of at most 64 bits")
    return name


def recur(library, a, b, options, h=None, stream=None):
    """h if it can be that, of the type of the results, or a new array: the recurrence of arrays of that library, on the
    stream if there is one. Where results are small floats, coefficients of another type become f32, as the recurrence
    is: .999 of bfloat16 would be 1."""
    if np.broadcast_shapes(tuple(a.shape), tuple(b.shape)) != tuple(b.shape):
        raise ValueError(f"a: has the shape {tuple(a.shape)}, which does not broadcast to {tuple(b.shape)}, that of b")
    if not a.ndim:
        float_type(library.name_of(a))  # has no say in the type of the results, but is a real number
    name = options.dtype or float_type(library.common_type(a, b) if a.ndim else library.name_of(b))
    if options.axis is None and a.ndim:
        a = library.space.broadcast_to(a, tuple(b.shape)).reshape(-1)
    b, axis = _arrays.along(b, options.axis)
    if options.state is not None and axis != 0:
        raise ValueError(f"state: recurrences go on along axis 0, not {axis}: give np.moveaxis(b, {axis}, 0)")
    shape, kept = tuple(b.shape), kept_in(name)
    rest, extents = shape[:axis] + shape[axis + 1 :], three_axes(shape, axis)
    row = None if options.start is None else library.row(options.start, rest, kept, kept, b)
    a = a.reshape((1,) * (b.ndim - a.ndim) + tuple(a.shape))
    rounding = 0 if h is None else kept_as_f64(name, library.name_of(b), library.name_of(h))
    if options.state_alone:
        h = None
    elif h is None or (library.name_of(h) != name and not rounding):
        h = library.empty(shape, name, b)
    if stream is None and h is not None and _faster_as_one(*extents) and extents[1]:
        front = (library.space.moveaxis(x, axis, 0) for x in (a, b))
        done = recur(library, *front, dataclasses.replace(options, axis=0, dtype=name))
        h[...] = library.space.moveaxis(done, 0, axis)
        return h
    with _arrays.going_on(options.state, np.dtype(kept), rest, row, RECURRENCE) as memory:
        if math.prod(rest) and (extents[1] or memory is not None):
            read, own = "float32" if rounding else name, library.name_of(a)
            a = library.cast(a, own if own in (name, read) else kept)
            a = library.space.broadcast_to(a, coefficients_shape(a.shape, shape, axis))
            tables = (
                library.contiguous(a.reshape(three_axes(a.shape, axis))),
                library.contiguous(library.cast(b, read)).reshape(extents),
                None if h is None else h.reshape(extents),
            )
            bits = options.bits() | rounding
            asked = *(x if x is None else library.typed(x) for x in tables), bits, row, memory, stream
            answer = _core.recurrence(*asked, None)
            if answer:
                answer = _core.recurrence(*asked, library.empty((answer,), "uint8", b))
            if answer is False:
                return recur(library, a, b, options, None, stream)
    return h
