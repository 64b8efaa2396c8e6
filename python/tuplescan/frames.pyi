from collections.abc import Mapping
from typing import Any, TypeVar, Unpack, overload

from numpy.typing import DTypeLike

from ._options import Checked

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

# Arguments and results as for cumsum().
cummax = cumsum
cummin = cumsum
cumprod = cumsum
