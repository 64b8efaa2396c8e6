"""Each public header by itself, as C11 and as C++17, without a warning; mpi.h where pkg-config knows an MPI, nccl.h
where the compiler finds NCCL's. Usage:
test_headers.py INCLUDE CC [CXX]"""
import shutil
import subprocess
import sys
from pathlib import Path

WARNINGS = ['-Wall', '-Wextra', '-pedantic', '-Werror', '-Wshadow']


def mpi_flags():
    """Where MPI's own header lies, whose warnings are not ours; None: there is none."""
    for name in ('mpi-c', 'ompi-c', 'mpich') if shutil.which('pkg-config') else ():
        done = subprocess.run(['pkg-config', '--cflags-only-I', name], text=True, capture_output=True)
        if done.returncode == 0:
            return [word for flag in done.stdout.split() for word in ('-isystem', flag[2:])]
    return None


def nccl_flags(compiler, language):
    """Where CUDA's headers lie, if NCCL's own, which needs them, is found; None: it is not."""
    nvcc = shutil.which('nvcc')
    flags = ['-isystem', str(Path(nvcc).resolve().parents[1] / 'include')] if nvcc else []
    done = subprocess.run([*compiler, '-fsyntax-only', *flags, '-x', language, '-'], input='#include <nccl.h>\n',
                          text=True, capture_output=True)
    return flags if done.returncode == 0 else None


def compiles(compiler, standard, language, include, header):
    flags = mpi_flags() if header == 'mpi.h' else nccl_flags(compiler, language) if header == 'nccl.h' else []
    if flags is None:
        return True
    command = [*compiler, f'-std={standard}', *WARNINGS, '-fsyntax-only', f'-I{include}', *flags, '-x', language, '-']
    source = f'#include <tuplescan/{header}>\n'
    source += f'#include <tuplescan/{header}>\nint main(void) {{ return 0; }}\n' # twice: it is guarded
    done = subprocess.run(command, input=source, text=True, capture_output=True)
    print(f'{header} as {standard}: {"ok" if done.returncode == 0 else "FAILED"}')
    print(done.stderr, end='')
    return done.returncode == 0


def main():
    include, cc = Path(sys.argv[1]), sys.argv[2].split()
    languages = [(cc, 'c11', 'c')]
    if len(sys.argv) > 3:
        languages.append((sys.argv[3].split(), 'c++17', 'c++'))
    headers = sorted(path.name for path in (include / 'tuplescan').glob('*.h'))
    results = [compiles(compiler, standard, language, include, header)
               for compiler, standard, language in languages for header in headers]
    return 0 if results and all(results) else 1


if __name__ == '__main__':
    sys.exit(main())
