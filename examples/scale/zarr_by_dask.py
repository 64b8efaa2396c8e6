"""Running sums of a Zarr array that no machine need hold, into another one, by the workers of Dask.

    python zarr_by_dask.py work --rows 1000000 --columns 64 --block 65536

Each block is read twice: its total is made, by any worker, in any order; the totals, some kilobytes each, are joined;
then each block is summed from the joined state on. A worker that dies is started again by Dask, and its blocks are
given to others. If all die, the same command goes on with what is in the folder."""

import os
import signal
import time

import zarr
from blocks import (Folder, Phase, borders, die, joined, most_memory, parser_of, random_block, same_as_one_process,
                    sums, total)
from dask.distributed import Client, LocalCluster, as_completed


def make_block(path, first, last):
    array = zarr.open(path, mode="r+")
    array[first:last] = random_block(first, last, array.shape[1])


def total_block(path, first, last):
    return total(zarr.open(path, mode="r")[first:last], first)


def sum_block(path, into, first, last, before):
    zarr.open(into, mode="r+")[first:last] = sums(zarr.open(path, mode="r")[first:last], before)


class Job:
    def __init__(self, client, options):
        self.client, self.options, self.folder = client, options, Folder(options.folder)
        self.limits = borders(options.rows, options.block)
        self.to_kill = options.kill_worker
        self.paths = [os.path.join(options.folder, name) for name in ("table.zarr", "sums.zarr")]
        for path in self.paths:
            if not os.path.exists(path):
                zarr.create_array(path, shape=(options.rows, options.columns), chunks=(options.block, options.columns),
                                  dtype="f4", compressors=None)  # fmt: skip
            elif zarr.open(path, mode="r").shape != (options.rows, options.columns):
                raise SystemExit(f"{path}: is of another shape")

    def kill_a_worker(self):
        pids = self.client.run(os.getpid)
        os.kill(min(pids.values()), signal.SIGKILL)
        print(f"killed a worker of {len(pids)}")

    def phase(self, kind, call):
        """Has workers do `call(first, last, block)` for each block of which nothing is kept yet."""
        options, blocks = self.options, self.folder.missing(kind, range(len(self.limits)))
        phase = Phase(kind, len(self.limits), 4 * options.columns, options.bar or os.isatty(2))
        phase.done = len(self.limits) - len(blocks)
        futures = {call(*self.limits[block], block): block for block in blocks}
        for future in as_completed(futures):
            block = futures.pop(future)
            self.folder.keep(kind, block, future.result())
            phase.step(*self.limits[block])
            if kind == "sums" and self.to_kill is not None and phase.done >= self.to_kill:
                self.to_kill = self.kill_a_worker()
            if kind == "sums" and phase.done == options.die:
                die()
        print(phase.end())

    def run(self):
        submit = self.client.submit
        table, out = self.paths
        self.phase("table", lambda first, last, _: submit(make_block, table, first, last, pure=False))
        self.phase("total", lambda first, last, _: submit(total_block, table, first, last, pure=False))
        before, begun = [None], time.perf_counter()
        for block in range(len(self.limits)):
            before.append(joined(before[-1], self.folder.state(block)))
        size = len(before[-1].to_bytes())
        print(f"  join: {time.perf_counter() - begun:8.3f} s, {len(self.limits)} states of {size} bytes")
        self.phase("sums", lambda first, last, block:
                   submit(sum_block, table, out, first, last, before[block], pure=False))  # fmt: skip
        print(f"memory: {max(self.client.run(most_memory).values()):8.0f} MB at most in a worker")


def main():
    parser = parser_of(__doc__)
    parser.add_argument("--kill-worker", type=int, metavar="N", help="the same, for one worker alone")
    options = parser.parse_args()
    begun = time.perf_counter()
    with LocalCluster(n_workers=4, threads_per_worker=1, dashboard_address=None) as cluster, Client(cluster) as client:
        print(f" start: {time.perf_counter() - begun:8.3f} s, {len(client.nthreads())} workers")
        job = Job(client, options)
        job.run()
    begun = time.perf_counter()
    table, out = (zarr.open(path, mode="r") for path in job.paths)
    said = same_as_one_process(lambda *rows: table[slice(*rows)], lambda *rows: out[slice(*rows)], job.limits)
    print(f" check: {time.perf_counter() - begun:8.3f} s, {said}")


if __name__ == "__main__":
    main()
