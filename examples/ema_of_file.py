"""The exponential moving average of a file that need not fit in memory, y[i] = 0.999 * y[i - 1] + 0.001 * x[i]: read in
pieces, each of which goes on from the state of the one before, with the bits of the whole. The file is made here, in
the folder of the program's start, and deleted: 4 bytes a row, and as many for the averages. How long it took is said
on standard error.

    python ema_of_file.py [ROWS]

prints

    the pieces have the bits of the whole: True
"""

import os
import sys
import time

import numpy as np
import tuplescan

DECAY, PIECE = np.float32(0.999), 1 << 20


def pieces(rows):
    return [slice(i, min(i + PIECE, rows)) for i in range(0, rows, PIECE)]


def average(x, y):
    state = tuplescan.State()
    for piece in pieces(len(x)):
        y[piece] = tuplescan.linear_recurrence(DECAY, x[piece] * (1 - DECAY), state=state)


rows = int(sys.argv[1]) if len(sys.argv) > 1 else 3_000_000
try:
    x = np.lib.format.open_memmap("x.npy", "w+", np.float32, (rows,))
    for i, piece in enumerate(pieces(rows)):
        x[piece] = np.random.default_rng(i).random(piece.stop - piece.start, np.float32)
    y = np.lib.format.open_memmap("y.npy", "w+", np.float32, (rows,))
    began = time.perf_counter()
    average(np.load("x.npy", mmap_mode="r"), y)
    print(f"{rows} rows in {time.perf_counter() - began:.2f} s", file=sys.stderr)
    whole = tuplescan.linear_recurrence(DECAY, x * (1 - DECAY))
    print("the pieces have the bits of the whole:", np.array_equal(y, whole))
finally:
    for name in ("x.npy", "y.npy"):
        if os.path.exists(name):
            os.remove(name)
