"""tuplescan.jax, on the CPU with four devices, and on CUDA where that is: pytest python/tests/test_jax.py."""

import functools
import itertools
import os

os.environ["XLA_FLAGS"] = f"{os.environ.get('XLA_FLAGS', '')} --xla_force_host_platform_device_count=4"

import numpy as np  # noqa: E402
import pytest  # noqa: E402
import tuplescan  # noqa: E402

jax = pytest.importorskip("jax")

import jax.numpy as jnp  # noqa: E402
import tuplescan.jax  # noqa: E402
from arrays import MODULES_CALLS, check_bits, check_examples  # noqa: E402
from jax.sharding import Mesh, NamedSharding, PartitionSpec  # noqa: E402
from jax.test_util import check_grads  # noqa: E402

either = pytest.mark.parametrize("exclusive, reverse", [(False, False), (True, False), (False, True), (True, True)])
SHAPES = [(1,), (1000,), (2000, 20), (20, 30, 5), (0, 3)]


def values(shape, kind="f4", seed=1):
    return ((np.random.default_rng(seed).random(shape) - 0.3) * 100).astype(kind)


def same_bits(got, wanted):
    assert isinstance(got, jax.Array)
    got = np.asarray(got)
    assert got.dtype == wanted.dtype and got.shape == wanted.shape
    assert got.tobytes() == np.ascontiguousarray(wanted).tobytes()


@pytest.mark.parametrize("name", MODULES_CALLS)
@pytest.mark.parametrize("kind", ["?", "u1", "i2", "i4", "u4", "f2", "f4"])
def test_bits_are_those_of_numpy_arrays(kind, name):
    def call(name, arrays, axis, options):
        results = getattr(tuplescan.jax, name)(*arrays, axis, **options)
        assert name != "cumprod" or results.dtype == jnp.cumprod(*arrays).dtype
        return np.asarray(results)

    with_axes = {"started": ["linear_recurrence", "cumsum", "nancumsum"], "axes": lambda x: [None, *range(-1, x.ndim)]}
    check_bits(call, [kind], SHAPES, [name], **with_axes)


def test_recurrences_of_plain_calls_and_of_halves():
    b = values((300, 4), "f4")
    for of in (0.5, b[0] / 100):
        got = tuplescan.linear_recurrence(of, jnp.asarray(b), start=b[1])
        same_bits(got, tuplescan.linear_recurrence(of, b, start=b[1]))
    halves = jnp.ones((500, 3), jnp.bfloat16)
    last = jax.jit(lambda b: tuplescan.jax.linear_recurrence(0.999, b))(halves)[-1, 0]
    assert last.dtype == jnp.bfloat16 and abs(float(last) - 393.6) < 2


def test_gradients_of_a_start_and_beside_nan():
    x, start, weights = jnp.asarray([1.0, jnp.nan, 2.0], "f4"), jnp.float32(5), jnp.asarray([1.0, 2.0, 4.0], "f4")
    weighed = lambda x, start: (tuplescan.jax.nancumsum(x, start=start) * weights).sum()  # noqa: E731
    assert float(jax.jit(weighed)(x, start)) == 6 + 2 * 6 + 4 * 8
    of_x, of_start = jax.grad(weighed, (0, 1))(x, start)
    assert of_x.tolist() == [7, 0, 4] and float(of_start) == 7
    with pytest.raises(TypeError, match="complex"):
        tuplescan.jax.cumsum(jnp.ones(3, "c8"), start=1)


