"""python -m tuplescan.bench: cumsum() along axis 0 beside those of numpy, JAX, torch and CuPy, as far as they are here,
on the CPU and on a GPU.

Times are the best of several calls, in milliseconds; on a GPU of calls that are queued one behind the other. "copy" is
what the same bytes take to be copied by the same library. "error" is the largest difference from sums in float64 (or
longdouble for float64), in the last 2^22 values.
"""

import argparse
import contextlib
import importlib
import itertools
import os
import time

import numpy as np

import tuplescan

COLUMNS = (1, 4, 16, 1024)
VALUES = {"cpu": 1 << 22, "cuda": 1 << 27}
VALUES_CHECKED = 1 << 22
SLOW_SECONDS = 0.3  # what takes longer is called once


def imported(name):
    """The module, or None if it is not there, or cannot be imported here."""
    with contextlib.suppress(ImportError):
        return importlib.import_module(name)
    return None


class OnCpu:
    """numpy arrays; the libraries that get them see them without a copy."""

    name = "cpu"

    def calls(self, x):
        out = np.empty_like(x)
        yield "numpy copy", lambda: np.copyto(out, x)
        yield "tuplescan, out=", lambda: tuplescan.cumsum(x, 0, out=out)
        yield "tuplescan", lambda: tuplescan.cumsum(x, 0)
        yield "numpy, out=", lambda: np.cumsum(x, 0, out=out)
        yield "numpy", lambda: np.cumsum(x, 0)
        jax = imported("jax")
        if jax:
            from . import jax as ours

            on_device = jax.device_put(x, jax.devices("cpu")[0])
            jitted, theirs = jax.jit(ours.cumsum), jax.jit(lambda values: jax.numpy.cumsum(values, axis=0))
            yield "tuplescan.jax", lambda: jitted(on_device).block_until_ready()
            yield "jax", lambda: theirs(on_device).block_until_ready()
        torch = imported("torch")
        if torch:
            from . import torch as ours_torch

            tensor = torch.from_numpy(x)
            yield "tuplescan.torch", lambda: ours_torch.cumsum(tensor)
            yield "torch", lambda: torch.cumsum(tensor, 0)

    def wait(self, result):
        pass

    def to_numpy(self, result):
        return np.asarray(result)


class OnCuda:
    """Arrays of CuPy, torch and JAX, one library after the other."""

    name = "cuda"

    def calls(self, x):
        cupy = imported("cupy")
        if cupy:
            array = cupy.asarray(x)
            out = cupy.empty_like(array)
            yield "cupy copy", lambda: cupy.copyto(out, array)
            yield "tuplescan, CuPy, out=", lambda: tuplescan.cumsum(array, out=out)
            yield "tuplescan, CuPy", lambda: tuplescan.cumsum(array)
            yield "cupy, out=", lambda: cupy.cumsum(array, 0, out=out)
            yield "cupy", lambda: cupy.cumsum(array, 0)
            del array, out
            cupy.get_default_memory_pool().free_all_blocks()
        torch = imported("torch")
        if torch and torch.cuda.is_available():
            from . import torch as ours

            tensor = torch.from_numpy(x).cuda()
            out = torch.empty_like(tensor)
            yield "torch copy", lambda: out.copy_(tensor)
            yield "tuplescan, torch, out=", lambda: tuplescan.cumsum(tensor, out=out)
            yield "tuplescan, torch", lambda: tuplescan.cumsum(tensor)
            yield "tuplescan.torch", lambda: ours.cumsum(tensor)
            yield "torch, out=", lambda: torch.cumsum(tensor, 0, out=out)
            yield "torch", lambda: torch.cumsum(tensor, 0)
            del tensor, out
            torch.cuda.empty_cache()
        jax = imported("jax")
        if jax and jax.default_backend() == "gpu":
            from . import jax as ours

            on_device = jax.device_put(x)
            jitted, theirs = jax.jit(ours.cumsum), jax.jit(lambda values: jax.numpy.cumsum(values, axis=0))
            yield "tuplescan.jax", lambda: jitted(on_device)
            yield "jax", lambda: theirs(on_device)

    def wait(self, result):
        root = type(result).__module__.partition(".")[0]
        if root == "torch":
            importlib.import_module("torch").cuda.synchronize()
        elif hasattr(result, "block_until_ready"):
            result.block_until_ready()
        else:
            importlib.import_module("cupy").cuda.Device().synchronize()

    def to_numpy(self, result):
        if hasattr(result, "get"):
            return result.get()
        return np.asarray(result.cpu() if hasattr(result, "cpu") else result)


def seconds_of(place, call, calls):
    begun = time.perf_counter()
    for _ in range(calls):
        result = call()
    place.wait(result)
    return (time.perf_counter() - begun) / calls, result


