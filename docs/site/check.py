"""check.py HTML: what the site in this folder may lack though it was made without a warning: calls of Python in the
reference, and pages that people who search for a word want to find. tools/look_at_site.py looks at it in a browser."""
import json
import re
import sys
from pathlib import Path

from sphinx.search.en import SearchEnglish

STUBS = Path(__file__).resolve().parents[2] / "python/tuplescan"
WORDS = ["CDF", "quantile", "groupby", "pandas", "threads", "resume", "median", "EMA", "memory", "Zarr", "NaN",
         "overflow"]


def calls_without_a_reference(page):
    for stub in sorted(STUBS.glob("*.pyi")):
        module = "tuplescan" if stub.stem == "__init__" else f"tuplescan.{stub.stem}"
        for name in re.findall(r"^(?:def |class )?([A-Za-z]\w*)(?=\(|:| = \w+$)", stub.read_text(), re.MULTILINE):
            if f'id="{module}.{name}"' not in page:
                yield f"not in the reference: {module}.{name}"


def words_without_a_task(index):
    """By the index that the search of the site reads."""
    found = json.loads(index[index.index("{") : index.rindex("}") + 1])
    wanted = {found["docnames"].index(name) for name in ("docs/cookbook", "docs/faq")}
    for word in WORDS:
        stem = SearchEnglish({}).stem(word.lower())
        pages = [found[terms].get(stem, []) for terms in ("terms", "titleterms")]
        pages = {page for of in pages for page in (of if isinstance(of, list) else [of])}
        if not pages & wanted:
            yield f"a search for {word} finds no task and no question"


def main():
    html = Path(sys.argv[1])
    faults = [*calls_without_a_reference((html / "docs/site/python.html").read_text(encoding="utf-8")),
              *words_without_a_task((html / "searchindex.js").read_text(encoding="utf-8"))]
    sys.exit("\n".join(faults) if faults else 0)


if __name__ == "__main__":
    main()
