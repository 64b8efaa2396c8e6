"""Running sums along any axis of arrays, fast and with the same bits everywhere.

cumsum() is numpy.cumsum() with more options; README.md of the package says what is copied and what is not. numpy is
imported when it is first needed.
"""

import importlib
import sys
import warnings

try:
    # The library with kernels takes the place of the one beside this file.
    importlib.import_module("tuplescan_cuda").load()
except ModuleNotFoundError:
    pass
except OSError as error:  # such as a C library that is older than the one it was built with
    del sys.modules["tuplescan_cuda"]
    warnings.warn(f"tuplescan-cuda cannot be loaded, and GPUs are not used: {error}", RuntimeWarning, stacklevel=2)

from . import _core
from ._core import __version__ as __version__
from ._core import cumsum
from ._errors import OverflowAt

__all__ = [
    "OverflowAt",
    "State",
    "column_totals",
    "cummax",
    "cummin",
    "cumprod",
    "cumsum",
    "cumulative_sum",
    "cuda_unavailable",
    "discounted_returns",
    "ewm_mean",
    "get_num_threads",
    "lfilter1",
    "linear_recurrence",
    "nancumsum",
    "segmented_cumsum",
    "segmented_totals",
    "set_num_threads",
]

# The modules of names that are imported when first asked for, and numpy with them.
_FROM = {
    "_calls": ("column_totals", "cummax", "cummin", "cumprod", "cumulative_sum", "linear_recurrence",
               "nancumsum"),  # fmt: skip
    "_recurrences": ("discounted_returns", "ewm_mean", "lfilter1"),
    "_segments": ("segmented_cumsum", "segmented_totals"),
    "_state": ("State",),
}


def __getattr__(name):
    for module, names in _FROM.items():
        if name in names:
            value = globals()[name] = getattr(importlib.import_module(f"tuplescan.{module}"), name)
            return value
    raise AttributeError(f"module 'tuplescan' has no attribute {name!r}")


def __dir__():
    return sorted({*globals(), *__all__})


def cuda_unavailable():
    """Why arrays on CUDA cannot be summed here, in a sentence; None if they can.

    Examples
    --------
    >>> on_cuda = tuplescan.cuda_unavailable() is None
    """
    return _core.cuda_unavailable()


def set_num_threads(threads):
    """Limits the threads of the CPU that calls of this process use, but for calls with threads= of their own.

    By default the environment variable TUPLESCAN_NUM_THREADS says how many, read at the first call that asks; without
    it, or with 0 in it, as many as help of the processors that the process may use: its affinity, and the CPU time that
    its control groups leave it. Results do not depend on it.

    Parameters
    ----------
    threads : int or None
        None and 0: the default again. A ValueError for a negative number.

    Examples
    --------
    >>> tuplescan.set_num_threads(2)
    >>> tuplescan.get_num_threads()
    2
    >>> tuplescan.set_num_threads(None)
    """
    _core.set_num_threads(threads)


def get_num_threads():
    """The most threads of the CPU that calls use now: by set_num_threads(), or by its default, which is a ValueError if
    TUPLESCAN_NUM_THREADS is no number.

    Examples
    --------
    >>> threads = tuplescan.get_num_threads()
    """
    return _core.get_num_threads()