def test_a_start_of_whole_numbers_is_whole_and_fits():
    call = tuplescan.jax.cumsum
    for start in (2.7, float("nan"), jnp.float32(2.7), [2.0]):
        with pytest.raises(TypeError, match="start: cannot cast"):
            call(jnp.asarray([5, 1]), start=start)
    for start, dtype in ((2**40, "i4"), (np.array(2**40), "i4"), (300, "i1"), (-1, "u4")):
        with pytest.raises(OverflowError, match="start: .* is out of bounds"):
            call(jnp.asarray([5, 1], dtype), dtype=dtype, start=start)
    with pytest.raises(TypeError, match="start: cannot cast"):
        jax.jit(lambda x, start: call(x, start=start))(jnp.asarray([5, 1]), 2.7)
    assert call(jnp.ones((2, 3), int), 1, start=[1, 2]).tolist() == [[2, 3, 4], [3, 4, 5]]
    assert jax.jit(lambda x, start: call(x, start=start))(jnp.asarray([5, 1]), 2).tolist() == [7, 8]


@pytest.mark.parametrize("kind", ["?", "i1", "u1", "i2", "u2", "i4", "u4", "f2", "f4", "c8"])
def test_types_are_those_of_jax(kind):
    x = values((50, 3), kind)
    got, wanted = tuplescan.jax.cumsum(x), jnp.cumsum(x, 0)
    assert got.dtype == wanted.dtype
    np.testing.assert_allclose(got, wanted, rtol=1e-2 if kind == "f2" else 1e-4)
    for sums in ("i1", "u1", "i4", "f4", "c8"):
        if kind != "c8" or sums == "c8":
            got, wanted = tuplescan.jax.cumsum(x, 0, sums), jnp.cumsum(x, 0, sums)
            assert got.dtype == wanted.dtype
            np.testing.assert_allclose(got, wanted, rtol=1e-2 if kind == "f2" else 1e-4)
    halves = jnp.asarray(values((500, 3)), jnp.bfloat16)
    wanted = tuplescan.cumsum(np.asarray(halves, "f4")).astype(jnp.bfloat16)
    assert np.asarray(tuplescan.jax.cumsum(halves)).tobytes() == wanted.tobytes()


def test_other_byte_order():
    for kind in ("i2", "u4", "f2", "f4", "c8"):
        x, swapped = values((50, 3), kind), np.dtype(kind).newbyteorder()
        same_bits(tuplescan.jax.cumsum(x.astype(swapped)), np.asarray(tuplescan.jax.cumsum(x)))
        same_bits(tuplescan.jax.cumsum(x, dtype=swapped), np.asarray(tuplescan.jax.cumsum(x, dtype=kind)))


def test_types_of_64_bits():
    with jax.enable_x64(True):
        for kind in ("i8", "u8", "f8", "i4", "u4", "u1", "c16"):
            x = values((300, 4), kind)
            same_bits(tuplescan.jax.cumsum(x), np.asarray(tuplescan.cumsum(x, dtype=jnp.cumsum(x, 0).dtype)))
        same_bits(tuplescan.jax.cumsum(values((300, 4)), dtype="f8"), tuplescan.cumsum(values((300, 4)), dtype="f8"))


def test_very_small_numbers():
    """Which XLA takes for zeros."""
    for kind, least in (("f4", 1e-42), ("f2", 1e-7)):
        x = np.full((300, 4), least, kind)
        same_bits(tuplescan.jax.cumsum(x), tuplescan.cumsum(x))
        same_bits(jax.jit(tuplescan.jax.cumsum)(x), tuplescan.cumsum(x))


def test_jit():
    x = values((300, 4))
    sums = jax.jit(lambda x: tuplescan.jax.cumsum(x * 2, exclusive=True) + 1)
    same_bits(sums(x), tuplescan.cumsum(x * 2, exclusive=True) + 1)
    assert "tuplescan_cumsum" in sums.lower(x).compile().as_text()
    same_bits(jax.jit(tuplescan.cumsum)(x), tuplescan.cumsum(x))


