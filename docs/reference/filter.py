"""Makes the comments of a header Doxygen's, which the headers themselves need not be: a comment that begins a line is
about what follows, one behind code about that, and the first one about the file. Lines that are further in than their
neighbours are tables and formulas, and stay as they are. A program is an example.
Usage: filter.py FILE"""
import re
import sys
from pathlib import Path

COMMENT = re.compile(r'(?P<before>^[^\S\n]*|[^\n]*\S[^\S\n]*)/\*(?P<text>.*?)\*/', re.DOTALL | re.MULTILINE)


def laid_out(lines):
    """The lines, with those that are further in put between marks that keep them as they are."""
    found, inside = [], False
    for line in lines:
        further = bool(re.match(r' {2,}\S', line)) or (inside and not line.strip())
        if further != inside and (further or line.strip()):
            found.append('@verbatim' if further else '@endverbatim')
            inside = further
        found.append(line if further else escape(line))
    return found + ['@endverbatim'] * inside


def escape(line):
    return re.sub(r'([<>@\\#])', r'\\\1', line)


def documented(match):
    before, text = match['before'], match['text']
    first = match.start() == 0
    lines = [re.sub(r'^\s*\* ?', '', line) if i else line.strip() for i, line in enumerate(text.splitlines())]
    body = '\n'.join(laid_out(lines))
    opening = '/** @file\n' if first else '/**' if not before.strip() else '/**<'
    return f'{before}{opening} {body} */'


if __name__ == '__main__':
    path = Path(sys.argv[1])
    made = COMMENT.sub(documented, path.read_text(encoding='utf-8')) if path.suffix == '.h' else None
    sys.stdout.write(made or f'/** @example {path.name} */\n')
