# The site, made by tools/build-site.sh of the pages where they lie. The tree is Sphinx's source folder, so that links
# between pages, and from them to headers and examples, lead where they do in the tree.
import pathlib
import re
import subprocess
import sys
import tempfile
from unittest import mock

tree = pathlib.Path(__file__).resolve().parents[2]
sys.path.append(str(tree / "docs/reference"))
from headers import headers

# tuplescan.torch is described without torch, whose packages are gigabytes.
torch = sys.modules["torch"] = mock.MagicMock()
for name in ("autograd", "autograd.function", "_functorch", "_functorch.utils"):
    sys.modules[f"torch.{name}"] = torch

project = "tuplescan"
root_doc = "docs/site/index"
include_patterns = ["*.md", "docs/**.md", "examples/scale/README.md", "kernels/README.md", "python/README.md",
                    "tests/emulator/README.md"]
exclude_patterns = ["build*", "docs/reference"]
extensions = ["myst_parser", "sphinx.ext.autodoc", "numpydoc", "breathe"]
myst_heading_anchors = 4
autodoc_mock_imports = ["mpi4py"]
autodoc_member_order = "bysource"
numpydoc_show_class_members = False
highlight_language = "none"
html_theme = "furo"
html_title = "tuplescan"
pygments_style, pygments_dark_style = "a11y-high-contrast-light", "a11y-high-contrast-dark"
html_static_path = ["static"]
html_css_files = ["wide.css"]
html_show_copyright = False

# The C reference: Doxygen's XML of the headers, by the same filter as its own pages (ninja -C build reference).
doxygen = tempfile.TemporaryDirectory()
settings = {"version": "", "output": doxygen.name, "source": str(tree), "python": sys.executable}
doxyfile = re.sub("@(.*?)@", lambda name: settings[name[1]], (tree / "docs/reference/Doxyfile.in").read_text())
doxyfile += "GENERATE_HTML = NO\nGENERATE_XML = YES\nXML_PROGRAMLISTING = NO\n"
subprocess.run(["doxygen", "-"], input=doxyfile, text=True, check=True)
breathe_projects = {"tuplescan": f"{doxygen.name}/xml"}
breathe_default_project = "tuplescan"
breathe_domain_by_extension = {"h": "c"}


def section(title, *blocks):
    return f"\n## {title}\n" + "".join(f"\n{block}\n" for block in blocks)


def of_rst(directive, *options):
    return "\n".join(["```{eval-rst}", f".. {directive}", *(f"    :{option}:" for option in options), "```"])


def of_c():
    """Each header, and the programs of examples/ that make its calls."""
    texts = {path.name: path.read_text(encoding="utf-8") for path in sorted((tree / "examples").glob("*.c"))}
    for name, _, calls in headers():
        links = [f"[{program}](../../examples/{program})" for program, text in texts.items()
                 if re.search(rf"\b({'|'.join(calls)})\(", text)] if calls else []
        yield section(name, *([f"Programs: {', '.join(links)}."] if links else []), of_rst(f"doxygenfile:: {name}"))


def of_python():
    for name in ("", ".frames", ".dask", ".jax", ".torch", ".mpi"):
        options = ["members"] if name else ["members", "imported-members"]
        yield section(f"tuplescan{name}", of_rst(f"automodule:: tuplescan{name}", *options))


def of_command():
    """What `tuplescan COMMAND --help` prints, of which the manual pages are made, too."""
    def run(*arguments):
        return subprocess.run(["tuplescan", *arguments], capture_output=True, text=True, check=True).stdout
    for name in re.findall(r"^ +tuplescan (\w+) +\.\.\.", run("help"), re.MULTILINE):
        yield section(f"tuplescan {name}", f"```{{code-block}} text\n:class: help\n\n{run(name, '--help')}```")


REFERENCES = {"docs/site/c": of_c, "docs/site/python": of_python, "docs/site/command": of_command}


def fill_in(app, name, content):
    if name in REFERENCES:
        content[0] += "".join(REFERENCES[name]())


def keep_from_search(app, doctree):
    """What is for authors is read by going there: readers who search for a word want to use it."""
    if re.match("docs/(lab|tuning|figures)|kernels|tests|CONTRIBUTING", app.env.docname):
        app.env.metadata[app.env.docname]["nosearch"] = True


def setup(app):
    app.connect("doctree-read", keep_from_search)
    app.connect("source-read", fill_in)
