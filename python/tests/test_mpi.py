"""tuplescan.mpi on 1 to 7 ranks of this machine, by the mpirun in PATH; mpi_ranks.py is what each of them does."""

import os
import pathlib
import shutil
import subprocess
import sys

import pytest

pytest.importorskip("mpi4py")

mpirun = shutil.which("mpirun") or shutil.which("mpiexec")

# More ranks than processors, as root, without a network: Open MPI wants to be told. Others do not look at it.
ENVIRONMENT = {
    "OMPI_ALLOW_RUN_AS_ROOT": "1",
    "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
    "OMPI_MCA_rmaps_base_oversubscribe": "1",
    "OMPI_MCA_mpi_yield_when_idle": "1",
    "OMPI_MCA_btl": "self,vader",
    "OMPI_MCA_btl_vader_single_copy_mechanism": "none",
    "OMPI_MCA_plm_rsh_agent": "",
    "OMPI_MCA_hwloc_base_binding_policy": "none",
}


@pytest.mark.skipif(mpirun is None, reason="no mpirun")
@pytest.mark.parametrize("ranks", [1, 2, 3, 4, 7])
def test_ranks(ranks):
    program = pathlib.Path(__file__).with_name("mpi_ranks.py")
    done = subprocess.run(
        [mpirun, "-n", str(ranks), sys.executable, "-m", "mpi4py", program, str(ranks)],
        env={**os.environ, **ENVIRONMENT},
        capture_output=True,
        text=True,
        timeout=600,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout == f"passed on {list(range(ranks))}\n"
