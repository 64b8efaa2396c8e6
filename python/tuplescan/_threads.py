"""How many threads of the CPU calls use."""

import functools

from . import _core


def limited(function):
    """A function whose keyword `threads` limits the calls that it makes; the function itself does not look at it."""

    @functools.wraps(function)
    def within(*arguments, threads=None, **options):
        if threads is None:
            return function(*arguments, **options)
        before = _core.limit_threads(threads)
        try:
            return function(*arguments, **options)
        finally:
            _core.limit_threads(before)

    return within
