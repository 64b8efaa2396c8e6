"""The programs in examples/ print what they promise, with tuplescan as it is installed."""

import importlib.util
import pathlib
import re
import subprocess
import sys

import pytest

TREE = pathlib.Path(__file__).parents[2]


@pytest.mark.parametrize("example", sorted((TREE / "examples").glob("*.py")), ids=lambda example: example.stem)
def test_example(example, tmp_path):
    for package in re.findall(r"^(?:import|from) (\w+)", example.read_text(), re.M):
        if importlib.util.find_spec(package) is None:
            pytest.skip(f"no {package}")
    done = subprocess.run([sys.executable, TREE / "tests/test_example.py", example, sys.executable, example],
                          cwd=tmp_path, capture_output=True, text=True, timeout=600)  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
