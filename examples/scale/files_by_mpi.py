"""Running sums of a .npy file that no machine need hold, into another one, by the ranks of MPI.

    mpirun -n 4 python files_by_mpi.py work --rows 1000000 --columns 64 --block 65536

Each rank has its share of the blocks, and reads it twice, a block at a time, by MPI-IO: for its total, and, when an
exclusive scan of the totals has told it what all ranks before it have, for its sums. When a rank dies, MPI ends them
all. The same command, with as many ranks as are left, goes on with what is in the folder."""

import os
import sys

import numpy as np
from blocks import (Folder, Phase, borders, die, joined, most_memory, parser_of, random_block, same_as_one_process,
                    sums, total)
from mpi4py import MPI


class File:
    """A .npy of f32 that all ranks have open. Rank 0 makes it if it is not there."""

    def __init__(self, comm, path, shape):
        self.columns = shape[1]
        if comm.rank == 0 and not os.path.exists(path):
            temporary = f"{path}.{os.getpid()}"
            np.lib.format.open_memmap(temporary, "w+", "f4", shape)
            os.replace(temporary, path)
        comm.Barrier()
        self.values = np.load(path, mmap_mode="r")
        if self.values.shape != shape:
            raise ValueError(f"{path}: is of another shape")
        self.file = MPI.File.Open(comm, path, MPI.MODE_RDWR)

    def _at(self, row):
        return self.values.offset + row * 4 * self.columns

    def read(self, first, last):
        values, status = np.empty((last - first, self.columns), "f4"), MPI.Status()
        self.file.Read_at(self._at(first), [values, MPI.BYTE], status)
        if status.Get_count(MPI.BYTE) != values.nbytes:
            raise OSError(f"rows {first} to {last}: the file ends before them")
        return values

    def write(self, first, values):
        status = MPI.Status()
        self.file.Write_at(self._at(first), [values, MPI.BYTE], status)
        if status.Get_count(MPI.BYTE) != values.nbytes:
            raise OSError(f"the rows from {first} on were not written")


class Job:
    def __init__(self, comm, options):
        self.comm, self.options, self.folder = comm, options, Folder(options.folder)
        self.limits = borders(options.rows, options.block)
        self.own = range(len(self.limits) * comm.rank // comm.size, len(self.limits) * (comm.rank + 1) // comm.size)
        shape = options.rows, options.columns
        names = ("table.npy", "sums.npy")
        self.table, self.out = (File(comm, os.path.join(options.folder, name), shape) for name in names)

    def say(self, text):
        if self.comm.rank == 0:
            print(text, flush=True)

    def phase(self, kind, call):
        """Calls `call(first, last, block)` for each block of this rank of which nothing is kept yet."""
        shown = self.comm.rank == 0 and (self.options.bar or os.isatty(2))
        phase = Phase(kind, len(self.own), 4 * self.options.columns, shown)
        blocks = self.folder.missing(kind, self.own)
        phase.done = len(self.own) - len(blocks)
        for block in blocks:
            self.folder.keep(kind, block, call(*self.limits[block], block))
            phase.step(*self.limits[block])
            if kind == "sums" and self.comm.rank == self.comm.size - 1 and phase.done == self.options.die:
                die()
        self.comm.Barrier()
        self.say(phase.end() + (" of rank 0" if self.comm.size > 1 else ""))

    def exchange(self):
        """The state of all rows before this rank's, or None. All other states are made of it and of the kept ones."""
        own = None
        for block in self.own:
            own = joined(own, self.folder.state(block))
        begun = MPI.Wtime()
        before = self.comm.exscan(own, op=lambda left, right: joined(left, right) if right else left)
        self.comm.Barrier()
        size = len(own.to_bytes()) if own else 0
        self.say(f"  join: {MPI.Wtime() - begun:8.6f} s, a state of {size} bytes a rank")
        return before

    def run(self):
        options = self.options
        self.phase("table", lambda first, last, _: self.table.write(first, random_block(first, last, options.columns)))
        self.phase("total", lambda first, last, _: total(self.table.read(first, last), first))
        states, before = {}, self.exchange()
        for block in self.own:
            states[block], before = before, joined(before, self.folder.state(block))
        self.phase("sums", lambda first, last, block:
                   self.out.write(first, sums(self.table.read(first, last), states[block])))  # fmt: skip
        self.say(f"memory: {self.comm.allreduce(most_memory(), max):8.0f} MB at most in a rank")

    def check(self):
        begun = MPI.Wtime()
        said = same_as_one_process(self.table.read, self.out.read, self.limits)
        self.say(f" check: {MPI.Wtime() - begun:8.3f} s, {said}")


def main():
    comm = MPI.COMM_WORLD
    job = Job(comm, parser_of(__doc__).parse_args())
    job.say(f"{comm.size} ranks")
    job.run()
    if comm.rank == 0:
        job.check()


if __name__ == "__main__":
    try:
        main()
    except Exception as error:
        print(f"rank {MPI.COMM_WORLD.rank}: {error!r}", file=sys.stderr, flush=True)
        MPI.COMM_WORLD.Abort(1)
