"""An example prints what the comment or docstring at its beginning says, after `prints`. Without a GPU one that needs
it is skipped. Usage: test_example.py SOURCE COMMAND..."""
import re
import subprocess
import sys
from pathlib import Path

SKIPPED = 77


def promised(source):
    """The lines after `prints` that are further in than it."""
    lines = [line.removeprefix(' *') for line in source.read_text().replace(' */', '\n').splitlines()]
    at = next(i for i, line in enumerate(lines) if line.strip() == 'prints')
    block = re.match(r'\s*\n((?:     ?.*\n)+)', '\n'.join(lines[at + 1:]) + '\n')
    return [line.strip() for line in block[1].splitlines()]


def main():
    source, command = Path(sys.argv[1]), sys.argv[2:]
    done = subprocess.run(command, text=True, stdout=subprocess.PIPE)
    print(done.stdout, end='')
    if done.returncode == SKIPPED:
        return SKIPPED
    expected = promised(source)
    if done.returncode != 0 or [line.strip() for line in done.stdout.splitlines()] != expected:
        print(f'exit status {done.returncode}; {source.name} promises', *expected, sep='\n')
        return 1
    return 0


if __name__ == '__main__':
    sys.exit(main())
