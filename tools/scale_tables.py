"""The tables of docs/scale.md, which tools/speed_tables.py writes: what docs/figures/scale.json has measured, beside a
model of it, and what the model says of more ranks.

A part of R rows takes 1.5 c where it is read twice and written once, with c the time of a copy; o, whatever a call on two
parts takes beside that; and for each rank more than two a hop of the exchange, and its share of the small steps."""
import json
import math
from pathlib import Path

FIGURES = Path(__file__).resolve().parent.parent / "docs" / "figures" / "scale.json"
PASSES = 1.5


def figures(name):
    return json.loads(FIGURES.read_text(encoding="utf-8"))[name]


def levels(ranks):
    return math.ceil(math.log2(ranks))


def error(model, measured):
    return f"{100 * (model / measured - 1):+.0f} %"


def markdown(head, rows):
    return ["| " + " | ".join(head) + " |", "|" + "---|" * len(head)] + ["| " + " | ".join(row) + " |" for row in rows]


def exchange():
    """Of P ranks of one host, each of which passes the state on: P - 1 messages and P - 2 joins."""
    found = {(ranks, columns): rest for ranks, columns, *rest in figures("exchange")["rows"]}
    rows = []
    for columns in sorted({columns for _, columns in found}):
        size, join, _, _ = found[1, columns]
        message, measured = found[2, columns][3], found[4, columns][3]
        model = 3 * message + 2 * join
        rows.append([str(columns), str(size), f"{join:g}", f"{message:g}", f"{measured:g}", f"{model:.1f}",
                     error(model, measured)])
    return markdown(["columns of f32", "bytes of a state", "a join, us", "2 ranks, us", "4 ranks, us", "model", "error"], rows)


def measured_ms(kind, columns):
    """{parts: ms}"""
    of = figures("devices")
    if kind == "one process":
        return {parts: ms for parts, ms in enumerate(of["one_process_ms"][columns], 1)}
    shares = of["mpi_of_ceiling" if kind == "MPI" else "nccl_of_ceiling"][columns]
    return {int(parts): PASSES * of["copy_ms"] / share for parts, share in shares.items()}


def exchange_us(columns, ranks, doubling=False, hosts=False):
    """All steps of ranks of MPI: the scan of states, and three small steps of log2 P levels."""
    of, net = figures("devices"), figures("network")
    join, hop, level = of["join_us"][columns], of["hop_us"][columns], of["level_us"]
    if hosts:
        hop, level = net["hop_us"] + of["state_bytes"][columns] / net["bytes_per_us"] + join, net["level_us"]
    scan = levels(ranks) * (hop + join) if doubling else (ranks - 1) * hop
    return scan + 3 * levels(ranks) * level


def more_us(kind, columns, ranks, **how):
    """What the exchange takes beside that of two: but for MPI, joins on one host or by each rank."""
    if kind == "MPI":
        return exchange_us(columns, ranks, **how) - exchange_us(columns, 2)
    return (ranks - 2) * figures("devices")["join_us"][columns]


def model_ms(kind, columns, ranks, **how):
    return measured_ms(kind, columns)[2] + more_us(kind, columns, ranks, **how) / 1e3


def devices():
    rows = []
    for kind in ("one process", "MPI", "NCCL"):
        for columns in ("4", "64"):
            cells = {1: "", 2: "", 3: "", 4: ""}
            for parts, ms in measured_ms(kind, columns).items():
                model = figures("devices")["copy_ms"] if parts == 1 else model_ms(kind, columns, parts)
                cells[parts] = f"{ms:.3f}" if parts == 2 else f"{ms:.3f}; {model:.3f}; {error(model, ms)}"
            rows.append([f"{kind}, {columns} columns", *cells.values()])
    return markdown(["ms measured; model; error", "1 device", "2 (the model's o)", "3", "4"], rows)


CASES = [("8", "a host", {"ranks": 8}), ("8", "a host, by doubling", {"ranks": 8, "doubling": True}),
         ("64", "64 hosts", {"ranks": 64, "hosts": True}),
         ("64", "64 hosts, by doubling", {"ranks": 64, "hosts": True, "doubling": True}),
         ("1000", "1000 hosts", {"ranks": 1000, "hosts": True}),
         ("1000", "1000 hosts, by doubling", {"ranks": 1000, "hosts": True, "doubling": True})]


def thousand():
    rows, ceiling = [], PASSES * figures("devices")["copy_ms"]
    for ranks, where, how in CASES:
        cells = []
        for columns in ("4", "64"):
            ms = model_ms("MPI", columns, **how)
            cells += [f"{ms:.2f}", f"{int(ranks) * 4 * 2**30 / ms / 1e9:.1f}", f"{ceiling / ms:.2f}"]
        rows.append([ranks, where, *cells])
    return markdown(["ranks", "on", "4 columns: ms", "TB/s", "of the ceiling", "64 columns: ms", "TB/s", "of the ceiling"], rows)
