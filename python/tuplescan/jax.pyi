from typing import Any, SupportsIndex

import jax
from jax.typing import ArrayLike

def cumsum(
    x: ArrayLike, axis: SupportsIndex | None = 0, dtype: Any = None, *, exclusive: bool = False, reverse: bool = False
) -> jax.Array: ...

# Arguments and results are those of cumsum().
cummax = cumsum
cummin = cumsum
cumprod = cumsum

def linear_recurrence(
    a: ArrayLike,
    b: ArrayLike,
    axis: SupportsIndex | None = 0,
    *,
    exclusive: bool = False,
    reverse: bool = False,
    start: ArrayLike | None = None,
) -> jax.Array: ...
