from typing import Any, SupportsIndex

from numpy.typing import ArrayLike, DTypeLike

# A dask.array.Array gives one: Any, so that who reads stubs need not have dask.
def cumsum(
    x: Any,
    axis: SupportsIndex = 0,
    dtype: DTypeLike | None = None,
    *,
    exclusive: bool = False,
    reverse: bool = False,
    start: ArrayLike | None = None,
) -> Any: ...

# Arguments and results are those of cumsum().
cummax = cumsum
cummin = cumsum
cumprod = cumsum

def linear_recurrence(
    a: Any,
    b: Any,
    axis: SupportsIndex = 0,
    *,
    exclusive: bool = False,
    reverse: bool = False,
    start: ArrayLike | None = None,
) -> Any: ...
