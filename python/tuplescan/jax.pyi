from typing import Any, SupportsIndex

import jax
from jax.typing import ArrayLike

def cumsum(
    x: ArrayLike, axis: SupportsIndex | None = 0, dtype: Any = None, *, exclusive: bool = False, reverse: bool = False
) -> jax.Array: ...
