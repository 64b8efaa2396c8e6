"""python -m tuplescan.bench: cumsum() beside numpy.cumsum(), and in and beside jax and torch on the CPU where they are.

Times are the best of several calls, in milliseconds; "error" is the largest difference from sums in float64 (or
longdouble for float64).
"""

import argparse
import importlib.util
import time

import numpy as np

import tuplescan

SHAPES = ((1 << 22, 1), (1 << 20, 4), (1 << 18, 16), (1 << 12, 1024))


def best_ms(call, seconds):
    """The best of at least three calls, and of as many as that time has room for."""
    best, end = float("inf"), time.perf_counter() + seconds
    calls = 0
    while calls < 3 or time.perf_counter() < end:
        begun = time.perf_counter()
        call()
        best = min(best, time.perf_counter() - begun)
        calls += 1
    return best * 1e3


def largest_error(x, sums):
    exact = np.cumsum(x, axis=0, dtype=np.float64 if x.dtype == np.float32 else np.longdouble)
    return float(np.abs(sums - exact).max())


def others(x):
    """(name, call that returns sums along axis 0) of each library that is installed."""
    if importlib.util.find_spec("jax"):
        import jax

        from . import jax as ours

        on_device = jax.device_put(x, jax.devices("cpu")[0])
        jitted = jax.jit(lambda values: jax.numpy.cumsum(values, axis=0))
        jitted_ours = jax.jit(ours.cumsum)
        yield "tuplescan.jax", lambda: jitted_ours(on_device).block_until_ready()
        yield "jax", lambda: jitted(on_device).block_until_ready()
    if importlib.util.find_spec("torch"):
        import torch

        from . import torch as ours_torch

        tensor = torch.from_numpy(x)
        yield "tuplescan.torch", lambda: ours_torch.cumsum(tensor)
        yield "torch", lambda: torch.cumsum(tensor, 0)


def compare(x, seconds):
    out = np.empty_like(x)
    calls = [
        ("tuplescan, out=", lambda: tuplescan.cumsum(x, 0, out=out)),
        ("tuplescan", lambda: tuplescan.cumsum(x, 0)),
        ("numpy, out=", lambda: np.cumsum(x, 0, out=out)),
        ("numpy", lambda: np.cumsum(x, 0)),
        *others(x),
    ]
    for name, call in calls:
        error = largest_error(x, np.asarray(call()))
        print(f"  {name:<16} {best_ms(call, seconds):10.3f} ms   error {error:.3g}")


def call_overhead():
    x = np.ones((4, 3), np.float32)
    out = np.empty_like(x)
    for name, call in (
        ("tuplescan, out=", lambda: tuplescan.cumsum(x, 0, out=out)),
        ("tuplescan", lambda: tuplescan.cumsum(x, 0)),
        ("numpy, out=", lambda: np.cumsum(x, 0, out=out)),
        ("numpy", lambda: np.cumsum(x, 0)),
        ("(empty call)", lambda: None),
    ):
        rounds, best = 2000, float("inf")
        for _ in range(30):
            begun = time.perf_counter()
            for _ in range(rounds):
                call()
            best = min(best, (time.perf_counter() - begun) / rounds)
        print(f"  {name:<16} {best * 1e6:10.3f} us")


def main():
    parser = argparse.ArgumentParser(prog="python -m tuplescan.bench", description=__doc__)
    parser.add_argument("--dtype", default="float32", choices=("float32", "float64"))
    parser.add_argument("--seconds", type=float, default=0.5, help="time for each call that is measured")
    parser.add_argument("--small", action="store_true", help="tables of a hundredth of the size")
    options = parser.parse_args()
    print(f"tuplescan {tuplescan.__version__}, numpy {np.__version__}")
    generator = np.random.default_rng(1)
    for rows, columns in SHAPES:
        rows = max(1, rows // 100) if options.small else rows
        print(f"{rows} x {columns} {options.dtype}")
        compare(generator.random((rows, columns)).astype(options.dtype), options.seconds)
    print("4 x 3 float32, the call alone")
    call_overhead()


if __name__ == "__main__":
    main()
