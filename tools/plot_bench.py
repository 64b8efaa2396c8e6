#!/usr/bin/env python3
"""Pictures of what `tuplescan bench --json` measured.

    tools/plot_bench.py docs/figures/h100/512m.json docs/figures/h100/small.json --types f32

For each JSON file and each type in it: the part of memcpy's speed over columns, and for small tables (--rows) the time
over rows. Each picture says on which machine and when it was measured, and with which command. Windows, segments,
accuracy and pipelines have no pictures; they are left out, as is a file that a failed run has left.
"""
import argparse
import json
import os
import re
import sys

try:
    import matplotlib
except ImportError:
    sys.exit("plot_bench.py: matplotlib is missing (Debian: apt install python3-matplotlib)")
matplotlib.use("Agg")
# The same figures make the same file, and figures that differ a little make files that do. Text stays text.
matplotlib.rcParams["svg.hashsalt"] = "tuplescan"
matplotlib.rcParams["svg.fonttype"] = "none"
import matplotlib.pyplot as plt

PEERS = {  # what stands beside each result: its key, name and colour
    "memcpy_ms": ("memcpy", "0.55"),
    "copy_kernel_ms": ("copy kernel", "0.75"),
    "cub_ms": ("CUB DeviceScan", "tab:red"),
    "serial_ms": ("serial C loop", "tab:brown"),
    "numpy_ms": ("numpy.cumsum", "tab:orange"),
}
OURS = {
    "fused": "tab:blue",
    "recursive": "tab:green",
    "host": "tab:purple",
    "auto": "navy",
}
MARKERS = "osD^v<>*"


def type_text(result):
    if result["in_type"] == result["type"]:
        return result["type"]
    return result["in_type"] + "-" + result["type"]


def contender(result):
    """The name under which a result of ours is drawn."""
    if result["backend"] == "cuda":
        return result["strategy"] + (", checked" if result.get("overflow_checked") else "")
    return "1 thread" if result["threads"] == 1 else f"{result['threads']} threads"


def series(results, x):
    """{name: (colour, [(x, ms)])} of ours and of the peers."""
    lines = {}
    for result in results:
        point = (result[x], result["ms"])
        name = contender(result)
        lines.setdefault("tuplescan, " + name, (OURS.get(result["strategy"]), []))[1].append(point)
        for key, (peer, colour) in PEERS.items():
            if result.get(key) is None:
                continue
            points = lines.setdefault(peer, (colour, []))[1]
            if not any(p[0] == result[x] for p in points):
                points.append((result[x], result[key]))
    return {name: (colour, sorted(points)) for name, (colour, points) in lines.items()}


def machine_text(run):
    machine = run["machine"]
    on_gpu = any(result["backend"] == "cuda" for result in run["results"])
    hardware = machine["gpu"] if on_gpu else f"{machine['cpu']}, {machine['processors']} processors"
    command = "tuplescan bench " + " ".join(run["arguments"])
    return f"{hardware}, {run['date'][:10]}, tuplescan {run['version']}\n{command}"


def round_numbers(path):
    """Leaves one digit of the fractions in an SVG, a tenth of a point."""
    def rounded(attribute):
        return re.sub(r"-?\b\d+\.\d\d+\b", lambda number: f"{float(number[0]):.1f}", attribute[0])

    with open(path, encoding="utf-8") as file:
        text = re.sub(r'(?<==)"[^"]*"', rounded, file.read())
    with open(path, "w", encoding="utf-8") as file:
        file.write(re.sub(r" +$", "", text, flags=re.MULTILINE))


def save(figure, axes, path):
    axes.grid(True, which="major", alpha=0.3)
    axes.legend(fontsize=8)
    figure.savefig(path, metadata={"Date": None, "Creator": None})
    plt.close(figure)
    round_numbers(path)
    print(path)


def draw(run, lines, title, x_label, y_label, value, path, logarithmic):
    figure, axes = plt.subplots(figsize=(8, 5), constrained_layout=True)
    for k, (name, (colour, points)) in enumerate(lines.items()):
        ours = name.startswith("tuplescan")
        axes.plot([p[0] for p in points], [value(p) for p in points], label=name, color=colour,
                  marker=MARKERS[k % len(MARKERS)], markersize=4, linewidth=2 if ours else 1.2,
                  linestyle=":" if name.endswith("checked") else "-" if ours else "--")
    axes.set_xscale("log", base=2)
    if logarithmic:
        axes.set_yscale("log")
    else:
        axes.set_ylim(bottom=0)
    figure.suptitle(title, fontsize=12)
    axes.set_title(machine_text(run), fontsize=8)
    axes.set_xlabel(x_label)
    axes.set_ylabel(y_label)
    save(figure, axes, path)


def draw_over_columns(run, results, kind, name):
    lines = series(results, "columns")
    memcpy = dict(lines["memcpy"][1])
    draw(run, lines, f"Running sums of {type_text(results[0])} tables, as a part of memcpy's speed", "columns",
         "time of memcpy / time", lambda p: memcpy[p[0]] / p[1], f"{name}-of-memcpy-{kind}.svg", False)


def draw_over_rows(run, results, kind, name):
    for columns in sorted({r["columns"] for r in results}):
        chosen = [r for r in results if r["columns"] == columns]
        draw(run, series(chosen, "rows"), f"Small {type_text(chosen[0])} tables of {columns} columns", "rows",
             "microseconds for one scan", lambda p: p[1] * 1e3, f"{name}-rows-{columns}-columns-{kind}.svg", True)


def read(path):
    """The results, or None."""
    try:
        with open(path, encoding="utf-8") as file:
            return json.load(file)
    except ValueError as error:
        print(f"plot_bench.py: {path} is left out: {error}", file=sys.stderr)
        return None


def tables(run):
    """The results that can be drawn: scans of whole tables."""
    return [r for r in run.get("results", [])
            if "columns" in r and r["stride"] == r["columns"] and not r.get("segments")]


def draw_all(run, name, types):
    """The number of types that were drawn."""
    results = tables(run)
    kinds = [kind for kind in sorted({type_text(r) for r in results}) if not types or kind in types.split(",")]
    for kind in kinds:
        chosen = [r for r in results if type_text(r) == kind]
        over_rows = len({(r["rows"], r["columns"]) for r in chosen}) > len({r["columns"] for r in chosen})
        (draw_over_rows if over_rows else draw_over_columns)(run, chosen, kind, name)
    return len(kinds)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("json", nargs="+", help="what tuplescan bench --json wrote")
    parser.add_argument("-o", "--output", metavar="FOLDER", help="where the pictures go (beside the JSON)")
    parser.add_argument("--types", help="only these, such as u32,f32,u8-u32")
    arguments = parser.parse_args()
    if arguments.output:
        os.makedirs(arguments.output, exist_ok=True)
    drawn = 0
    for path in arguments.json:
        run = read(path)
        if run is None:
            continue
        name = os.path.splitext(os.path.basename(path))[0]
        kinds = draw_all(run, os.path.join(arguments.output or os.path.dirname(path), name), arguments.types)
        if kinds == 0:
            print(f"plot_bench.py: {path} has nothing to draw", file=sys.stderr)
        drawn += kinds
    if drawn == 0:
        sys.exit("plot_bench.py: nothing was drawn")


if __name__ == "__main__":
    main()
