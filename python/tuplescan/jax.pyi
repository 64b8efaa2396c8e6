from typing import Any, SupportsIndex, Unpack

import jax
from jax.typing import ArrayLike

from ._options import Started, Ways

def cumsum(
    x: ArrayLike, axis: SupportsIndex | None = 0, dtype: Any = None, **options: Unpack[Started]
) -> jax.Array: ...

# Arguments and results as for cumsum().
nancumsum = cumsum

def cummax(x: ArrayLike, axis: SupportsIndex | None = 0, dtype: Any = None, **options: Unpack[Ways]) -> jax.Array: ...

# Arguments and results as for cummax().
cummin = cummax
cumprod = cummax

def segmented_cumsum(x: ArrayLike, offsets: ArrayLike, dtype: Any = None, **options: Unpack[Ways]) -> jax.Array: ...

def linear_recurrence(
    a: ArrayLike, b: ArrayLike, axis: SupportsIndex | None = 0, **options: Unpack[Started]
) -> jax.Array: ...
