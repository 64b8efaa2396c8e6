"""numpy, a namespace of the array API standard, with cumulative_sum() in the place of its own, for
tools/test-array-api.sh."""

from numpy import *  # noqa: F403
from numpy import __array_namespace_info__, bool, bool_, float64, int64  # noqa: A004, F401
from tuplescan import cumulative_sum  # noqa: F401
