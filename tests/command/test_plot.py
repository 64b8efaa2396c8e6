"""tools/plot_bench.py on what `tuplescan bench --json` writes, and tools/draw_figures.py on docs/figures: which pictures
there are, not how they look."""
import json
import os
import subprocess
import sys
from pathlib import Path

from harness import CommandTest, main

PLOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "tools", "plot_bench.py")
DRAW, DOCS = Path(PLOT).with_name("draw_figures.py"), Path(PLOT).resolve().parent.parent / "docs"
QUICK = ["bench", "--backend", "cpu", "--repeat", "1", "--threads", "1", "--no-numpy", "--json", "--quiet"]

# In the place of matplotlib, which need not be there: a picture is the names of its lines.
MATPLOTLIB = {
    "__init__.py": "rcParams = {}\ndef use(backend):\n    pass\n",
    "pyplot.py": """
class Anything:
    def __init__(self, lines):
        self.lines = lines
    def __getattr__(self, name):
        return lambda *values, **options: None
    def plot(self, x, y, label, **options):
        assert len(x) == len(y) > 0
        self.lines.append(label)
    def savefig(self, path, metadata=None):
        with open(path, "w") as file:
            file.write("\\n".join(self.lines))
def subplots(**options):
    lines = []
    return Anything(lines), Anything(lines)
def close(figure):
    pass
""",
}


class Plot(CommandTest):
    def setUp(self):
        super().setUp()
        os.makedirs(self.path("modules/matplotlib"))
        for name, text in MATPLOTLIB.items():
            self.write(os.path.join("modules/matplotlib", name), text.encode())

    def bench(self, name, *arguments):
        return self.write(name, self.run_command(*QUICK, *arguments).stdout)

    def plot(self, *arguments, code=0):
        """The pictures, and the text on standard error."""
        environment = dict(os.environ, PYTHONPATH=self.path("modules"))
        result = subprocess.run([sys.executable, PLOT, "-o", "out", *arguments], cwd=self.folder, env=environment,
                                capture_output=True)
        self.assertEqual(result.returncode, code, result.stderr.decode())
        return sorted(os.listdir(self.path("out"))), result.stderr.decode()

    def test_over_columns_and_rows(self):
        wide = self.bench("wide.json", "--bytes", "32K", "--columns", "1,2,4", "--types", "u32,u8:u64")
        small = self.bench("small.json", "--rows", "2^4,2^6", "--columns", "1,4", "--types", "u32")
        pictures, _ = self.plot(wide, small)
        self.assertEqual(pictures, ["small-rows-1-columns-u32.svg", "small-rows-4-columns-u32.svg",
                                    "wide-of-memcpy-u32.svg", "wide-of-memcpy-u8-u64.svg"])
        self.assertEqual(self.read("out/small-rows-4-columns-u32.svg").decode().splitlines(),
                         ["tuplescan, 1 thread", "memcpy", "serial C loop"])

    def test_paths_are_rounded(self):
        self.write("a.svg", b'<path d="M 1.2345 -0.06\nL 10.25 3 "/> \n<use x="7.999"/>\n<text>0.125 s, "of 1.25"</text>\n')
        environment = dict(os.environ, PYTHONPATH=self.path("modules"))
        subprocess.run([sys.executable, "-c", "import sys; sys.path.insert(0, sys.argv[1]); import plot_bench; "
                        "plot_bench.round_numbers('a.svg')", os.path.dirname(PLOT)], cwd=self.folder, env=environment,
                       check=True)
        self.assertEqual(self.read("a.svg"), b'<path d="M 1.2 -0.1\nL 10.2 3 "/>\n<use x="8.0"/>\n'
                                             b'<text>0.125 s, "of 1.25"</text>\n')

    def test_what_cannot_be_drawn_is_left_out(self):
        others = [self.bench("pipelines.json", "--pipelines", "--bytes", "4K"),
                  self.write("accuracy.json", self.run_command("bench", "--backend", "cpu", "--json", "--quiet",
                                                               "--accuracy", "--bytes", "4K").stdout),
                  self.bench("windows.json", "--bytes", "4K", "--columns", "4/8"),
                  self.write("empty.json", b""), self.write("torn.json", b'{"results": [')]
        _, said = self.plot(*others, code=1)
        for name in others:
            self.assertIn(name, said)
        small = self.bench("small.json", "--rows", "2^4,2^6", "--columns", "1", "--types", "f32")
        pictures, _ = self.plot(*others, small)
        self.assertEqual(pictures, ["small-rows-1-columns-f32.svg"])

    def test_pictures_of_the_site(self):
        """All figures are drawn by one script: the same files, or where matplotlib makes them the same lines."""
        environment = dict(os.environ, PYTHONPATH=self.path("modules"))
        subprocess.run([sys.executable, "-B", DRAW, "docs"], cwd=self.folder, env=environment, check=True,
                       stdout=subprocess.DEVNULL)
        drawn = {path.relative_to(self.path("docs")): path.read_text() for path in Path(self.path("docs")).rglob("*.svg")}
        there = {path.relative_to(DOCS): path.read_text() for path in (DOCS / "figures").rglob("*.svg")}
        self.assertEqual(sorted(drawn), sorted(there))
        for name, picture in drawn.items():
            if picture.startswith("<"):
                self.assertEqual(picture, there[name], name)
            else:
                for line in picture.splitlines():
                    self.assertIn(f">{line}</text>", there[name], name)

    def test_checked_beside_unchecked(self):
        wide = self.bench("wide.json", "--bytes", "32K", "--columns", "1,2", "--types", "u32")
        run = json.loads(self.read(wide))
        results = [dict(r, backend="cuda", strategy="fused", overflow_checked=checked)
                   for r in run["results"] for checked in (False, True)]
        self.write(wide, json.dumps(dict(run, machine=dict(run["machine"], gpu="GPU"), results=results)).encode())
        self.assertEqual(self.plot(wide)[0], ["wide-of-memcpy-u32.svg"])
        lines = self.read("out/wide-of-memcpy-u32.svg").decode().splitlines()
        self.assertEqual(lines[:2], ["tuplescan, fused", "memcpy"])
        self.assertIn("tuplescan, fused, checked", lines)


if __name__ == "__main__":
    main()
