"""Makes the comments of a header Doxygen's, which the headers themselves need not be: a comment that begins a line is
about what follows, one behind code about that, and the first one about the file. Lines that are further in than their
neighbours are tables and formulas, and stay as they are. Usage: filter.py HEADER"""
import re
import sys

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
    with open(sys.argv[1], encoding='utf-8') as header:
        sys.stdout.write(COMMENT.sub(documented, header.read()))
