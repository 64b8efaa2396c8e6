"""Installs the build, and builds a program with it, shared and static, through pkg-config and CMake.
Usage: test_install.py BUILD SOURCE VERSION SOVERSION CC [-LFOLDER...] (where static libraries of others lie)"""
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

def run(*command, **options):
    print('+', *command)
    done = subprocess.run(command, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, **options)
    print(done.stdout, end='')
    if done.returncode != 0:
        sys.exit(f'exit status {done.returncode}')
    return done.stdout


def only(folder, pattern):
    found = sorted(path for path in folder.rglob(pattern))
    if not found:
        sys.exit(f'{pattern} was not installed')
    return found[0]


def check_pc(pc, build, source):
    text = pc.read_text()
    print(text)
    for line in text.splitlines():
        for word in (str(build), str(source), '/usr/local/cuda', '.a'):
            if line.startswith('Libs') and word in line:
                sys.exit(f'{pc.name} names this machine\'s {word}: {line}')


def check_static_alone(source, place):
    """Without a shared library --libs alone must be enough."""
    run('meson', 'setup', '-Ddefault_library=static', '-Dcuda=disabled', '-Dtools=disabled', '-Dtests=disabled',
        str(place), source)
    libs = run('pkg-config', '--libs', str(place / 'meson-private/tuplescan.pc')).split()
    if '-pthread' not in libs or '-lm' not in libs:
        sys.exit('tuplescan.pc lacks the libraries that the static one needs')


def check_cmake(source, place, version, folders):
    """find_package() finds it there, and no version that it is not."""
    if not shutil.which('cmake'):
        print('cmake is not installed: left out')
        return
    prefix = only(place, 'tuplescan-config.cmake').parents[3]  # PREFIX/LIB/cmake/tuplescan, and LIB may be two folders
    arguments = ['cmake', '-S', str(Path(source) / 'tests/cmake'), f'-DPROGRAM={source}/tests/external.c',
                 f'-DCMAKE_PREFIX_PATH={prefix};{prefix.parent}', '-DCMAKE_BUILD_TYPE=Release',
                 '-DCMAKE_EXE_LINKER_FLAGS=' + ' '.join(folders)]
    (place / 'ranks.c').write_text(MPI_PROGRAM)
    parts = ['mpi'] if list(place.rglob('tuplescan-mpi.pc')) else []
    ranks = [f'-DPARTS={";".join(parts)}', f'-DRANKS={place}/ranks.c']
    run('cmake', '-S', f'{source}/examples/project', '-B', str(place / 'example'), *arguments[4:])
    run('cmake', '--build', str(place / 'example'))
    if run(str(place / 'example/program')) != f'10 100 by tuplescan {version}\n':
        sys.exit('the program of the example does something else')
    major, minor, _ = version.split('.')
    for wanted in ('', version, f'{major}.{minor}'):
        build = place / f'cmake-{wanted}'
        said = run(*arguments, *ranks, f'-DWANTED={wanted}', '-B', str(build))
        if f'tuplescan {version}' not in said:
            sys.exit('cmake found another version')
    run('cmake', '--build', str(build))
    if f'100% tests passed, 0 tests failed out of {2 + len(parts)}' not in run('ctest', '--output-on-failure', cwd=build):
        sys.exit('not all programs ran')
    done = subprocess.run([*arguments, '-DPARTS=nonsense', '-B', str(place / 'cmake-part')], capture_output=True, text=True)
    if done.returncode == 0 or 'libtuplescan-nonsense' not in done.stderr:
        sys.exit(f'cmake takes any part for one: {done.stdout}{done.stderr}')
    for wanted in (f'{int(major) + 1}', f'{major}.{int(minor) + 1}', f'{version}.1'):
        done = subprocess.run([*arguments, f'-DWANTED={wanted}', '-B', str(place / f'cmake-{wanted}')],
                              capture_output=True, text=True)
        if done.returncode == 0 or 'is not compatible' not in done.stderr and 'compatible with requested' not in done.stderr:
            sys.exit(f'cmake takes it for version {wanted}: {done.stdout}{done.stderr}')