def best_seconds(place, call, seconds, calls):
    """Of one call, and what it returned: in at least three rounds of calls that are queued one behind the other, and as
    many as there is time for. The first call, which may compile and import, does not count."""
    seconds_of(place, call, 1)
    best, result = seconds_of(place, call, 1)
    end, rounds = time.perf_counter() + seconds, 0
    while best < SLOW_SECONDS and (rounds < 3 or time.perf_counter() < end):
        took, result = seconds_of(place, call, calls)
        best = min(best, took)
        rounds += 1
    return best, result


def compare(place, x, seconds):
    """Prints what each call takes, and returns (name, GB/s) of each."""
    checked = slice(-max(1, VALUES_CHECKED // x.shape[1]), None)
    exact = np.cumsum(x, axis=0, dtype=np.float64 if x.dtype == np.float32 else np.longdouble)[checked]
    rates = []
    for name, call in place.calls(x):
        took, result = best_seconds(place, call, seconds, 10 if place.name == "cuda" else 1)
        rates.append((name, 2 * x.nbytes / took / 1e9))
        line = f"  {name:<24} {took * 1e3:11.3f} ms {rates[-1][1]:8.1f} GB/s"
        if not name.endswith("copy"):
            line += f"   error {float(np.abs(place.to_numpy(result[checked]) - exact).max()):.3g}"
        del result
        print(line, flush=True)
    return rates


def overhead(place):
    """Of calls whose work is next to nothing, by the host's clock: on a GPU until the call returns."""
    x = np.ones((4, 3), np.float32)
    calls = 200 if place.name == "cuda" else 2000
    for name, call in itertools.chain(place.calls(x), [("(empty call)", lambda: None)]):
        best, result = float("inf"), call()
        for _ in range(30):
            begun = time.perf_counter()
            for _ in range(calls):
                result = call()
            best = min(best, (time.perf_counter() - begun) / calls)
            if result is not None:
                place.wait(result)
        print(f"  {name:<24} {best * 1e6:11.3f} us", flush=True)


def draw(groups, path):
    """An SVG picture of (title, [(name, GB/s), ...]) for each table: a bar for each call."""
    row, left, wide = 16, 190, 420
    most = max(rate for _, rates in groups for _, rate in rates)
    lines, y = [], 4
    for title, rates in groups:
        y += row
        lines.append(f'<text x="4" y="{y}" font-weight="bold">{title}, GB/s</text>')
        for name, rate in rates:
            y += row
            colour = "#1f77b4" if "tuplescan" in name else "#aaaaaa" if name.endswith("copy") else "#ff7f0e"
            length = max(rate / most * wide, 1)
            lines.append(f'<text x="{left - 6}" y="{y}" text-anchor="end">{name}</text>'
                         f'<rect x="{left}" y="{y - 11}" width="{length:.1f}" height="13" fill="{colour}"/>'
                         f'<text x="{left + length + 5:.1f}" y="{y}">{rate:.{0 if rate >= 100 else 1}f}</text>')  # fmt: skip
        y += row // 2
    head = f'<svg xmlns="http://www.w3.org/2000/svg" width="{left + wide + 70}" height="{y + 6}"'
    style = 'font-family="sans-serif" font-size="12"><rect width="100%" height="100%" fill="white"/>'
    with open(path, "w", encoding="utf-8") as file:
        file.write("\n".join([f"{head} {style}", *lines, "</svg>", ""]))


def main():
    parser = argparse.ArgumentParser(prog="python -m tuplescan.bench", description=__doc__)
    parser.add_argument("--dtype", default="float32", choices=("float32", "float64"))
    parser.add_argument("--device", choices=("cpu", "cuda"), help="where alone; otherwise on both, if there is a GPU")
    parser.add_argument("--columns", type=int, nargs="*", default=COLUMNS)
    parser.add_argument("--seconds", type=float, default=0.5, help="time for each call that is measured")
    parser.add_argument("--picture", metavar="FILE.svg", help="write a picture of the speeds")
    parser.add_argument("--small", action="store_true", help="tables of a hundredth of the size")
    options = parser.parse_args()
    os.environ.setdefault("XLA_PYTHON_CLIENT_PREALLOCATE", "false")  # the other libraries need memory, too
    if options.dtype == "float64":
        os.environ.setdefault("JAX_ENABLE_X64", "1")
    missing = tuplescan.cuda_unavailable()
    if options.device == "cuda" and missing:
        parser.error(missing)
    places = [place() for place in (OnCpu, OnCuda) if options.device in (None, place.name)]
    print(f"tuplescan {tuplescan.__version__}, numpy {np.__version__}")
    generator = np.random.default_rng(1)
    groups = []
    for place in places:
        if place.name == "cuda" and missing:
            print(f"no GPU: {missing}")
            continue
        for columns in options.columns:
            rows = max(1, VALUES[place.name] // columns // (100 if options.small else 1))
            title = f"{rows} x {columns} {options.dtype}, {place.name}"
            print(title)
            rates = compare(place, generator.random((rows, columns), dtype=options.dtype), options.seconds)
            groups.append((title, rates))
        print(f"4 x 3 float32, {place.name}, the call alone")
        overhead(place)
    if options.picture and groups:
        draw(groups, options.picture)


if __name__ == "__main__":
    main()
