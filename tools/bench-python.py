#!/usr/bin/env python3
"""tuplescan's cumsum() along axis 0 beside those of numpy, JAX, torch and CuPy, as far as they are installed.

Times are the best of several rounds. Of a large table in milliseconds, on a GPU of calls that are queued one after the
other; "error" is the largest difference from sums in float64 in its last 2^22 values. Of 4 x 3 values in microseconds
until the call returns.

--segments A:B, or pareto: segments of A to B rows, or of Pareto lengths (index 1.1, from 1 row on), beside pandas' and
polars' sums of groups, in milliseconds.

--recurrences: linear recurrences beside their peers, torch's associative_scan, jax.lax.associative_scan, fla
(flash-linear-attention) and accelerated-scan. "of memcpy" is the speed as part of that at which the bytes are copied
that must move, those of a, b and h. "rms" and "worst" are errors against a loop in float64, of two columns and at most
2^17 rows, in units of 2^-24 (2^-8 for bfloat16) of the sum of the magnitudes of all terms. --errors: such errors of all
65,536 rows of 4 columns, for the kinds of coefficients of docs/recurrences.md.
"""
import argparse
import functools
import importlib
import itertools
import os
import signal
import sys
import time

os.environ.setdefault("XLA_PYTHON_CLIENT_PREALLOCATE", "false")  # the other libraries need memory, too
import numpy as np  # noqa: E402
import tuplescan  # noqa: E402

CHECKED, ROWS_CHECKED = 1 << 22, 1 << 17


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


def several(call, wait, rounds):
    """best() of as many calls, one queued after the other, as take some 0.02 s, and at most 0.5 s in all."""
    seconds, result = best(call, wait, 1, 1, True)
    if seconds > 0.1:
        return seconds, result
    return best(call, wait, min(max(int(0.02 / seconds), 1), 20), min(rounds, int(0.5 / seconds)), True)


