"""python -m tuplescan: the tuplescan command that was installed with this package, or the system's."""

import os
import pathlib
import shutil
import signal
import sys


def command():
    """The path of the command, or None if the package was installed without it and it is nowhere else."""
    own = pathlib.Path(__file__).with_name("tuplescan")
    if own.is_file():
        return str(own)
    found = shutil.which("tuplescan")
    if found and pathlib.Path(found).read_bytes()[:2] == b"#!":
        return None  # the script that comes here
    return found


def environment():
    """With the library of tuplescan-cuda, if it is installed, before the one beside the command."""
    kernels = sys.modules.get("tuplescan_cuda")
    if not kernels:
        return os.environ
    folders = [str(pathlib.Path(kernels.__file__).parent), *filter(None, [os.environ.get("LD_LIBRARY_PATH")])]
    return {**os.environ, "LD_LIBRARY_PATH": ":".join(folders)}


def main():
    path = command()
    if path is None:
        sys.exit("tuplescan: this package was installed without the command")
    for ignored in (signal.SIGPIPE, signal.SIGXFSZ):  # by Python, and so by what it starts
        signal.signal(ignored, signal.SIG_DFL)
    os.execve(path, ["tuplescan", *sys.argv[1:]], environment())


if __name__ == "__main__":
    main()
