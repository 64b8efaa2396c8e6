"""python -m tuplescan: the tuplescan command that was installed with this package."""

import importlib.metadata
import os
import shutil
import sys


def command():
    """The path of the command, or None if the package was installed without it and it is nowhere else."""
    try:
        files = importlib.metadata.files("tuplescan")
    except importlib.metadata.PackageNotFoundError:  # not from a wheel: the system's own package
        return shutil.which("tuplescan")
    for path in files or ():
        if path.name == "tuplescan" and path.parent.name == "bin":
            return str(path.locate().resolve())
    return None


def main():
    path = command()
    if path is None or not os.access(path, os.X_OK):
        sys.exit("tuplescan: this package was installed without the command")
    os.execv(path, ["tuplescan", *sys.argv[1:]])


if __name__ == "__main__":
    main()
