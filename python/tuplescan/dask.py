"""Running sums, maxima, minima, products and recurrences of dask arrays, with the bits of one machine. dask is imported
by the calls, and is no requirement."""

import itertools
import math
import operator

import numpy as np

from . import _arrays, _tables
from ._calls import made
from ._libraries import NUMPY
from ._operations import of_each_operation
from ._state import State, joined
from ._types import RECURRENCE, Options, added_in, sums_type


def _range(blocks, options, kept, first_row, start):
    """The state of the rows of one block, which begins at that row of all."""
    way, asked = -1 if options["reverse"] else 1, {**options, "exclusive": False, "reverse": False}
    state = State()
    if start is None:
        state = State._begin(kept, math.prod(blocks[-1].shape[1:]), first_row, options["operation"])
    blocks = [of[::way] if np.ndim(of) else of for of in blocks]
    made(blocks, Options(start=start, state=state, state_alone=True, **asked))
    return state


def _results(blocks, options, before, start):
    return made(blocks, Options(start=start, state=before and before.copy(), **options))


def _graph(x, a, name, start, options):
    """Blocks in the order in which their rows are taken; `own` is the start row of a block's columns, if any. `a`: an
    array in the same blocks, or what each of them has, or nothing."""
    kept, count = options["dtype"], x.numblocks[0]
    kept = np.dtype(_tables.kept_in(kept)) if isinstance(kept, str) else added_in(kept, options["operation"])
    order = range(count)[:: -1 if options["reverse"] else 1]
    first_rows = [0, *itertools.accumulate(x.chunks[0][i] for i in order)]
    borders = [[0, *itertools.accumulate(chunks)] for chunks in x.chunks[1:]]
    graph = {}
    for place in itertools.product(*(range(blocks) for blocks in x.numblocks[1:])):
        columns = math.prod(x.chunks[axis][at] for axis, at in enumerate(place, 1))
        own = None if start is None else start[tuple(slice(*of[at : at + 2]) for of, at in zip(borders, place))]
        before = None
        for i, first_row in zip(order, first_rows):
            blocks = [(x.name, i, *place)]
            if a is not None:
                blocks.insert(0, (a.name, i, *place) if hasattr(a, "numblocks") else a)
            graph[(name, i, *place)] = (_results, blocks, options, before, own)
            if i == order[-1] or columns == 0:
                continue
            state = (f"{name}-range", i, *place)
            graph[state] = (_range, blocks, options, kept, first_row, own)
            if before is not None:
                through = (f"{name}-state", i, *place)
                graph[through] = (joined, before, state)
                state = through
            before, own = state, None  # the state has the start
    return graph


def _checked(x, name):
    import dask.array

    if not isinstance(x, dask.array.Array):
        raise TypeError(f"{name}: {type(x)!r} is no dask array")
    if not isinstance(x._meta, np.ndarray) and type(x._meta).__module__.partition(".")[0] != "cupy":
        raise TypeError(f"{name}: has blocks of {type(x._meta)!r}; those of numpy and CuPy are summed here")
    if x.ndim == 0:
        raise ValueError(f"{name} must have at least one dimension")
    if any(math.isnan(extent) for extent in x.shape):
        raise ValueError(f"{name}: has blocks whose sizes are not known: call x.compute_chunk_sizes() first")


def _along(axis, call, x, a, start, options, kind):
    from dask.array import Array, moveaxis
    from dask.base import tokenize
    from dask.highlevelgraph import HighLevelGraph

    if axis != 0:
        a = moveaxis(a, axis, 0) if isinstance(a, Array) else a
        return moveaxis(_along(0, call, moveaxis(x, axis, 0), a, start, options, kind), 0, axis)
    name = f"tuplescan-{call}-{tokenize(x, a, start, options)}"
    graph = _graph(x, a, name, start, options)
    given = [of for of in (x, a) if isinstance(of, Array)]
    graph = HighLevelGraph.from_collections(name, graph, dependencies=given)
    return Array(graph, name, chunks=x.chunks, dtype=kind, meta=x._meta.astype(kind))


