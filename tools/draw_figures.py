#!/usr/bin/env python3
"""draw_figures.py [DOCS]: the pictures of docs/figures/, in the folder DOCS (docs/ of the tree). Wants matplotlib."""
import json
import math
import sys
from pathlib import Path

import plot_bench

SOURCE = Path(__file__).resolve().parent.parent / "docs"
PASSES = 1.5  # copies of a device's table: it is read twice and written once
MOVED = 4 * 2**30 / 1e9  # of 2 GiB on each device, read and written


def measured(name):
    return json.loads((SOURCE / "figures" / name).read_text(encoding="utf-8"))


def draw_bench(folder):
    """What `tuplescan bench` measured on each card: columns, and tables of few rows, of f32."""
    for machine in ("h100", "h200"):
        (folder / "figures" / machine).mkdir(parents=True, exist_ok=True)
        for name in ("512m", "small"):
            run = measured(f"{machine}/{name}.json")
            run["results"] = [result for result in run["results"] if name != "small" or result["columns"] == 1]
            plot_bench.draw_all(run, str(folder / "figures" / machine / name), "f32")


def draw_python(folder):
    """Bars of the speeds of Python's libraries beside each other."""
    run, parts, y = measured("h200/python.json"), [], 0
    most = max(speed for _, rows in run["groups"] for _, speed in rows)
    for title, rows in run["groups"]:
        parts.append(f'<text x="4" y="{y + 20}" font-weight="bold">{title}, GB/s</text>')
        for name, speed in rows:
            y += 16
            wide = max(420 * speed / most, 1)
            colour = "#aaaaaa" if "copy" in name else "#1f77b4" if name.startswith("tuplescan") else "#ff7f0e"
            parts.append(f'<text x="184" y="{y + 20}" text-anchor="end">{name}</text>'
                         f'<rect x="190" y="{y + 9}" width="{wide:.1f}" height="13" fill="{colour}"/>'
                         f'<text x="{195 + wide:.1f}" y="{y + 20}">{speed:g}</text>')
        y += 24
    (folder / "figures/h200/python.svg").write_text(
        f'<svg xmlns="http://www.w3.org/2000/svg" width="680" height="{y + 10}" font-family="sans-serif" '
        'font-size="12"><rect width="100%" height="100%" fill="white"/>\n' + "\n".join(parts) + "\n</svg>\n",
        encoding="utf-8")


def exchange_us(ranks, doubling):
    """The scan of the states of 4 columns, and three small steps of log2 P levels. From 16 ranks on each has a host."""
    run = measured("scale.json")
    devices, network, levels = run["devices"], run["network"], math.ceil(math.log2(ranks))
    join, hop, level = devices["join_us"]["4"], devices["hop_us"]["4"], devices["level_us"]
    if ranks > 8:
        hop = network["hop_us"] + devices["state_bytes"]["4"] / network["bytes_per_us"] + join
        level = network["level_us"]
    return (levels * (hop + join) if doubling else (ranks - 1) * hop) + 3 * levels * level


def draw_scale(folder):
    """All ranks together beside what the model says: TB/s of tables of 2 GiB a rank, 4 columns."""
    of, ranks = measured("scale.json")["devices"], [2**k for k in range(11)]
    ceiling = PASSES * of["copy_ms"]
    mpi = {int(count): ceiling / share for count, share in of["mpi_of_ceiling"]["4"].items()}
    figure, axes = plot_bench.plt.subplots(figsize=(8, 5), constrained_layout=True)
    for name, colour, doubling in (("by doubling", "tab:blue", True), ("passed on", "tab:orange", False)):
        times = [mpi[2] + (exchange_us(n, doubling) - exchange_us(2, False)) / 1e3 for n in ranks[1:]]
        axes.plot(ranks[1:], [n * MOVED / ms for n, ms in zip(ranks[1:], times)], label=f"model, {name}", color=colour,
                  linewidth=1.2, linestyle="--")
    axes.plot(ranks, [n * MOVED / ceiling for n in ranks], label="two reads and one write", color="0.55", linewidth=1.2)
    process = dict(enumerate(of["one_process_ms"]["4"], 1))
    for name, marker, colour, found in (("one process", "o", "tab:green", process), ("MPI", "s", "navy", mpi)):
        axes.plot(list(found), [n * MOVED / ms for n, ms in found.items()], label=f"measured, {name}", color=colour,
                  marker=marker, linestyle="")
    axes.set_xscale("log", base=2)
    axes.set_yscale("log")
    figure.suptitle("Devices and ranks, 2 GiB of f32 on each, 4 columns", fontsize=12)
    axes.set_title(f"{of['machine']}, {of['date']}; from 16 ranks on a rank a host, 100 Gb/s assumed", fontsize=8)
    axes.set_xlabel("devices, a rank each")
    axes.set_ylabel("TB/s, read and written")
    plot_bench.save(figure, axes, str(folder / "figures/scale.svg"))


def main():
    folder = Path(sys.argv[1]) if len(sys.argv) > 1 else SOURCE
    draw_bench(folder)
    draw_python(folder)
    draw_scale(folder)


if __name__ == "__main__":
    main()
