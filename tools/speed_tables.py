#!/usr/bin/env python3
"""The tables of README.md and docs/speed.md, made from what was measured, in docs/figures/.

    tools/speed_tables.py README.md docs/speed.md            writes the tables anew
    tools/speed_tables.py --check README.md docs/speed.md    says which ones differ, and exits with 1

A table stands after a comment that names it, such as <!-- table: large -->; it ends at the next empty line. The names
are those of TABLES below.
"""
import json
import re
import sys
from pathlib import Path

FIGURES = Path(__file__).resolve().parent.parent / "docs" / "figures"
GPUS = {"h100": "H100", "h200": "H200"}
PAIRS = ["u32", "f32", "u64", "f64", "u8:u32"]
WIDENED = ["u8:u32", "u16:u32", "u8:u64", "f32:f64"]


def path_of(machine, name):
    return FIGURES / machine / (name + ".json")


def measured(machine, name):
    with open(path_of(machine, name), encoding="utf-8") as file:
        return json.load(file)


def pair_of(result):
    same = result["in_type"] == result["type"]
    return result["type"] if same else result["in_type"] + ":" + result["type"]


def markdown(head, rows):
    """Rows of texts below a head of texts."""
    lines = ["| " + " | ".join(head) + " |", "|" + "---|" * len(head)]
    return lines + ["| " + " | ".join(row) + " |" for row in rows]


def span(values, digits=2, more=""):
    low, high = f"{min(values):.{digits}f}", f"{max(values):.{digits}f}"
    return (low if low == high else f"{low} to {high}") + more


def times(machine, name, pair, key="ms", **wanted):
    """{columns: a time in memcpys} of the results that are as wanted."""
    return {r["columns"]: r[key] / r["memcpy_ms"] for r in measured(machine, name)["results"]
            if pair_of(r) == pair and r.get(key) and all(r[k] == v for k, v in wanted.items())}


def over_columns(name, pairs, kinds):
    """A row for each pair, kind and GPU that has such a file. A kind is its title, the key of its time and what else is
    wanted."""
    lines = [(f"{pair}{title}, {gpu}", times(machine, name, pair, key, **wanted)) for pair in pairs
             for title, key, wanted in kinds for machine, gpu in GPUS.items() if path_of(machine, name).exists()]
    columns = sorted({c for _, line in lines for c in line})
    return markdown(["columns"] + [str(c) for c in columns],
                    [[title] + [f"{line[c]:.2f}" if c in line else "" for c in columns] for title, line in lines])


def large():
    one_pass = {"strategy": "fused"}
    return over_columns("512m", PAIRS, [("", "ms", one_pass), (" by CUB", "cub_ms", one_pass)])


def stages():
    return over_columns("512m", PAIRS, [(", " + s, "ms", {"strategy": s}) for s in ("recursive", "host")])


def widths():
    return over_columns("widths", PAIRS[:4] + WIDENED, [("", "ms", {"strategy": "fused"})])


def all_pairs(name):
    """All that were measured, in the order of the file."""
    pairs = dict.fromkeys(pair_of(r) for machine in GPUS if path_of(machine, name).exists()
                          for r in measured(machine, name)["results"])
    return over_columns(name, list(pairs), [("", "ms", {})])


def small_line(machine, columns, key):
    return [f"{r[key] * 1e3:.1f}" for r in measured(machine, "small")["results"]
            if (r["type"], r["columns"], r["strategy"]) == ("f32", columns, "fused")]


def small_table(keys, machines):
    rows = []
    for columns in (1, 4):
        for title, key in keys:
            for machine in machines:
                named = f"{columns} column{'s' * (columns > 1)}, {title}, {GPUS[machine]}"
                rows.append([named] + small_line(machine, columns, key))
    return markdown(["rows"] + [f"2^{k}" for k in (8, 12, 14, 16, 18, 20, 22)], rows)


def small():
    return small_table([("tuplescan", "ms"), ("CUB", "cub_ms"), ("memcpy", "memcpy_ms")], GPUS)


def calls():
    return small_table([("queued and waited for", "queued_ms"), ("CUB", "cub_queued_ms"), ("one call", "call_ms")],
                       ["h100"])


def ranges(name, pairs):
    """The least and the most by one pass, over the columns that were measured on all GPUs."""
    lines = {machine: [times(machine, name, pair, strategy="fused") for pair in pairs] for machine in GPUS}
    common = set.intersection(*(set(line) for of in lines.values() for line in of))
    return [span([line[c] for line in of for c in common]) for of in lines.values()]


def check_cost(machine):
    results = [r for r in measured(machine, "overflow")["results"] if r["strategy"] == "fused"]
    plain = {(pair_of(r), r["columns"]): r["ms"] for r in results if not r["overflow_checked"]}
    cost = [r["ms"] / plain[pair_of(r), r["columns"]] - 1 for r in results if r["overflow_checked"]]
    return f"{max(cost) * 100:.1f} %"


def differing(machine, who):
    return [100 * r["differing_between_runs"] for r in measured(machine, "accuracy")["accuracy"]
            if r["who"].startswith(who)]


def differing_text(machine):
    ours = [r for r in measured(machine, "accuracy")["accuracy"] if r["who"].startswith("tuplescan")]
    assert not any(r["differing_between_runs"] or r["differing_from_tuplescan_cpu"] for r in ours)
    return span(differing(machine, "CUB"), 0, " %")


