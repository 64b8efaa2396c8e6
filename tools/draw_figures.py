#!/usr/bin/env python3
"""All pictures of the site: those of figures out of docs/figures/, and those of docs/pictures/.

    PYTHONPATH=FOLDER tools/draw_figures.py     FOLDER of tools/python-on-build.sh, with the package; needs matplotlib"""
import json
import subprocess
import sys
from pathlib import Path

import scale_tables

TREE = Path(__file__).resolve().parent.parent
FIGURES = TREE / "docs" / "figures"


def draw_scale(path):
    """All ranks together beside what the model says: TB/s of tables of 2 GiB a rank, 4 columns."""
    import plot_bench

    figure, axes = plot_bench.plt.subplots(figsize=(8, 5), constrained_layout=True)
    ranks = [2**k for k in range(11)]
    moved = 4 * 2**30 / 1e9
    for name, colour, how in (("model, by doubling", "tab:blue", {"doubling": True}), ("model, passed on", "tab:orange", {})):
        speeds = [n * moved / scale_tables.model_ms("MPI", "4", n, hosts=n > 8, **how) for n in ranks[1:]]
        axes.plot(ranks[1:], speeds, label=name, color=colour, linewidth=1.2, linestyle="--")
    ceiling = scale_tables.PASSES * scale_tables.figures("devices")["copy_ms"]
    axes.plot(ranks, [n * moved / ceiling for n in ranks], label="two reads and one write", color="0.55", linewidth=1.2)
    for kind, marker, colour in (("one process", "o", "tab:green"), ("MPI", "s", "navy")):
        points = scale_tables.measured_ms(kind, "4")
        axes.plot(list(points), [n * moved / ms for n, ms in points.items()], label=f"measured, {kind}", color=colour,
                  marker=marker, linestyle="")
    axes.set_xscale("log", base=2)
    axes.set_yscale("log")
    of = scale_tables.figures("devices")
    figure.suptitle("Devices and ranks, 2 GiB of f32 on each, 4 columns", fontsize=12)
    axes.set_title(f"{of['machine']}, {of['date']}; from 16 ranks on a rank a host, 100 Gb/s assumed", fontsize=8)
    axes.set_xlabel("devices, a rank each")
    axes.set_ylabel("TB/s, read and written")
    axes.grid(True, which="major", alpha=0.3)
    axes.legend(fontsize=8)
    figure.savefig(path, metadata={"Date": None, "Creator": None})
    plot_bench.round_numbers(path)


def draw_python(path):
    from tuplescan import bench

    bench.draw(json.loads(path.with_suffix(".json").read_text(encoding="utf-8"))["groups"], path)


def main():
    tools = TREE / "tools"
    for machine in ("h100", "h200"):
        chosen = [FIGURES / machine / name for name in ("512m.json", "small.json")]
        subprocess.run([sys.executable, tools / "plot_bench.py", *chosen, "--types", "f32", "--only",
                        "of-memcpy,rows-1-columns"], check=True)
    subprocess.run([sys.executable, TREE / "docs/pictures/draw.py", TREE / "docs/pictures"], check=True)
    draw_scale(str(FIGURES / "scale.svg"))
    draw_python(FIGURES / "h200/python.svg")


if __name__ == "__main__":
    main()
