"""Histograms and sorts: numpy's arguments and types around the calls of the C library."""

import operator

import numpy as np

from . import _arrays, _core, _libraries
from ._kinds import refuse_missing
from ._threads import limited
from ._types import WAYS_OUT

_BINS_MOST = 1 << 20
_DIRECT = frozenset(np.dtype(name) for name in ("u1", "u2", "u4", "u8", "i4", "i8", "f4", "f8"))
_KEYS = {np.dtype(of): np.dtype(by) for of, by in {"?": "u1", "i1": "i4", "i2": "i4", "f2": "f4"}.items()}

_WAYS_OUT = {
    **WAYS_OUT,
    **dict.fromkeys("mM", "Without a NaT, give x.view('i8')."),
    "c": "Give x.real and x.imag, each by itself.",
    "V": "Give the fields of a record, x['name'], and other numbers as x.astype('f4').",
}


def _refused(what, dtype):
    """The error for a type that has no keys, and no values to count, with what helps."""
    of = f"{what}: tuplescan takes bool, integers and floats of at most 64 bits."
    return TypeError(f"{dtype!r} {of} {_WAYS_OUT.get(dtype.kind, '')}")


def _keys_of(dtype):
    """The type in which values of that one are sorted and counted, for either byte order."""
    native = dtype.newbyteorder("=")
    return _KEYS.get(native, native)


def _seen(a, call):
    """As numpy sees an array in host memory, also one that has DLPack alone. Refused is what has missing values."""
    if not isinstance(a, np.ndarray):
        if _libraries.on_cuda(a):
            raise TypeError(f"{type(a)!r}: arrays on CUDA are neither sorted nor counted here")
        refuse_missing(a, call)
        library = _libraries.library_of(a)
        a = np.asarray(a) if library is None else library.to_numpy(library.resolved(a))
    refuse_missing(a, call)
    return a


@limited
def histogram(a, bins=10, range=None, density=None, weights=None, *, threads=None):
    """How many values, or how much weight, is in each bin: numpy.histogram(), with the same bins.

    Sums of float weights have the same bits with any number of threads; those of integers are exact, in integers that
    wrap.

    Parameters
    ----------
    a : array
        Flattened. bool, integers or floats.
    bins : int, str or array
        The number of bins, numpy's name of a rule for it, or their edges. At most 2^20 bins.
    range : (float, float), optional
        The lowest and the highest edge.
    density : bool
        Divide by the total and by the bins' widths.
    weights : array of a's shape, optional
    threads : int, optional
        As for cumsum().

    Returns
    -------
    (histogram, edges) : tuple of arrays
        As numpy.histogram() has them.

    Raises
    ------
    TypeError, ValueError
        For what numpy.histogram() refuses, complex weights, more than 2^20 bins, and if something is masked or missing.

    Examples
    --------
    >>> counts, edges = tuplescan.histogram([1, 2, 1, 4, 9], bins=[0, 2, 4, 10])
    >>> counts
    array([2, 1, 2])
    >>> tuplescan.cumsum(counts) / counts.sum()  # the share of the values below each right edge
    array([0.4, 0.6, 1. ])
    """
    values = np.asarray(_seen(a, "histogram"))
    weight_values = None if weights is None else np.asarray(_seen(weights, "weights"))
    if weight_values is not None and weight_values.shape != values.shape:
        raise ValueError("weights should have the same shape as a.")
    values = values.reshape(-1)
    if values.dtype.kind not in "biuf" or values.dtype.itemsize > 8:
        raise _refused("has no histogram", values.dtype)
    if values.dtype == np.bool_:
        values = values.astype(np.uint8)
    if weight_values is not None:
        weight_values = weight_values.reshape(-1)
    bins = bins if isinstance(bins, (int, str)) else np.asarray(_seen(bins, "bins"))
    edges = np.histogram_bin_edges(values, bins, range, weight_values)
    if edges.dtype.kind not in "biuf":
        raise _refused("is no type of edges of bins", edges.dtype)
    native = edges.dtype.newbyteorder("=")
    same = values.dtype.newbyteorder("=") == native
    looked_up = native if same and native in _DIRECT else np.dtype(np.float64)
    values, seen_edges = np.require(values, looked_up, ["C", "A"]), np.require(edges, looked_up, ["C", "A"])
    if weight_values is not None and weight_values.dtype.kind in "iu":
        counts = _weigh_exactly(values, weight_values, len(edges) - 1, seen_edges)
    else:
        counts = _count(values, weight_values, len(edges) - 1, seen_edges)
    if weight_values is not None:
        # To numpy it is only sums over even bins that have the byte order of the weights.
        kind = weight_values.dtype if np.ndim(bins) == 0 else weight_values.dtype.newbyteorder("=")
        counts = counts.astype(kind, copy=False)
    if density:
        return counts / np.diff(edges).astype(float) / counts.sum(), edges
    return counts, edges


