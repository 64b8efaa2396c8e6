"""The pictures of docs/how-it-works.md, one for each stage, of eight rows in units of two. Usage: draw.py FOLDER"""
import itertools
import sys
from pathlib import Path

COLUMN = [3, 1, 4, 1, 5, 9, 2, 6]
UNIT = 2
WIDE, HIGH, LEFT = 72, 28, 96
INPUT, TOTAL, SEED, RESULT = '#dbeafe', '#fde68a', '#fecaca', '#bbf7d0'


class Picture:
    def __init__(self, high, title):
        self.arrows, self.parts, self.high, self.title = [], [], high, title

    def label(self, y, text):
        self.parts.append(f'<text x="{LEFT - 10}" y="{y + 19}" text-anchor="end">{text}</text>')

    def cell(self, at, y, text, colour, count=1):
        """A box at a place of the column, over `count` places."""
        x, wide = LEFT + at * WIDE, count * WIDE - 6
        self.parts.append(f'<rect x="{x}" y="{y}" width="{wide}" height="{HIGH}" rx="3" fill="{colour}" '
                          'stroke="#475569"/>'
                          f'<text x="{x + wide / 2:g}" y="{y + 19}" text-anchor="middle">{text}</text>')

    def arrow(self, from_at, from_y, to_at, to_y):
        """From the bottom of one place to the top of another, behind all boxes."""
        x1, x2 = (LEFT + at * WIDE + (WIDE - 6) / 2 for at in (from_at, to_at))
        self.arrows.append(f'<path stroke="#475569" fill="none" d="M{x1:g} {from_y + HIGH} L{x2:g} {to_y - 2}" '
                           'marker-end="url(#head)"/>')

    def text(self):
        wide = LEFT + len(COLUMN) * WIDE + 4
        return (f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {wide} {self.high}" width="{wide}" '
                f'role="img" font-family="sans-serif" font-size="14">\n<title>{self.title}</title>\n'
                '<defs><marker id="head" markerWidth="7" markerHeight="7" refX="6" refY="3" orient="auto">'
                '<path d="M0 0 L6 3 L0 6 z" fill="#475569"/></marker></defs>\n'
                '<rect width="100%" height="100%" fill="white"/>\n<g fill="#0f172a" stroke="none">'
                + '\n'.join(self.arrows + self.parts) + '</g>\n</svg>\n')


def row(picture, y, label, numbers, colour, count=1):
    picture.label(y, label)
    for i, number in enumerate(numbers):
        picture.cell(i * count, y, number, colour, count)


def tree():
    """By halves: what is added at each level, of eight rows of one unit."""
    picture, sums = Picture(246, 'A run of eight rows is summed by halves'), list(COLUMN)
    row(picture, 4, 'rows', sums, INPUT)
    for level in range(3):
        y, half, before = 4 + 70 * (level + 1), 1 << level, list(sums)
        for i, number in enumerate(before):
            if i & half:
                left = i // half * half - 1
                sums[i] = before[left] + number
                picture.arrow(left, y - 70, i, y)
                picture.arrow(i, y - 70, i, y)
        row(picture, y, f'runs of {2 * half}', sums, RESULT)
    return picture


TOTALS = [sum(COLUMN[i : i + UNIT]) for i in range(0, len(COLUMN), UNIT)]
SEEDS = [0, *itertools.accumulate(TOTALS)][:-1]


def stage1():
    picture = Picture(108, 'Stage 1: the total of each unit')
    row(picture, 4, 'rows', COLUMN, INPUT)
    row(picture, 76, 'totals', TOTALS, TOTAL, UNIT)
    for i in range(len(COLUMN)):
        picture.arrow(i, 4, i // UNIT * UNIT + 0.5, 76)
    return picture


def stage2():
    """Blocks of units, then the seed of each unit from the blocks before it, the largest first."""
    picture = Picture(178, 'Stage 2: blocks of units, and the seed of each unit')
    row(picture, 4, 'totals', TOTALS, TOTAL, UNIT)
    row(picture, 75, 'blocks of 2', [sum(TOTALS[:2]), sum(TOTALS[2:])], TOTAL, 2 * UNIT)
    for i in range(len(TOTALS)):
        picture.arrow(i * UNIT + 0.5, 4, i // 2 * 2 * UNIT + 1.5, 75)
    row(picture, 146, 'seeds', SEEDS, SEED, UNIT)
    picture.arrow(0.5, 4, 2.5, 146)
    picture.arrow(1.5, 75, 4.5, 146)
    picture.arrow(1.5, 75, 6.5, 146)
    picture.arrow(4.5, 4, 6.5, 146)
    return picture


def stage3():
    picture = Picture(178, 'Stage 3: the seed of its unit is added to each sum')
    row(picture, 4, 'seeds', SEEDS, SEED, UNIT)
    inside = [number for i in range(0, len(COLUMN), UNIT) for number in itertools.accumulate(COLUMN[i : i + UNIT])]
    row(picture, 75, 'in the unit', inside, INPUT)
    row(picture, 146, 'sums', itertools.accumulate(COLUMN), RESULT)
    for i in range(len(COLUMN)):
        picture.arrow(i // UNIT * UNIT + 0.5, 4, i, 75)
        picture.arrow(i, 75, i, 146)
    return picture


def fused():
    """One kernel: chunks in the order of their numbers, each publishing its aggregate before it has its prefix."""
    picture = Picture(178, 'Fused: the three stages in one pass')
    picture.label(4, 'block A')
    for i, step in enumerate(['load', 'total', 'publish', 'scan', 'look back', 'add', 'store', 'next']):
        picture.cell(i, 4, step, INPUT if step in ('load', 'next') else RESULT if step == 'store' else TOTAL)
    picture.label(75, 'block B')
    for i, step in ((0, 'load'), (1, 'total'), (2, 'publish'), (4, 'look back'), (5, 'add'), (6, 'store')):
        picture.cell(i + 1, 75, step, INPUT if step == 'load' else RESULT if step == 'store' else TOTAL)
    picture.cell(4, 75, 'scan', TOTAL)
    row(picture, 146, 'descriptors', ['prefix', 'prefix', 'total', 'nothing yet'], SEED, UNIT)
    picture.arrow(2, 4, 2.5, 146)
    picture.arrow(3, 75, 4.5, 146)
    return picture


def main():
    for make in (tree, stage1, stage2, stage3, fused):
        (Path(sys.argv[1]) / f'{make.__name__}.svg').write_text(make().text())


if __name__ == '__main__':
    main()
