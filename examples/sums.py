"""The offsets of pieces that lie side by side, from how long each of them is; and sums that the pieces of a table go on
with. Wants the Python package: pip install . in the folder of tuplescan.

    python sums.py

prints

    [ 0  2  2  5  6  6 10]
    the pieces have the same bits as the whole
"""

import numpy as np

import tuplescan

entries = np.array([2, 0, 3, 1, 0, 4], np.uint32)
print(tuplescan.cumulative_sum(entries, include_initial=True))

table = np.random.default_rng(1).random((50_000, 3), dtype=np.float32)
whole = tuplescan.cumsum(table)
state = tuplescan.State()  # says how far the sums have come; it can be pickled between the pieces
upper = tuplescan.cumsum(table[:12_345], state=state)
lower = tuplescan.cumsum(table[12_345:], state=state)
same = np.array_equal(np.concatenate([upper, lower]), whole)
print("the pieces have", "the same" if same else "NOT the same", "bits as the whole")