def _weigh_exactly(values, weights, bins, edges):
    """Sums of integers modulo 2^64: of as few of their bits at a time as doubles add up exactly."""
    words = weights.astype(np.int64 if weights.dtype.kind == "i" else np.uint64, copy=False)
    exact = 53 - len(values).bit_length()
    limit = 1 << exact
    if not len(words) or -limit <= int(words.min()) and int(words.max()) <= limit:
        return _count(values, words, bins, edges).astype(np.int64)
    words, sums = words.view(np.uint64), np.zeros(bins, np.uint64)
    for shift in range(0, 64, exact):
        part = words >> np.uint64(shift) & np.uint64(limit - 1)
        sums += _count(values, part, bins, edges).astype(np.uint64) << np.uint64(shift)
    return sums


def _count(values, weights, bins, edges):
    if weights is None:
        counts = np.zeros(bins, np.uint64)
        _core.histogram(values, None, counts, edges)
        return counts.view(np.int64)
    if weights.dtype.kind not in "biuf" or weights.dtype.itemsize > 8:
        raise _refused("cannot be summed as weights", weights.dtype)
    sums = np.zeros(bins, np.float64)
    weighing = np.require(weights, np.float64, ["C", "A"])
    _core.histogram(values, weighing, sums, edges)
    return sums


@limited
def bincount(x, weights=None, minlength=0, *, threads=None):
    """How often each of the integers 0, 1, ... occurs, or with how much weight: numpy.bincount().

    Parameters
    ----------
    x : array of one dimension
        Integers that are not negative.
    weights : array of x's shape, optional
    minlength : int
        The least length of the result.
    threads : int, optional
        As for cumsum().

    Returns
    -------
    array of length max(max(x) + 1, minlength)
        int64, or float64 with weights. Beyond 2^20 it is numpy.bincount() itself that counts.

    Raises
    ------
    TypeError, ValueError
        As numpy.bincount(), and if something is masked or missing.

    Examples
    --------
    >>> degrees = tuplescan.bincount([0, 2, 2, 3])  # of the rows that edges begin in
    >>> degrees
    array([1, 0, 2, 1])
    >>> tuplescan.cumulative_sum(degrees, include_initial=True)  # the row pointers of their CSR matrix
    array([0, 1, 1, 3, 4])
    """
    values = np.asarray(_seen(x, "bincount"))
    weights = None if weights is None else np.asarray(_seen(weights, "weights"))
    if values.ndim != 1:
        raise ValueError("object too deep for desired array" if values.ndim else "object of too small depth")
    counted = np.can_cast(values.dtype, np.int64, "safe") or values.dtype.newbyteorder("=") == np.uint64
    if not counted and (values.size or isinstance(x, np.ndarray)):  # an empty list is of floats to numpy
        raise TypeError(f"Cannot cast array data from {values.dtype!r} to dtype('int64') according to the rule 'safe'")
    minlength = operator.index(minlength)
    if minlength < 0:
        raise ValueError("'minlength' must not be negative")
    if weights is not None and weights.shape != values.shape:
        raise ValueError("The weights and list don't have the same length.")
    if values.size == 0:
        return np.zeros(minlength, np.int64 if weights is None else np.float64)
    values = np.require(values, _keys_of(values.dtype), ["C", "A"])
    if values.min() < 0:
        raise ValueError("'list' argument must have no negative elements")
    bins = max(int(values.max()) + 1, minlength)
    if bins > _BINS_MOST:
        return np.bincount(values.astype(np.int64), weights, minlength)
    return _count(values, weights, bins, None)


