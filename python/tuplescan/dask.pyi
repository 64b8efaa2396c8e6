from typing import Any, SupportsIndex, Unpack

from numpy.typing import DTypeLike

from ._options import Started

# A dask.array.Array gives one: Any, so that readers of stubs need no dask.
def cumsum(
    x: Any, axis: SupportsIndex = 0, dtype: DTypeLike | None = None, **options: Unpack[Started]
) -> Any: ...

# Arguments and results as for cumsum().
nancumsum = cumsum
cummax = cumsum
cummin = cumsum
cumprod = cumsum

def linear_recurrence(a: Any, b: Any, axis: SupportsIndex = 0, **options: Unpack[Started]) -> Any: ...
