import itertools
import random
import tracemalloc

import numpy as np
import pytest
import tuplescan
import tuplescan.dask
from arrays import MODULES_CALLS, WAYS, check_bits, check_examples, rough, same_bits

da = pytest.importorskip("dask.array")


def random_chunks(shape, seed):
    """Blocks of random sizes, some of them empty."""
    generator = random.Random(seed)
    chunks = []
    for extent in shape:
        borders = sorted(generator.randint(0, extent) for _ in range(generator.randint(0, 6)))
        borders = [0, *borders, extent]
        chunks.append(tuple(b - a for a, b in itertools.pairwise(borders)))
    return tuple(chunks)


SHAPES = [(1500,), (1100, 3), (0, 3), (5, 0), (1, 1), (3, 2, 700)]


@pytest.mark.parametrize("name", MODULES_CALLS)
@pytest.mark.parametrize("kind", ["?", "u1", ">i2", "i4", "u8", "f2", "f4", ">f8"])
def test_same_bits_as_one_machine(kind, name):
    def call(name, arrays, axis, options):
        blocks = da.from_array(arrays[-1], random_chunks(arrays[-1].shape, len(seeds)))
        seeds.append(axis)
        a = [da.from_array(of, 700) if np.ndim(of) and len(seeds) % 2 else of for of in arrays[:-1]]
        results = getattr(tuplescan.dask, name)(*a, blocks, axis, **options)
        computed = results.compute(scheduler="synchronous")
        assert results.shape == computed.shape and results.dtype == computed.dtype
        return computed

    seeds = []
    check_bits(call, [kind], SHAPES, [name], WAYS[::3])


def test_dtype_and_axis():
    x = rough((70, 900), "f4")
    blocks = da.from_array(x, (30, 111))
    for given, axis, dtype in ((x, 1, "f8"), (x.astype("i4"), 0, "i2")):
        sums = tuplescan.dask.cumsum(blocks.astype(given.dtype), axis, dtype)
        assert sums.dtype == dtype
        same_bits(sums.compute(scheduler="synchronous"), tuplescan.cumsum(given, axis, dtype))


def test_start_that_does_not_broadcast():
    with pytest.raises(ValueError, match="broadcast"):
        tuplescan.dask.cumsum(da.ones((9, 30, 4)), start=[1, 2, 3])


def test_masked_blocks():
    x = np.ma.array(rough((900, 2), "f4"), mask=rough((900, 2), "f4", 3) > 1.5)
    got = tuplescan.dask.cumsum(da.from_array(x, (250, 1), asarray=False)).compute(scheduler="synchronous")
    wanted = tuplescan.cumsum(x)
    assert type(got) is np.ma.MaskedArray
    np.testing.assert_array_equal(got.mask, x.mask)
    assert got.filled(0).tobytes() == wanted.filled(0).tobytes()
    assert tuplescan.column_totals(da.from_array(x, asarray=False)).tolist() == tuplescan.column_totals(x).tolist()


@pytest.mark.parametrize("scheduler", ["threads", "processes"])
def test_schedulers(scheduler):
    x = rough((20_000, 3), "f4")
    sums = tuplescan.dask.cumsum(da.from_array(x, (999, 2)) * 3)
    assert sums.chunks == da.from_array(x, (999, 2)).chunks
    assert sums.compute(scheduler=scheduler, num_workers=2).tobytes() == tuplescan.cumsum(x * 3).tobytes()
    assert sums[7777:].sum().compute(scheduler=scheduler, num_workers=2) > 0


def test_refused():
    x = da.ones((10, 2), chunks=3)
    for wrong, error in [
        (np.ones(3), TypeError),
        (x.astype("c8"), TypeError),
        (x[x[:, 0] > 0], ValueError),
        (x.sum(), ValueError),
    ]:
        with pytest.raises(error):
            tuplescan.dask.cumsum(wrong)
    for call in (tuplescan.dask.linear_recurrence, tuplescan.linear_recurrence):
        with pytest.raises(ValueError):
            call(np.ones(3), x).compute()
        with pytest.raises(TypeError, match="complex128 has no recurrences"):
            call(1j, x)
    with pytest.raises(TypeError, match="state: is for arrays"):
        tuplescan.linear_recurrence(0.5, x, state=tuplescan.State())
    with pytest.raises(getattr(np, "exceptions", np).AxisError):
        tuplescan.dask.cumsum(x, 2)


def test_memory_is_bounded():
    rows, blocks = 50_000, 100
    x = da.random.default_rng(1).random((rows * blocks, 2), chunks=(rows, 2))
    last = tuplescan.dask.cumsum(x).map_blocks(lambda block: block[-1:].copy(), chunks=((1,) * blocks, (2,)))
    tracemalloc.start()
    last.compute(scheduler="synchronous")
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 20 * rows * 2 * 8


@pytest.fixture(scope="module")
def cluster():
    distributed = pytest.importorskip("distributed")
    with (
        distributed.LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None) as cluster,
        distributed.Client(cluster) as client,
    ):
        yield client


def test_zarr_to_zarr_on_a_cluster(cluster, tmp_path):
    """Workers read blocks from a store, which no process has as a whole, and write their sums to another one."""
    zarr = pytest.importorskip("zarr")
    x = rough((30_000, 5), "f4")
    stored = zarr.create_array(tmp_path / "x.zarr", shape=x.shape, chunks=(4567, 5), dtype=x.dtype, zarr_format=3)
    stored[:] = x
    sums = tuplescan.dask.cumsum(da.from_zarr(tmp_path / "x.zarr"))
    sums.to_zarr(tmp_path / "sums.zarr", zarr_format=3)
    read = zarr.open_array(tmp_path / "sums.zarr", mode="r")
    assert read.metadata.zarr_format == 3 and read.chunks == (4567, 5)
    assert read[:].tobytes() == tuplescan.cumsum(x).tobytes()


def test_xarray():
    xarray = pytest.importorskip("xarray")
    x = rough((400, 30), "f4")
    data = xarray.DataArray(x, dims=("time", "place"), coords={"time": np.arange(400)})

    def along(dim, data, cumsum):
        moved = xarray.apply_ufunc(cumsum, data, input_core_dims=[[dim]], output_core_dims=[[dim]], dask="allowed")
        return moved.transpose(*data.dims)

    sums = along("time", data, lambda values: tuplescan.cumsum(values, -1))
    assert sums.dims == data.dims and sums.values.tobytes() == tuplescan.cumsum(x).tobytes()
    lazy = along("time", data.chunk({"time": 77}), lambda values: tuplescan.dask.cumsum(values, -1))
    assert lazy.chunks is not None and lazy.values.tobytes() == tuplescan.cumsum(x).tobytes()


def test_given_to_the_call_for_arrays():
    x = da.ones((6, 2), chunks=(4, 1))
    sums = tuplescan.cumsum(x, 1, exclusive=True)
    assert isinstance(sums, da.Array) and sums.chunks == x.chunks
    assert isinstance(tuplescan.cummin(x), da.Array) and isinstance(tuplescan.linear_recurrence(0.5, x), da.Array)
    assert sums.compute().tolist() == [[0, 1]] * 6
    assert isinstance(tuplescan.cumulative_sum(x, axis=0), da.Array)
    for options in ({"state": tuplescan.State()}, {"check_overflow": True}, {"out": np.ones((6, 2))}):
        with pytest.raises(TypeError, match=rf"{next(iter(options))}: .* tuplescan.dask.cumsum\(\)"):
            tuplescan.cumsum(x, **options)


def test_examples():
    check_examples(tuplescan.dask)
