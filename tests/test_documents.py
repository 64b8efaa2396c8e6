"""What README.md, python/README.md and docs/*.md tell their readers to type works, taken literally: each document in an
empty folder of its own, from top to bottom. Usage: test_documents.py SOURCE BUILD CC

    ```sh                     commands. Those with `--backend cuda` are run as if there were no GPU, and must end with
                              69, which a wrong option does not
    <!-- not run: gpu -->     before a ```sh: these commands need a gpu, mpi, root or minutes, or are run if
                              the command reads safetensors. They are listed;
                              `tuplescan bench` is checked with --help after it, and other subcommands may not be
                              here
    Save this as `NAME`       and then a ```c: that file
    ```text                   what the commands before it print on standard output
    ```python                 only compiled here: python/tests/test_cookbook.py runs it, where its packages are
    `tuplescan bench ...`     a command in a sentence is run, too, if it has an option. A benchmark is run with --quick:
                              what all tables take, minutes, is shown nowhere

Commands anywhere else, such as in an indented block, are an error: they would not be run here."""
import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

REASONS = {'gpu', 'mpi', 'root', 'minutes'}
UNAVAILABLE = 69  # no such backend
MARK = re.compile(r'<!-- not run: ([a-z, ]+) -->')
COMMAND = re.compile(r'(?:\S*/)?(?:tuplescan|meson|ninja|gcc|cc|nvcc)\s|(?:tools|tests|\.ci)/\S+(?:\s|$)')
INLINE = re.compile(r'`(tuplescan [a-z]+ [^`]*-[^`]*)`')


def blocks(text):
    """(line, kind, text, reasons) of the blocks, and of what should be one. Kinds: sh, file:NAME, text, stray."""
    kind = mark = name = None
    for number, line in enumerate(text.splitlines()):
        if kind is not None:
            if line.startswith('```'):
                yield number, kind, '\n'.join(block) + '\n', mark
                kind = mark = None
            else:
                block.append(line)
        elif line.startswith('```'):
            kind, block = line[3:].strip(), []
            if kind == 'c' and name:
                kind, name = 'file:' + name, None
        elif MARK.fullmatch(line):
            mark = {reason.strip() for reason in MARK.fullmatch(line)[1].split(',')}
        elif line.startswith('    ') and COMMAND.match(line.strip()):
            yield number, 'stray', line.strip(), None
        elif line.strip():
            saved = re.search(r'Save this as `([^`]+)`', line)
            name, mark = saved[1] if saved else name, None
    if kind is not None:
        yield number, 'stray', 'a block that does not end', None


def pieces(text):
    """The blocks, and the commands in sentences among them, which may go on in the next line."""
    found = list(blocks(text))
    sentences = re.sub(r'^```.*?^```$', lambda m: '\n' * m[0].count('\n'), text, flags=re.MULTILINE | re.DOTALL)
    for match in INLINE.finditer(sentences):
        found.append((sentences.count('\n', 0, match.start()), 'inline', match[1].replace('\n', ' '), None))
    return [piece for _, *piece in sorted(found, key=lambda piece: piece[0])]