def check_manual(place, source):
    """A page for the command and the library, and completion, where a system looks for them."""
    for name in ('share/bash-completion/completions/tuplescan', 'share/zsh/site-functions/_tuplescan',
                 'share/fish/vendor_completions.d/tuplescan.fish'):
        if not [path for path in place.rglob(Path(name).name) if path.as_posix().endswith(name)]:
            sys.exit(f'{name} was not installed')
    if shutil.which('scdoc'):
        only(place, 'man/man1/tuplescan-scan.1')
        only(place, 'man/man3/tuplescan.3')


MPI_PROGRAM = """#include <tuplescan/mpi.h>
int main(void) {
    return table_prefix_sum_mpi(NULL, NULL, NULL, MPI_COMM_NULL) == TABLE_ERROR_MPI ? 0 : 1;
}
"""


def check_mpi(cc, packages, libraries, place, environment):
    """A program with the library for ranks, which is told that MPI was not begun."""
    check_pc(packages / 'tuplescan-mpi.pc', place, place)
    (place / 'ranks.c').write_text(MPI_PROGRAM)
    flags = run('pkg-config', '--cflags', '--libs', 'tuplescan-mpi', env=environment).split()
    own = next(run('pkg-config', '--cflags', '--libs', name).split() for name in ('mpi-c', 'ompi-c', 'mpich')
               if subprocess.run(['pkg-config', '--exists', name]).returncode == 0)
    run(*cc, '-std=c11', str(place / 'ranks.c'), '-o', str(place / 'ranks'), *flags, *own)
    run(str(place / 'ranks'), env={**os.environ, 'LD_LIBRARY_PATH': str(libraries)})


def main():
    build, source, version, soversion, cc, *folders = sys.argv[1:]
    cc = cc.split()
    with tempfile.TemporaryDirectory() as place:
        place = Path(place)
        run('meson', 'install', '-C', build, '--no-rebuild', '--destdir', str(place), '--quiet')
        pc = only(place, 'tuplescan.pc')
        check_pc(pc, build, source)
        library = only(place, f'libtuplescan.so.{version}')
        for name in (f'libtuplescan.so.{soversion}', 'libtuplescan.so', 'libtuplescan.a'):
            if not (library.parent / name).exists():
                sys.exit(f'{name} was not installed beside {library.name}')
        soname = run('readelf', '-d', str(library))
        if f'[libtuplescan.so.{soversion}]' not in soname:
            sys.exit('the soname is wrong')
        headers = {path.name for path in (Path(source) / 'include/tuplescan').glob('*.h')}
        installed = {path.name for path in only(place, 'tuplescan.h').parent.glob('*.h')}
        headers -= {f'{name}.h' for name in ('mpi', 'nccl') if not (pc.parent / f'tuplescan-{name}.pc').exists()}
        if headers != installed:
            sys.exit(f'headers not installed: {sorted(headers - installed)}')

        environment = {**os.environ, 'PKG_CONFIG_LIBDIR': str(pc.parent), 'PKG_CONFIG_SYSROOT_DIR': str(place)}
        if run('pkg-config', '--modversion', 'tuplescan', env=environment).strip() != version:
            sys.exit('pkg-config names another version')
        program = str(Path(source) / 'tests/external.c')
        flags = run('pkg-config', '--cflags', '--libs', 'tuplescan', env=environment).split()
        run(*cc, '-std=c11', program, '-o', str(place / 'shared'), *flags)
        run(str(place / 'shared'), env={**os.environ, 'LD_LIBRARY_PATH': str(library.parent)})
        flags = run('pkg-config', '--static', '--cflags', '--libs', 'tuplescan', env=environment).split()
        flags = [str(library.parent / 'libtuplescan.a') if flag == '-ltuplescan' else flag for flag in flags]
        run(*cc, '-std=c11', program, '-o', str(place / 'static'), *flags, *folders)
        run(str(place / 'static'))
        check_cmake(source, place, version, folders)
        check_static_alone(source, place / 'static-alone')
        if (pc.parent / 'tuplescan-mpi.pc').exists():
            check_mpi(cc, pc.parent, library.parent, place, environment)
        for command in place.rglob('bin/tuplescan'):  # it finds the library by itself
            check_manual(place, source)
            run(str(command), '--version', env={k: v for k, v in os.environ.items() if k != 'LD_LIBRARY_PATH'})


if __name__ == '__main__':
    main()
