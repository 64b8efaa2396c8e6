# The site, made by tools/build-site.sh of the pages where they lie. The tree is Sphinx's source folder, so that links
# between pages, and from them to headers and examples, lead where they do in the tree.
import pathlib
import re
import subprocess
import sys
import tempfile
from unittest import mock

from docutils import nodes
from sphinx.util.docutils import SphinxDirective

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
tree = pathlib.Path(__file__).resolve().parents[2]
doxygen = tempfile.TemporaryDirectory()
settings = {"version": "", "output": doxygen.name, "source": str(tree), "python": sys.executable}
doxyfile = re.sub("@(.*?)@", lambda name: settings[name[1]], (tree / "docs/reference/Doxyfile.in").read_text())
doxyfile += "GENERATE_HTML = NO\nGENERATE_XML = YES\nXML_PROGRAMLISTING = NO\n"
subprocess.run(["doxygen", "-"], input=doxyfile, text=True, check=True)
breathe_projects = {"tuplescan": f"{doxygen.name}/xml"}
breathe_default_project = "tuplescan"
breathe_domain_by_extension = {"h": "c"}


class Help(SphinxDirective):
    """What `tuplescan COMMAND --help` prints, of which the manual pages are made, too."""

    required_arguments = 1

    def run(self):
        done = subprocess.run(["tuplescan", *self.arguments, "--help"], capture_output=True, text=True, check=True)
        return [nodes.literal_block(done.stdout, done.stdout, language="text", classes=["help"])]


def keep_from_search(app, doctree):
    """What is for authors is read by going there: readers who search for a word want to use it."""
    if re.match("docs/(lab|tuning|figures)|kernels|tests|CONTRIBUTING", app.env.docname):
        app.env.metadata[app.env.docname]["nosearch"] = True


def setup(app):
    app.connect("doctree-read", keep_from_search)
    app.add_directive("help", Help)
