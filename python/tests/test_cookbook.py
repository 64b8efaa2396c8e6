"""The Python blocks of all pages, each a program in an empty folder, print what the page says below them, or nothing. A
block whose packages are not installed is skipped, and so is one marked for a GPU where there is none. With
TUPLESCAN_BLOCKS_OF="dask zarr" only blocks that name one of these packages are run: all others run elsewhere."""

import importlib.util
import os
import pathlib
import re
import subprocess
import sys

import pytest
from arrays import MPI, mpirun

TREE = pathlib.Path(__file__).parents[2]
PAGES = [*TREE.glob("*.md"), *TREE.glob("docs/*.md"), TREE / "python/README.md", TREE / "examples/scale/README.md"]
BLOCK = re.compile(r"(?:<!-- not run: (\w+) -->\n)?```python\n(.*?)```\n(?:\n```text\n(.*?)```)?", re.S)
ONLY_OF = set(os.environ.get("TUPLESCAN_BLOCKS_OF", "").split())


def tasks():
    for page in filter(pathlib.Path.exists, sorted(PAGES)):
        for task in re.split("^##+ ", page.read_text(), flags=re.M):
            blocks = BLOCK.findall(task)
            assert len(blocks) == task.count("```python"), f"{page}: a block that is not found: {task}"
            for reason, program, printed in blocks:
                if ONLY_OF and not ONLY_OF.intersection(re.findall(r"\w+", program)):
                    continue
                yield pytest.param(reason, program, printed, id=f"{page.relative_to(TREE)}: {task.splitlines()[0]}")


def on_a_device():
    import torch

    return torch.cuda.is_available()


@pytest.mark.parametrize("reason, program, printed", list(tasks()))
def test_block(reason, program, printed, tmp_path):
    for package in re.findall(r"^(?:import|from) (\w+)", program, re.M):
        if importlib.util.find_spec(package) is None:
            pytest.skip(f"no {package}")
    if reason == "gpu" and not on_a_device():
        pytest.skip("no GPU")
    if reason == "mpi" and mpirun is None:
        pytest.skip("no mpirun")
    ranks = [mpirun, "-n", "4"] if reason == "mpi" else []
    (tmp_path / "block.py").write_text(program)
    done = subprocess.run([*ranks, sys.executable, "block.py"], cwd=tmp_path, env={**os.environ, **MPI},
                          capture_output=True, text=True, timeout=600)  # fmt: skip
    assert (done.returncode, done.stdout) == (0, printed), done.stderr
