#!/usr/bin/env python3
"""look_at_site.py HTML [PICTURES]: goes through the pages that tools/build-site.sh made, in a browser without a window,
of 1280 and of 390 pixels, light and dark. Says which pages are wider than the window, which text has less contrast to
its background than WCAG AA asks for (4.5, or 3 where it is large), which links of a page to another lead nowhere, and
which of the words that people search for find no page. Into the folder PICTURES goes a picture of each page.

Wants the Python package playwright, and chromium in PATH (Debian's package)."""
import shutil
import sys
from pathlib import Path
from urllib.parse import unquote, urlsplit

from playwright.sync_api import sync_playwright

WORDS = ["CDF", "quantile", "groupby", "pandas", "threads", "resume", "median", "EMA", "larger than memory", "Zarr",
         "NaN"]

LOOK = """() => {
    const numbers = text => {
        const found = text.match(/[\\d.]+/g).map(Number)
        return found.length < 4 ? [...found, 1] : found
    }
    const over = (a, b) => [0, 1, 2].map(i => a[i] * a[3] + b[i] * (1 - a[3])).concat(1)
    const linear = v => v / 255 <= .03928 ? v / 255 / 12.92 : ((v / 255 + .055) / 1.055) ** 2.4
    const light = c => .2126 * linear(c[0]) + .7152 * linear(c[1]) + .0722 * linear(c[2])
    const behind = node => {
        const colours = []
        for (; node && (!colours.length || colours.at(-1)[3] < 1); node = node.parentElement)
            colours.push(numbers(getComputedStyle(node).backgroundColor))
        return colours.reduceRight((below, above) => over(above, below), [255, 255, 255, 1])
    }
    const faint = new Set(), walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT)
    let texts = 0
    while (walker.nextNode()) {
        const parent = walker.currentNode.parentElement, style = getComputedStyle(parent)
        if (!walker.currentNode.textContent.trim() || !parent.offsetParent || style.visibility == 'hidden') continue
        const below = behind(parent), above = over(numbers(style.color), below)
        const lights = [light(above), light(below)].sort((a, b) => a - b)
        const size = parseFloat(style.fontSize), large = size >= 24 || (size >= 18.66 && style.fontWeight >= 700)
        const contrast = (lights[1] + .05) / (lights[0] + .05)
        texts++
        if (contrast < (large ? 3 : 4.5))
            faint.add(`${contrast.toFixed(2)} ${parent.tagName}.${parent.className} ${style.color}`)
    }
    const links = [...document.querySelectorAll('a[href]')].map(a => a.href)
    const names = [...document.querySelectorAll('[id]')].map(e => e.id)
    return {width: document.documentElement.scrollWidth, faint: [...faint], links, names, texts}
}"""


def pages_of(root):
    return sorted(path for path in root.rglob("*.html") if path != root / "index.html" and "_static" not in path.parts)


def look(browser, root, pictures):
    """(fault, and where) of all pages; {page: (names, links)}."""
    faults, found, texts = {}, {}, 0
    for scheme in ("light", "dark"):
        for width in (1280, 390):
            page = browser.new_page(viewport={"width": width, "height": 900}, color_scheme=scheme)
            for path in pages_of(root):
                page.goto(path.as_uri())
                seen = page.evaluate(LOOK)
                name = str(path.relative_to(root))
                found[path], texts = (seen["names"], seen["links"]), texts + seen["texts"]
                if seen["width"] > width:
                    faults.setdefault(f"{scheme}, {width}: {seen['width']} pixels wide", name)
                for fault in seen["faint"]:
                    faults.setdefault(f"{scheme}, {width}: contrast {fault}", name)
                if pictures:
                    page.screenshot(path=pictures / f"{name.replace('/', '_')}-{width}-{scheme}.png")
            page.close()
    return faults, found, texts


def dead_links(root, found):
    for path, (_, links) in found.items():
        for link in links:
            parts = urlsplit(link)
            if parts.scheme != "file":
                continue
            target, section = Path(unquote(parts.path)), unquote(parts.fragment)
            if not target.exists() or (section and target in found and section not in found[target][0]):
                yield f"{path.relative_to(root)}: {link}"


def lost_words(browser, root):
    page = browser.new_page()
    for word in WORDS:
        page.goto(f"{(root / 'search.html').as_uri()}?q={word}")
        page.wait_for_selector("#search-results p.search-summary:has-text('finished')", timeout=20000)
        pages = page.locator("#search-results ul.search > li > a").all_inner_texts()
        print(f"{word}: {', '.join(pages[:4])}")
        if not any("Cookbook" in title or "Questions" in title or "Larger" in title for title in pages[:6]):
            yield f"a search for {word} finds {pages[:6]}"


def main():
    root, pictures = Path(sys.argv[1]).resolve(), Path(sys.argv[2]) if len(sys.argv) > 2 else None
    if pictures:
        pictures.mkdir(exist_ok=True)
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=shutil.which("chromium"), args=["--no-sandbox"])
        faults, found, texts = look(browser, root, pictures)
        lines = [f"{fault}: {where}" for fault, where in faults.items()]
        lines += [*dead_links(root, found), *lost_words(browser, root)]
        browser.close()
    print(*lines, f"{len(found)} pages, {texts} texts, {len(lines)} faults", sep="\n")
    return 1 if lines else 0


if __name__ == "__main__":
    sys.exit(main())
