"""The keywords that calls share, for the stubs. Of what a row to start with may be, the arrays decide."""

from typing import Any, Literal, Protocol, TypedDict

from numpy.typing import ArrayLike

from . import State


class CudaStream(Protocol):
    def __cuda_stream__(self) -> tuple[int, int]: ...


class Threads(TypedDict, total=False):
    threads: int | None


class Ways(TypedDict, total=False):
    exclusive: bool
    reverse: bool


class Started(Ways, total=False):
    start: Any


class Begun(Threads, total=False):
    start: Any


class Continued(Started, Threads, total=False):
    state: State | None


class Checked(Continued, total=False):
    check_overflow: bool


class OnStream(Continued, total=False):
    stream: int | CudaStream | None


class Scan(Checked, OnStream, total=False): ...


class Mean(Threads, total=False):
    span: float | None
    halflife: float | None
    com: float | None
    adjust: bool
    ignore_na: bool


class Segments(TypedDict, total=False):
    lengths: ArrayLike | None
    keys: ArrayLike | None
    heads: ArrayLike | None
    dtype: Any
    operation: Literal["sum", "max", "min", "prod"]
    start: ArrayLike | None
    skip_nan: bool
    threads: int | None


class Sums(Ways, Segments, total=False):
    include_initial: bool
    check_overflow: bool
