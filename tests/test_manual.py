"""The manual pages say all that the command and the headers do: every subcommand has a page with each word of its
help; tuplescan(3) names every call and no other. Where groff is, it finds nothing to warn of.
Usage: test_manual.py INCLUDE TUPLESCAN TUPLESCAN-MPI PAGE..., "" where there is no tuplescan-mpi."""
import re
import shutil
import subprocess
import sys
from collections import Counter
from pathlib import Path


def run(*command):
    return subprocess.run(command, text=True, capture_output=True, check=True).stdout


def words(text):
    return re.findall(r'[A-Za-z0-9_^.+/<:-]*[A-Za-z0-9]', text)


def plain(roff):
    """What a reader sees of a page, in one line."""
    lines = [line for line in roff.splitlines() if not re.match(r'[.\']', line) or line.startswith('.SH')]
    text = ' '.join(re.sub(r'^\.SH +', '', line) for line in lines)
    text = re.sub(r'\\f[BIRP]|\\&', '', text)
    return re.sub(r'\\(.)', r'\1', text)


def without_titles(help_text):
    return re.sub(r'^(usage|Usage|examples?): *', '', help_text, flags=re.MULTILINE)


def missing(help_text, page):
    """Words of the help that the page does not have as often; the order is another one there."""
    return sorted(Counter(words(help_text)) - Counter(words(plain(page))))


def check_commands(command, ranks_command, pages):
    faults, overview = [], run(command, 'help')
    names = re.findall(r'^ +tuplescan (\w+) +\.\.\.', overview, re.MULTILINE)
    wanted = {f'tuplescan-{name}.1' for name in names} | {'tuplescan.1', 'tuplescan.3'}
    if ranks_command:
        wanted.add('tuplescan-mpi.1')
        said = run(ranks_command, '--help').partition('\nexit codes:')[0]
        lost = missing(without_titles(said), pages.get('tuplescan-mpi.1', ''))
        faults += [f'tuplescan-mpi.1 lacks what the help says: {word}' for word in lost]
    faults += [f'there is no page {name}' for name in sorted(wanted - set(pages))]
    faults += [f'{name} is the page of nothing' for name in sorted(set(pages) - wanted)]
    for name in names:
        lost = missing(without_titles(run(command, 'help', name)), pages.get(f'tuplescan-{name}.1', ''))
        faults += [f'tuplescan-{name}.1 lacks what the help says: {word}' for word in lost]
    *_, files, codes = overview.strip().split('\n\n')
    listed = [line.split('...')[1] for line in overview.splitlines() if '...' in line]
    for text in [files, codes.partition(':')[2], *listed]:
        faults += [f'tuplescan.1 lacks what the help says: {word}' for word in missing(text, pages.get('tuplescan.1', ''))]
    return faults


def check_calls(include, page):
    declared = set()
    for header in (include / 'tuplescan').glob('*.h'):
        declared |= set(re.findall(r'^TABLE_API[^;]*?\b(table_\w+)\(', header.read_text(), re.MULTILINE | re.DOTALL))
    named = set(re.findall(r'\b(table_\w+)\(', plain(page)))
    return [f'tuplescan.3 does not name {call}' for call in sorted(declared - named)] + \
           [f'tuplescan.3 names {call}, which no header has' for call in sorted(named - declared)]


def check_roff(path):
    if not shutil.which('groff'):
        return []
    done = subprocess.run(['groff', '-man', '-ww', '-Tascii', str(path)], text=True, capture_output=True)
    return [f'{path.name}: groff says {line}' for line in done.stderr.splitlines()]


def main():
    include, command, ranks_command, *paths = sys.argv[1:]
    pages = {Path(path).name: Path(path).read_text(encoding='utf-8') for path in paths}
    faults = check_commands(command, ranks_command, pages) + check_calls(Path(include), pages.get('tuplescan.3', ''))
    faults += [fault for path in paths for fault in check_roff(Path(path))]
    print(*faults, sep='\n')
    print(f'{len(pages)} pages, {len(faults)} faults')
    return 1 if faults else 0


if __name__ == '__main__':
    sys.exit(main())
