"""The types that are summed, by numpy's names and the numbers of C's enum table_type; and the options of a call."""

import dataclasses
import functools

import numpy as np

from . import _core

# The numbers of C's enum table_type, but for bfloat16, which is no type of numpy's own.
TYPES = {
    1: "u1", 2: "u2", 3: "u4", 4: "u8", 5: "i4", 6: "i8", 7: "f4", 8: "f8", 9: "i1", 10: "i2", 11: "?", 12: "f2"
}  # fmt: skip
NUMBERS = {np.dtype(name): number for number, name in TYPES.items()}
BFLOAT16 = 13

# Those in which sums are kept.
KEPT = frozenset(np.dtype(name) for name in ("u4", "u8", "i4", "i8", "f4", "f8"))

# How rows are joined, by C's enum table_operation. By default _OF_THEIR_OWN_TYPE have the values' type, others the
# sums'.
SUM, MAXIMUM, MINIMUM, PRODUCT, RECURRENCE = range(5)
_OF_THEIR_OWN_TYPE = (MAXIMUM, MINIMUM)
_RESULTS = ("sums", "maxima", "minima", "products")


def identity(operation, name):
    """What changes no result of that type, and what exclusive results begin with."""
    if operation in (SUM, PRODUCT):
        return int(operation == PRODUCT)
    if name == "bool":
        return operation == MINIMUM
    limits = np.iinfo(name) if "int" in name else None
    least, greatest = (limits.min, limits.max) if limits else (-np.inf, np.inf)
    return greatest if operation == MINIMUM else least


# Types of results that C does not have, and the wider ones in which values are added up or multiplied: 64 bits for
# integers of 8 and 16, which wraps alike.
_WIDER = {np.dtype(of): np.dtype(by) for of, by in {"?": "i8", "i1": "i8", "i2": "i8", "u1": "u8", "u2": "u8"}.items()}

# Complex numbers are two columns of floats.
PARTS = {np.dtype(of): np.dtype(by) for of, by in {"c8": "f4", "c16": "f8"}.items()}

_core.numpy_is_here(np.ndarray, np.empty, {number: np.dtype(name) for number, name in TYPES.items()})


def is_bfloat16(dtype):
    """Whether it is the type of ml_dtypes, without which there are no such arrays."""
    return dtype.itemsize == 2 and dtype.name == "bfloat16"


def bfloat16():
    try:
        import ml_dtypes
    except ImportError:
        raise TypeError("x: what is asked of bfloat16 in host memory wants ml_dtypes") from None
    return np.dtype(ml_dtypes.bfloat16)


def typed(x):
    """What _core takes for x: also of a type that the buffer protocol has no name for."""
    return (x.view(np.uint16), BFLOAT16) if is_bfloat16(x.dtype) else x


BY_NAME = {**{dtype.name: number for dtype, number in NUMBERS.items()}, "bfloat16": BFLOAT16}


def taken(name, into, operation=SUM):
    """Whether the library joins rows of that type into the other one."""
    return name in BY_NAME and into in BY_NAME and _core.types_supported(BY_NAME[name], BY_NAME[into], operation)


# What helps with the types of numpy that are not summed, by their kind.
WAYS_OUT = {
    "m": "Without a NaT, sum x.view('i8'), and view the sums as x.dtype.",
    "M": "Times have no sum, but their differences, np.diff(x).view('i8').",
    "f": "Give x.astype('f8').",
    "c": "Give x.astype('c16').",
    "O": "Give the type of the values: x.astype(float), or 'i8'.",
    "V": "Sum the fields of a record, x['name'], and other numbers as x.astype('f4').",
    **dict.fromkeys("SUT", "Give numbers: x.astype(float)."),
}


def sums_type(x_type, dtype, out_type=None, operation=SUM):
    """The type of the sums, as numpy.add.accumulate() chooses it, or of another operation's results: native, and one
    that can be summed."""
    if dtype is not None:
        chosen = np.dtype(dtype)
    elif out_type is not None:
        chosen = np.result_type(x_type, out_type)
    elif x_type.kind in "biu" and x_type.itemsize < 8 and operation not in _OF_THEIR_OWN_TYPE:
        chosen = np.dtype(np.uint64 if x_type.kind == "u" else np.int64)
    else:
        chosen = x_type
    if is_bfloat16(chosen):
        return chosen
    native = chosen.newbyteorder("=")
    if native not in NUMBERS and native not in PARTS:
        raise TypeError(f"{chosen!r} is not summed here: tuplescan takes bool, integers and floats of at most 64 bits, "
                        f"bfloat16, complex64 and complex128. {WAYS_OUT.get(native.kind, '')}")  # fmt: skip
    if operation != SUM and not taken(*[added_in(native, operation).name] * 2, operation):
        raise TypeError(f"there are no running {_RESULTS[operation]} of {chosen!r} here")
    return native


@functools.lru_cache(maxsize=None)
def added_in(dtype, operation=SUM):
    """The type in which sums of that type are added up, or another operation's results are kept."""
    number = BFLOAT16 if is_bfloat16(dtype) else NUMBERS.get(dtype, 0)
    kept = _core.kept_type(number, SUM if operation == RECURRENCE else operation)
    return np.dtype(TYPES[kept]) if kept else _WIDER.get(dtype, dtype)


# What _core.scan() and its like are asked for, a bit for each option.
EXCLUSIVE, REVERSE, CHECK_OVERFLOW, SKIP_NAN, OFFSETS, SHIFTED, TOTALS, KEPT_F64 = 1, 2, 4, 8, 16, 32, 64, 128
OPERATION = 8  # where the number of the operation begins


def kept_as_f64(results, of, into, operation=SUM):
    """The bit for results of float64, of values of the type `of`, that are rounded once into `into`, as the library
    does it on their way out, or 0: these types by their names."""
    is_so = (results, of, into) == ("float64", "float32", "float32") and operation not in _OF_THEIR_OWN_TYPE
    return KEPT_F64 if is_so else 0


def bits_of(exclusive, reverse, operation=SUM):
    return (EXCLUSIVE if exclusive else 0) | (REVERSE if reverse else 0) | operation << OPERATION


@dataclasses.dataclass(slots=True)
class Options:
    """All that any call may be asked for; each call has those that it names. None and False: not asked for."""

    axis: object = 0
    dtype: object = None
    out: object = None
    exclusive: bool = False
    reverse: bool = False
    start: object = None
    check_overflow: bool = False
    stream: object = None
    state: object = None
    skip_nan: bool = False
    offsets: bool = False  # one place more, with the start before all sums
    operation: int = SUM
    shifted: bool = False  # a recurrence whose row has the coefficients of the row before it
    state_alone: bool = False  # no results are written
    call: str = "cumsum"
    skipped: object = 0  # the answer: how many NaNs

    def bits(self):
        return (
            bits_of(self.exclusive, self.reverse, self.operation)
            | (CHECK_OVERFLOW if self.check_overflow else 0)
            | (SKIP_NAN if self.skip_nan else 0)
            | (SHIFTED if self.shifted else 0)
        )

    def given(self, *without):
        """The names of the given options, as callers know them."""
        values = {
            "out": self.out,
            "start": self.start,
            "stream": self.stream,
            "check_overflow": self.check_overflow or None,
            "state": self.state,
            "exclusive": self.exclusive or None,
            "reverse": self.reverse or None,
            "nancumsum": self.skip_nan or None,
            "include_initial": self.offsets or None,
            self.call: self.operation or None,
        }
        return [name for name, value in values.items() if value is not None and name not in without]
