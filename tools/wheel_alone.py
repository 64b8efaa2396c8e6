"""A wheel stands alone: what it brings needs no library but the C library, and works in a folder that is all there is,
the command with the C library alone, the package with Python and numpy. Usage: wheel_alone.py WHEEL ENVIRONMENT
(a virtual environment of the Python that runs this, with numpy)."""
import os
import re
import shutil
import subprocess
import sys
import sysconfig
import tempfile
import zipfile
from pathlib import Path

C_LIBRARY = re.compile(r'lib(c|m|dl|rt|pthread)\.so\.\d+|ld-linux.*\.so\.\d+')
CALLS = """
import numpy, tuplescan, sys, subprocess
x = numpy.arange(12.).reshape(6, 2)
assert (tuplescan.cumsum(x) == numpy.cumsum(x, 0)).all() and tuplescan.__file__.startswith('/package/')
numpy.save('/x.npy', x)
subprocess.run([sys.executable, '-m', 'tuplescan', 'scan', '-q', '/x.npy', '-o', '/sums.npy'], check=True)
assert (numpy.load('/sums.npy') == numpy.cumsum(x, 0)).all()
"""


def output(*command, **options):
    return subprocess.run(command, check=True, text=True, stdout=subprocess.PIPE, **options).stdout


def is_program(path):
    with path.open('rb') as file:
        return file.read(4) == b'\x7fELF'


def programs(folder):
    return [path for path in sorted(folder.rglob('*')) if path.is_file() and not path.is_symlink() and is_program(path)]


def foreign(package):
    """What files of the package need that is neither in it nor of the C library; and whether fma(), which processors
    without such an instruction call, is another one than the C library's. That of ziglang's run-time library is linked
    as soon as anything else of it is, and rounds wrongly: fma(-0x1.eb851eb851eb8p-57, -0x1.7d9999999999ap+6, -16) is
    -16 by it."""
    own = programs(package)
    brought = {path.name for path in own}
    for path in own:
        needed = re.findall(r'\(NEEDED\).*\[(.*)\]', output('readelf', '-dW', str(path)))
        print(f'{path.relative_to(package)} needs {" ".join(needed)}')
        strangers = [name for name in needed if name not in brought and not C_LIBRARY.fullmatch(name)]
        yield from (f'{path.name} needs {name}' for name in strangers)
        if re.search(r'FUNC .* \d+ fma$', output('readelf', '-sW', str(path)), re.M):
            yield f"{path.name} has an fma() of its own"


def add(root, files, kept=()):
    """Copies the files, and the libraries that they need, to the same places in a root; but for folders that it has."""
    wanted = {Path(file) for file in files}
    for file in files:
        wanted |= {Path(found) for found in re.findall(r'(/\S+) \(0x', output('ldd', str(file)))}
    for file in wanted:
        if not any(folder in file.parents for folder in kept):
            (root / file.relative_to('/')).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(file, root / file.relative_to('/'))


def unused_vectors(devices):
    """Whether the processor has AVX2, and `tuplescan devices` says that it is not used."""
    return 'plain C' in devices and ' avx2 ' in Path('/proc/cpuinfo').read_text()


def run(root, *command):
    alone = ['chroot', str(root)] if os.geteuid() == 0 else ['unshare', '-r', 'chroot', str(root)]
    environment = {'PYTHONPATH': '/package:/beside', 'PYTHONDONTWRITEBYTECODE': '1', 'PATH': os.environ['PATH']}
    # Where there is no /proc the loader is told by this what it else finds there, the folder of the command.
    return output(*alone, *command, env={**environment, 'LD_ORIGIN_PATH': '/package/tuplescan'})


def root_with_python(root, beside):
    """Python, what its own modules need, and the numpy of a folder."""
    stdlib = Path(sysconfig.get_path('stdlib'))
    unneeded = shutil.ignore_patterns('__pycache__', 'test', 'config-*', 'site-packages', 'dist-packages')
    shutil.copytree(stdlib, root / stdlib.relative_to('/'), ignore=unneeded, dirs_exist_ok=True)
    for package in beside.glob('numpy*'):
        shutil.copytree(package, root / 'beside' / package.name, ignore=unneeded)
    python = Path(sys.executable).resolve()
    add(root, [python, *programs(stdlib / 'lib-dynload'), *programs(beside / 'numpy')], kept=[stdlib, beside])
    return str(python)


def main():
    wheel, environment = sys.argv[1:]
    beside = next(Path(environment).glob('lib/python*/site-packages')).resolve()
    with tempfile.TemporaryDirectory() as place:
        root = Path(place)
        zipfile.ZipFile(wheel).extractall(root / 'package')
        faults = list(foreign(root / 'package'))
        if faults:
            sys.exit('\n'.join(faults))
        command = root / 'package/tuplescan/tuplescan'
        command.chmod(0o755)
        add(root, [found for found in re.findall(r'(/\S+) \(0x', output('ldd', str(command))) if place not in found])
        for line in ('gen --type f32 --rows 1000 --columns 3 -o /in.npy', 'scan /in.npy -q -o /out.npy',
                     'verify /in.npy /out.npy -q'):
            run(root, '/package/tuplescan/tuplescan', *line.split())
        if unused_vectors(run(root, '/package/tuplescan/tuplescan', 'devices')):
            sys.exit('the command does not use the vectors of this processor')
        run(root, root_with_python(root, beside), '-c', CALLS)
    print('the command runs with the C library alone, the package with Python and numpy')


if __name__ == '__main__':
    main()
