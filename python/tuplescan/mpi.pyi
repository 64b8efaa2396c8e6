from typing import Any, Unpack

from numpy.typing import ArrayLike, DTypeLike, NDArray

from . import State
from ._options import Checked, Continued

# comm is an mpi4py.MPI.Intracomm: Any, so that readers of stubs need no MPI.
def cumsum(
    x: ArrayLike,
    dtype: DTypeLike | None = None,
    out: NDArray[Any] | None = None,
    *,
    comm: Any = None,
    **options: Unpack[Checked],
) -> NDArray[Any]: ...

# Arguments and results as for cumsum().
cummax = cumsum
cummin = cumsum
cumprod = cumsum

def nancumsum(
    x: ArrayLike,
    dtype: DTypeLike | None = None,
    out: NDArray[Any] | None = None,
    *,
    comm: Any = None,
    **options: Unpack[Continued],
) -> NDArray[Any]: ...

def linear_recurrence(
    a: ArrayLike, b: ArrayLike, out: NDArray[Any] | None = None, *, comm: Any = None, **options: Unpack[Continued]
) -> NDArray[Any]: ...

# None for a state that begins beyond row 0, which may be another rank's.
def column_totals(
    x: ArrayLike,
    dtype: DTypeLike | None = None,
    *,
    comm: Any = None,
    start: ArrayLike | None = None,
    state: State | None = None,
    threads: int | None = None,
) -> NDArray[Any] | None: ...