class Reader:
    """Does what a document says, in a folder."""

    def __init__(self, source, build, compiler, folder):
        self.source, self.folder, self.printed, self.faults, self.left_out = source, folder, '', [], []
        self.folder.mkdir()
        self.reads_safetensors = '"json-c"' in (build / 'meson-info/intro-dependencies.json').read_text()
        self.environment = {**os.environ, **installed(source, build, compiler, folder.parent),
                            'HOME': str(folder.parent), 'LC_ALL': 'C', 'CUDA_VISIBLE_DEVICES': ''}

    def run(self, script, wanted=0):
        done = subprocess.run(['bash', '-eu', '-o', 'pipefail', '-c', script], cwd=self.folder, env=self.environment, text=True,
                              stdin=subprocess.DEVNULL, capture_output=True)
        self.printed = done.stdout
        if done.returncode != wanted:
            self.faults.append(f'exit status {done.returncode}, not {wanted}:\n{script}\n{done.stderr}')

    def commands(self, script):
        """Those that want a GPU are told that there is none; the others are run together, as one would paste them."""
        lines = [line for line in script.replace('\\\n', ' ').splitlines() if line.strip()]
        for line in lines:
            if '--backend cuda' in line:
                self.run(line, UNAVAILABLE)
        self.run('\n'.join(line for line in lines if '--backend cuda' not in line))

    def leave_out(self, script, reasons):
        for line in script.replace('\\\n', ' ').splitlines():
            words = shlex.split(line, comments=True)
            if not words:
                continue
            self.left_out.append(f'{", ".join(sorted(reasons))}: {line}')
            if reasons - REASONS:
                self.faults.append(f'no reason to leave a command out: {reasons - REASONS}')
            if words[:2] == ['tuplescan', 'bench']:
                self.run(line + ' --help')
            elif words[0] == 'tuplescan':
                self.faults.append(f'this needs nothing that is not here: {line}')
            elif '/' in words[0] and not os.access(self.source / words[0], os.X_OK):
                self.faults.append(f'there is no {words[0]}')

    def piece(self, kind, text, reasons):
        if reasons == {'safetensors'} and kind == 'sh':
            if self.reads_safetensors:
                self.commands(text)
            else:
                self.left_out.append(f'safetensors: {text}')
                self.printed = None
        elif kind == 'sh' and reasons:
            self.leave_out(text, reasons)
        elif kind == 'sh':
            self.commands(text)
        elif kind == 'inline':
            self.commands(text + ' --quick' if text.startswith('tuplescan bench') else text)
        elif kind.startswith('file:'):
            (self.folder / kind[5:]).write_text(text)
        elif kind == 'python':
            compile(text, 'python', 'exec')
            self.printed = None
        elif kind == 'text' and self.printed not in (None, text):
            self.faults.append(f'it says that this is printed:\n{text}but it is\n{self.printed}')
        elif kind != 'text':
            self.faults.append(f'put commands between ```sh and ```, nothing else ({kind}): {text}')


def installed(source, build, compiler, place):
    """The environment of somebody who has installed the build: what pkg-config says is what will be installed, but
    for the prefix, and the compiler takes no warnings."""
    (place / 'bin').mkdir()
    (place / 'bin/tuplescan').symlink_to(build / 'tools/tuplescan')
    strict = '-std=c11 -Wall -Wextra -pedantic -Werror'
    (place / 'bin/cc').write_text(f'#!/bin/sh\nexec {shlex.join(compiler)} {strict} "$@"\n')
    (place / 'bin/cc').chmod(0o755)
    package = (build / 'meson-private/tuplescan.pc').read_text()
    package = re.sub(r'^prefix=.*', f'prefix={place}', package, flags=re.MULTILINE)
    (place / 'tuplescan.pc').write_text(package)
    libraries = place / re.search(r'^libdir=\$\{prefix\}/(.*)', package, re.MULTILINE)[1]
    libraries.parent.mkdir(parents=True, exist_ok=True)
    libraries.symlink_to(build / 'src')
    (place / 'include').symlink_to(source / 'include')
    return {'PATH': f'{place}/bin:{os.environ["PATH"]}', 'PKG_CONFIG_PATH': str(place),
            'LD_LIBRARY_PATH': str(build / 'src')}


def main():
    source, build, compiler = Path(sys.argv[1]).resolve(), Path(sys.argv[2]).resolve(), sys.argv[3].split()
    compiler[-1] = shutil.which(compiler[-1]) or compiler[-1]  # its name will be that of a script
    faults, left_out = [], []
    for document in [source / 'README.md', source / 'python/README.md', *sorted((source / 'docs').glob('*.md'))]:
        with tempfile.TemporaryDirectory() as place:
            reader = Reader(source, build, compiler, Path(place) / 'empty')
            for piece in pieces(document.read_text()):
                reader.piece(*piece)
        name = document.relative_to(source)
        faults += [f'{name}: {fault}' for fault in reader.faults]
        left_out += [f'{name}: {line}' for line in reader.left_out]
    print('not run:', *left_out, sep='\n    ')
    print(*faults, sep='\n')
    return 1 if faults else 0


if __name__ == '__main__':
    sys.exit(main())
