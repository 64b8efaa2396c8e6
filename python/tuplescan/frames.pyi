from collections.abc import Sequence
from typing import Any

from numpy.typing import ArrayLike, DTypeLike

from . import State

# A frame gives one of its own kind: Any.
def cumsum(
    frame: Any,
    dtype: DTypeLike | None = None,
    *,
    exclusive: bool = False,
    reverse: bool = False,
    start: ArrayLike | Sequence[ArrayLike] | None = None,
    check_overflow: bool = False,
    state: State | None = None,
    skipna: bool = True,
) -> Any: ...
