"""Installs the build, and builds a program with what was installed, shared and static, through pkg-config.
Usage: test_install.py BUILD SOURCE VERSION SOVERSION CC [-LFOLDER...] (where static libraries of others lie)"""
import os
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
        check_static_alone(source, place / 'static-alone')
        for command in place.rglob('bin/tuplescan'):  # it finds the library by itself
            run(str(command), '--version', env={k: v for k, v in os.environ.items() if k != 'LD_LIBRARY_PATH'})


if __name__ == '__main__':
    main()
