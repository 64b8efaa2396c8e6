from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal, SupportsIndex, Unpack, overload

import numpy as np
from numpy.typing import ArrayLike, DTypeLike, NDArray

from ._options import Begun, Continued, Mean, OnStream, Scan, Segments, Sums, Threads

__version__: str
__all__: list[str]

_Array = NDArray[Any]
_OfNumpy = _Array | Sequence[Any] | complex
_Axis = SupportsIndex | None
_Type = DTypeLike | None
_Out = _Array | None

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

def set_num_threads(threads: int | None) -> None: ...
def get_num_threads() -> int: ...
def cuda_unavailable() -> str | None: ...

# What numpy takes gives its arrays; an array of CuPy, torch or JAX one of its own kind: Any.
@overload
def cumsum(x: _OfNumpy, axis: _Axis = 0, dtype: _Type = None, out: _Out = None, **options: Unpack[Scan]) -> _Array: ...
@overload
def cumsum(x: Any, axis: _Axis = 0, dtype: Any = None, out: Any = None, **options: Unpack[Scan]) -> Any: ...
@overload
def cummax(
    x: _OfNumpy, axis: _Axis = 0, dtype: _Type = None, out: _Out = None, *, return_rows: Literal[False] = False,
    **options: Unpack[Scan],
) -> _Array: ...
@overload
def cummax(
    x: _OfNumpy, axis: _Axis = 0, dtype: _Type = None, out: None = None, *, return_rows: Literal[True],
    **options: Unpack[Threads],
) -> tuple[_Array, NDArray[np.int64]]: ...
@overload
def cummax(
    x: Any, axis: _Axis = 0, dtype: Any = None, out: Any = None, *, return_rows: bool = False, **options: Unpack[Scan]
) -> Any: ...

# Arguments and results as for cummax().
cummin = cummax

# Products have no rows.
@overload
def cumprod(
    x: _OfNumpy, axis: _Axis = 0, dtype: _Type = None, out: _Out = None, *, return_rows: Literal[False] = False,
    **options: Unpack[Scan],
) -> _Array: ...
@overload
def cumprod(
    x: Any, axis: _Axis = 0, dtype: Any = None, out: Any = None, *, return_rows: Literal[False] = False,
    **options: Unpack[Scan],
) -> Any: ...
@overload
def cumulative_sum(
    x: _OfNumpy, /, *, axis: _Axis = None, dtype: _Type = None, include_initial: bool = False,
    state: State | None = None,
) -> _Array: ...
@overload
def cumulative_sum(
    x: Any, /, *, axis: _Axis = None, dtype: Any = None, include_initial: bool = False, state: State | None = None
) -> Any: ...

# None for a state that begins beyond row 0.
@overload
def column_totals(x: _OfNumpy, dtype: _Type = None, *, state: None = None, **options: Unpack[Begun]) -> _Array: ...
@overload
def column_totals(x: _OfNumpy, dtype: _Type = None, *, state: State | None, **options: Unpack[Begun]) -> _Out: ...
@overload
def column_totals(x: Any, dtype: Any = None, *, state: State | None = None, **options: Unpack[Begun]) -> Any: ...
@overload
def nancumsum(
    x: _OfNumpy, axis: _Axis = 0, dtype: _Type = None, out: _Out = None, *, return_count: Literal[False] = False,
    **options: Unpack[OnStream],
) -> _Array: ...
@overload
def nancumsum(
    x: _OfNumpy, axis: _Axis = 0, dtype: _Type = None, out: _Out = None, *, return_count: Literal[True],
    **options: Unpack[OnStream],
) -> tuple[_Array, int]: ...
@overload
def nancumsum(
    x: Any, axis: _Axis = 0, dtype: Any = None, out: Any = None, *, return_count: bool = False,
    **options: Unpack[OnStream],
) -> Any: ...
@overload
def linear_recurrence(
    a: ArrayLike, b: _OfNumpy, axis: _Axis = 0, out: _Out = None, **options: Unpack[Continued]
) -> _Array: ...
@overload
def linear_recurrence(a: Any, b: Any, axis: _Axis = 0, out: Any = None, **options: Unpack[Continued]) -> Any: ...
@overload
def ewm_mean(x: _OfNumpy, alpha: float | None = None, axis: _Axis = 0, **options: Unpack[Mean]) -> _Array: ...
@overload
def ewm_mean(x: Any, alpha: float | None = None, axis: _Axis = 0, **options: Unpack[Mean]) -> Any: ...
@overload
def discounted_returns(
    rewards: _OfNumpy, gamma: Any, dones: Any = None, axis: _Axis = 0, **options: Unpack[Begun]
) -> _Array: ...
@overload
def discounted_returns(
    rewards: Any, gamma: Any, dones: Any = None, axis: _Axis = 0, **options: Unpack[Begun]
) -> Any: ...
@overload
def lfilter1(
    b: ArrayLike, a: ArrayLike, x: _OfNumpy, axis: _Axis = 0, *, zi: None = None, **options: Unpack[Threads]
) -> _Array: ...
@overload
def lfilter1(
    b: ArrayLike, a: ArrayLike, x: _OfNumpy, axis: _Axis = 0, *, zi: ArrayLike, **options: Unpack[Threads]
) -> tuple[_Array, _Array]: ...
@overload
def lfilter1(
    b: ArrayLike, a: ArrayLike, x: Any, axis: _Axis = 0, *, zi: Any = None, **options: Unpack[Threads]
) -> Any: ...

# Ragged for a ragged x.
@overload
def segmented_cumsum(x: _OfNumpy, offsets: ArrayLike | None = None, **options: Unpack[Sums]) -> _Array: ...
@overload
def segmented_cumsum(x: Any, offsets: Any = None, **options: Unpack[Sums]) -> Any: ...
@overload
def segmented_totals(x: _OfNumpy, offsets: ArrayLike | None = None, **options: Unpack[Segments]) -> _Array: ...
@overload
def segmented_totals(x: Any, offsets: Any = None, **options: Unpack[Segments]) -> Any: ...