def test_without_jit():
    x = values((40, 6))
    with jax.disable_jit():
        same_bits(tuplescan.jax.cumsum(x, 1, reverse=True), tuplescan.cumsum(x, 1, reverse=True))
        same_bits(jax.jit(tuplescan.jax.cumsum)(x), tuplescan.cumsum(x))
        same_bits(jax.vmap(tuplescan.jax.cumsum, 1, 1)(x), tuplescan.cumsum(x))
        same_bits(tuplescan.cumsum(jnp.asarray(x)), tuplescan.cumsum(x))
        assert tuplescan.jax.cumsum(x.astype("c8")).dtype == tuplescan.jax.cumsum(x, dtype="c8").dtype == "c8"
        gradient = jax.grad(lambda x: (tuplescan.jax.cumsum(x) * x).sum())(x)
        tangent = jax.jvp(tuplescan.jax.cumsum, (x,), (x,))[1]
    same_bits(gradient, np.asarray(jax.grad(lambda x: (tuplescan.jax.cumsum(x) * x).sum())(x)))
    same_bits(tangent, tuplescan.cumsum(x))


def test_gradients_through_types():
    x = jnp.ones((5, 2), jnp.bfloat16)
    assert jax.grad(lambda x: tuplescan.jax.cumsum(x, dtype="f4").sum())(x).dtype == jnp.bfloat16
    z = jnp.asarray(values((5,), "c8"))
    by_jax = jax.grad(lambda z: jnp.abs(jnp.cumsum(z)).sum())(z)
    np.testing.assert_allclose(jax.grad(lambda z: jnp.abs(tuplescan.jax.cumsum(z)).sum())(z), by_jax, rtol=1e-4)
    whole = jnp.arange(5)
    assert jax.jvp(tuplescan.jax.cumsum, (whole,), (np.zeros(5, jax.dtypes.float0),))[1].dtype == jax.dtypes.float0


OTHERS = ["cummax", "cummin", "cumprod"]


def loop(a, b, exclusive=False, reverse=False, start=0.0):
    def step(h, row):
        after = row[0] * h + row[1]
        return after, h if exclusive else after

    first = jnp.broadcast_to(jnp.asarray(start, b.dtype), b.shape[1:])
    return jax.lax.scan(step, first, (jnp.broadcast_to(a, b.shape), b), reverse=reverse)[1]


@either
def test_gradients(exclusive, reverse):
    options = {"exclusive": exclusive, "reverse": reverse}
    random = np.random.default_rng(3)
    with jax.enable_x64(True):
        b, start = random.normal(size=(6, 3)), random.normal(size=3)
        for a in (np.float64(0.7), random.random(3), random.random((6, 1)), random.random((6, 3))):
            given = [jnp.asarray(x) for x in (a, b, start)]

            def ours(a, b, start):
                return tuplescan.jax.linear_recurrence(a, b, start=start, **options)

            weights = random.normal(size=b.shape)
            ways = ours, lambda a, b, start: loop(a, b, start=start, **options)
            both = [jax.grad(lambda *of, f=f: (f(*of) ** 2 * weights).sum(), (0, 1, 2))(*given) for f in ways]
            for one, other in zip(*both):
                np.testing.assert_allclose(one, other, rtol=1e-9, atol=1e-9)
            check_grads(ours, given, order=2)
        x = jnp.asarray(b).at[2, 1].set(b[1, 1]).at[3, 2].set(0)
        for name in ("cumsum", *OTHERS):

            def ours(x, name=name):
                return getattr(tuplescan.jax, name)(x, **options)

            def own(x, name=name):
                results = getattr(jax.lax, name)(x, reverse=reverse)
                return results - x if exclusive else results

            if name == "cumsum" or not exclusive:
                wide, tangent, weights = jnp.asarray(random.normal(size=(3, 6, 3)))
                for of in (wide, x if name == "cumprod" else wide):
                    got, wanted = (jax.grad(lambda of, f=f: (f(of) ** 2 * weights).sum())(of) for f in (ours, own))
                    np.testing.assert_allclose(got, wanted, rtol=1e-9, atol=1e-9)
                np.testing.assert_allclose(jax.linearize(ours, wide)[1](tangent), jax.jvp(own, (wide,), (tangent,))[1])
                check_grads(ours, (wide,), order=2)
        last_of_equals = jax.grad(lambda x: tuplescan.jax.cummax(x)[-1])(jnp.asarray([1.0, 3, 3, 2]))
        assert last_of_equals.tolist() == [0, 0, 1, 0]


