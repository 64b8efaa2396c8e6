from typing import Any, SupportsIndex

import jax
from jax.typing import ArrayLike

def cumsum(
    x: ArrayLike, axis: SupportsIndex | None = 0, dtype: Any = None, *, exclusive: bool = False, reverse: bool = False
) -> jax.Array: ...
def cummax(
    x: ArrayLike, axis: SupportsIndex | None = 0, dtype: Any = None, *, exclusive: bool = False, reverse: bool = False
) -> jax.Array: ...
def cummin(
    x: ArrayLike, axis: SupportsIndex | None = 0, dtype: Any = None, *, exclusive: bool = False, reverse: bool = False
) -> jax.Array: ...
def cumprod(
    x: ArrayLike, axis: SupportsIndex | None = 0, dtype: Any = None, *, exclusive: bool = False, reverse: bool = False
) -> jax.Array: ...
def linear_recurrence(
    a: ArrayLike,
    b: ArrayLike,
    axis: SupportsIndex | None = 0,
    *,
    exclusive: bool = False,
    reverse: bool = False,
    start: ArrayLike | None = None,
) -> jax.Array: ...
