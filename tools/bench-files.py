#!/usr/bin/env python3
"""How fast `tuplescan scan` takes a file to a file, and a pipe to a pipe, beside cp and cat in the same run.

    tools/bench-files.py BUILD FOLDER... [--gib 4] [--rounds 3] [--pipe-rounds 7]

FOLDER: where the files are, such as /dev/shm and a folder of a disk; each needs room for two tables. Prints a table of
f32 x 4 for each, in the words of docs/speed.md. What is cold was taken out of the page cache by posix_fadvise(). Both
have their output on the disk when the clock stops (fsync). Of the rounds, each in an order of its own, the fastest run
counts: it is what a machine that others use disturbs least. In a folder of a tmpfs NumPy stands beside both.
"""
import argparse
import fcntl
import os
import random
import statistics
import subprocess
import sys
import time

ROW, F_SETPIPE_SZ = 16, 1031
NUMPY = "import numpy, sys; numpy.save(sys.argv[2], numpy.cumsum(numpy.load(sys.argv[1]), axis=0, dtype='f4'))"


def drop(path):
    """The file's pages leave the cache, if they are on the disk; those of a tmpfs do not."""
    with open(path, "rb") as file:
        os.fsync(file.fileno())
        os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)


def warm(path):
    with open(path, "rb", buffering=0) as file:
        while file.read(1 << 20):
            pass


def timed(command, output=None, sync=False):
    """Seconds, and the most memory that was resident, in MiB."""
    if output and os.path.exists(output):
        os.unlink(output)
    begun = time.monotonic()
    process = subprocess.Popen(command)
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode != 0:
        sys.exit("%s: ended with %d" % (" ".join(command), process.returncode))
    if sync:
        with open(output, "rb") as file:
            os.fsync(file.fileno())
    return time.monotonic() - begun, usage.ru_maxrss / 1024


def is_tmpfs(folder):
    kind = subprocess.run(["stat", "-f", "-c", "%T", folder], capture_output=True, text=True, check=True).stdout.strip()
    return kind in ("tmpfs", "ramfs")


def files(tuplescan, folder, rows, rounds):
    source, target = os.path.join(folder, "bench-files-in.npy"), os.path.join(folder, "bench-files-out.npy")
    tmpfs = is_tmpfs(folder)
    scan = [tuplescan, "scan", source, "-q", "--memory", "64M", "-o", target]
    cases = {"cp": (["cp", source, target], True), "scan": (scan, False), "scan --reverse": (scan + ["--reverse"], False)}
    if tmpfs:
        cases["NumPy"] = ([sys.executable, "-c", NUMPY, source, target], True)
    try:
        subprocess.run([tuplescan, "gen", "--type", "f32", "--rows", str(rows), "--columns", "4", "-f", "-o", source],
                       check=True)
        for cold in [False] if tmpfs else [False, True]:
            found = {name: [] for name in cases}
            for _ in range(rounds):
                for name, (command, sync) in random.sample(sorted(cases.items()), len(cases)):
                    drop(source) if cold else warm(source)
                    found[name].append(timed(command, target, sync))
            report("%s, %s" % (folder, "tmpfs" if tmpfs else "cold" if cold else "warm"), found, rows)
    finally:
        for path in (source, target):
            if os.path.exists(path):
                os.unlink(path)


def report(where, found, rows):
    cp = min(seconds for seconds, _ in found["cp"])
    for name, runs in found.items():
        best = min(seconds for seconds, _ in runs)
        print("| %s | %s | %.2f s (median %.2f) | %.2f | %.1f | %.0f MiB |" %
              (where, name, best, statistics.median(seconds for seconds, _ in runs), best / cp, 2 * rows * ROW / 1e9 / best,
               max(memory for _, memory in runs)), flush=True)


def pipes(tuplescan, folder, rows, rounds):
    """A producer, one of these, and a consumer that throws all away, with pipes of 1 MiB between them."""
    source = os.path.join(folder, "bench-files-in.raw")
    scan = [tuplescan, "scan", "-", "-q", "--type", "f32", "--columns", "4", "-o", "-"]
    found = {"cat": [], "scan": []}
    try:
        subprocess.run([tuplescan, "gen", "--type", "f32", "--rows", str(rows), "--columns", "4", "-f", "-o", source],
                       check=True)
        for _ in range(rounds):
            for name, command in random.sample([("cat", ["cat"]), ("scan", scan)], 2):
                begun = time.monotonic()
                first = subprocess.Popen(["cat", source], stdout=subprocess.PIPE)
                second = subprocess.Popen(command, stdin=first.stdout, stdout=subprocess.PIPE)
                third = subprocess.Popen(["cat"], stdin=second.stdout, stdout=subprocess.DEVNULL)
                for pipe in (first.stdout, second.stdout):  # as scan has its ends, and cat has not
                    fcntl.fcntl(pipe, F_SETPIPE_SZ, 1 << 20)
                first.stdout.close()
                second.stdout.close()
                if any(process.wait() for process in (first, second, third)):
                    sys.exit("%s: failed between pipes" % name)
                found[name].append(time.monotonic() - begun)
    finally:
        if os.path.exists(source):
            os.unlink(source)
    best = {name: min(runs) for name, runs in found.items()}
    for name in found:
        print("| pipe to pipe | %s | %.2f s (median %.2f) | %.2f of cat's speed | %.1f | |" %
              (name, best[name], statistics.median(found[name]), best["cat"] / best[name], rows * ROW / 1e9 / best[name]))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build")
    parser.add_argument("folder", nargs="+")
    parser.add_argument("--gib", type=float, default=4)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--pipe-rounds", type=int, default=7)
    arguments = parser.parse_args()
    tuplescan = os.path.join(arguments.build, "tools/tuplescan")
    if not os.path.exists(tuplescan):
        sys.exit("%s: is not there; build first" % tuplescan)
    rows = int(arguments.gib * 2**30) // ROW
    print("| %d x 4 of f32, %.2f GiB | | time | of cp | GB/s, in and out | peak |" % (rows, rows * ROW / 2**30))
    print("|---|---|---|---|---|---|", flush=True)
    for folder in arguments.folder:
        files(tuplescan, folder, rows, arguments.rounds)
    pipes(tuplescan, arguments.folder[0], rows // 4 or rows, arguments.pipe_rounds)


if __name__ == "__main__":
    main()
