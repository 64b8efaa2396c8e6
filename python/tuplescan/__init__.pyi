from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal, SupportsIndex, Unpack, overload

import numpy as np
from numpy.typing import ArrayLike, DTypeLike, NDArray

from ._options import Continued, Mean, OnStream, Scan, Segments, Threads

__version__: str
__all__: list[str]

_OfNumpy = NDArray[Any] | Sequence[Any] | complex
_Axis = SupportsIndex | None

class OverflowAt(OverflowError):
    row: int
    column: int
    def __init__(self, row: int, column: int) -> None: ...

class State:
    def __init__(self) -> None: ...
    @classmethod
    def begin(cls, dtype: DTypeLike, columns: SupportsIndex, first_row: SupportsIndex = 0) -> State: ...
    @classmethod
    def from_bytes(cls, saved: bytes | bytearray | memoryview) -> State: ...
    def to_bytes(self) -> bytes: ...
    @property
    def dtype(self) -> np.dtype[Any] | None: ...
    @property
    def columns(self) -> int: ...
    @property
    def first_row(self) -> int: ...
    @property
    def rows(self) -> int: ...
    def sums(self) -> NDArray[Any]: ...
    def join(self, other: State) -> None: ...
    def copy(self) -> State: ...
    def __copy__(self) -> State: ...
    def __deepcopy__(self, memo: Any) -> State: ...
    def __eq__(self, other: object) -> bool: ...

# An array of CuPy, torch or JAX gives one of its own kind: Any.
@overload
def cumsum(
    x: _OfNumpy,
    axis: _Axis = 0,
    dtype: DTypeLike | None = None,
    out: NDArray[Any] | None = None,
    **options: Unpack[Scan],
) -> NDArray[Any]: ...
@overload
def cumsum(x: Any, axis: _Axis = 0, dtype: Any = None, out: Any = None, **options: Unpack[Scan]) -> Any: ...

@overload
def cummax(
    x: _OfNumpy,
    axis: _Axis = 0,
    dtype: DTypeLike | None = None,
    out: NDArray[Any] | None = None,
    *,
    return_rows: Literal[False] = False,
    **options: Unpack[Scan],
) -> NDArray[Any]: ...
@overload
def cummax(
    x: _OfNumpy,
    axis: _Axis = 0,
    dtype: DTypeLike | None = None,
    out: None = None,
    *,
    return_rows: Literal[True],
    **options: Unpack[Threads],
) -> tuple[NDArray[Any], NDArray[np.int64]]: ...
@overload
def cummax(
    x: Any, axis: _Axis = 0, dtype: Any = None, out: Any = None, *, return_rows: bool = False, **options: Unpack[Scan]
) -> Any: ...

# Arguments and results are those of cummax().
cummin = cummax

# Products have no rows.
@overload
def cumprod(
    x: _OfNumpy,
    axis: _Axis = 0,
    dtype: DTypeLike | None = None,
    out: NDArray[Any] | None = None,
    *,
    return_rows: Literal[False] = False,
    **options: Unpack[Scan],
) -> NDArray[Any]: ...
@overload
def cumprod(
    x: Any,
    axis: _Axis = 0,
    dtype: Any = None,
    out: Any = None,
    *,
    return_rows: Literal[False] = False,
    **options: Unpack[Scan],
) -> Any: ...

