"""Which files may include which, what kernels may not use, how wide lines may be, what tests may not wait for, and that
what scripts name is there.
Usage: test_layering.py SOURCE_ROOT"""
import re
import subprocess
import sys
import tempfile
from pathlib import Path

# For each part of the tree, named by how its paths begin: the folders whose files its #include "..." may name, and a
# pattern of the system headers that it may not see. The first part that fits a file counts.
CUDA = r'cuda.*|nv.*|cub/.*|cooperative_groups.*'
PARTS = [
    ('include/tuplescan/nccl.h', [], None),
    ('include/tuplescan', [], CUDA),
    ('src/keys/cpu', ['src/keys/cpu', 'src', 'src/cpu', 'private'], CUDA),
    ('src/keys/cuda', ['src/keys/cuda', 'src', 'src/cuda', 'private', 'kernels/kernels.h'], None),
    ('src/cpu', ['src', 'src/cpu', 'private'], CUDA),
    ('src/cuda', ['src', 'src/cuda', 'private', 'kernels/kernels.h', 'kernels/choose/facts.h'], None),
    ('src/nccl', ['src/nccl', 'src/ranks', 'src/cuda/forget.h', 'src/cuda/memory.h', 'src/cuda/pinned.h',
                  'src/cuda/stream.h', 'private'], None),
    ('private', ['private'], CUDA),
    ('src/ranks', ['src/ranks', 'private'], CUDA),
    ('src/mpi', ['src/mpi', 'src/ranks', 'private'], CUDA),
    ('src', ['src', 'private'], CUDA),
    ('kernels/device', ['kernels/device'], None),
    ('kernels', ['kernels', 'kernels/device', 'private'], CUDA),
    ('tools/bench/device_', ['tools/bench', 'kernels/device'], None), # kernels of the benchmark's own
    ('tools/bench', ['tools/bench', 'tools', 'private'], None),
    ('tools', ['tools', 'private'], None),
    ('examples', ['examples'], None),
    ('python/src', ['python/src', 'tools/thread_limit.h'], CUDA),
    # The kernels' test double stands in the place of the device layer; tests in tests/unit look inside of the library,
    # and fuzzers inside of the command.
    ('tests/emulator', ['private', 'src', 'src/cuda', 'kernels', 'kernels/device', 'tests'], None),
    ('tests/ranks/times.c', ['tests'], None),
    ('tests/ranks', ['tests', 'private'], CUDA),
    ('tests/keys/test_absent.c', ['tests', 'src'], CUDA),
    ('tests/unit', ['private', 'src', 'src/cpu', 'src/cuda', 'src/keys/cpu', 'kernels/kernels.h', 'tests'], CUDA),
    ('tests/fuzz_', ['tools', 'private'], CUDA),
    ('tests/mpi/devices.c', ['tests'], None),
    ('tests/mpi', ['tests', 'src/mpi', 'src/ranks', 'private'], CUDA),
    ('tests', ['tests', 'private'], None),
]
# A kernel finds the machine in the device layer alone.
BARE_DEVICE = re.compile(r'<<<|\basm\b|\b(thread|block)Idx\b|\b(block|grid)Dim\b|__syncthreads|__shfl|__ballot|__nanosleep'
                         r'|\batomic(Add|Min|Max|CAS|Exch)\b|__shared__|__global__|__device__')
INCLUDE = re.compile(r'^\s*#\s*include\s*([<"])([^>"]+)[>"]', re.MULTILINE)
# No test's verdict depends on how fast the machine is: what hangs is ended by the limit in meson.build, for all alike.
TIME_LIMIT = re.compile(r'\btimeout *[:=]|\bwait\(\d|communicate\(timeout|\balarm\(')
# A file of the tree as scripts name it: $tests is python/tests in those that have it.
NAMED = re.compile(r'(?<![\w/.-])(\$tests|tools|tests|python/tests|examples)/([\w/-]+\.(?:py|sh|ini|c))\b')
COMMENT = re.compile(r'/\*.*?\*/|//[^\n]*', re.DOTALL)
WIDTH = 120  # which the formatter does not hold comments to
SUFFIXES = {'.c', '.h', '.cu', '.cuh', '.cpp', '.hpp'}
SCRIPTS = {'.py', '.pyi', '.sh'} # looked at for their width, but for those in tests/


def within(path, places, root):
    return any(path == root / place or root / place in path.parents for place in places)


def check_quoted(path, name, folders, root):
    """The file that a quoted include finds must belong to the includer's part or to one that it may see."""
    candidates = [path.parent / name] + [root / folder / name for folder in folders if (root / folder).is_dir()]
    candidates += [root / folder for folder in folders if folder.endswith('/' + name)]
    for candidate in candidates:
        found = candidate.resolve()
        if found.is_file():
            # A part that sees a folder does not see these parts in it, which are for themselves.
            for own in ('src/cpu', 'src/cuda', 'src/keys/cpu', 'src/keys/cuda', 'tools/bench'):
                if own.split('/')[0] in folders and own not in folders and within(found, [own], root):
                    return f'is of {own} alone'
            return None if within(found, folders, root) else 'lies outside of what this part may see'
    return 'is not found in what this part may see'


