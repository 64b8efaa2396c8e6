from collections.abc import Mapping, Sequence
from typing import Any, TypeVar, overload

from numpy.typing import ArrayLike, DTypeLike

from . import State

_Frame = TypeVar("_Frame")
_Name = TypeVar("_Name")

@overload
def cumsum(
    frame: Mapping[_Name, Any],
    dtype: DTypeLike | None = None,
    *,
    by: Any = None,
    exclusive: bool = False,
    reverse: bool = False,
    start: ArrayLike | Sequence[ArrayLike] | None = None,
    check_overflow: bool = False,
    state: State | None = None,
    skipna: bool = True,
    threads: int | None = None,
) -> dict[_Name, Any]: ...
@overload
def cumsum(
    frame: list[Any] | tuple[Any, ...],
    dtype: DTypeLike | None = None,
    *,
    by: Any = None,
    exclusive: bool = False,
    reverse: bool = False,
    start: ArrayLike | Sequence[ArrayLike] | None = None,
    check_overflow: bool = False,
    state: State | None = None,
    skipna: bool = True,
    threads: int | None = None,
) -> list[Any]: ...
@overload
def cumsum(
    frame: _Frame,
    dtype: DTypeLike | None = None,
    *,
    by: Any = None,
    exclusive: bool = False,
    reverse: bool = False,
    start: ArrayLike | Sequence[ArrayLike] | None = None,
    check_overflow: bool = False,
    state: State | None = None,
    skipna: bool = True,
    threads: int | None = None,
) -> _Frame: ...

# Arguments and results are those of cumsum().
cummax = cumsum
cummin = cumsum
cumprod = cumsum

@overload
def ewm_mean(
    frame: Mapping[_Name, Any],
    alpha: float | None = None,
    *,
    span: float | None = None,
    halflife: float | None = None,
    com: float | None = None,
    adjust: bool = True,
    ignore_na: bool = False,
    threads: int | None = None,
) -> dict[_Name, Any]: ...
@overload
def ewm_mean(
    frame: list[Any] | tuple[Any, ...],
    alpha: float | None = None,
    *,
    span: float | None = None,
    halflife: float | None = None,
    com: float | None = None,
    adjust: bool = True,
    ignore_na: bool = False,
    threads: int | None = None,
) -> list[Any]: ...
@overload
def ewm_mean(
    frame: _Frame,
    alpha: float | None = None,
    *,
    span: float | None = None,
    halflife: float | None = None,
    com: float | None = None,
    adjust: bool = True,
    ignore_na: bool = False,
    threads: int | None = None,
) -> _Frame: ...
