"""tuplescan.mpi on 1 to 7 ranks of this machine, by the mpirun in PATH; mpi_ranks.py is what each of them does."""

import os
import pathlib
import subprocess
import sys

import pytest
from arrays import MPI, mpirun

pytest.importorskip("mpi4py")


@pytest.mark.skipif(mpirun is None, reason="no mpirun")
@pytest.mark.parametrize("ranks", [1, 2, 3, 4, 7])
def test_ranks(ranks):
    program = pathlib.Path(__file__).with_name("mpi_ranks.py")
    done = subprocess.run(
        [mpirun, "-n", str(ranks), sys.executable, "-m", "mpi4py", program, str(ranks)],
        env={**os.environ, **MPI},
        capture_output=True,
        text=True,
        timeout=600,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout == f"passed on {list(range(ranks))}\n"
