"""What each rank does in test_mpi.py: mpirun -n RANKS python -m mpi4py mpi_ranks.py SEED, where -m mpi4py ends
all ranks when one fails. All ranks have the whole array, from a seed, and compare their part with that of
tuplescan.cumsum() of the whole."""

import sys

import numpy as np
import pytest
import tuplescan
import tuplescan.mpi
from arrays import MODULES_CALLS, REAL, WAYS, check_bits, check_examples, rough, same_bits
from mpi4py import MPI

comm = MPI.COMM_WORLD


def own(x, seed):
    """This rank's rows; some ranks have none."""
    cuts = np.sort(np.random.default_rng(seed).integers(0, len(x) + 1, comm.size - 1))
    cuts = [0, *cuts.tolist(), len(x)]
    return slice(cuts[comm.rank], cuts[comm.rank + 1])


def check_bits_of_the_whole(seed):
    def call(name, arrays, axis, options):
        b = arrays[-1]
        cut = [x[own(b, seed)] if np.ndim(x) == b.ndim and len(x) == len(b) else x for x in arrays]
        return getattr(tuplescan.mpi, name)(*cut, **options)

    # Where there are fewer processors than ranks each message takes long: each number of ranks has types of its own.
    kinds, shapes = REAL[comm.size % 4 :: 4], [(2_000,), (700, 3, 4), (0, 3), (5, 0), (1, 1)]
    part = lambda whole: whole[own(whole, seed)]  # noqa: E731
    check_bits(call, kinds, shapes, MODULES_CALLS, WAYS[::3], axes=lambda x: [0], part=part)
    for shape in shapes:
        x = rough(shape, "f4", seed)
        same_bits(tuplescan.mpi.column_totals(x[own(x, seed + 1)]), tuplescan.column_totals(x))


def check_reverse_in_place_and_with_a_state(seed):
    place = rough((3_000, 3), "f4", seed)
    part, wanted = own(place, seed), tuplescan.cumsum(place, reverse=True)
    assert tuplescan.mpi.cumsum(place[part], out=place[part], reverse=True).base is place
    same_bits(place[part], wanted[part])
    x, state = rough((900, 2), "i4", seed), tuplescan.State()
    for piece in (slice(600, 900), slice(0, 600)):  # the state of the rank that begins, the last one
        given = state if comm.rank == comm.size - 1 else tuplescan.State()
        got = tuplescan.mpi.cumsum(x[piece][own(x[piece], seed)], reverse=True, state=given)
        same_bits(got, tuplescan.cumsum(x, reverse=True)[piece][own(x[piece], seed)])


def check_start_dtype_out(seed):
    x = rough((8000, 3), "i4", seed)
    part = own(x, seed)
    for dtype in ("i4", "i8", "f4", "f8", "i2"):
        same_bits(tuplescan.mpi.cumsum(x[part], dtype, threads=1), tuplescan.cumsum(x, 0, dtype)[part])
    rows = rough((8000, 3), "f4", seed)
    start = rough((3,), "f4", seed)
    wanted = tuplescan.cumsum(rows, start=start)
    out = np.empty_like(rows[part])
    assert tuplescan.mpi.cumsum(rows[part], out=out, start=start if comm.rank == 0 else None) is out
    same_bits(out, wanted[part])
    same_bits(tuplescan.mpi.column_totals(rows[part], start=start), wanted[-1])
    place = rows[part].copy()
    tuplescan.mpi.cumsum(place, out=place, start=start)
    same_bits(place, wanted[part])


def check_state(seed):
    x = rough((30_000, 2), "f4", seed)
    wanted, whole = tuplescan.State(), tuplescan.cumsum(x)
    tuplescan.column_totals(x, state=wanted)
    state = tuplescan.State()
    for piece in (slice(0, 7_777), slice(7_777, 20_000)):
        part = own(x[piece], seed)
        same_bits(tuplescan.mpi.cumsum(x[piece][part], state=state), whole[piece][part])
    # The sum goes on from rank 0's state alone, and only given states are advanced.
    rest = x[20_000:]
    part = own(rest, seed + 2)
    given = state if comm.rank == 0 else tuplescan.State() if comm.rank == 1 else None
    tuplescan.mpi.column_totals(rest[part], state=given)
    assert given is None or given == wanted