def _sortable(a, axis, call):
    """The array as lines along `axis`, in a copy of native keys."""
    values = np.asarray(_seen(a, call))
    if axis is None:
        values, axis = values.reshape(-1), 0
    elif values.ndim == 0:
        raise np.exceptions.AxisError(axis, 0) if hasattr(np, "exceptions") else np.AxisError(axis, 0)
    keys = _keys_of(values.dtype)
    if keys not in _DIRECT:
        raise _refused("cannot be sorted here", values.dtype)
    axis = _arrays.normalize_axis_index(operator.index(axis), values.ndim)
    lines = np.array(np.moveaxis(values, axis, -1), keys, order="C", copy=True)
    if keys.kind == "f":
        np.copyto(lines, np.nan, where=np.isnan(lines))  # NaNs come last, whatever their sign
    return values, axis, lines


def _wrapped(a, result):
    """Of a's type, if that is a subclass of numpy's."""
    return _arrays.like_subclass(a, result) if isinstance(a, np.ndarray) and type(a) is not np.ndarray else result


@limited
def sort(a, axis=-1, kind=None, *, descending=False, threads=None):
    """A sorted copy of an array: numpy.sort(). Always stable, by counting; NaNs come last.

    Of zeros -0.0 comes before +0.0. With descending=True all of it is the other way round.

    Parameters
    ----------
    a : array
        bool, integers or floats of 16 to 64 bits, in either byte order.
    axis : int or None
        The axis to sort along; None: a as one axis.
    kind : ignored
        There for those who have it from numpy.
    descending : bool
    threads : int, optional
        As for cumsum().

    Returns
    -------
    array of a's shape and type

    Raises
    ------
    TypeError
        For other types, and if something is masked or missing.
    numpy.exceptions.AxisError
        For an axis that is not there.

    Examples
    --------
    >>> tuplescan.sort([3.5, -1.0, 2.0], descending=True)
    array([ 3.5,  2. , -1. ])
    """
    values, axis, lines = _sortable(a, axis, "sort")
    for line in lines.reshape(-1, lines.shape[-1]) if lines.size else ():
        _core.sort(line, None, descending)
    return _wrapped(a, np.moveaxis(lines.astype(values.dtype, copy=False), -1, axis))


@limited
def argsort(a, axis=-1, kind=None, *, descending=False, threads=None):
    """The places that sort an array: numpy.argsort(kind="stable").

    What is equal keeps its order, also with descending=True; -0.0 and +0.0 are equal; NaNs come last, with
    descending=True first.

    Parameters
    ----------
    a, axis, kind, descending :
        As for sort().
    threads : int, optional
        As for cumsum().

    Returns
    -------
    array of int64, of a's shape

    Raises
    ------
    TypeError, numpy.exceptions.AxisError
        As sort().

    Examples
    --------
    >>> tuplescan.argsort([30, 10, 20, 10])
    array([1, 3, 2, 0])
    """
    values = _seen(a, "argsort")
    if axis is not None and values.ndim == 0:  # to numpy this is one place, unlike in sort()
        axis = _arrays.normalize_axis_index(operator.index(axis), 1)
        values = np.asarray(values).reshape(1)
    _, axis, lines = _sortable(values, axis, "argsort")
    if lines.dtype.kind == "f":
        lines += 0.0  # makes -0.0 +0.0
    order = np.empty(lines.shape, np.uint64)
    if lines.size:
        for line, places in zip(lines.reshape(-1, lines.shape[-1]), order.reshape(-1, lines.shape[-1])):
            _core.sort(line, places, descending)
    return _wrapped(a, np.moveaxis(order.view(np.int64), -1, axis))