@overload
def cumulative_sum(
    x: _OfNumpy,
    /,
    *,
    axis: _Axis = None,
    dtype: DTypeLike | None = None,
    include_initial: bool = False,
    state: State | None = None,
) -> NDArray[Any]: ...
@overload
def cumulative_sum(
    x: Any, /, *, axis: _Axis = None, dtype: Any = None, include_initial: bool = False, state: State | None = None
) -> Any: ...
# None for a state that begins beyond row 0.
@overload
def column_totals(
    x: _OfNumpy, dtype: DTypeLike | None = None, *, start: Any = None, state: None = None, threads: int | None = None
) -> NDArray[Any]: ...
@overload
def column_totals(
    x: _OfNumpy, dtype: DTypeLike | None = None, *, start: Any = None, state: State | None, threads: int | None = None
) -> NDArray[Any] | None: ...
@overload
def column_totals(
    x: Any, dtype: Any = None, *, start: Any = None, state: State | None = None, threads: int | None = None
) -> Any: ...
def set_num_threads(threads: int | None) -> None: ...
def get_num_threads() -> int: ...
def cuda_unavailable() -> str | None: ...
@overload
def nancumsum(
    x: _OfNumpy,
    axis: _Axis = 0,
    dtype: DTypeLike | None = None,
    out: NDArray[Any] | None = None,
    *,
    return_count: Literal[False] = False,
    **options: Unpack[OnStream],
) -> NDArray[Any]: ...
@overload
def nancumsum(
    x: _OfNumpy,
    axis: _Axis = 0,
    dtype: DTypeLike | None = None,
    out: NDArray[Any] | None = None,
    *,
    return_count: Literal[True],
    **options: Unpack[OnStream],
) -> tuple[NDArray[Any], int]: ...
@overload
def nancumsum(
    x: Any,
    axis: _Axis = 0,
    dtype: Any = None,
    out: Any = None,
    *,
    return_count: Literal[False] = False,
    **options: Unpack[OnStream],
) -> Any: ...
@overload
def nancumsum(
    x: Any,
    axis: _Axis = 0,
    dtype: Any = None,
    out: Any = None,
    *,
    return_count: Literal[True],
    **options: Unpack[OnStream],
) -> tuple[Any, Any]: ...
@overload
def nancumsum(
    x: Any, axis: _Axis = 0, dtype: Any = None, out: Any = None, *, return_count: bool, **options: Unpack[OnStream]
) -> Any: ...
@overload
def linear_recurrence(
    a: ArrayLike, b: _OfNumpy, axis: _Axis = 0, out: NDArray[Any] | None = None, **options: Unpack[Continued]
) -> NDArray[Any]: ...
@overload
def linear_recurrence(a: Any, b: Any, axis: _Axis = 0, out: Any = None, **options: Unpack[Continued]) -> Any: ...

# The results are arrays of the library of x, or of the rewards.
@overload
def ewm_mean(
    x: _OfNumpy, alpha: float | None = None, axis: _Axis = 0, **options: Unpack[Mean]
) -> NDArray[Any]: ...
@overload
def ewm_mean(x: Any, alpha: float | None = None, axis: _Axis = 0, **options: Unpack[Mean]) -> Any: ...
@overload
def discounted_returns(
    rewards: _OfNumpy, gamma: Any, axis: _Axis = 0, *, ends: Any = None, start: Any = None, **options: Unpack[Threads]
) -> NDArray[Any]: ...
@overload
def discounted_returns(
    rewards: Any, gamma: Any, axis: _Axis = 0, *, ends: Any = None, start: Any = None, **options: Unpack[Threads]
) -> Any: ...
@overload
def lfilter1(
    b: ArrayLike, a: ArrayLike, x: _OfNumpy, axis: _Axis = 0, *, zi: None = None, **options: Unpack[Threads]
) -> NDArray[Any]: ...
@overload
def lfilter1(
    b: ArrayLike, a: ArrayLike, x: _OfNumpy, axis: _Axis = 0, *, zi: ArrayLike, **options: Unpack[Threads]
) -> tuple[NDArray[Any], NDArray[Any]]: ...
@overload
def lfilter1(
    b: ArrayLike, a: ArrayLike, x: Any, axis: _Axis = 0, *, zi: None = None, **options: Unpack[Threads]
) -> Any: ...
@overload
def lfilter1(
    b: ArrayLike, a: ArrayLike, x: Any, axis: _Axis = 0, *, zi: Any, **options: Unpack[Threads]
) -> tuple[Any, Any]: ...

# The results are arrays of the library of x, ragged for a ragged x.
@overload
def segmented_cumsum(
    x: _OfNumpy,
    offsets: ArrayLike | None = None,
    *,
    exclusive: bool = False,
    reverse: bool = False,
    include_initial: bool = False,
    check_overflow: bool = False,
    **options: Unpack[Segments],
) -> NDArray[Any]: ...
@overload
def segmented_cumsum(
    x: Any,
    offsets: Any = None,
    *,
    exclusive: bool = False,
    reverse: bool = False,
    include_initial: bool = False,
    check_overflow: bool = False,
    **options: Unpack[Segments],
) -> Any: ...
@overload
def segmented_totals(x: _OfNumpy, offsets: ArrayLike | None = None, **options: Unpack[Segments]) -> NDArray[Any]: ...
@overload
def segmented_totals(x: Any, offsets: Any = None, **options: Unpack[Segments]) -> Any: ...