def check_width(path, root):
    return [f'{path.relative_to(root)}:{number}: is wider than {WIDTH} columns'
            for number, line in enumerate(path.read_text(encoding='utf-8').splitlines(), 1) if len(line) > WIDTH]


def check_file(path, root):
    relative = path.relative_to(root)
    part = next((p for p in PARTS if relative.as_posix().startswith(p[0])), None)
    if part is None:
        return []
    name, folders, forbidden = part
    text = path.read_text(encoding='utf-8')
    faults = check_width(path, root)
    for match in INCLUDE.finditer(text):
        quote, included = match.groups()
        line = text.count('\n', 0, match.start()) + 1
        if quote == '<' and included.startswith('tuplescan/'):
            reason = None if (root / 'include' / included).is_file() else 'is no public header'
        elif quote == '<':
            reason = 'is not for this part' if forbidden and re.fullmatch(forbidden, included) else None
        else:
            reason = check_quoted(path, included, folders, root)
        if reason:
            faults.append(f'{relative}:{line}: #include {included} {reason}')
    if name == 'kernels':
        code = COMMENT.sub(lambda m: '\n' * m.group().count('\n'), text)
        for match in BARE_DEVICE.finditer(code):
            line = code.count('\n', 0, match.start()) + 1
            faults.append(f'{relative}:{line}: {match.group()} belongs into the device layer')
    return faults


def check_patience(path, root):
    text = path.read_text(encoding='utf-8')
    return [f'{path.relative_to(root)}:{number}: a time limit of its own: a slow machine would fail the test'
            for number, line in enumerate(text.split('\n'), 1) if TIME_LIMIT.search(line) and 'TIME_LIMIT' not in line]


def check_named(path, root):
    """Files that a script names and that are not there."""
    named = {(folder.replace('$tests', 'python/tests'), name)
             for folder, name in NAMED.findall(path.read_text(encoding='utf-8'))}
    return [f'{path.relative_to(root)}: names {folder}/{name}, which is not there' for folder, name in sorted(named)
            if not (root / folder / name).is_file()]


def check_gpu_tests(root):
    """tools/test-gpu.sh runs every test of a GPU that is built: here of a folder of programs that do nothing."""
    with tempfile.TemporaryDirectory() as folder:
        names = []
        for meson in ('tests/meson.build', 'tests/keys/meson.build'):
            for name in re.findall(r"executable\('(test_gpu\w*)'", (root / meson).read_text(encoding='utf-8')):
                names.append((Path(meson).parent / name).as_posix())
                (Path(folder) / names[-1]).parent.mkdir(parents=True, exist_ok=True)
                (Path(folder) / names[-1]).write_text('#!/bin/sh\n')
                (Path(folder) / names[-1]).chmod(0o755)
        ran = subprocess.run([root / 'tools/test-gpu.sh', folder], stdout=subprocess.PIPE, text=True).stdout
    return [f'tools/test-gpu.sh: does not run {name}' for name in names
            if f'== {name.removeprefix("tests/")}: passed' not in ran] + ([] if names else ['no tests of a GPU'])


def main():
    root = Path(sys.argv[1]).resolve()
    tops = ('include', 'private', 'src', 'kernels', 'python', 'tools', 'examples', 'tests')
    files = [path for top in tops for path in sorted((root / top).rglob('*')) if path.suffix in SUFFIXES]
    faults = [fault for path in files for fault in check_file(path, root)]
    for pattern in ('**/*.py', '**/meson.build', '**/*.c', '**/*.cpp'):
        faults += [fault for path in sorted((root / 'tests').glob(pattern)) if not path.name.startswith('test_gpu_')
                   for fault in check_patience(path, root)]
    faults += check_patience(root / 'tools/meson.build', root)
    for path in [root / '.ci/run', *sorted((root / 'tools').glob('*.sh')), *sorted((root / 'tests').rglob('*.sh'))]:
        faults += check_named(path, root)
    scripts = [path for top in (*tops, 'docs') if top != 'tests' for path in sorted((root / top).rglob('*'))
               if path.suffix in SCRIPTS]
    faults += [fault for path in [root / '.ci/run', *scripts] for fault in check_width(path, root)]
    faults += check_gpu_tests(root)
    for fault in faults:
        print(fault)
    print(f'{len(files)} files, {len(faults)} faults')
    return 1 if faults or not files else 0


if __name__ == '__main__':
    sys.exit(main())