def summary():
    windows = [span([r["ms"] / r["memcpy_ms"] for r in measured(m, "windows")["results"] if r["strategy"] == "fused"])
               for m in GPUS]
    return markdown(["time in memcpys", *GPUS.values()], [
        ["1 to 4096 columns, 4- and 8-byte values", *ranges("512m", PAIRS[:4])],
        ["the same columns, u8 to u32", *ranges("512m", PAIRS[4:])],
        ["odd widths, 9 to 1025 columns, 4- and 8-byte values", *ranges("widths", PAIRS[:4])],
        ["the same, values that are widened", *ranges("widths", WIDENED)],
        ["a window of columns, in cudaMemcpy2Ds", *windows],
        ["more for the overflow check, at most", *(check_cost(m) for m in GPUS)],
    ])


def claim():
    """The four numbers of the README."""
    def of(machine, key):
        return f"{times(machine, '512m', 'u32', key, strategy='fused')[4]:.2f}"
    return markdown(["", *("NVIDIA " + gpu for gpu in GPUS.values())], [
        ["time for 2^25 rows of 4 u32, in memcpys of them",
         *(f"**{of(m, 'ms')}** (CUB: {of(m, 'cub_ms')})" for m in GPUS)],
        ["time for 256 rows of one f32, in a CUDA graph",
         *(f"**{small_line(m, 1, 'ms')[0]} us** (CUB: {small_line(m, 1, 'cub_ms')[0]} us)" for m in GPUS)],
        ["float sums that differ between two runs, or from the CPU's",
         *(f"**none** (CUB, two runs: {differing_text(m)})" for m in GPUS)],
        ["cost of finding the first overflow, by row and column", *(f"**{check_cost(m)}** at most" for m in GPUS)],
    ])


def pipelines():
    rows = []
    spreads = ["uniform", "all equal", "sorted", "zipf"]
    for machine, gpu in GPUS.items():
        kinds = {}
        for r in measured(machine, "pipelines")["results"]:
            kinds.setdefault((r["what"], r["type"]), {})[r["spread"]] = r
        for (what, of_type), kind in kinds.items():
            rows.append([f"{what}, {gpu}", of_type] + [f"{kind[s]['gkeys_per_second']:.1f}" for s in spreads] +
                        [span([r["of_cub"] for r in kind.values()])])
    rows.sort(key=lambda row: row[0].split(",")[0] != "sort")
    return markdown(["Gkeys/s", "type", *spreads, "of CUB's speed"], rows)


def cpu(machine):
    results = measured(machine, "cpu")["results"]
    columns = sorted({r["columns"] for r in results})
    rows = []
    for pair in PAIRS[:4]:
        cells = []
        for c in columns:
            of = sorted((r["threads"], r["ms"] / r["memcpy_ms"]) for r in results
                        if pair_of(r) == pair and r["columns"] == c)
            cells.append(" / ".join(f"{t:.2f}" for _, t in of))
        rows.append([pair] + cells)
    for key, title in (("serial_ms", "f32, plain C loop"), ("numpy_ms", "f32, numpy.cumsum")):
        of = {c: [r[key] / r["memcpy_ms"] for r in results if r.get(key) and pair_of(r) == "f32" and r["columns"] == c]
              for c in columns}
        if any(of.values()):
            rows.append([title] + [f"{of[c][0]:.1f}" for c in columns])
    return markdown(["columns"] + [str(c) for c in columns], rows)


def cpu_pipelines():
    kinds = {}
    for r in measured("epyc", "pipelines")["results"]:
        if r["spread"] == "uniform":
            kinds.setdefault((r["what"], r["type"]), {})[r["threads"]] = r
    rows = []
    for (what, of_type), runs in kinds.items():
        speeds = " / ".join(f"{r['keys'] / r['ms'] / 1e3:.0f}" for _, r in sorted(runs.items()))
        first, beside = runs[1], ""
        if first.get("std_sort_ms"):
            beside = ", ".join(f"{name} {first['keys'] / first[key] / 1e3:.1f}"
                               for name, key in (("std::sort", "std_sort_ms"), ("qsort", "qsort_ms")))
        elif first.get("of_read"):
            beside = " / ".join(f"{r['of_read']:.2f}" for _, r in sorted(runs.items())) + " of reading"
        rows.append([what, of_type, speeds, beside])
    return markdown(["", "type", "Mkeys/s", "beside"], rows)


TABLES = {
    "claim": claim, "summary": summary, "large": large, "stages": stages, "widths": widths, "small": small,
    "calls": calls, "pipelines": pipelines, "cpu xeon": lambda: cpu("xeon"), "cpu epyc": lambda: cpu("epyc"),
    "cpu pipelines": cpu_pipelines, "pairs": lambda: all_pairs("pairs"), "reversed": lambda: all_pairs("reversed"),
    "nan": lambda: all_pairs("nan"),
}


def filled(text):
    """The text with all of its tables made anew."""
    def table(match):
        return match.group(1) + "\n".join(TABLES[match.group(2)]()) + "\n"
    return re.sub(r"^(<!-- table: ([a-z0-9 ]+) -->\n)(?:\|.*\n)*", table, text, flags=re.MULTILINE)


def main():
    check = "--check" in sys.argv[1:]
    paths = [Path(a) for a in sys.argv[1:] if a != "--check"]
    if not paths or any(str(path).startswith("-") for path in paths):
        print(__doc__, end="")
        return 64 if not {"-h", "--help"} & set(sys.argv) else 0
    wrong = 0
    for path in paths:
        old = path.read_text(encoding="utf-8")
        new = filled(old)
        if not check:
            path.write_text(new, encoding="utf-8")
            continue
        for ours, theirs in zip(new.splitlines(), old.splitlines()):
            if ours != theirs:
                print(f"{path}: the figures say:\n{ours}\nbut it says:\n{theirs}")
                break
        wrong += old != new
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
