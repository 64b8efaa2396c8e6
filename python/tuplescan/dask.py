"""Running sums of dask arrays, with the bits of one machine. dask is imported by the calls, and is no requirement."""

import itertools
import math
import operator

import numpy as np

from . import _arrays, _core
from ._calls import column_totals
from ._state import State
from ._types import added_in, sums_type


def _range(block, options, kept, first_row, start):
    """The state of the rows of one block, which begins at that row of all."""
    state = State() if start is not None else State.begin(kept, math.prod(block.shape[1:]), first_row)
    column_totals(block[::-1] if options["reverse"] else block, options["dtype"], start=start, state=state)
    return state


def _joined(before, block):
    """The state of all rows through a block's last one. Results of other tasks are not changed."""
    state = before.copy()
    state.join(block)
    return state


def _sums(block, options, before, start):
    return _core.cumsum(block, 0, start=start, state=before and before.copy(), **options)


def _graph(x, name, start, options):
    """Blocks in the order in which their rows are summed; `own` is the start row of a block's columns, if any."""
    kept, count = added_in(options["dtype"]), x.numblocks[0]
    order = range(count)[:: -1 if options["reverse"] else 1]
    first_rows = [0, *itertools.accumulate(x.chunks[0][i] for i in order)]
    borders = [[0, *itertools.accumulate(chunks)] for chunks in x.chunks[1:]]
    graph = {}
    for place in itertools.product(*(range(blocks) for blocks in x.numblocks[1:])):
        columns = math.prod(x.chunks[axis][at] for axis, at in enumerate(place, 1))
        own = None if start is None else start[tuple(slice(*of[at : at + 2]) for of, at in zip(borders, place))]
        before = None
        for i, first_row in zip(order, first_rows):
            block = (x.name, i, *place)
            graph[(name, i, *place)] = (_sums, block, options, before, own)
            if i == order[-1] or columns == 0:
                continue
            state = (f"{name}-range", i, *place)
            graph[state] = (_range, block, options, kept, first_row, own)
            if before is not None:
                through = (f"{name}-state", i, *place)
                graph[through] = (_joined, before, state)
                state = through
            before, own = state, None  # the state has the start
    return graph


def cumsum(x, axis=0, dtype=None, *, exclusive=False, reverse=False, start=None):
    """Running sums along an axis of a dask array: the bits of tuplescan.cumsum() of the whole array, however it is cut.

    Each block is summed twice, for its State and for its sums; between them goes a chain of joins of states, as long as
    there are blocks along the axis. A state is 64 bytes, and 131 rows of floats or 2 rows of integers, as wide as the
    block: blocks of floats are best some thousand rows high. No task has more than one block and its sums. A block is
    in memory until the states of those before it are joined, which in dask's order of work is soon.

    Parameters
    ----------
    x : dask array of at least one dimension
        Blocks of numpy's or CuPy's arrays of bool, integers or real floats, of any sizes that are known.
    axis : int
    dtype : dtype, optional
        The type of the sums, as for tuplescan.cumsum().
    exclusive : bool
        result[i] = start + x[0] + ... + x[i - 1] instead.
    reverse : bool
        Sum from the last place to the first.
    start : scalar or array, optional
        What the sums begin with; its shape must broadcast to x's without the axis.

    Returns
    -------
    dask array of x's shape and chunks

    Raises
    ------
    TypeError
        For other arrays, blocks and types.
    ValueError
        For blocks whose sizes are not known, and without a dimension.
    numpy.exceptions.AxisError
        For an axis that is not there.
    ImportError
        Without dask.

    Examples
    --------
    >>> import dask.array
    >>> tuplescan.dask.cumsum(dask.array.ones(6, chunks=(4, 2))).compute()
    array([1., 2., 3., 4., 5., 6.])
    """
    import dask.array
    from dask.base import tokenize
    from dask.highlevelgraph import HighLevelGraph

    if not isinstance(x, dask.array.Array):
        raise TypeError(f"x: {type(x)!r} is no dask array")
    if not isinstance(x._meta, np.ndarray) and type(x._meta).__module__.partition(".")[0] != "cupy":
        raise TypeError(f"x: has blocks of {type(x._meta)!r}; those of numpy and CuPy are summed here")
    if x.ndim == 0:
        raise ValueError("x must have at least one dimension")
    if any(math.isnan(extent) for extent in x.shape):
        raise ValueError("x: has blocks whose sizes are not known: call x.compute_chunk_sizes() first")
    sums = sums_type(x.dtype, dtype)
    if sums.kind == "c":
        raise TypeError("x: complex arrays are not summed in blocks; sum their real and imaginary parts")
    axis = _arrays.normalize_axis_index(operator.index(axis), x.ndim)
    if start is not None:
        start = _arrays.row_to_start_with(start, x.shape[:axis] + x.shape[axis + 1 :], sums)
    options = {"dtype": sums, "exclusive": bool(exclusive), "reverse": bool(reverse)}
    if axis != 0:
        moved = cumsum(dask.array.moveaxis(x, axis, 0), 0, start=start, **options)
        return dask.array.moveaxis(moved, 0, axis)
    name = f"tuplescan-cumsum-{tokenize(x, start, options)}"
    graph = HighLevelGraph.from_collections(name, _graph(x, name, start, options), dependencies=[x])
    return dask.array.Array(graph, name, chunks=x.chunks, dtype=sums, meta=x._meta.astype(sums))