def compare(name, x, on_cuda, rounds):
    calls, wait = LIBRARIES[name](importlib.import_module(name), x, on_cuda)
    small, exact = x.size < 100, np.cumsum(x, 0, "f8")[-max(1, CHECKED // x.shape[1]):]
    for what, call in calls.items():
        seconds, result = best(call, wait, 1000, 30, False) if small else several(call, wait, rounds)
        line = f"  {name:6} {what:16} " + (f"{seconds * 1e6:10.2f} us" if small else f"{seconds * 1e3:10.3f} ms")
        if what != "copy" and not small:
            last = result[-len(exact):]
            last = last.get() if hasattr(last, "get") else last.cpu() if hasattr(last, "cpu") else last
            line += f"   error {np.abs(np.asarray(last) - exact).max():.3g}"
        print(line, flush=True)


def of_pandas(pandas, x, keys):
    groups = pandas.DataFrame(x).groupby(keys, sort=False)
    return lambda: groups.cumsum()


def of_polars(polars, x, keys):
    frame, sums = polars.DataFrame(x).with_columns(keys=keys), polars.all().exclude("keys").cum_sum().over("keys")
    return lambda: frame.select(sums)


def compare_segments(shape, options):
    x, random = np.random.default_rng(1).random(shape, dtype="f4"), np.random.default_rng(2)
    if options.segments == "pareto":
        lengths = np.minimum(1 + random.pareto(1.1, shape[0]), shape[0]).astype("i8")
    else:
        least, most = map(int, options.segments.split(":"))
        lengths = random.integers(least, most + 1, shape[0] // max(least, 1) + 1)
    ends = np.minimum(np.cumsum(lengths), shape[0])
    offsets = np.append(0, ends[: np.searchsorted(ends, shape[0]) + 1])
    keys = np.repeat(np.arange(len(offsets) - 1), np.diff(offsets))
    calls = {"copy": x.copy, "tuplescan": lambda: tuplescan.segmented_cumsum(x, offsets)}
    for name, of in (("pandas", of_pandas), ("polars", of_polars)):
        try:
            calls[name] = of(importlib.import_module(name), x, keys)
        except ImportError as error:
            print(f"  {error}")
    right = calls["tuplescan"]()
    for what, call in calls.items():
        seconds, result = several(call, lambda result: None, options.rounds)
        error = "" if what == "copy" else f"   difference {np.abs(np.asarray(result) - right).max():.3g}"
        print(f"  {what:10} {seconds * 1e3:10.3f} ms{error}", flush=True)


# Peers of linear recurrences, made for a and b, tensors of tables x rows x columns: the call, and what makes a tensor
# like b of what it returns. Reversals and logarithms for a peer are not measured.


def ours(torch, a, b, reverse):
    h = torch.empty_like(b)
    return lambda: tuplescan.linear_recurrence(a, b, 1, h, reverse=reverse), lambda h: h


def ours_in_torch(torch, a, b, reverse):
    recur = importlib.import_module("tuplescan.torch").linear_recurrence
    return lambda: recur(a, b, 1, reverse=reverse), lambda h: h


def joined(earlier, later):
    return later[0] * earlier[0], later[0] * earlier[1] + later[1]


def by_torch(torch, a, b, reverse):
    scan = importlib.import_module("torch._higher_order_ops.associative_scan").associative_scan
    mode = "pointwise" if b.is_cuda else "generic"
    scan = functools.partial(scan, joined, dim=1, reverse=reverse, combine_mode=mode)
    torch._dynamo.reset()
    scan = torch.compile(scan) if b.is_cuda else scan
    return lambda: scan((a, b))[1], lambda h: h


def in_jax(recurrence):
    def of(torch, a, b, reverse):
        jax = importlib.import_module("jax")
        call, a, b = jax.jit(recurrence(jax, reverse)), *map(jax.dlpack.from_dlpack, (a, b))
        return lambda: call(a, b), torch.from_dlpack

    return of


def ours_in_jax(jax, reverse):
    return functools.partial(importlib.import_module("tuplescan.jax").linear_recurrence, axis=1, reverse=reverse)


def by_jax(jax, reverse):
    return lambda a, b: jax.lax.associative_scan(joined, (a, b), reverse, 1)[1]


def by_fla(name):
    def of(torch, a, b, reverse):
        if reverse or not (a > 0).all():
            raise NotImplementedError("takes logarithms of a, and goes on from the first row")
        if name.startswith("fused") and b.shape[1] > 1 << 17:
            raise NotImplementedError("takes one row after the other, these too long")
        call, g = getattr(importlib.import_module("fla.ops.hgrn"), name), a.double().log().to(a.dtype)
        return lambda: call(b, g)[0], lambda h: h

    return of


def by_accelerated_scan(name):
    def of(torch, a, b, reverse):
        if reverse or (name == "warp" and (b.shape[1].bit_count() != 1 or not 32 <= b.shape[1] <= 65536)):
            raise NotImplementedError("goes on from the first row; warp takes 2^5 to 2^16 of them")
        call = importlib.import_module(f"accelerated_scan.{name}").scan
        a, b = (x.transpose(1, 2).contiguous() for x in (a, b))
        return lambda: call(a, b), lambda h: h.transpose(1, 2)

    return of


PEERS = {
    "tuplescan, out=": ours, "tuplescan.torch": ours_in_torch, "tuplescan.jax": in_jax(ours_in_jax),
    "jax associative_scan": in_jax(by_jax), "fla chunk_hgrn": by_fla("chunk_hgrn"),
    "fla fused_recurrent": by_fla("fused_recurrent_hgrn"), "accelerated-scan warp": by_accelerated_scan("warp"),
    "accelerated-scan scalar": by_accelerated_scan("scalar"), "torch associative_scan": by_torch,
}  # fmt: skip
TABLES = [  # tables, rows, columns, type; rows and columns of a; whether reversed, with resets
    (1, 65536, 1024, "float32"), (1, 1048576, 128, "float32"), (1, 4096, 8192, "float32"), (16, 16384, 512, "float32"),
    (1, 16384, 8192, "bfloat16"), (16, 2048, 1024, "bfloat16"), (1, 8192, 512, "float32"), (16, 4096, 2048, "float32"),
    (1, 16777216, 4, "float32"), (16, 524288, 1, "float32", "table", True), (1, 524288, 16, "float32", "table", True),
    (1, 65536, 1024, "float32", "row"), (1, 65536, 1024, "float32", "number"),
]  # fmt: skip
KINDS = {  # of a: least, most, one of how many is a reset; whether b is normal, and else between 0 and 1
    "a in (0, 1)": (0, 1), "a in (0.999, 1)": (0.999, 1), "a in (1 - 1e-5, 1)": (1 - 1e-5, 1),
    "a in (-1, 1), b normal": (-1, 1, 0, True), "a = 0.9": (0.9, 0.9), "a = 0.99": (0.99, 0.99),
    "a = 0.9995": (0.9995, 0.9995), "a = 0.9999": (0.9999, 0.9999), "a = 0.9999, b normal": (0.9999, 0.9999, 0, True),
    "a = 1": (1, 1), "a in (0.99, 1), 1 of 500 resets": (0.99, 1, 500),
}  # fmt: skip


class Late(Exception):
    """The time that a peer was given is over."""


def late(_signal, _frame):
    raise Late("took too long")


def of_each_peer(torch, options, a, b, reverse, look):
    """The peer's name, and look(its call, its result as a tensor) or the reason why it has none. One that was late is
    not asked again."""
    for name in list(options.peers):
        begun = time.monotonic()
        signal.alarm(options.limit)
        try:
            whole = a if name.startswith("tuplescan") else a.expand_as(b).contiguous()
            call, tensor = PEERS[name](torch, whole, b, reverse)
            yield name, look(call, tensor(call()))
        except Exception as error:  # whatever a peer raises
            yield name, f"{type(error).__name__}: {' '.join(str(error).split())[:100]}"
            if time.monotonic() - begun >= options.limit:  # whatever the peer makes of Late
                options.peers.remove(name)
        finally:
            signal.alarm(0)


def exact(a, b, reverse, columns):
    """(column, h, sum of the magnitudes of the terms) in float64, of rows of the first table as they are joined."""
    for j in columns:
        mine = [x.expand_as(b)[0, :, j].flip(0) if reverse else x.expand_as(b)[0, :, j] for x in (a, b)]
        mine = [x[:ROWS_CHECKED].double().cpu() for x in mine]
        given = zip(*(x.tolist() for x in mine)), zip(*(x.abs().tolist() for x in mine))
        yield j, *([*itertools.accumulate(rows, lambda h, row: row[0] * h + row[1], initial=0.0)][1:] for rows in given)


def errors_of(h, reverse, known):
    """Root mean square and worst, in units of the last place."""
    found, unit = [], 2.0**8 if "bfloat16" in str(h.dtype) else 2.0**24
    for j, right, magnitude in known:
        column = h[0, :, j].flip(0) if reverse else h[0, :, j]
        off = np.abs(column[: len(right)].double().cpu().numpy() - right)
        found.append(np.divide(off, magnitude, out=off, where=np.asarray(magnitude) > 0) * unit)
    return f"{np.sqrt(np.mean(np.square(found))):.2f} / {np.max(found):.3g}"


def compare_recurrences(torch, options):
    device = options.device
    for tables, rows, columns, kind, *others in TABLES[options.tables]:
        rows = rows if options.values is None else min(rows, max(int(options.values / columns / tables), 1))
        form, reverse = (*others, *("table", False)[len(others):])
        shape, like = (tables, rows, columns), {"dtype": getattr(torch, kind), "device": device}
        print(f"{tables} x {rows} x {columns} {kind}, {device}, a is a {form}{', reversed, resets' * reverse}")
        torch.manual_seed(1)
        a = torch.rand(shape if form == "table" else (1, 1, columns if form == "row" else 1), device=device)
        a = (0.9 + 0.1 * a) * (torch.rand_like(a) > 0.002 * reverse)
        a, b = a.clamp(max=0.999).to(like["dtype"]), torch.randn(shape, **like)
        known = list(exact(a, b, reverse, {0, columns - 1}))
        moved = torch.ones((2 * b.nelement() + a.nelement()) if options.rounds else 2, **like)
        half = moved.nelement() // 2

        def wait(result):
            result.block_until_ready() if hasattr(result, "block_until_ready") else None
            torch.cuda.synchronize() if device == "cuda" else None

        def seconds_of(call):
            return several(call, wait, options.rounds)[0] if options.rounds else float("nan")

        copied = seconds_of(lambda: moved[:half].copy_(moved[half : 2 * half]))

        def look(call, h):
            right, seconds = errors_of(h, reverse, known), seconds_of(call)
            return f"{seconds * 1e3:10.3f} ms   of memcpy {copied / seconds:.3f}   rms / worst {right}"

        print(f"  {'memcpy':24} {copied * 1e3:10.3f} ms")
        for name, line in of_each_peer(torch, options, a, b, reverse, look):
            print(f"  {name:24} {line}", flush=True)


def compare_errors(torch, options):
    print(f"errors, 65536 x 4 float32, {options.device}, rms / worst")
    for kind, (least, most, *others) in KINDS.items():
        resets, normal = (*others, *(0, False)[len(others):])
        torch.manual_seed(2)
        a, b = (torch.rand((1, 65536, 4), dtype=torch.float64, device=options.device) for _ in "ab")
        a = (least + (most - least) * a) * (torch.rand_like(a) * resets >= 1 if resets else 1)
        a, b = a.float(), (torch.randn_like(b) if normal else b).float()
        known = list(exact(a, b, False, range(4)))
        print(kind)
        for name, line in of_each_peer(torch, options, a, b, False, lambda _, h: errors_of(h, False, known)):
            print(f"  {name:24} {line}", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--device", default="cpu", choices=PLACES)
    parser.add_argument("--columns", type=int, nargs="*", default=(1, 4, 16, 1024))
    parser.add_argument("--values", type=float, default=None, help="by default 2^22 on the CPU, 2^27 on a GPU")
    parser.add_argument("--rounds", type=int, default=5, help="0: recurrences are compiled and compared, not measured")
    parser.add_argument("--segments", metavar="A:B|pareto", help="on the CPU")
    parser.add_argument("--recurrences", action="store_true")
    parser.add_argument("--errors", action="store_true")
    parser.add_argument("--peers", nargs="*", default=[""], help="parts of names of peers of recurrences")
    parser.add_argument("--tables", type=lambda of: slice(*map(int, of.split(":"))), default=slice(None), metavar="A:B",
                        help="of the tables of recurrences, those from A to below B")  # fmt: skip
    parser.add_argument("--limit", type=int, default=30, help="seconds that a peer is given for a recurrence")
    options = parser.parse_args()
    on_cuda = options.device == "cuda"
    if on_cuda and tuplescan.cuda_unavailable():
        sys.exit(tuplescan.cuda_unavailable())
    options.peers = [name for name in PEERS if any(part in name for part in options.peers)]
    signal.signal(signal.SIGALRM, late)
    for wanted, compared in ((options.errors, compare_errors), (options.recurrences, compare_recurrences)):
        if wanted:
            compared(importlib.import_module("torch"), options)
    if options.errors or options.recurrences:
        return
    values = int(options.values or (1 << 27 if on_cuda else 1 << 22))
    for shape in [(4, 3), *((max(1, values // columns), columns) for columns in options.columns)]:
        print("%d x %d float32, %s" % (*shape, options.device))
        if options.segments:
            compare_segments(shape, options)
            continue
        x = np.random.default_rng(1).random(shape, dtype="f4")
        for name in PLACES[options.device]:
            try:
                compare(name, x, on_cuda, options.rounds)
            except (ImportError, RuntimeError) as error:
                print(f"  {name}: {error}")


if __name__ == "__main__":
    main()
