"""examples/scale, small: by workers of dask and ranks of MPI, one of which dies; the rest goes on from kept files."""

import os
import pathlib
import subprocess
import sys

import numpy as np
import pytest
import tuplescan
from arrays import MPI, mpirun

SCALE = pathlib.Path(__file__).parents[2] / "examples/scale"
SIZES = ["--rows", "15001", "--columns", "5", "--block", "1000"]
pytestmark = pytest.mark.skipif(not SCALE.exists(), reason="the tests alone were copied")


def run(program, folder, *options, ranks=0, fails=False):
    launcher = [mpirun, "-n", str(ranks)] if ranks else []
    done = subprocess.run([*launcher, sys.executable, SCALE / program, folder, *SIZES, *options],
                          env={**os.environ, **MPI}, capture_output=True, text=True, timeout=600)  # fmt: skip
    assert bool(done.returncode) == fails, done.stdout + done.stderr
    return done


def kept(folder, kind):
    return sorted(int(path.name.partition("-")[2]) for path in folder.glob(f"{kind}-??????"))


def wanted():
    starts = range(0, 15001, 1000)
    blocks = [np.random.default_rng(i).standard_normal((min(1000, 15001 - i), 5), np.float32) for i in starts]
    return tuplescan.cumsum(np.concatenate(blocks), axis=0)


def read_zarr(folder):
    return pytest.importorskip("zarr").open(folder / "sums.zarr", mode="r")[:]


def test_dask_dies_and_goes_on_and_then_a_worker_dies(tmp_path):
    pytest.importorskip("distributed")
    pytest.importorskip("zarr")
    run("zarr_by_dask.py", tmp_path, "--die", "5", fails=True)
    assert (len(kept(tmp_path, "total")), len(kept(tmp_path, "sums"))) == (16, 5)
    totals = [path.stat().st_mtime_ns for path in sorted(tmp_path.glob("total-*"))]
    said = run("zarr_by_dask.py", tmp_path, "--kill-worker", "9", "--bar")
    assert "killed a worker of 4" in said.stdout and "the bits of one process" in said.stdout
    assert "16/16 blocks" in said.stderr
    assert [path.stat().st_mtime_ns for path in sorted(tmp_path.glob("total-*"))] == totals
    assert read_zarr(tmp_path).tobytes() == wanted().tobytes()


@pytest.mark.skipif(mpirun is None, reason="no mpirun")
def test_a_rank_dies_and_fewer_go_on(tmp_path):
    pytest.importorskip("mpi4py")
    run("files_by_mpi.py", tmp_path, "--die", "2", ranks=4, fails=True)
    assert kept(tmp_path, "total") == list(range(16)) and 15 not in kept(tmp_path, "sums")
    (tmp_path / "total-000007").write_bytes((tmp_path / "total-000007").read_bytes()[:-1])
    assert "ValueError" in run("files_by_mpi.py", tmp_path, ranks=1, fails=True).stderr  # a state that is damaged
    (tmp_path / "total-000007").unlink()
    said = run("files_by_mpi.py", tmp_path, "--bar", ranks=3)
    assert "the bits of one process" in said.stdout and "5/5 blocks" in said.stderr
    assert np.load(tmp_path / "sums.npy").tobytes() == wanted().tobytes()
