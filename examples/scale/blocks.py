"""What both programs do with the blocks of a table: the total of one, the sums of one, and the files in a folder by
which a job that died goes on where it was. Each file is there whole or not at all. Processes may die at any time; after
a loss of power begin with an empty folder, since nothing waits for the disk."""

import argparse
import os
import resource
import signal
import sys
import time

import numpy as np
import tuplescan


def parser_of(description):
    parser = argparse.ArgumentParser(description=description, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", help="where the tables are, or are made, and what is done is kept")
    parser.add_argument("--rows", type=int, default=1 << 16, help="of the table, if it is to be made")
    parser.add_argument("--columns", type=int, default=16)
    parser.add_argument("--block", type=int, default=1 << 12, help="rows that are summed at a time")
    parser.add_argument("--bar", action="store_true", help="a progress bar, where standard error is no terminal, too")
    parser.add_argument("--die", type=int, metavar="N", help="to see what comes then: SIGKILL after N blocks of sums")
    return parser


def random_block(first, last, columns):
    """Rows of the table: the same ones whoever makes them, as long as blocks begin at the same rows."""
    return np.random.default_rng(first).standard_normal((last - first, columns), np.float32)


def borders(rows, block):
    """The first and the last row of each block."""
    return [(first, min(first + block, rows)) for first in range(0, rows, block)]


def total(values, first_row):
    """The state of a block's rows alone: which row of the table they begin at, and what they add up to."""
    state = tuplescan.State.begin(values.dtype, values.shape[1], first_row)
    tuplescan.column_totals(values, state=state)
    return state


def joined(before, state):
    """The state of all rows through a block's last one."""
    if before is None:
        return state
    both = before.copy()
    both.join(state)
    return both


def sums(values, before):
    """The running sums of a block, after all rows before it, which have the state `before`. None: there are none."""
    return tuplescan.cumsum(values, axis=0, out=values, state=None if before is None else before.copy())


class Folder:
    """The work done: a file with the state of each block that was totalled, an empty file for each that was summed."""

    def __init__(self, path):
        self.path = path
        os.makedirs(path, exist_ok=True)

    def _place(self, kind, block):
        return os.path.join(self.path, f"{kind}-{block:06}")

    def has(self, kind, block):
        return os.path.exists(self._place(kind, block))

    def keep(self, kind, block, state=None):
        temporary = f"{self._place(kind, block)}.{os.getpid()}"
        with open(temporary, "wb") as file:
            file.write(b"" if state is None else state.to_bytes())
        os.replace(temporary, self._place(kind, block))

    def state(self, block):
        with open(self._place("total", block), "rb") as file:
            return tuplescan.State.from_bytes(file.read())

    def missing(self, kind, blocks):
        return [block for block in blocks if not self.has(kind, block)]


def die():
    os.kill(os.getpid(), signal.SIGKILL)


def most_memory():
    """MB that this process has held at a time."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


class Phase:
    """Times a part of the job, and draws how far it is on standard error."""

    WIDTH = 30

    def __init__(self, name, count, row_bytes, shown=True):
        self.name, self.count, self.done, self.bytes, self.row_bytes = name, count, 0, 0, row_bytes
        self.shown, self.begun = shown, time.perf_counter()

    def step(self, first, last):
        self.done += 1
        self.bytes += (last - first) * self.row_bytes
        self._draw()

    def _draw(self):
        if not self.shown:
            return
        seconds, full = time.perf_counter() - self.begun, self.WIDTH * self.done // max(self.count, 1)
        left = seconds * (self.count / self.done - 1) if self.done else 0
        print(f"\r{self.name:>6} [{'#' * full:<{self.WIDTH}}] {self.done}/{self.count} blocks, "
              f"{self.bytes / seconds / 1e9:.2f} GB/s, {left:.0f} s left ",
              end="", file=sys.stderr, flush=True)  # fmt: skip

    def end(self):
        self._draw()
        if self.shown:
            print(file=sys.stderr)
        return f"{self.name:>6}: {time.perf_counter() - self.begun:8.3f} s, {self.done} of {self.count} blocks"


def same_as_one_process(read, written, limits):
    """Sums the table once more, in this process alone, and compares all bits."""
    state = tuplescan.State()
    for first, last in limits:
        if tuplescan.cumsum(read(first, last), axis=0, state=state).tobytes() != written(first, last).tobytes():
            return f"rows {first} to {last} DIFFER from those of one process"
    return "the bits of one process"
