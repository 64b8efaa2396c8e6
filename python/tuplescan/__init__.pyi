from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal, Protocol, SupportsIndex, TypeVar, overload

import numpy as np
from numpy.typing import ArrayLike, DTypeLike, NDArray

__version__: str
__all__: list[str]

_OfNumpy = NDArray[Any] | Sequence[Any] | complex
_Type = TypeVar("_Type", bound=np.generic)

class _CudaStream(Protocol):
    def __cuda_stream__(self) -> tuple[int, int]: ...

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
    axis: SupportsIndex | None = 0,
    dtype: DTypeLike | None = None,
    out: NDArray[Any] | None = None,
    *,
    exclusive: bool = False,
    reverse: bool = False,
    start: ArrayLike | None = None,
    check_overflow: bool = False,
    stream: None = None,
    state: State | None = None,
    threads: int | None = None,
) -> NDArray[Any]: ...
@overload
def cumsum(
    x: Any,
    axis: SupportsIndex | None = 0,
    dtype: Any = None,
    out: Any = None,
    *,
    exclusive: bool = False,
    reverse: bool = False,
    start: Any = None,
    check_overflow: bool = False,
    stream: int | _CudaStream | None = None,
    state: State | None = None,
    threads: int | None = None,
) -> Any: ...

# Arguments and results are those of cumsum().
cummax = cumsum
cummin = cumsum
cumprod = cumsum