def check_state_beyond_row_0(seed):
    x = rough((3_000, 2), "f4", seed)
    part = own(x, seed)
    beyond, wanted = (tuplescan.State.begin("f4", 2, 100) for _ in range(2))
    with pytest.raises(ValueError, match="row"):
        tuplescan.mpi.cumsum(x[part], state=beyond)
    assert beyond == wanted
    assert tuplescan.mpi.column_totals(x[part], state=beyond) is None
    tuplescan.column_totals(x, state=wanted)
    assert beyond == wanted


def check_overflow(seed):
    x = np.full((1000, 3), 1, "i4")
    x[700:, 1] = 2**30
    part = own(x, seed)
    tuplescan.mpi.cumsum(x[part], check_overflow=True)
    with pytest.raises(tuplescan.OverflowAt, match="row 701, column 1"):
        tuplescan.mpi.cumsum(x[part], "i4", check_overflow=True)
    with pytest.raises(tuplescan.OverflowAt, match="row 998, column 1"):
        tuplescan.mpi.cumsum(x[part], "i4", check_overflow=True, reverse=True)


def check_errors(seed):
    x = rough((100, 3), "f4", seed)
    last = comm.size - 1
    with pytest.raises(ValueError, match="out"):
        tuplescan.mpi.cumsum(x, out=x[1:] if comm.rank == last else None)
    with pytest.raises(TypeError, match="complex"):
        tuplescan.mpi.cumsum(x.astype("c8"))
    with pytest.raises(TypeError, match="State"):
        tuplescan.mpi.cumsum(x, state=3 if comm.rank == last else None)
    other = tuplescan.State.begin("f4", 4)
    with pytest.raises(ValueError, match="columns"):
        tuplescan.mpi.cumsum(x, state=other)
    with pytest.raises(TypeError, match="masked"):
        tuplescan.mpi.cumsum(np.ma.array(x) if comm.rank == last else x)
    with pytest.raises(TypeError, match="missing"):
        tuplescan.mpi.cumsum([x[0], np.ma.array([1, 2, 3], mask=[0, 0, 1])] if comm.rank == last else x)
    for other in (5, MPI.COMM_NULL):
        with pytest.raises(TypeError, match="no communicator of mpi4py"):
            tuplescan.mpi.cumsum(x, comm=other)
    if comm.size > 1:
        with pytest.raises(ValueError, match="ranks differ"):
            tuplescan.mpi.cumsum(x[:, : 2 if comm.rank == last else 3])
        with pytest.raises(ValueError, match="ranks differ"):
            tuplescan.mpi.cumsum(x, exclusive=comm.rank == last)
        with pytest.raises(ValueError, match="ranks differ"):
            tuplescan.mpi.cumsum(x, reverse=comm.rank == last)
        with pytest.raises(ValueError, match="ranks differ"):
            tuplescan.mpi.cumsum(x.astype("f8") if comm.rank == last else x)
    same_bits(tuplescan.mpi.column_totals(x[own(x, 1)]), tuplescan.column_totals(x))  # it still works


def check_part_of_the_ranks(seed):
    half = comm.Split(comm.rank % 2, comm.rank)
    if comm.size > 1:
        between = half.Create_intercomm(0, comm, 1 - comm.rank % 2)
        for call in (tuplescan.mpi.cumsum, tuplescan.mpi.column_totals):
            with pytest.raises(ValueError, match="inter-communicator"):
                call(np.ones(3), comm=between)
        between.Free()
    x = rough((half.size, 1000, 2), "f8", seed)
    wanted = tuplescan.cumsum(x.reshape(-1, 2)).reshape(x.shape)
    same_bits(tuplescan.mpi.cumsum(x[half.rank], comm=half), wanted[half.rank])
    half.Free()


if comm.size == 1:
    check_examples(tuplescan.mpi)
for check in (check_bits_of_the_whole, check_reverse_in_place_and_with_a_state, check_start_dtype_out, check_state,
              check_state_beyond_row_0, check_overflow, check_errors, check_part_of_the_ranks):  # fmt: skip
    check(int(sys.argv[1]))
passed = comm.gather(comm.rank)
if comm.rank == 0:
    print("passed on", passed)