def test_vmap():
    a, b, start = np.random.default_rng(4).random((3, 4, 50, 6), "f4")[[0, 1, 2]]
    recur = tuplescan.jax.linear_recurrence
    for batch, axis in itertools.product(range(3), (0, 1, -1)):
        for call, given in [(recur, (a, b)), *((getattr(tuplescan.jax, name), (b,)) for name in ("cumsum", *OTHERS))]:
            got = jax.vmap(lambda *of, call=call, axis=axis: call(*of, axis), batch)(*given)
            parts = [call(*(np.take(x, i, batch) for x in given), axis) for i in range(b.shape[batch])]
            same_bits(got, np.stack([np.asarray(part) for part in parts]))
    same_bits(jax.vmap(lambda a: recur(a, b[0]))(a), np.stack([np.asarray(recur(of, b[0])) for of in a]))
    same_bits(jax.vmap(lambda start: recur(a[0], b[0], start=start))(start[:, 0]),
              np.stack([np.asarray(recur(a[0], b[0], start=row)) for row in start[:, 0]]))  # fmt: skip
    same_bits(jax.vmap(jax.vmap(tuplescan.jax.cumsum))(b), tuplescan.cumsum(b, 2))
    grads = jax.vmap(jax.grad(lambda part: (tuplescan.jax.cumsum(part) ** 2).sum()))(b)
    np.testing.assert_allclose(grads[1], jax.grad(lambda part: (tuplescan.jax.cumsum(part) ** 2).sum())(b[1]))