@overload
def cumulative_sum(
    x: _OfNumpy,
    /,
    *,
    axis: SupportsIndex | None = None,
    dtype: DTypeLike | None = None,
    include_initial: bool = False,
    state: State | None = None,
) -> NDArray[Any]: ...
@overload
def cumulative_sum(
    x: Any,
    /,
    *,
    axis: SupportsIndex | None = None,
    dtype: Any = None,
    include_initial: bool = False,
    state: State | None = None,
) -> Any: ...
# None for a state that begins beyond row 0.
@overload
def column_totals(
    x: _OfNumpy,
    dtype: DTypeLike | None = None,
    *,
    start: ArrayLike | None = None,
    state: None = None,
    threads: int | None = None,
) -> NDArray[Any]: ...
@overload
def column_totals(
    x: _OfNumpy,
    dtype: DTypeLike | None = None,
    *,
    start: ArrayLike | None = None,
    state: State | None,
    threads: int | None = None,
) -> NDArray[Any] | None: ...
@overload
def column_totals(
    x: Any, dtype: Any = None, *, start: Any = None, state: State | None = None, threads: int | None = None
) -> Any: ...
@overload
def histogram(
    a: ArrayLike,
    bins: SupportsIndex | str | ArrayLike = 10,
    range: tuple[float, float] | None = None,
    density: Literal[False] | None = None,
    weights: None = None,
    *,
    threads: int | None = None,
) -> tuple[NDArray[np.int64], NDArray[Any]]: ...
@overload
def histogram(
    a: ArrayLike,
    bins: SupportsIndex | str | ArrayLike = 10,
    range: tuple[float, float] | None = None,
    density: bool | None = None,
    weights: ArrayLike | None = None,
    *,
    threads: int | None = None,
) -> tuple[NDArray[Any], NDArray[Any]]: ...
@overload
def bincount(
    x: ArrayLike, weights: None = None, minlength: SupportsIndex = 0, *, threads: int | None = None
) -> NDArray[np.int64]: ...
@overload
def bincount(
    x: ArrayLike, weights: ArrayLike, minlength: SupportsIndex = 0, *, threads: int | None = None
) -> NDArray[np.float64]: ...
@overload
def sort(
    a: NDArray[_Type],
    axis: SupportsIndex | None = -1,
    kind: str | None = None,
    *,
    descending: bool = False,
    threads: int | None = None,
) -> NDArray[_Type]: ...
@overload
def sort(
    a: ArrayLike,
    axis: SupportsIndex | None = -1,
    kind: str | None = None,
    *,
    descending: bool = False,
    threads: int | None = None,
) -> NDArray[Any]: ...
def argsort(
    a: ArrayLike,
    axis: SupportsIndex | None = -1,
    kind: str | None = None,
    *,
    descending: bool = False,
    threads: int | None = None,
) -> NDArray[np.int64]: ...
def set_num_threads(threads: int | None) -> None: ...
def get_num_threads() -> int: ...
def cuda_unavailable() -> str | None: ...
@overload
def nancumsum(
    x: Any,
    axis: SupportsIndex | None = 0,
    dtype: Any = None,
    out: Any = None,
    *,
    exclusive: bool = False,
    reverse: bool = False,
    start: Any = None,
    stream: _CudaStream | int | None = None,
    state: State | None = None,
    return_count: Literal[False] = False,
    threads: int | None = None,
) -> Any: ...
@overload
def nancumsum(
    x: Any,
    axis: SupportsIndex | None = 0,
    dtype: Any = None,
    out: Any = None,
    *,
    exclusive: bool = False,
    reverse: bool = False,
    start: Any = None,
    stream: _CudaStream | int | None = None,
    state: State | None = None,
    return_count: Literal[True],
    threads: int | None = None,
) -> tuple[Any, Any]: ...
@overload
def nancumsum(
    x: Any,
    axis: SupportsIndex | None = 0,
    dtype: Any = None,
    out: Any = None,
    *,
    exclusive: bool = False,
    reverse: bool = False,
    start: Any = None,
    stream: _CudaStream | int | None = None,
    state: State | None = None,
    return_count: bool,
    threads: int | None = None,
) -> Any: ...
@overload
def linear_recurrence(
    a: ArrayLike,
    b: _OfNumpy,
    axis: SupportsIndex | None = 0,
    out: NDArray[Any] | None = None,
    *,
    exclusive: bool = False,
    reverse: bool = False,
    start: ArrayLike | None = None,
    state: State | None = None,
    threads: int | None = None,
) -> NDArray[Any]: ...
@overload
def linear_recurrence(
    a: Any,
    b: Any,
    axis: SupportsIndex | None = 0,
    out: Any = None,
    *,
    exclusive: bool = False,
    reverse: bool = False,
    start: Any = None,
    state: State | None = None,
    threads: int | None = None,
) -> Any: ...
# The results are arrays of the library of x, or of the rewards.
def ewm_mean(
    x: Any,
    alpha: float | None = None,
    axis: SupportsIndex | None = 0,
    *,
    span: float | None = None,
    halflife: float | None = None,
    com: float | None = None,
    adjust: bool = True,
    ignore_na: bool = False,
    threads: int | None = None,
) -> Any: ...
def discounted_returns(
    rewards: Any,
    gamma: Any,
    axis: SupportsIndex | None = 0,
    *,
    ends: Any = None,
    start: Any = None,
    threads: int | None = None,
) -> Any: ...
@overload
def lfilter1(
    b: ArrayLike, a: ArrayLike, x: Any, axis: SupportsIndex = 0, *, zi: None = None, threads: int | None = None
) -> Any: ...
@overload
def lfilter1(
    b: ArrayLike, a: ArrayLike, x: Any, axis: SupportsIndex = 0, *, zi: Any, threads: int | None = None
) -> tuple[Any, Any]: ...
# The results are arrays of the library of x, ragged for a ragged x.
def segmented_cumsum(
    x: Any,
    offsets: ArrayLike | None = None,
    *,
    lengths: ArrayLike | None = None,
    keys: ArrayLike | None = None,
    heads: ArrayLike | None = None,
    dtype: Any = None,
    operation: Literal["sum", "max", "min", "prod"] = "sum",
    exclusive: bool = False,
    reverse: bool = False,
    include_initial: bool = False,
    start: ArrayLike | None = None,
    check_overflow: bool = False,
    skip_nan: bool = False,
    threads: int | None = None,
) -> Any: ...
def segmented_totals(
    x: Any,
    offsets: ArrayLike | None = None,
    *,
    lengths: ArrayLike | None = None,
    keys: ArrayLike | None = None,
    heads: ArrayLike | None = None,
    dtype: Any = None,
    operation: Literal["sum", "max", "min", "prod"] = "sum",
    start: ArrayLike | None = None,
    skip_nan: bool = False,
    threads: int | None = None,
) -> Any: ...
