"""What arrays, columns and frames are, by the modules of their types: no library is imported for it."""

import contextlib
import itertools

import numpy as np

# Kinds of columns, of frames, and of those whose values are not there yet, with the call that brings them.
COLUMNS = frozenset({"pandas.Series", "pandas.ExtensionArray", "pandas.Index", "polars.Series", "pyarrow.Array",
                     "pyarrow.ChunkedArray"})  # fmt: skip
_FRAMES = frozenset({"pandas.DataFrame", "polars.DataFrame", "pyarrow.Table", "pyarrow.RecordBatch", "dask.Array"})
_LAZY = {"polars.LazyFrame": "collect", "dask.DataFrame": "compute", "dask.Series": "compute"}
_LISTS_IN_LISTS_MOST = 64  # as many as numpy has dimensions at most


def roots_of(x):
    """The libraries that the type of x and those that it is derived from are of, the type's own first."""
    return [of.__module__.partition(".")[0] for of in type(x).__mro__]


def _kind(of):
    for base in of.__mro__:
        name = f"{base.__module__.partition('.')[0]}.{base.__name__}"
        if name in COLUMNS or name in _FRAMES or name in _LAZY:
            return name
    return None


def kind_of(x):
    """Which frame or column x is, such as "pandas.Series"; None for anything else."""
    return _kind(type(x))


def refuse_lazy(x):
    if kind_of(x) in _LAZY:
        raise TypeError(f"{type(x)!r} has no values yet: sum what its {_LAZY[kind_of(x)]}() gives, by tuplescan.frames")


def _has_gaps(x):
    """Whether something is missing in a column, a frame or an array, as tuplescan.frames has it."""
    if isinstance(x, np.ndarray):
        return bool(np.ma.is_masked(x))
    kind = kind_of(x)
    if kind not in COLUMNS and kind not in _FRAMES:
        return False
    if kind.startswith("pandas"):
        with contextlib.suppress(NotImplementedError):  # of a MultiIndex, which is of no numbers
            return bool(np.asarray(x.isna()).any())
    if kind.startswith("polars"):
        return bool(np.asarray(x.null_count()).any())
    return kind.startswith("pyarrow") and any(column.null_count for column in getattr(x, "columns", [x]))


def refuse_missing(x, call, way=""):
    """Refuses missing values in x, or in lists and tuples: numpy.asarray() would lose them or make them NaN."""
    parts = [x]
    for _ in range(_LISTS_IN_LISTS_MOST):
        types = set(map(type, parts))
        kinds = {of for of in types if issubclass(of, np.ma.MaskedArray) or _kind(of)}
        for part in parts if kinds else ():
            if type(part) in kinds and _has_gaps(part):
                raise TypeError(f"{call}: {type(part)!r} has missing values (null, NA, masked, or NaN in pandas), "
                                f"which have no place here: fill or drop what is missing first{way}")  # fmt: skip
        if not any(issubclass(of, (list, tuple)) for of in types):
            break
        parts = list(itertools.chain.from_iterable(part for part in parts if isinstance(part, (list, tuple))))