@pytest.mark.skipif(jax.device_count() < 2, reason="one device")
def test_sharded():
    count = jax.device_count()
    mesh = Mesh(np.array(jax.devices()), ("parts",))
    columns, rows, whole = PartitionSpec(None, "parts"), PartitionSpec("parts"), PartitionSpec()
    x, a = values((1000 // count * count, 2 * count), "f4", 2), values((1000 // count * count, 2 * count)) / 100
    calls = {name: lambda module, a, x, name=name: getattr(module, name)(x) for name in ("cumsum", *OTHERS)}
    calls["linear_recurrence"] = lambda module, a, x: module.linear_recurrence(a, x, start=x[0])

    def placed(of, spec):
        return jax.device_put(of, NamedSharding(mesh, spec if of.shape == x.shape else whole))

    for name, call in calls.items():
        compiled = jax.jit(functools.partial(call, tuplescan.jax))
        for of in (a, a[:, :1], a[:1], np.float32(0.5)) if name == "linear_recurrence" else (a,):
            for spec, gathers in [(columns, False), (rows, True), (whole, False)]:
                given = placed(of, columns if spec == columns else whole), placed(x, spec)
                results = compiled(*given)
                same_bits(results, call(tuplescan, of, x))
                assert ("all-gather" in compiled.lower(*given).compile().as_text()) == gathers
                assert gathers or results.sharding.is_equivalent_to(given[1].sharding, 2)
        if name in ("cumsum", "linear_recurrence"):
            given = placed(a, columns), placed(x, columns)
            gradient = jax.jit(jax.grad(lambda x, call=call: (call(tuplescan.jax, a, x) ** 2).sum()))(given[1])
            assert gradient.sharding.is_equivalent_to(given[1].sharding, 2)
            mapped = functools.partial(call, tuplescan.jax)
            mapped = jax.shard_map(mapped, mesh=mesh, in_specs=(columns, columns), out_specs=columns)
            same_bits(mapped(*given), call(tuplescan, a, x))


@either
@pytest.mark.parametrize("kind", ["?", "u1", "f2", "f4"])
def test_segments(kind, exclusive, reverse):
    options = {"exclusive": exclusive, "reverse": reverse}
    compiled = jax.jit(functools.partial(tuplescan.jax.segmented_cumsum, **options))
    for shape in [(1300,), (1300, 2, 2), (0, 3)]:
        x, rows = values(shape, kind), shape[0]
        for offsets in ([0, 0, 1, 600, rows], [3, 700, 700, 1200, 1299], [0, *[rows] * 4], [1]):
            offsets = np.minimum(offsets, rows).astype("i4")
            results = tuplescan.jax.segmented_cumsum(x, offsets, **options)
            wanted = tuplescan.segmented_cumsum(x, offsets, dtype=results.dtype, **options)
            same_bits(results, wanted)
            same_bits(compiled(x, offsets), wanted)


@either
def test_gradients_of_segments(exclusive, reverse):
    offsets, x = np.array([2, 2, 5, 9]), jnp.asarray(values((11, 2)) / 100)

    def ours(x):
        return tuplescan.jax.segmented_cumsum(x, offsets, exclusive=exclusive, reverse=reverse)

    check_grads(lambda x: ours(x) ** 2, (x,), order=2, rtol=0.05, atol=0.05)
    gradient = jax.grad(lambda x: ours(x).sum())(x)
    assert not gradient[:2].any() and not gradient[9:].any()
    wanted = tuplescan.segmented_cumsum(x, offsets, exclusive=exclusive, reverse=not reverse)
    same_bits(jax.vjp(ours, x)[1](x)[0], wanted)


def test_segments_of_tables_and_shards():
    x, offsets = values((3, 50, 4)), np.array([[0, 20, 50], [5, 5, 30], [0, 0, 0]])
    each = functools.partial(tuplescan.jax.segmented_cumsum)
    same_bits(jax.vmap(each)(x, offsets), np.stack([tuplescan.segmented_cumsum(*of) for of in zip(x, offsets)]))
    wanted = np.stack([tuplescan.segmented_cumsum(x[0], of) for of in offsets])
    same_bits(jax.vmap(each, (None, 0))(x[0], offsets), wanted)
    for batch in range(3):
        parts = [np.take(x, i, batch) for i in range(x.shape[batch])]
        rows = np.array([1, 2, min(len(part) for part in parts)])
        got = jax.vmap(each, (batch, None))(x, rows)
        same_bits(got, np.stack([tuplescan.segmented_cumsum(part, rows) for part in parts]))
    assert jax.vmap(each, (0, None))(x[:, :0], np.array([0])).shape == (3, 0, 4)
    mesh = Mesh(np.array(jax.devices()), ("parts",))
    wide = values((50, 2 * jax.device_count()))
    given = jax.device_put(wide, NamedSharding(mesh, PartitionSpec(None, "parts")))
    results = jax.jit(each)(given, offsets[1])
    same_bits(results, tuplescan.segmented_cumsum(wide, offsets[1]))
    assert results.sharding.is_equivalent_to(given.sharding, 2)


def test_plain_call():
    x = values((30, 4), "i4")
    for outside in (tuplescan.cumsum(jnp.asarray(x)), jax.jit(tuplescan.cumsum)(x)):
        np.testing.assert_array_equal(outside, np.cumsum(x, 0))
    for outside in (tuplescan.cummax(jnp.asarray(x)), jax.jit(tuplescan.cummax)(x)):
        np.testing.assert_array_equal(outside, np.maximum.accumulate(x, 0))
    longer = jax.jit(lambda x: tuplescan.cumulative_sum(x, axis=0, include_initial=True))(x)
    np.testing.assert_array_equal(longer, np.cumulative_sum(x, axis=0, include_initial=True))
    with pytest.raises(TypeError, match="start"):
        jax.jit(lambda x: tuplescan.cumsum(x, start=1))(x)
    with pytest.raises(TypeError, match="start: is not for JAX arrays inside of jit"):
        jax.jit(lambda x: tuplescan.cummax(x, start=3))(x)
    with pytest.raises(TypeError, match=r"refused inside of jit.*cumsum\(\)"):
        jax.jit(tuplescan.column_totals)(x)


@pytest.mark.parametrize("as_on_cuda", [False, True])
def test_options_of_plain_calls(as_on_cuda, monkeypatch):
    """Also of those that only numpy's arrays have."""
    if as_on_cuda:
        monkeypatch.setattr("tuplescan._libraries._Jax.on_host", lambda library, x: False)
    x = values((300, 2 * jax.device_count()))
    x[7, 1] = np.nan
    mesh = Mesh(np.array(jax.devices()), ("parts",))
    placed = jax.device_put(x, NamedSharding(mesh, PartitionSpec(None, "parts")))
    sums = tuplescan.nancumsum(placed, reverse=True)
    same_bits(sums, tuplescan.nancumsum(x, reverse=True))
    assert sums.sharding.is_equivalent_to(placed.sharding, 2) or not as_on_cuda
    same_bits(tuplescan.nancumsum(placed, None), tuplescan.nancumsum(x, None))
    same_bits(tuplescan.cumsum(placed, start=jnp.asarray(x[0])), tuplescan.cumsum(x, start=x[0]))
    out, state = np.zeros_like(x), tuplescan.State()
    assert tuplescan.cumsum(placed, out=out) is out
    same_bits(jnp.asarray(out), tuplescan.cumsum(x))
    for piece in (placed[:100], placed[100:]):
        sums = tuplescan.cumsum(piece, state=state)
    same_bits(sums, tuplescan.cumsum(x)[100:])
    with pytest.raises((TypeError, ValueError), match="stream"):
        tuplescan.cumsum(placed, stream=1)
    with pytest.raises(ValueError, match="check_overflow"):
        tuplescan.cumsum(placed, check_overflow=True)
    with pytest.raises(TypeError, match="check_overflow: .*jit"):
        jax.jit(lambda x: tuplescan.cumsum(x, check_overflow=True))(x)


@pytest.mark.parametrize("as_on_cuda", [False, True])
def test_types_of_plain_calls(as_on_cuda, monkeypatch):
    """JAX's own types, in host memory and traced; overflow is checked in the type of the result."""
    if as_on_cuda:
        monkeypatch.setattr("tuplescan._libraries._Jax.on_host", lambda library, x: False)
    with jax.enable_x64(False):
        x = jnp.asarray(np.full((2, 3), 2**30, "i4"))
        for call in (tuplescan.cumsum, tuplescan.column_totals, lambda x: tuplescan.cumulative_sum(x, axis=0)):
            assert call(x).dtype == "i4"
        with pytest.raises(tuplescan.OverflowAt) as raised:
            tuplescan.cumsum(x, check_overflow=True)
        assert (raised.value.row, raised.value.column) == (1, 0)
        traced = jax.jit(lambda x, dtype: tuplescan.cumsum(x, dtype=dtype), static_argnames="dtype")
        for call in (tuplescan.cumsum, traced):
            with pytest.warns(UserWarning, match="float64"):
                assert call(x, dtype="f8").dtype == "f4"
        assert isinstance(tuplescan.column_totals(x), jax.Array)
    with jax.enable_x64(True):
        wide = jnp.asarray(np.full((2, 3), 2**30, "i4"))
        assert tuplescan.cumsum(wide, check_overflow=True).dtype == "i8"
        assert tuplescan.cumsum(wide, dtype="f8").dtype == "f8"


def test_refused():
    for axis in (2, -3):
        with pytest.raises(ValueError, match="out of bounds"):
            tuplescan.jax.cumsum(np.ones((3, 4)), axis)
    state = tuplescan.State()
    for call, error in [
        (lambda: tuplescan.jax.linear_recurrence(np.ones(3), np.ones((4, 2))), ValueError),
        (lambda: tuplescan.jax.linear_recurrence(0.5, np.ones(3, "c8")), TypeError),
        (lambda: tuplescan.jax.linear_recurrence(1j, np.ones(3)), TypeError),
        (lambda: tuplescan.jax.cumprod(np.ones(3, "c8")), TypeError),
        (lambda: tuplescan.jax.cummax(np.ones(3), 1), ValueError),
        (lambda: jax.jit(lambda b: tuplescan.linear_recurrence(0.5, b, state=state))(np.ones(3)), TypeError),
    ]:
        with pytest.raises(error):
            call()
    with pytest.raises(TypeError, match="not summed into"):
        tuplescan.jax.cumsum(jnp.ones(3, jnp.float8_e4m3fn))
    for offsets, error in [([], TypeError), ([[0, 3]], TypeError), ([0.0, 3.0], TypeError)]:
        with pytest.raises(error):
            tuplescan.jax.segmented_cumsum(np.ones(3), offsets)
    with pytest.raises(TypeError, match="complex|not summed"):
        tuplescan.jax.segmented_cumsum(np.ones(3, "c8"), [0, 3])
    for offsets in ([0, 2, 1], [0, 4], [-1, 3]) if jax.default_backend() == "cpu" else ():
        with pytest.raises(jax.errors.JaxRuntimeError, match="offset"):
            tuplescan.jax.segmented_cumsum(np.ones(3, "f4"), np.array(offsets)).block_until_ready()


def test_wrong_calls_are_errors_of_xla():
    for types, options in [
        (("f4", "i4"), {"axis": np.int64(0), "exclusive": np.bool_(False)}),
        (("f4", "f4"), {"axis": np.int64(2), "exclusive": np.bool_(False)}),
        (("f4", "f4"), {"axis": np.int32(0), "exclusive": np.bool_(False)}),
        (("f2", "f2"), {"axis": np.int64(0), "exclusive": np.bool_(False)}),
        (("f4", "f4"), {"axis": np.int64(0)}),
    ]:
        call = jax.ffi.ffi_call("tuplescan_cumsum", jax.ShapeDtypeStruct((3, 2), types[1]))
        with pytest.raises(jax.errors.JaxRuntimeError, match="other arguments"):
            call(jnp.ones((3, 2), types[0]), **options).block_until_ready()
    flags = {"reverse": np.bool_(False), "shifted": np.bool_(False)}
    ones = jnp.ones((1, 3, 2), "f4")
    for arrays, options in [
        ((ones[0], ones[0]), flags),
        ((ones[:, :2], ones), flags),
        ((ones, ones, ones[0, 0, :1]), flags),
        ((ones, ones), {"reverse": np.bool_(False)}),
        ((ones, ones, ones[0, 0], ones[0, 0]), flags),
    ]:
        call = jax.ffi.ffi_call("tuplescan_linear_recurrence", jax.ShapeDtypeStruct((1, 3, 2), "f4"))
        with pytest.raises(jax.errors.JaxRuntimeError, match="other arguments"):
            call(*arrays, **options).block_until_ready()
    flags = {"exclusive": np.bool_(False), "reverse": np.bool_(False)}
    for arrays in [(ones[0],), (jnp.array([0, 3]), ones[0]), (jnp.ones((0, 1), "i4"), ones[0]), (ones[0, :, :1], ones)]:
        call = jax.ffi.ffi_call("tuplescan_segmented_cumsum", jax.ShapeDtypeStruct((3, 2), "f4"))
        with pytest.raises(jax.errors.JaxRuntimeError, match="other arguments"):
            call(*arrays, **flags).block_until_ready()


def test_examples():
    check_examples(tuplescan.jax)
