from collections.abc import Mapping
from typing import Any, TypeVar, Unpack, overload

from numpy.typing import DTypeLike

from ._options import Checked, Mean

_Frame = TypeVar("_Frame")
_Name = TypeVar("_Name")
_List = list[Any] | tuple[Any, ...]

@overload
def cumsum(
    frame: Mapping[_Name, Any],
    dtype: DTypeLike | None = None,
    *,
    by: Any = None,
    skipna: bool = True,
    **options: Unpack[Checked],
) -> dict[_Name, Any]: ...
@overload
def cumsum(
    frame: _List, dtype: DTypeLike | None = None, *, by: Any = None, skipna: bool = True, **options: Unpack[Checked]
) -> list[Any]: ...
@overload
def cumsum(
    frame: _Frame, dtype: DTypeLike | None = None, *, by: Any = None, skipna: bool = True, **options: Unpack[Checked]
) -> _Frame: ...

# Arguments and results are those of cumsum().
cummax = cumsum
cummin = cumsum
cumprod = cumsum

@overload
def ewm_mean(
    frame: Mapping[_Name, Any], alpha: float | None = None, **options: Unpack[Mean]
) -> dict[_Name, Any]: ...
@overload
def ewm_mean(frame: _List, alpha: float | None = None, **options: Unpack[Mean]) -> list[Any]: ...
@overload
def ewm_mean(frame: _Frame, alpha: float | None = None, **options: Unpack[Mean]) -> _Frame: ...
