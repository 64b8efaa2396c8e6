#!/usr/bin/env python3
"""tuplescan's cumsum() along axis 0 beside those of numpy, JAX, torch and CuPy, as far as they are installed.

Times are the best of several rounds. Of a large table in milliseconds, on a GPU of calls that are queued one after the
other; "error" is the largest difference from sums in float64 in its last 2^22 values. Of 4 x 3 values in microseconds
until the call returns.
"""
import argparse
import importlib
import os
import sys
import time

os.environ.setdefault("XLA_PYTHON_CLIENT_PREALLOCATE", "false")  # the other libraries need memory, too
import numpy as np  # noqa: E402
import tuplescan  # noqa: E402

CHECKED = 1 << 22


def of_numpy(numpy, x, on_cuda):
    out = np.empty_like(x)
    return {"copy": lambda: np.copyto(out, x), "tuplescan, out=": lambda: tuplescan.cumsum(x, out=out),
            "tuplescan": lambda: tuplescan.cumsum(x), "its own, out=": lambda: np.cumsum(x, 0, out=out),
            "its own": lambda: np.cumsum(x, 0)}, lambda result: None


def of_cupy(cupy, x, on_cuda):
    x, out = cupy.asarray(x), cupy.empty(x.shape, x.dtype)
    return {"copy": lambda: cupy.copyto(out, x), "tuplescan, out=": lambda: tuplescan.cumsum(x, out=out),
            "tuplescan": lambda: tuplescan.cumsum(x), "its own, out=": lambda: cupy.cumsum(x, 0, out=out),
            "its own": lambda: cupy.cumsum(x, 0)}, lambda result: cupy.cuda.Device().synchronize()


def of_torch(torch, x, on_cuda):
    ours = importlib.import_module("tuplescan.torch")
    x = torch.from_numpy(x).to("cuda" if on_cuda else "cpu")
    out = torch.empty_like(x)
    return {"copy": lambda: out.copy_(x), "tuplescan, out=": lambda: tuplescan.cumsum(x, out=out),
            "tuplescan": lambda: tuplescan.cumsum(x), "tuplescan.torch": lambda: ours.cumsum(x),
            "its own, out=": lambda: torch.cumsum(x, 0, out=out), "its own": lambda: torch.cumsum(x, 0),
            }, lambda result: torch.cuda.synchronize() if on_cuda else None


def of_jax(jax, x, on_cuda):
    x = jax.device_put(x, jax.devices("cuda" if on_cuda else "cpu")[0])
    ours = jax.jit(importlib.import_module("tuplescan.jax").cumsum)
    theirs = jax.jit(lambda values: jax.numpy.cumsum(values, axis=0))
    return {"tuplescan.jax": lambda: ours(x), "its own": lambda: theirs(x)}, lambda result: result.block_until_ready()


LIBRARIES = {"numpy": of_numpy, "cupy": of_cupy, "torch": of_torch, "jax": of_jax}
PLACES = {"cpu": ("numpy", "torch", "jax"), "cuda": ("cupy", "torch", "jax")}


def best(call, wait, calls, rounds, waited):
    """Seconds of a call, with what the last one waits for if that is asked for; and what it returned."""
    fastest, result = float("inf"), call()
    wait(result)
    for _ in range(rounds):
        begun = time.perf_counter()
        for _ in range(calls):
            result = call()
        if waited:
            wait(result)
        fastest = min(fastest, (time.perf_counter() - begun) / calls)
        wait(result)
    return fastest, result


def compare(name, x, on_cuda, rounds):
    calls, wait = LIBRARIES[name](importlib.import_module(name), x, on_cuda)
    small, exact = x.size < 100, np.cumsum(x, 0, "f8")[-max(1, CHECKED // x.shape[1]):]
    for what, call in calls.items():
        seconds, result = best(call, wait, 1000 if small else 10 if on_cuda else 1, 30 if small else rounds, not small)
        line = f"  {name:6} {what:16} " + (f"{seconds * 1e6:10.2f} us" if small else f"{seconds * 1e3:10.3f} ms")
        if what != "copy" and not small:
            last = result[-len(exact):]
            last = last.get() if hasattr(last, "get") else last.cpu() if hasattr(last, "cpu") else last
            line += f"   error {np.abs(np.asarray(last) - exact).max():.3g}"
        print(line, flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--device", default="cpu", choices=PLACES)
    parser.add_argument("--columns", type=int, nargs="*", default=(1, 4, 16, 1024))
    parser.add_argument("--values", type=float, default=None, help="by default 2^22 on the CPU, 2^27 on a GPU")
    parser.add_argument("--rounds", type=int, default=5)
    options = parser.parse_args()
    on_cuda = options.device == "cuda"
    if on_cuda and tuplescan.cuda_unavailable():
        sys.exit(tuplescan.cuda_unavailable())
    values = int(options.values or (1 << 27 if on_cuda else 1 << 22))
    for shape in [*((max(1, values // columns), columns) for columns in options.columns), (4, 3)]:
        print("%d x %d float32, %s" % (*shape, options.device))
        x = np.random.default_rng(1).random(shape, dtype="f4")
        for name in PLACES[options.device]:
            try:
                compare(name, x, on_cuda, options.rounds)
            except (ImportError, RuntimeError) as error:
                print(f"  {name}: {error}")


if __name__ == "__main__":
    main()
