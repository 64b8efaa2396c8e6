"""cummax(), cummin() and cumprod(), made of a row each, and what those with gradients share."""

from ._types import MAXIMUM, MINIMUM, PRODUCT, SUM

_ROWS = {
    "cummax": (MAXIMUM, "maxima", "the least value of the type", [2, 2, 4], "numpy.maximum.accumulate()"),
    "cummin": (MINIMUM, "minima", "the greatest value of the type", [2, 1, 1], "numpy.minimum.accumulate()"),
    "cumprod": (PRODUCT, "products", "1", [2, 2, 8], "numpy.cumprod()"),
}
_SUMMARY = """Running {results}, as {like} has them. All else is as in cumsum().

    There are none of complex numbers. Exclusive ones begin with {nothing}."""
GRADIENTS = (
    "The gradient of an extreme goes to the last place where it was taken, and that of a product divides by nothing."
)


def of_each_operation(make, differs, example, with_sums=False):
    """A function for each operation, by make(name, operation), with_sums before them the one that has its document.
    `differs`: how they differ from cumsum() beside that. The example has {name}, and {shown} for results."""
    if with_sums:
        call = make("cumsum", SUM)
        call.__name__ = call.__qualname__ = "cumsum"
        yield call
    document = "\n\n    ".join(part for part in (_SUMMARY, differs, "Examples\n    --------\n    " + example) if part)
    for name, (operation, results, nothing, shown, like) in _ROWS.items():
        call = make(name, operation)
        call.__name__ = call.__qualname__ = name
        call.__doc__ = document.format(name=name, results=results, nothing=nothing, shown=shown, like=like)
        yield call


def before(space, x, axis, reverse, first=0):
    """At each place what x has at the place before it; `first`, a number or an array, where there is none."""
    if x.shape[axis] == 0:
        return x
    at = (slice(None),) * (axis % x.ndim)
    first = first if hasattr(first, "shape") else space.full_like(x[(*at, slice(0, 1))], first)
    rest = x[(*at, slice(1, None) if reverse else slice(0, x.shape[axis] - 1))]
    return space.concatenate([rest, first] if reverse else [first, rest], axis)


def of_coefficients(space, tangents, h, axis, reverse, shifted, first=0):
    """What tangents of a recurrence's coefficients add to b's tangents, where the results are h."""
    if shifted:
        return before(space, tangents * h, axis, reverse)
    return tangents * before(space, h, axis, reverse, first)


def taken_here(x, extremes):
    """Where a running extreme is taken anew, as torch.cummax() has it: also from an equal one."""
    return (x == extremes) | (x != x)


def exclusive_of(space, results, axis, reverse, first):
    """The results before each place, which begin with `first`, an array that broadcasts to their row."""
    row = tuple(results.shape[:axis]) + tuple(results.shape[axis + 1 :])
    wide = space.broadcast_to(first, row).reshape(*row[:axis], 1, *row[axis:])
    return before(space, results, axis, reverse, wide)