def _of_an_operation(name, operation):
    def call(x, axis=0, dtype=None, *, exclusive=False, reverse=False, start=None):
        """Running sums along an axis of a dask array: the bits of tuplescan.cumsum() of the whole, however it is cut.
        All else is as in tuplescan.cumsum().

        Each block is summed twice, for its State and for its sums; between them goes a chain of joins of states, as
        long as there are blocks along the axis. A state is 64 bytes, and 131 rows of floats or 2 rows of integers, as
        wide as the block: blocks of floats are best some thousand rows high. No task has more than one block and its
        sums. A block is in memory until the states of those before it are joined, which in dask's order of work is
        soon.

        Parameters
        ----------
        x : dask array of at least one dimension
            Blocks of numpy's or CuPy's arrays of bool, integers or real floats, of any sizes that are known.
        axis : int

        Returns
        -------
        dask array of x's shape and chunks

        Examples
        --------
        >>> import dask.array
        >>> tuplescan.dask.cumsum(dask.array.ones(6, chunks=(4, 2))).compute()
        array([1., 2., 3., 4., 5., 6.])
        """
        _checked(x, "x")
        kind = sums_type(x.dtype, dtype, None, operation)
        if kind.kind == "c":
            raise TypeError("x: complex arrays are not summed in blocks; sum their real and imaginary parts")
        axis = _arrays.normalize_axis_index(operator.index(axis), x.ndim)
        if start is not None:
            rest = x.shape[:axis] + x.shape[axis + 1 :]
            start = _arrays.row_to_start_with(start, rest, kind, added_in(kind, operation))
        options = {"dtype": kind, "exclusive": bool(exclusive), "reverse": bool(reverse), "operation": operation}
        return _along(axis, name, x, None, start, options, kind)

    return call


cumsum, cummax, cummin, cumprod = of_each_operation(
    _of_an_operation,
    "",
    ">>> import dask.array\n    >>> x = dask.array.from_array([2, 1, 4], chunks=2)\n"
    "    >>> tuplescan.dask.{name}(x).compute()\n    array({shown})",
    with_sums=True,
)


def nancumsum(x, axis=0, dtype=None, *, exclusive=False, reverse=False, start=None):
    """Running sums in which a NaN counts as nothing: the bits of tuplescan.nancumsum() of the whole dask array. All
    else is as in cumsum().

    Examples
    --------
    >>> import dask.array
    >>> x = dask.array.from_array([1.0, float("nan"), 2.0], chunks=2)
    >>> tuplescan.dask.nancumsum(x).compute()
    array([1., 1., 3.])
    """
    _checked(x, "x")
    x = x.map_blocks(_arrays.without_nan, dtype=x.dtype, meta=x._meta)
    return cumsum(x, axis, dtype, exclusive=exclusive, reverse=reverse, start=start)


def linear_recurrence(a, b, axis=0, *, exclusive=False, reverse=False, start=None):
    """The linear recurrence h[i] = a[i] * h[i - 1] + b[i] along an axis of a dask array: the bits of
    tuplescan.linear_recurrence() of the whole array, however it is cut. Its graph is that of cumsum(). All else is as
    in tuplescan.linear_recurrence().

    Parameters
    ----------
    a : number, array of numpy or dask that broadcasts to b's shape
        An array of dask is brought into b's chunks.
    b : dask array of at least one dimension
        Blocks of numpy's arrays of floats; integers are converted to float64.

    Returns
    -------
    dask array of b's shape and chunks

    Examples
    --------
    >>> import dask.array
    >>> tuplescan.dask.linear_recurrence(0.5, dask.array.ones(4, chunks=3)).compute()
    array([1.   , 1.5  , 1.75 , 1.875])
    """
    import dask.array

    _checked(b, "b")
    axis = _arrays.normalize_axis_index(operator.index(axis), b.ndim)
    if not np.ndim(a):
        _tables.float_type((getattr(a, "dtype", None) or np.asarray(a).dtype).name)
    name = _tables.float_type(np.result_type(a, b).name if np.ndim(a) else b.dtype.name)
    kind = NUMPY.type_named(name)
    if np.ndim(a):
        a = dask.array.broadcast_to(dask.array.asarray(a), b.shape).rechunk(b.chunks)
    if start is not None:
        kept = np.dtype(_tables.kept_in(name))
        start = _arrays.row_to_start_with(start, b.shape[:axis] + b.shape[axis + 1 :], kept, kept)
    options = {"dtype": name, "exclusive": bool(exclusive), "reverse": bool(reverse), "operation": RECURRENCE}
    return _along(axis, "linear_recurrence", b, a, start, options, kind)
